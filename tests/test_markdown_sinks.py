"""HOS-3: no text but our own and numbers reaches a place where Streamlit reads Markdown.

Escaping is not enough there, so tenant text goes to ``st.text``, ``st.dataframe`` and plotly alone. What the reader of
the source cannot follow to a constant or a number is listed below with what it is, and nothing else may be.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.markdown_sinks import Reading, handed_on

ROOT = Path(__file__).parents[1]
FILES = sorted(file for room in ("pages", "controls") for file in (ROOT / room).rglob("*.py"))

# Read, and found to be our own words or a number: by what makes them so, per file.
REVIEWED: dict[str, dict[str, set[str]]] = {
    "sentences of our own errors and outcomes, which never quote": {
        "controls/corroboration/agreement.py": {"working.failure(task, params, where)"},
        "controls/as_operator.py": {"outcome.sentence"},
        "controls/drift/pairs.py": {"str(error)"},
        "controls/flags/record.py": {"error.sentence"},
        "controls/frame.py": {"loading.isolation_gap()", "store_state.store_name()"},
        "controls/messages.py": {"error.sentence", "reason", "sentence"},
        "controls/inspector/pins.py": {"st.session_state.pop(SAID, None)"},
        "controls/what_if/outcome_ladder.py": {"filter(None, (beyond.why_none, beyond.would_need))", "found.why_none"},
        "controls/saved_views.py": {"st.session_state.pop(SAID, None)"},
        "controls/inspector/why_not.py": {"answer.sentence"},  # of an observation it names the UUID
        "controls/working.py": {"_told(): job.progress.words", "_told(): words", "sentence"},
    },
    "labels and explanations that callers give as constants": {
        "controls/inspector/as_code.py": {"_listed(): words"},
        "controls/as_operator.py": {"of"},
        "controls/corroboration/shadow.py": {"since"},
        "controls/drift/alert.py": {"side"},
        "controls/drift/filters.py": {"label"},
        "controls/drift/worklist.py": {"explained"},
        "controls/empty_messages.py": {"meanwhile"},
        "controls/health/change.py": {"{way[:2]: way for way in ways}.values()"},
        "controls/impact/filters.py": {"label"},
        "controls/inspector/inspection.py": {"labels"},
        "controls/knobs.py": {"names", "self.explained"},
        "controls/link_banner.py": {"self.ignored", "self.instead", "self.unknown"},
        "controls/flags/preview.py": {"heading.explained"},
        "controls/links.py": {"heading.explained"},
        "controls/messages.py": {"among", "kinds", "more", "what", "where"},
        "controls/search.py": {"_count(): among", "_ordered(): filter(None, told)"},
        "controls/observation/lists.py": {"labels"},
        "controls/one_organization.py": {"beside.explained", "reason"},
        "controls/opening.py": {"what"},
        "controls/inspector/pipeline.py": {"ignored"},
        "controls/inspector/pipeline_parts.py": {"label"},
        "controls/scope.py": {"label"},
    },
    "fields of tables of our own: measures, checks, flags, knobs, stages, formats, pages": {
        "controls/corroboration/shadow.py": {"failure(gate)", "found.reasons", "gate.name"},
        "controls/drift/head.py": {"messages.missing_here(found.kept)"},
        "controls/drift/messages.py": {"kept.missing", "scope.days_in_words()"},
        "controls/drift/reports.py": {"kept.label"},
        "controls/figures.py": {"each.beside", "each.explained", "each.label", "each.value"},  # looked at where made
        "controls/flags/changing.py": {
            "as_state(NEW.understood)", "flag.default", "flag.description", "flag.owner", "known.description",
            "known.effect(new)", "known_flag(flag).choice(state)",
        },
        "controls/flags/messages.py": {"flag.description", "flag.effect(state)", "states"},
        "controls/flags/preview.py": {"failure(gate)"},
        "controls/flags/record.py": {"failure(gate)"},
        "controls/health/head.py": {"each.measure.formula", "each.measure.todo", "limits(own.check)"},
        "controls/health/change.py": {
            "_also(): each.measure.label", "_worse(): _also(): each.measure.label",
            "_worse(): _bold(): each.measure.label", "each.measure.label",
            "todo(each.measure, memory.counts, weighted=weighted)",
        },
        "controls/health/advice.py": {"each.beside", "each.todo", "each.what"},  # looked at where made
        "controls/health/system.py": {"each.check.label", "each.check.todo"},
        "controls/health/whose.py": {"each.measure.label"},
        "controls/health/tables.py": {"each.measure.formula", "each.measure.label", "each.measure.todo"},
        "controls/impact/measures.py": {"measure.explained", "measure.label"},
        "controls/inspector/inspection.py": {
            "_scorer(): {'degraded_lexical': 'words as said above'}.get(used.value, used.value)",
            "_way(): WAYS.get(way, f'by {way}')", "_distance(): other.untold",
            "applied.budget(asked, chosen)", "applied.weighting(asked, chosen)",
        },
        "controls/corroboration/pictures.py": {"found.by"},
        "controls/frame.py": {"pages"},
        "controls/inspector/packed.py": {"_by(): stage_name(stage)"},
        "controls/inspector/pipeline.py": {"_label(): stage_name(stage)", "each.value", "knob.label", "knob.options"},
        "controls/search.py": {"_count(): listed(told)"},  # kinds and counts
        "controls/trust.py": {"trust.degraded"},
        "pages/shell.py": {"entry.title"},
    },
    "numbers": {
        "controls/drift/alert.py": {"exposure(*injected, one.both_injected)", "one.harm", "one.severity"},
        "controls/corroboration/shadow.py": {"days_holding(datetime.fromisoformat(before.last))"},
        "controls/drift/head.py": {"here.judged"},
        "controls/saved_views.py": {"scope.days"},
        "controls/what_if/knobs.py": {"_own_frame(): BOOST.value", "_own_frame(): LAMBDA.value"},  # among its options
        # kinds of things, and whether they were looked for
        "controls/search.py": {"_count(): listed(told)", "_looked_through(): alerts", "_looked_through(): queries"},
        "controls/flags/record.py": {
            "_entry(): {str(name): None if pd.isna(value) else value for name, value in found[0].items()}"  # its id
        },
        "controls/health/head.py": {"change(each)", "dip(each)", "estimated(each.measure, each.now, shares)"},
        "controls/health/coverage.py": {"labels"},  # the days of columns
        "controls/health/runs.py": {"since(writers)"},
        "controls/health/system.py": {"shown(each.check, each.value)"},
        "controls/health/change.py": {
            "_also(): dip(accepted)", "_worse(): _also(): dip(accepted)",  # shares and a date
            "_also(): passage(accepted)", "_also(): passage(each)", "_worse(): _also(): passage(accepted)",
            "_worse(): _also(): passage(each)", "_worse(): _bold(): passage(each)", "_worse(): period", "change(each)",
            "_no_worse(): period", "_no_worse(): single",  # a count of days, and where something is listed
            # our names of measures and kinds
            "_untold(): dict.fromkeys((KINDS.get(name, labels[name]) for name in _not_compared(compared)))",
            "_counted_since(): since(memory.found.frames['writers'])", "shown(each.measure, each.now)",
        },
        "controls/impact/findings.py": {"about", "cell", "deepest", "top"},
        "controls/impact/left_out.py": {"_how_many(): about"},
        "controls/impact/measures.py": {"found.about", "measure.change(found)", "measure.shown(value)"},
        "controls/impact/movers.py": {"moved", "moved[moved['places'] < 0].iloc"},
        "controls/impact/outcomes.py": {"found.changed", "found.kept"},
        "controls/impact/retrieval.py": {"deepest"},
        "controls/inspector/inspection.py": {"_distance(): map(_flip, other.flips[:FEW_FLIPS])"},
        "controls/inspector/packed.py": {"missed.place"},
        "controls/flags/messages.py": {"most"},
        "controls/observation/head.py": {
            "next((pair for d in (3, 6, 17) if len(set((pair := (f'{weight:.{d}g}', f'{left:.{d}g}')))) > 1))"
        },
        "controls/observation/lists.py": {
            "{name: int(found.totals[name]) for name in ('accepted', 'rework', 'rejected')}",
            "{'with an unknown one': unknown}", "{'without outcome': without}", "{}",
        },
        "controls/verbatim.py": {  # names of characters and how many
            "unseen(''.join((sign for sign in TURNING.findall(text) if sign != '⟦')))"
        },
        "controls/inspector/pipeline.py": {"shown(default)"},
        "controls/trust.py": {
            "_alarms(): trust.complete", "_alarms(): trust.repeated", "_alarms(): trust.retrievals",
            "_alarms(): trust.unusable", "trust.more",
        },
        "controls/overview/summary.py": {
            "matrix.explained(list(shown['accepted']), every)",  # of signs that cells have, and of no cell
            "_beside(): change(found).lstrip('▲▼= ')", "_share(): unclear(told)", "_share(): points(change)",
            "_share(): same(shown, percent(then[part], then[whole])).lstrip('= ')",
            "dip(found)", "judged.get('accepted')", "judged.get('coverage')",
        },
        "pages/feedback_impact.py": {"findings.flips(found.now, found.about)"},
    },
}  # fmt: skip
# Knobs are given the widget that draws them, and an outcome the box that suits it.
HANDING_ON = {
    f"controls/{name}.py"
    for name in ("as_operator", "corroboration/agreement", "flags/changing", "flags/history", "knobs",
                 "what_if/knobs")
}  # fmt: skip


def name_of(file: Path) -> str:
    return str(file.relative_to(ROOT))


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_only_our_own_words_and_numbers_are_read_as_markdown(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    expected = {part for files in REVIEWED.values() for part in files.get(name_of(file), ())}
    found = {part: line for line, part in Reading(tree).reaching()}
    assert {part: line for part, line in found.items() if part not in expected} == {}
    assert expected - set(found) == set(), "reviewed, and no longer there"


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_a_sink_is_called_where_it_stands(file: Path) -> None:
    """Under another name, nobody would look at what it is given."""
    assert bool(handed_on(ast.parse(file.read_text(encoding="utf-8")))) == (name_of(file) in HANDING_ON)


def test_every_file_that_was_reviewed_is_there() -> None:
    reviewed = {name for files in REVIEWED.values() for name in files} | HANDING_ON
    assert reviewed <= set(map(name_of, FILES))


@pytest.mark.parametrize(
    "code",
    [
        "st.markdown(row.content)", "st.caption(f'by {name}')", "st.error('no ' + name)", "st.info(texts[0])",
        "st.metric('Agents', row.agent)", "st.button(name)", "left.selectbox(name, [])", "st.tabs([name, 'two'])",
        "st.radio('Which', names)", "st.pills('Which', [1], format_func=names.__getitem__)",
        "st.expander(f'{name:.20}')", "st.page_link('x.py', label=name)", "st.toast(' · '.join(names))",
        "st.subheader(name.upper())",
        "st.progress(0.5, text=name)", "st.text_input('x', help=name)", "st.column_config.TextColumn('x', help=name)",
        "ALERTS.get(kind, st.error)(name)", "NEW.draw(st.radio, format_func=lambda each: names[each])",
        "def f(name):\n    said = ['a']\n    said.append(name)\n    st.caption(', '.join(said))",
        "def f(name):\n    said = 'a'\n    said += name\n    st.caption(said)",
        "def f(row):\n    for label in row.names:\n        st.caption(label)",
        "def f(row):\n    st.caption(_told(row))\n\ndef _told(row):\n    return f'by {row.agent}'",
        "def f(name, least):\n    st.caption(f'{name if least else 1}')",
    ],
)  # fmt: skip
def test_the_lint_sees_a_foreign_text(code: str) -> None:
    assert list(Reading(ast.parse(code)).reaching())


@pytest.mark.parametrize(
    "code",
    [
        "st.markdown('**bold**')", "st.caption(f'{count:,} of {share:.3g} on {day:%-d %b}')", "st.info(EXPLAINED)",
        "st.metric('Alerts', number(count), None, help=glossary.ALERTS)", "st.text(row.content)", "log.info(name)",
        "st.dataframe(rows)", "st.selectbox('Agent', names, format_func=str)", "st.text_input('Note', row.note)",
        "def f(rows):\n    told = 'a' if rows else 'b'\n    st.caption(f'{told}: {len(rows)}')",
    ],
)  # fmt: skip
def test_the_lint_lets_our_own_words_and_numbers_pass(code: str) -> None:
    assert list(Reading(ast.parse(code)).reaching()) == []


@pytest.mark.parametrize("code", ["draw = st.caption", "show(st.error, name)", "from streamlit import markdown"])
def test_the_lint_sees_a_sink_that_is_handed_on(code: str) -> None:
    assert handed_on(ast.parse(code))
