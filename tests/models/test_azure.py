import sys
from pathlib import Path
from typing import Any

import pytest

from autogen_nb.errors import ConfigError, ModelRefused
from autogen_nb.models.openai.openai_model import OpenAIModel
from autogen_nb.models.remote.clients import Account
from autogen_nb.testing import FakeOpenAI, FakeReply, Received
from tests.models.asking import ask, error_of

KEY, TOKEN = "azure-key-of-mine", "entra-token-of-mine"
VERSION = "2026-01-01"


def endpoint(server: FakeOpenAI) -> str:
    return server.base_url.removesuffix("/v1")


def azure(server: FakeOpenAI, **settings: Any) -> OpenAIModel:
    given = {"model": "gpt-x", "azure_endpoint": endpoint(server), "api_version": VERSION, "api_type": "azure"}
    return OpenAIModel(**{**given, **settings})


def test_address_may_hold_the_deployment(server: FakeOpenAI) -> None:
    server.add("ok")
    ask(azure(server, api_key=KEY, azure_endpoint=f"{endpoint(server)}/openai/deployments/other/"))

    assert server.requests[0].path.startswith("/openai/deployments/other/chat/completions?")


def test_token_that_the_server_echoes_is_not_told(server: FakeOpenAI) -> None:
    def echo(received: Received) -> FakeReply:
        return FakeReply(status=401, error=f"bad: {received.headers['authorization']}")

    server.add(echo)
    error = error_of(azure(server, azure_ad_token_provider=lambda: TOKEN))

    assert isinstance(error, ModelRefused)
    assert "bad: Bearer [key]" in str(error)


def _raises() -> str:
    raise PermissionError("no login")


@pytest.mark.parametrize(
    ("provider", "told"),
    [
        (_raises, "PermissionError: no login"),
        (lambda: 7, "int"),
        (lambda: "", "an invalid token"),
        (lambda: "a\nb", "an invalid token"),
    ],
    ids=["raises", "number", "empty", "lines"],
)
def test_provider_that_gives_no_token_is_reported(provider: Any, told: str, server: FakeOpenAI) -> None:
    error = error_of(azure(server, azure_ad_token_provider=provider))

    assert isinstance(error, ModelRefused)
    assert "azure_ad_token_provider" in str(error)
    assert told in str(error)
    assert (error.__cause__, error.__context__) == (None, None)
    assert not server.requests


def test_default_provider_needs_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "azure", None)

    with pytest.raises(ConfigError, match=r"azure-identity.*autogen-nb\[azure\]"):
        OpenAIModel(model="m", api_type="azure", azure_ad_token_provider="DEFAULT")


IDENTITY = """
class DefaultAzureCredential:
    pass

def get_bearer_token_provider(credential, *scopes):
    assert isinstance(credential, DefaultAzureCredential)
    return lambda: "token-for-" + scopes[0]
"""


def test_default_provider_is_azure_identitys(
    server: FakeOpenAI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "azure" / "identity").mkdir(parents=True)
    (tmp_path / "azure" / "__init__.py").touch()
    (tmp_path / "azure" / "identity" / "__init__.py").write_text(IDENTITY)
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name == "azure" or name.startswith("azure.")]:
        monkeypatch.delitem(sys.modules, name)
    server.add("ok", "ok")
    model = azure(server, azure_ad_token_provider="DEFAULT")
    try:
        ask(model)
        ask(model)
    finally:
        for name in ("azure.identity", "azure"):
            sys.modules.pop(name, None)

    token = "token-for-https://cognitiveservices.azure.com/.default"
    assert [received.headers["authorization"] for received in server.requests] == [f"Bearer {token}"] * 2


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"api_key": KEY, "azure_ad_token": TOKEN}, "api_key and azure_ad_token"),
        ({"api_key": KEY, "azure_ad_token_provider": lambda: TOKEN}, "api_key and azure_ad_token_provider"),
        ({"azure_ad_token_provider": TOKEN}, "azure_ad_token"),
        ({"azure_ad_token_provider": 7}, "azure_ad_token"),
        ({"azure_endpoint": "https://a.example", "base_url": "https://b.example"}, "azure_endpoint and base_url"),
        ({"api_type": "openai", "azure_endpoint": "https://a.example"}, "api_type 'azure'"),
        ({"api_type": "openai", "azure_deployment": "mine"}, "api_type 'azure'"),
        ({"api_type": "openai", "azure_ad_token": TOKEN}, "api_type 'azure'"),
        ({"azure_endpoint": "a.example"}, "azure_endpoint"),
    ],
    ids=lambda each: ",".join(each) if isinstance(each, dict) else each,
)
def test_settings_that_are_invalid_are_reported_at_once(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told) as caught:
        OpenAIModel(**{"model": "m", "api_type": "azure", **settings})

    assert KEY not in str(caught.value)
    assert TOKEN not in str(caught.value)


def test_tokens_are_not_shown() -> None:
    assert TOKEN not in repr(Account("azure", None, None, token=TOKEN))
    assert TOKEN not in repr(OpenAIModel(model="m", api_type="azure", azure_ad_token=TOKEN))


def test_responses_at_azure(server: FakeOpenAI) -> None:
    server.add("ok")
    ask(azure(server, api_key=KEY, api_type="responses", azure_deployment="mine"))

    assert server.requests[0].path == f"/openai/responses?api-version={VERSION}"
    assert server.requests[0].headers["api-key"] == KEY
    assert server.requests[0].body["model"] == "mine"


def test_model_that_azure_has_only_in_responses(server: FakeOpenAI) -> None:
    refusal = "The chatCompletion operation does not work with the specified model, gpt-5-codex."
    server.add(FakeReply(status=400, error={"code": "OperationNotSupported", "message": refusal}), "ok")

    ask(azure(server, api_key=KEY, azure_deployment="mine"))

    assert [received.path.split("?")[0] for received in server.requests] == [
        "/openai/deployments/mine/chat/completions",
        "/openai/responses",
    ]
