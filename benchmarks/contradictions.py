"""Contradictions: how many are found, how many alarms are false, and what that costs beside fingerprints of the texts.

Labelled pairs come with the tests. Real chat turns are read from the folder that RANKSCOPE_BENCHMARK_DATA names, when
it is set: ``drift_pairs_dev.jsonl`` (older and newer statements of one fact) and ``longmemeval_s_dev.jsonl.gz`` (the
sessions around them, from which each statement's nearest strangers are drawn).
"""

import gzip
import json
import os
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from benchmarks._bars import held, over
from benchmarks._corpus import plain_corpus, skewed_corpus
from benchmarks._timing import Spent, timed
from jobs.demo.load import SEED as DEMO_SEED
from jobs.demo.sizes import DEFAULT
from jobs.demo.story import tell
from jobs.demo.texts import organizations
from ranking import DEFAULT_PAIRS, Kind, contradicts, detect_contradictions
from ranking.contradictions.claims import claims_of
from ranking.contradictions.classifying import conflict_between
from ranking.contradictions.opposition import compiled
from ranking.simhash import simhash64
from ranking.words import tokenize
from tests.ranking.contradiction_pairs import (
    HELD_OUT,
    STYLES_HELD_OUT,
    STYLES_TUNED_ON,
    TUNED_ON,
    LabelledPair,
    labelled_pairs,
    score,
)

SIZE, LARGE = 10_000, 100_000
STRANGERS = 5
SLOWEST, STEEPEST = 30.0, 15.0
SEED = 4
_PARTS = ("ledger", "cart", "mailer", "crawler", "gateway", "billing", "search", "thumbs", "ingest", "audit")
_VENDORS = ("Stripe", "Adyen", "Datadog", "Sentry", "Postmark", "Mailgun", "Fastly", "Okta")
_FORMS = (
    "The {part} service listens on port {number}. It was moved there together with {other}.",
    "Requests to {part} time out after {number} milliseconds; {other} retries them twice.",
    "{part} writes its events to the {other} queue, and the worker picks them up in batches of {number}.",
    "Never restart {part} while {other} is draining, it takes {number} seconds.",
    "Always restart {part} before {other}, otherwise the cache is cold for {number} seconds.",
    "Errors of the {part} importer are tracked in {name}.",
    "Alerts of {part} go to {name}, and the on-call engineer of {other} reads them first.",
    "The {part} table has {number} partitions and is not replicated to the {other} region.",
    "The {part} table is replicated to the {other} region every {number} minutes.",
    "We no longer build {part} with the {other} image, the build took {number} seconds.",
    "The {part} job is enabled for tenant {other} and keeps logs for {number} days.",
    "The {part} job is disabled for tenant {other}; its last run failed after {number} rows.",
    "Deploys of {part} need {number} approvals, and {other} is deployed right after.",
    "In staging, {part} uses {name} with a limit of {number} calls per minute.",
)


def quality(name: str, pairs: Sequence[LabelledPair]) -> Iterator[dict[str, object]]:
    """Precision and recall over all pairs, then by kind: a false alarm counts against the kind that was reported."""
    found = score(pairs)
    traps = sum(not pair.conflicts for pair in pairs)
    yield {"set": name, "kind": "all", "pairs": len(pairs), "precision": found.precision, "recall": found.recall,
           "false alarms": f"{found.false_alarms} of {traps}"}  # fmt: skip
    oppositions = compiled(DEFAULT_PAIRS)
    said = [(pair, conflict_between(pair.older, pair.newer, oppositions)) for pair in pairs]
    for kind in Kind:
        of_kind = [pair for pair in pairs if pair.kind == kind]
        reported = [pair.conflicts for pair, conflict in said if conflict is not None and conflict.kind is kind]
        yield {"set": name, "kind": str(kind), "pairs": len(of_kind), "recall": score(of_kind).recall,
               "precision": sum(reported) / len(reported) if reported else None,
               "false alarms": f"{reported.count(False)} of {len(reported)} reported"}  # fmt: skip


def observations(count: int, seed: int = SEED) -> list[str]:
    """What agents would write of many components in the same few forms, some of which contradict each other."""
    chance = random.Random(seed)  # noqa: S311 - a corpus, not a secret
    parts = [f"{chance.choice(_PARTS)}-{number:x}" for number in range(count // 4)]
    written: list[str] = []
    for _ in range(count):
        form = chance.choice(_FORMS)
        number, other = chance.randrange(1, 9000), chance.choice(parts)
        written.append(form.format(part=chance.choice(parts), other=other, number=number, name=chance.choice(_VENDORS)))
    return written


def remembered(size: int) -> list[str]:
    """What the demo's agents wrote, of which one in seventy-five contradicts another; fewer where they wrote fewer."""
    told = (tell(org, DEFAULT, datetime(2026, 1, 1, tzinfo=UTC), DEMO_SEED) for org in organizations())
    return list(islice((entry.memory.text for story in told for entry in story.placed), size))


def planted(texts: Sequence[str], share: int = 100) -> list[str]:
    """Texts as they are, one in so many replaced by a claim that another one of them contradicts."""
    mixed = list(texts)
    for at in range(0, len(mixed) - 1, 2 * share):
        name = f"{_PARTS[at % len(_PARTS)]}-{at:x}"
        mixed[at], mixed[at + 1] = (
            f"The {name} service listens on port {at}.",
            f"The {name} service listens on port 1{at}.",
        )
    return mixed


def drift(folder: Path) -> Iterator[dict[str, object]]:
    """Real statements of one fact, and each of them against its nearest strangers."""
    lines = (folder / "drift_pairs_dev.jsonl").read_text(encoding="utf-8").splitlines()
    pairs = [json.loads(line) for line in lines]
    sessions = dict(turns(folder))
    strangers = Nearest([(name, text) for name, texts in sessions.items() for text in texts])
    hits = sum(contradicts(pair["older"]["text"], pair["newer"]["text"]) for pair in pairs)
    alarms = asked = 0
    for pair in pairs:
        own = {pair["older"]["session"], pair["newer"]["session"]}
        for side in ("older", "newer"):
            text = pair[side]["text"]
            for stranger in strangers.to(text, own):
                asked += 1
                alarms += contradicts(text, stranger)
    yield {"set": "chat, one fact twice", "kind": "all", "pairs": len(pairs), "recall": hits / len(pairs),
           "precision": hits / (hits + alarms) if hits + alarms else None,
           "false alarms": f"{alarms} of {asked}"}  # fmt: skip


def turns(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """What users said, by session."""
    with gzip.open(folder / "longmemeval_s_dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            question = json.loads(line)
            for name, session in zip(question["haystack_session_ids"], question["haystack_sessions"], strict=True):
                yield name, [turn["content"] for turn in session if turn["role"] == "user"]


class Nearest:
    """Texts by the cosine of their words' tf-idf: the strangers hardest to tell from a statement of the same fact."""

    def __init__(self, named: Sequence[tuple[str, str]]) -> None:
        self.named = named
        self.place: dict[str, int] = {}
        counts = [Counter(tokenize(text.lower())) for _, text in named]
        cells = [
            (row, self.place.setdefault(word, len(self.place)), n)
            for row, of in enumerate(counts)
            for word, n in of.items()
        ]
        rows, words, numbers = (np.array(column) for column in zip(*cells, strict=True))
        self.rarity = np.log(len(named) / np.bincount(words))
        table = csr_array((numbers * self.rarity[words], (rows, words)), shape=(len(named), len(self.place)))
        lengths = np.sqrt(table.multiply(table).sum(axis=1))
        self.table = table.multiply(1.0 / np.maximum(lengths, 1e-9)[:, None]).tocsr()

    def to(self, text: str, own: set[str]) -> list[str]:
        """The five nearest from other sessions."""
        asked = np.zeros(len(self.place))
        for word, number in Counter(tokenize(text.lower())).items():
            if word in self.place:
                asked[self.place[word]] = number * self.rarity[self.place[word]]
        order = np.argsort(-(self.table @ asked), kind="stable")
        others = (self.named[row] for row in order.tolist())
        return list(islice((other for name, other in others if name not in own), STRANGERS))


def seconds(texts: Sequence[str], repeats: int) -> tuple[Spent, Spent]:
    """Of fingerprints and of the whole search, the best of as many, in turns: a machine changes its pace meanwhile."""

    def search() -> None:
        claims_of.cache_clear()
        detect_contradictions(texts)

    turns_taken = [(timed(partial(simhash64, texts), 1), timed(search, 1)) for _ in range(repeats)]
    hashing, searching = (min(side) for side in zip(*turns_taken, strict=True))
    return hashing, searching


def corpora_of(size: int, folder: Path | None) -> dict[str, list[str]]:
    """Texts to search, by name: so many of each, or none where fewer are there."""
    plain = plain_corpus(size)
    corpora = {
        "observations": observations(size),
        "25 random words": plain,
        "25 random words, skewed": skewed_corpus(plain),
        "25 random words, 1 % planted": planted(plain),
    }
    written = remembered(size)
    if len(written) == size:
        corpora["the demo's memories"] = written
    spoken = list(dict.fromkeys(text for _, texts in turns(folder) for text in texts))[:size] if folder else []
    if spoken and len(spoken) == size:
        corpora |= {"chat turns": spoken, "chat turns, 1 % planted": planted(spoken)}
    return corpora


def run(quick: bool) -> Mapping[str, object]:  # noqa: FBT001 - the contract of python -m benchmarks
    """Quality of both halves, then seconds; limits: 30 times the fingerprints, ten times the texts in 15 times."""
    size = SIZE // 10 if quick else SIZE
    halves = {
        "tuned on": TUNED_ON,
        "held out": HELD_OUT,
        "other styles, tuned on": STYLES_TUNED_ON,
        "other styles, held out": STYLES_HELD_OUT,
    }
    rows = [row for name, files in halves.items() for row in quality(name, labelled_pairs(*files))]
    given = os.environ.get("RANKSCOPE_BENCHMARK_DATA")
    folder = Path(given) if given else None
    if folder:
        rows += drift(folder)
    larger = {} if quick else corpora_of(LARGE, folder)
    figures: dict[str, object] = {"limit, of fingerprints": SLOWEST}
    for name, texts in corpora_of(size, folder).items():
        hashing, searching = seconds(texts, 5)
        ratios = {"of fingerprints": searching.clock / hashing.clock, "by processor": searching.own / hashing.own}
        bars = held(over(ratios, {"of fingerprints": SLOWEST}))
        rows.append(
            {"set": name, "texts": size, "seconds": searching.clock, "processor": searching.own, **ratios, **bars}
        )
        figures[f"{name} / fingerprints"] = ratios["of fingerprints"]
        figures[f"{name} / fingerprints, processor time"] = ratios["by processor"]
        if name in larger:
            grown = seconds(larger[name], 1)[1]
            growth = {"of ten thousand": grown.clock / searching.clock, "by processor": grown.own / searching.own}
            bars = held(over(growth, {"of ten thousand": STEEPEST}))
            rows.append({"set": name, "texts": LARGE, "seconds": grown.clock, "processor": grown.own, **growth, **bars})
            figures[f"{name}, ten times the texts (at most {STEEPEST:g})"] = growth["of ten thousand"]
        elif not quick:
            figures[f"{name}, ten times the texts"] = f"not measured: fewer than {LARGE:,} texts"
    return {"rows": rows, **figures}
