import asyncio
import sys
from typing import Any

import pytest

from autogen_nb.errors import ConfigError
from autogen_nb.messages import Usage
from autogen_nb.models.config import model_selection
from autogen_nb.models.config.model_selection import ModelConnection, entry_model, model_for
from autogen_nb.models.config.providers import PROVIDERS, provider_of
from autogen_nb.models.config.server_check import models_of_keys
from autogen_nb.models.model_clients import OpenAIChatCompletionClient
from autogen_nb.models.remote.exchange import usage_of
from autogen_nb.models.requests import cost_of, window_of
from autogen_nb.notebook.asking.person import key_for
from autogen_nb.testing import FakeOpenAI
from tests.models.asking import ask, error_of

ANTHROPIC, OPENAI, GROQ = ({f"{name}_API_KEY": f"sk-{name}-of-mine"} for name in ("ANTHROPIC", "OPENAI", "GROQ"))
ROUTER = {"OPENROUTER_API_KEY": "sk-or-mine"}
GATEWAY = {"OPENAI_BASE_URL": "http://gateway.example/v1"}


@pytest.mark.parametrize(
    ("model", "environ", "provider", "name"),
    [
        ("claude-opus-5", ANTHROPIC, "anthropic", "claude-opus-5"),
        ("claude-opus-5", ANTHROPIC | OPENAI, "anthropic", "claude-opus-5"),
        ("claude-opus-5", OPENAI, "anthropic", "claude-opus-5"),
        ("anthropic/claude-opus-5", ANTHROPIC | ROUTER, "anthropic", "claude-opus-5"),
        ("anthropic/claude-opus-5", ROUTER, "openrouter", "anthropic/claude-opus-5"),
        ("openrouter/anthropic/claude-opus-5", ROUTER, "openrouter", "anthropic/claude-opus-5"),
        ("google/gemini-4-argon", {"GOOGLE_API_KEY": "AIza-mine"}, "gemini", "gemini-4-argon"),
        ("gpt-6-sol", ANTHROPIC | OPENAI, "openai", "gpt-6-sol"),
        ("llama-5-70b", GROQ, "groq", "llama-5-70b"),
        ("groq/openai/gpt-oss-120b", GROQ | OPENAI, "groq", "openai/gpt-oss-120b"),
        ("my-own-model", OPENAI | GROQ, "openai", "my-own-model"),
        ("claude-opus-5", ANTHROPIC | GATEWAY, "openai", "claude-opus-5"),
        ("anthropic/claude-opus-5", GATEWAY, "openai", "anthropic/claude-opus-5"),
        ("openai/gpt-6-sol", GATEWAY | OPENAI, "openai", "openai/gpt-6-sol"),
        ("ollama/qwen4", GATEWAY, "openai", "ollama/qwen4"),
        ("anthropic/claude-opus-5", GATEWAY | ANTHROPIC, "anthropic", "claude-opus-5"),
        ("claude-opus-5", ANTHROPIC | {"OPENAI_BASE_URL": "https://api.openai.com/v1"}, "anthropic", "claude-opus-5"),
        ("ollama/qwen4", {}, "ollama", "qwen4"),
        ("deepseek-v4-pro", {"DEEPSEEK_API_KEY": "sk-d"}, "deepseek", "deepseek-v4-pro"),
    ],
)
def test_provider_of_a_name(model: str, environ: dict[str, str], provider: str, name: str) -> None:
    found, rest = provider_of(model, environ)

    assert (found.name, rest) == (provider, name)


def test_name_that_fits_several_providers_is_refused() -> None:
    with pytest.raises(ConfigError, match="-m openrouter/llama-5-70b or -m groq/llama-5-70b"):
        provider_of("llama-5-70b", GROQ | ROUTER)


@pytest.mark.parametrize(
    ("environ", "chosen"),
    [
        (ANTHROPIC, "claude-sonnet-5-5"),
        (ANTHROPIC | OPENAI, "gpt-6-luna"),
        ({"GEMINI_API_KEY": "x"}, "gemini-3.8-flash"),
        (GROQ, None),
        (GATEWAY | ANTHROPIC, None),
        ({"ANTHROPIC_API_KEY": " "}, None),
    ],
)
def test_one_key_is_enough(environ: dict[str, str], chosen: str | None) -> None:
    assert model_selection.choose(None, None, environ) == chosen


def test_variable_with_the_model_precedes_the_default_of_a_notebook() -> None:
    (known,) = model_selection.known_models(None, OPENAI | {"AUTOGEN_NB_MODEL": "gpt-6-sol"}, "gpt-6-luna")

    assert (known.name, known.hosts) == ("gpt-6-sol", ("api.openai.com",))
    assert model_selection.choose(None, None, OPENAI, "gpt-6-luna") == "gpt-6-luna"


def test_name_without_the_key_of_its_provider_is_not_configured() -> None:
    assert model_selection.choose("claude-opus-5", None, OPENAI) is None


def test_hosts_and_key_of_a_provider() -> None:
    assert model_selection.hosts("claude-opus-5", ANTHROPIC) == ("api.anthropic.com",)
    assert model_selection.resolved("claude-opus-5", ANTHROPIC | OPENAI) == ModelConnection(
        "claude-opus-5", "sk-ANTHROPIC-of-mine", "https://api.anthropic.com"
    )
    assert model_selection.support_tools(("api.anthropic.com", "generativelanguage.googleapis.com"))


def test_key_of_one_provider_is_not_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai-of-mine")

    error = error_of(model_for({"model": "m", "api_type": "deepseek"}))

    assert isinstance(error, ConfigError)
    assert "set DEEPSEEK_API_KEY" in str(error)


def test_provider_by_its_api_type_and_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeOpenAI(["Yes."]) as server:
        model = entry_model({"model": "deepseek-v4-pro", "api_type": "deepseek", "base_url": server.base_url})

        assert ask(model).completion.message.text == "Yes."


@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        ({"model": "claude-opus-5", "api_key": "sk-ant-mine"}, "AnthropicModel"),
        ({"model": "claude-opus-5", "base_url": "https://api.anthropic.com"}, "AnthropicModel"),
        ({"model": "claude-opus-5", "base_url": "https://api.anthropic.com/v1/"}, "OpenAIModel"),
        ({"model": "claude-opus-5", "base_url": "http://localhost:1/v1"}, "OpenAIModel"),
        ({"model": "claude-opus-5", "api_type": "anthropic", "base_url": "http://localhost:1"}, "AnthropicModel"),
        ({"model": "gemini-4-argon", "api_type": "google", "api_key": "AIza"}, "GeminiModel"),
        ({"model": "gpt-6-sol", "api_key": "sk-mine"}, "OpenAIModel"),
    ],
)
def test_library_of_an_entry(entry: dict[str, Any], kind: str) -> None:
    assert type(entry_model(entry)).__name__ == kind


@pytest.mark.parametrize(
    ("model", "module", "package"),
    [
        ("claude-opus-5", "anthropic", r"anthropic; install 'autogen-nb\[anthropic\]'"),
        ("gemini-3-pro", "google.genai", r"google-genai; install 'autogen-nb\[gemini\]'"),
    ],
)
def test_missing_library_is_named(model: str, module: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)

    with pytest.raises(ConfigError, match=f"{model!r} needs the package {package}"):
        entry_model({"model": model, "api_key": "k"})


def test_agentchat_client_finds_the_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "AIza-mine")

    assert "GeminiModel" in repr(OpenAIChatCompletionClient(model="gemini-4-argon").model({}))


def test_models_of_each_key_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeOpenAI(models=["gpt-6-sol", "gpt-6-luna"]) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-mine")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")

        listings = asyncio.run(models_of_keys({"OPENAI_API_KEY": "sk-mine", "ANTHROPIC_API_KEY": "sk-ant-mine"}))

    assert [(provider.name, names) for provider, names, _ in listings] == [
        ("openai", ("gpt-6-sol", "gpt-6-luna")),
        ("anthropic", ()),
    ]
    assert listings[0][2] == ""
    assert "refused the connection" in listings[1][2]


@pytest.mark.parametrize(
    ("url", "model", "dollars"),
    [
        ("https://api.anthropic.com", "claude-opus-5", 5.0),
        ("https://api.anthropic.com/v1", "claude-opus-5", 5.0),
        ("https://api.mistral.ai/v1", "mistral-large-latest", 2.0),
        ("https://generativelanguage.googleapis.com", "gemini-3.8-flash", 0.75),
        ("https://openrouter.ai/api/v1", "anthropic/claude-opus-5", 5.0),
        ("http://gateway.example/v1", "claude-opus-5", None),
        ("http://127.0.0.1:1/v1", "gpt-4o-mini", None),
        ("http://mine.openai.azure.com/openai/deployments/mine", "gpt-4o-mini-2024-07-18", 0.15),
        ("https://eu.api.openai.com/v1", "gpt-6-sol", 4.0),
    ],
)
def test_price_is_that_of_the_provider(url: str, model: str, dollars: float | None) -> None:
    assert cost_of(model, Usage(1_000_000), url=url) == (None if dollars is None else pytest.approx(dollars))


@pytest.mark.parametrize(
    ("url", "model", "tokens"),
    [
        ("https://api.anthropic.com", "claude-opus-5", 1_000_000),
        ("https://api.openai.com/v1", "gpt-4o", 128_000),
        ("http://gateway.example/v1", "gpt-4o", None),
        ("https://api.openai.com/v1", "nobody-knows-it", None),
    ],
)
def test_windows_are_those_of_the_provider(url: str, model: str, tokens: int | None) -> None:
    assert window_of(model, url) == tokens


def test_key_of_an_entry_goes_to_the_gateway_of_the_environment() -> None:
    assert provider_of("anthropic/claude-opus-5", GATEWAY, has_key=True)[0].name == "openai"


def test_form_takes_the_key_of_the_environment_for_its_own_server_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-gateway")
    own = key_for("https://api.openai.com/v1", ModelConnection())
    monkeypatch.setenv("OPENAI_BASE_URL", "http://gateway.example/v1")

    assert own == "sk-of-the-gateway"
    assert key_for("https://api.openai.com/v1", ModelConnection()) is None


def test_absurd_counts_have_a_price() -> None:
    assert cost_of("gpt-6-sol", usage_of(10, "7", 50, None)) is not None


@pytest.mark.parametrize("model", ["claude-opus-5", "gemini-3.8-flash", "deepseek-v4-pro", "gpt-6-sol"])
def test_budget_in_dollars_knows_the_price_at_the_default_address(model: str) -> None:
    price = getattr(model_for({"model": model, "api_key": "sk-mine", "budget": "0.50"}), "price", None)

    assert price is not None
    assert min(price) > 0


def test_settings_of_azure_without_a_value_are_no_settings() -> None:
    assert model_selection.hosts({"model": "gpt-6-sol", "azure_endpoint": None}, {}) == ("api.openai.com",)


def test_tokens_from_a_cache_cost_less() -> None:
    plain, cached, written = (
        cost_of("claude-opus-5", Usage(1_000_000, 0, *counts), url="https://api.anthropic.com")
        for counts in ((), (900_000, 0), (0, 900_000))
    )

    assert plain is not None
    assert cached == pytest.approx(0.5 + 0.45)
    assert written is not None
    assert written > plain


def test_each_provider_has_a_price_list() -> None:
    from genai_prices import data

    lists = {provider.id for provider in data.providers}

    assert [each.name for each in PROVIDERS if (each.price_list or each.name) not in {*lists, "ollama"}] == []
