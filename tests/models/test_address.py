import pytest

from autogen_nb.errors import ConfigError
from autogen_nb.models.config.address import checked_base, checked_url, revealed, shown_url

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
