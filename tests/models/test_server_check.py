import asyncio
import socket

import pytest

from autogen_nb.errors import ConfigError, ModelRefused, ModelUnavailable
from autogen_nb.models.config.model_selection import ModelConnection
from autogen_nb.models.config.providers import checked_base, checked_url, revealed, shown_url
from autogen_nb.models.config.server_check import CheckedConnection, check_connection
from autogen_nb.models.remote.clients import checked_key
from autogen_nb.testing import FakeOpenAI, FakeReply

KEY = "sk-never-to-be-seen-4713"


def checked(model: str, url: str, within: float = 20.0, key: str | None = KEY) -> CheckedConnection:
    return asyncio.run(check_connection(ModelConnection(model, key, url), within=within))


@pytest.mark.parametrize(
    ("names", "typed", "taken"),
    [(("a", "b"), "b", "b"), (("a",), "", "a"), (("a", "b"), "", "")],
    ids=["listed", "the only one", "to be chosen"],
)
def test_a_list_is_enough_without_a_key(names: tuple[str, ...], typed: str, taken: str) -> None:
    with FakeOpenAI(models=names) as server:
        found = checked(typed, server.base_url, key=None)

    assert (found.connection.model, found.models) == (taken, names)
    assert len(server.lookups) == 1
    assert server.requests == []


@pytest.mark.parametrize("names", [(), ("another",)], ids=["no list", "not in the list"])
def test_where_the_list_does_not_tell_a_token_does(names: tuple[str, ...]) -> None:
    with FakeOpenAI(["Yes."], models=names) as server:
        found = checked("alias", server.base_url)

    assert found.connection.model == "alias"
    assert [each.body["model"] for each in server.requests] == ["alias"]


@pytest.mark.parametrize(
    ("names", "status"), [(("tow", "one", "two"), 404), (("wto", "one", "two"), 404), (("one", "two"), 400)]
)
def test_models_are_offered_for_one_that_the_server_does_not_know(names: tuple[str, ...], status: int) -> None:
    with FakeOpenAI([FakeReply(status=status, error="no such model")], models=names) as server:
        found = checked("tow", server.base_url)

    assert found.connection.model == ""
    assert set(found.models) == set(names)
    assert found.models[-1] == "one"
    assert "no such model" in str(found.refused)


def test_name_of_the_built_in_analysis_may_be_that_of_a_servers_model() -> None:
    with FakeOpenAI(models=["offline"]) as server:
        assert checked("offline", server.base_url, key=None).connection.model == "offline"


def test_a_wrong_key_is_no_matter_of_the_model() -> None:
    with (
        FakeOpenAI([FakeReply(status=401, error="wrong key")], models=["one"]) as server,
        pytest.raises(ModelRefused, match="answered 401: wrong key"),
    ):
        checked("two", server.base_url)


def test_a_silent_server_is_not_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(ModelUnavailable, match="did not answer"):
        checked("m", f"http://127.0.0.1:{silent.getsockname()[1]}/v1", within=0.2)


@pytest.mark.parametrize("key", ["Bearer sk-one", "sk-one\nsk-two", "sk-\u2026"])
def test_invalid_key_is_reported_without_its_text(key: str) -> None:
    with pytest.raises(ConfigError, match="API key holds characters that no key has") as caught:
        checked_key(key, "API key")

    assert "sk-" not in str(caught.value)
    assert checked_key(" sk-one\n", "API key") == "sk-one"


LOGIN = "http://me:p%40ss@host:8000/v1"


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("localhost:8000", "is 'localhost:8000'; did you mean 'http://localhost:8000/v1'?"),
        ("models.example.org/api/v1", "did you mean 'https://models.example.org/api/v1'?"),
        ("127.0.0.1:1/", "did you mean 'http://127.0.0.1:1/v1'?"),
        ("ftp://models.example.org/v1", "give an address such as 'http://localhost:11434/v1'"),
        ("http://localhost:80o0/v1", "is 'http://localhost:80o0/v1'; give an address such as"),
        ("http://[::1/v1", "give an address such as"),
        ("http://my host/v1", "give an address such as"),
        ("", "is empty; give an address such as"),
        ("sk-proj-0123456789abcdef01", "Base URL is no address; give an address such as"),
        ("htp://me:secret@host/v1", r"is 'htp://\*\*\*\*@host/v1'"),
        ("http://me:sec/ret@host/v1", r"is 'http://\*\*\*\*@host/v1'"),
        ("me:secret@localhost:8000", r"is '\*\*\*\*@localhost:8000'"),
    ],
)
def test_invalid_address_is_reported_with_a_way_out(typed: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        checked_url(typed, "Base URL")

    assert not any(secret in str(caught.value) for secret in ("secret", "ret@", "sk-"))


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (
            "https://mine.openai.azure.com/openai/deployments/d/chat/completions?api-version=1",
            "give 'https://mine.openai.azure.com/openai/v1', or set it up in OAI_CONFIG_LIST with api_type 'azure'",
        ),
        ("http://me:secret@host/v1?key=secret", r"contains a query or fragment; give 'http://me:\*\*\*\*@host/v1'"),
    ],
)
def test_an_address_below_which_nothing_is_asked_is_reported(typed: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        checked_base(typed)

    assert checked_base("https://mine.openai.azure.com/openai/v1/") == "https://mine.openai.azure.com/openai/v1/"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (LOGIN, "http://me:****@host:8000/v1"),
        ("https://token@host/v1", "https://****@host/v1"),
        ("http://host/v1?key=secret#secret", "http://host/v1"),
        ("http://host/v1/@cf/x", "http://host/v1/@cf/x"),
    ],
)
def test_nothing_secret_is_shown_and_what_is_left_as_it_is_holds(url: str, shown: str) -> None:
    assert shown_url(url) == shown
    assert revealed(shown, url) == url


def test_a_hidden_password_goes_to_its_own_server_alone() -> None:
    assert revealed("http://me:****@host:8000/api", LOGIN) == "http://me:p%40ss@host:8000/api"
    assert revealed("http://host:8000/v1", LOGIN) == "http://host:8000/v1"
    assert revealed("http://me:new@host:8000/v1", LOGIN) == "http://me:new@host:8000/v1"
    for kept in (LOGIN, None):
        with pytest.raises(ConfigError, match="type the password for other:1"):
            revealed("http://me:****@other:1/v1", kept)
