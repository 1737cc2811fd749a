"""Health's system: the store as doctor sees it, and a server near its limits."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pandas as pd

from controls.health import system
from settings import VERSION
from tests import sample
from tests.pages.health_page import health, table

if TYPE_CHECKING:
    import psycopg

    Owner = psycopg.Connection[Any]


class TestParts:
    def test_the_system_as_doctor_sees_it(self, address: str, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        owner.execute("drop index logs_recent")
        with health(address, part="system") as test:
            assert not test.exception
            findings = table(test, "findings")
            checks = table(test, "server_checks").set_index("check")
            facts = [frame.value for frame in test.dataframe if list(frame.value.columns) == ["fact", "value"]]
            said = " ".join(code.value for code in test.code)
            said_below = [caption.value for caption in test.caption]
            texts = [text.value for text in test.text]
        assert "todo" not in checks.columns
        wrong = findings[findings["state"] != "● ok"]
        told = [f"{state} · {name}: {text}" for state, name, text in wrong.itertuples(index=False)]
        assert [line for text in texts for line in text.splitlines() if line[0] in "◆✕"] == told
        assert any("logs_recent" in line and "serves" in line for line in told)
        assert findings.iloc[0]["state"] != "● ok"
        assert "index logs_recent" in set(findings["name"])
        assert "create index concurrently logs_recent" in said
        assert list(checks.index) == ["Connections", "Pool for reading", "Deadlocks"]
        # one page at a time asks with one connection, of eight and four more
        assert checks.loc["Pool for reading", ["state", "value"]].tolist() == ["● in order", f"{100 / 12:.3g} %"]
        assert any(caption.startswith("The server as of ") for caption in said_below)
        about = pd.concat(facts).set_index("fact")["value"]
        # each short enough for half a laptop's page
        assert about["pool for reading"] == "0 in use, at most 1 of 12"
        assert re.fullmatch(r"\d+ \w+ \d\d:\d\d UTC", about["pool for reading fullest"])
        assert checks.loc["Connections", ["state", "bands"]].tolist() == [
            "● in order", "in order up to 70 %, act above 90 %",
        ]  # fmt: skip
        assert facts[0].iloc[0].tolist() == ["Rankscope", VERSION]

    def test_a_server_near_its_limits_says_what_to_do_as_text(self, address: str, owner: Owner) -> None:
        """Twelve connections of twelve is beyond 90 %, one deadlock more than none; what is in order asks nothing."""
        sample.add_organization(owner, "org_a")
        with health(address, part="system") as test:
            assert not test.exception
            quiet = [line.value for line in test.markdown if line.value.startswith("- ")]
        assert quiet == []
        server = pd.Series(
            {"connections": 12, "most_connections": 12, "lag_seconds": None, "deadlocks": 1, "standby": False}
        )
        assert [(each.what, each.beside) for each in system.advised(system.server_checks(server, {}))] == [
            ("Connections 100 %", "✕ act"), ("Deadlocks 1", "◆ watch"),
        ]  # fmt: skip
