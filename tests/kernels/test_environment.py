import pytest

from autogen_nb.kernels.places.environment import scrub_environment


@pytest.mark.parametrize("name", ["http_proxy", "HTTPS_PROXY", "all_proxy"])
def test_a_proxy_without_credentials_is_passed(name: str) -> None:
    assert scrub_environment({name: "http://proxy:3128"}) == {name: "http://proxy:3128"}


@pytest.mark.parametrize("url", ["http://me:p/w@proxy:3128", "http://me:p#w@proxy", "me:secret@proxy:3128", "me@proxy"])
def test_a_proxy_with_credentials_is_dropped(url: str) -> None:
    assert scrub_environment({"http_proxy": url}) == {}


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "CONDA_TOKEN", "MY_SETTING"])
def test_only_known_names_without_secrets_are_passed(name: str) -> None:
    assert scrub_environment({name: "x", "CONDA_PREFIX": "y"}) == {"CONDA_PREFIX": "y"}
