import pytest

from autogen_nb.errors import ConfigError
from autogen_nb.models.config.account import checked_key


@pytest.mark.parametrize("key", ["Bearer sk-one", "sk-one\nsk-two", "sk-\u2026"])
def test_what_no_key_can_be_is_told_without_it(key: str) -> None:
    with pytest.raises(ConfigError, match="API key holds characters that no key has") as caught:
        checked_key(key, "API key")

    assert "sk-" not in str(caught.value)
    assert checked_key(" sk-one\n", "API key") == "sk-one"
