"""When the Inspector recalls anew, and when it need not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from controls import loading
from queries.scope import EVERYTHING
from retrieval.embedders import WordLlamaEmbedder
from retrieval.retrieve import recollect
from tests import sample
from tests.pages.application import application
from tests.queries.test_corroborating import add_run
from tests.retrieval.planted import QUESTION

if TYPE_CHECKING:
    import psycopg

    Owner = psycopg.Connection[Any]

pytestmark = pytest.mark.usefixtures("_long_notes")


class TestRecalledAnew:
    """Only what recall reads lets it be asked again, however much is logged meanwhile."""

    @pytest.fixture
    def asked(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """The questions that were recalled, one by one."""
        found: list[str] = []

        def counting(memory: Any, session: Any, query: str, *rest: Any) -> Any:  # noqa: ANN401 - passed on as they are
            found.append(query)
            return recollect(memory, session, query, *rest)

        monkeypatch.setattr(loading, "recollect", counting)
        return found

    @staticmethod
    def seen(owner: Owner) -> str:
        """What was written so far is counted and looked at, as two seconds later; the store's own version then."""
        owner.execute("select pg_stat_force_next_flush()")
        loading._version.clear()
        return loading.version(EVERYTHING)

    def test_a_slider_moves_on_a_store_that_is_logged_to(self, address: str, owner: Owner, asked: list[str]) -> None:
        link = {"org": "acme", "q": QUESTION, "preset": "INTENDED", "v": "1", "open": "corroboration"}
        owner.execute("select pg_stat_force_next_flush()")  # what was planted is no news
        with application(address, **link, show="compare", vs="LIVE,MEMINI") as test:
            test.switch_page("inspector.py").run()
            once = len(asked)
            assert once == 3  # one for each of the three that recall in another way or with other evidence
            for place, boost in enumerate((0.2, 0.3)):
                before = self.seen(owner)
                sample.add_retrieval(owner, "acme", sample.swapped(3, 0, 2), name=f"busy {place}")
                assert self.seen(owner) != before
                test.slider("turn_boost").set_value(boost).run()
                assert not test.exception
                assert len(asked) == once

    def test_a_question_is_embedded_once_though_recall_is_asked_again(
        self, address: str, owner: Owner, asked: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A retrieval that is logged also moves when its observations were read last, which recall reads."""
        embedded: list[str] = []
        embed = WordLlamaEmbedder.embed_query

        def counting(embedder: WordLlamaEmbedder, text: str) -> Any:  # noqa: ANN401 - its vector
            embedded.append(text)
            return embed(embedder, text)

        monkeypatch.setattr(WordLlamaEmbedder, "embed_query", counting)
        owner.execute("select pg_stat_force_next_flush()")
        with application(address, org="acme", q=QUESTION) as test:
            test.switch_page("inspector.py").run()
            owner.execute("update observations set last_accessed_at = now() where org_id = 'off'")
            self.seen(owner)
            test.run()
            assert not test.exception
        assert (len(asked), embedded) == (2, [QUESTION])

    @pytest.mark.parametrize(
        ("change", "pipelines"),
        [
            ("update observations set weight = 0.5 where org_id = 'acme'", {"LIVE", "INTENDED"}),
            ("update observation_embeddings set route = 'full' where org_id = 'acme'", {"LIVE", "INTENDED"}),
            ("update organizations set features = '{\"corroboration_boost_enabled\": true}'", {"LIVE", "INTENDED"}),
            ("a pass", {"INTENDED"}),
            ("insert into sessions (org_id, id, project_id) values ('acme', 'new', 'api')", set()),
        ],
    )
    def test_what_recall_reads_lets_it_be_asked_again(
        self, address: str, owner: Owner, asked: list[str], change: str, pipelines: set[str]
    ) -> None:
        anew = set()
        for preset in ("LIVE", "INTENDED"):
            with application(address, org="acme", q=QUESTION, preset=preset, v="1") as test:
                test.switch_page("inspector.py").run()
                self.seen(owner)
                test.run()
                once = len(asked)
                if change == "a pass":
                    add_run(owner, "acme", "api")
                else:
                    owner.execute(change.encode())
                self.seen(owner)
                test.run()
                anew |= {preset} if len(asked) > once else set()
            owner.execute("delete from sessions")
        assert anew == pipelines
