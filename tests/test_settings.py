"""What can be set from outside, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from settings import Settings, SettingsError, is_loopback

NOWHERE = Path("/nowhere/secrets.toml")
TOKEN = "a-token-of-enough-length"  # noqa: S105 - made up
OIDC = {
    "RANKSCOPE_AUTH": "oidc",
    "RANKSCOPE_OIDC_METADATA_URL": "https://id.example/.well-known/openid-configuration",
    "RANKSCOPE_OIDC_CLIENT_ID": "rankscope",
    "RANKSCOPE_OIDC_CLIENT_SECRET": f"canary-{TOKEN}",
    "RANKSCOPE_OIDC_REDIRECT_URL": "https://scope.example/oauth2callback",
    "RANKSCOPE_COOKIE_SECRET": f"canary-{TOKEN}-{TOKEN}",
}


def test_a_provider_is_read_whole_and_no_secret_of_it_shows() -> None:
    found = Settings.read(OIDC, NOWHERE)
    assert found.oidc is not None
    assert (found.auth, found.oidc.claim, found.oidc.client_id) == ("oidc", "email", "rankscope")
    assert found.oidc.secrets()["auth"]["client_secret"] == f"canary-{TOKEN}"
    assert "canary" not in repr(found)
    assert Settings.read(OIDC | {"RANKSCOPE_AUTH": "local"}, NOWHERE).oidc is None


def test_without_anything_it_is_local_and_embedded() -> None:
    found = Settings.read({}, NOWHERE)
    assert (found.database_url, found.write_url, found.auth) == (None, None, "local")
    assert found.data_folder.name == ".rankscope"


def test_models_are_word_vectors_and_the_neural_scorer_unless_said_otherwise() -> None:
    found = Settings.read({}, NOWHERE)
    assert (found.embedder, found.embedder_folder, found.scorer, found.scorer_folder) == (
        "wordllama", None, "neural", None,
    )  # fmt: skip
    folders = {"RANKSCOPE_EMBEDDER_FOLDER": "~/bge", "RANKSCOPE_SCORER_FOLDER": "/models/minilm"}
    found = Settings.read({"RANKSCOPE_EMBEDDER": "bge", "RANKSCOPE_SCORER": "lexical", **folders}, NOWHERE)
    assert (found.embedder, found.scorer) == ("bge", "lexical")
    assert (found.embedder_folder, found.scorer_folder) == (Path.home() / "bge", Path("/models/minilm"))


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    secrets = tmp_path / "secrets.toml"
    secrets.write_text('DATABASE_URL = "postgresql://file"\nRANKSCOPE_PROXY_USER_HEADER = "X-Name"\n')
    found = Settings.read({"DATABASE_URL": "postgresql://environment"}, secrets)
    assert (found.database_url, found.proxy_user_header) == ("postgresql://environment", "X-Name")


def test_no_secret_shows_in_its_repr() -> None:
    names = (
        "DATABASE_URL", "RANKSCOPE_WRITE_URL", "RANKSCOPE_OWNER_URL", "RANKSCOPE_PROXY_TOKEN",
        "RANKSCOPE_EMBEDDER_URL", "RANKSCOPE_EMBEDDER_KEY",
    )  # fmt: skip
    found = Settings.read(dict.fromkeys(names, f"canary-{TOKEN}") | {"RANKSCOPE_AUTH": "proxy"}, NOWHERE)
    assert "canary" not in repr(found)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"RANKSCOPE_AUTH": "none"}, "one of local, proxy, oidc; found 'none'"),
        ({"RANKSCOPE_AUTH": "oidc"}, "RANKSCOPE_OIDC_CLIENT_ID and RANKSCOPE_OIDC_CLIENT_SECRET"),
        (OIDC | {"RANKSCOPE_COOKIE_SECRET": "short"}, "RANKSCOPE_COOKIE_SECRET of at least 32"),
        (OIDC | {"RANKSCOPE_OIDC_METADATA_URL": "http://id.example/x"}, "METADATA_URL begins with https"),
        (
            OIDC | {"RANKSCOPE_OIDC_REDIRECT_URL": "http://scope.example/oauth2callback"},
            "REDIRECT_URL begins with https",
        ),
        (OIDC | {"RANKSCOPE_OIDC_REDIRECT_URL": "https://scope.example/"}, "ends in /oauth2callback"),
        ({"RANKSCOPE_AUTH": "proxy"}, "needs RANKSCOPE_PROXY_TOKEN"),
        ({"RANKSCOPE_AUTH": "proxy", "RANKSCOPE_PROXY_TOKEN": "short"}, "needs RANKSCOPE_PROXY_TOKEN"),
        ({"RANKSCOPE_AUTH": "proxy", "RANKSCOPE_PROXY_TOKEN": "not ASCII but long enough: ü"}, "ASCII"),
        ({"RANKSCOPE_WRITE_URL": "postgresql://x"}, "needs DATABASE_URL"),
        ({"RANKSCOPE_EMBEDDER": "best"}, "one of wordllama, bge, e5, onnx, openai, none; found 'best'"),
        ({"RANKSCOPE_EMBEDDER": "onnx"}, "needs RANKSCOPE_EMBEDDER_FOLDER"),
        ({"RANKSCOPE_EMBEDDER": "openai"}, "needs RANKSCOPE_EMBEDDER_URL and RANKSCOPE_EMBEDDER_MODEL"),
        (
            {"RANKSCOPE_EMBEDDER": "openai", "RANKSCOPE_EMBEDDER_URL": "http://h"},
            "openai needs RANKSCOPE_EMBEDDER_MODEL",
        ),
        ({"RANKSCOPE_SCORER": "none"}, "one of neural, lexical"),
    ],
)
def test_what_cannot_work_is_refused_in_a_sentence(environment: dict[str, str], expected: str) -> None:
    with pytest.raises(SettingsError, match=expected):
        Settings.read(environment, NOWHERE)


def test_a_broken_secrets_file_is_named_and_not_quoted(tmp_path: Path) -> None:
    secrets = tmp_path / "secrets.toml"
    secrets.write_text("RANKSCOPE_PROXY_TOKEN = canary")
    with pytest.raises(SettingsError, match=r"secrets\.toml is not valid TOML") as refused:
        Settings.read({}, secrets)
    assert "canary" not in str(refused.value)


@pytest.mark.parametrize(
    ("address", "expected"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("localhost", True),
     (None, False), ("", False), ("::", False), ("192.0.2.7", False), ("example.invalid", False)],
)  # fmt: skip
def test_loopback(address: str | None, *, expected: bool) -> None:
    assert is_loopback(address) is expected
