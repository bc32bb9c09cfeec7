"""The environment that the agent's kernel gets."""

import pytest

from autogen_nb.kernels.places.environment import scrub_environment


@pytest.mark.parametrize(
    "name",
    [
        "PATH", "HOME", "LANG", "LC_ALL", "TZ", "PYTHONPATH", "VIRTUAL_ENV", "CONDA_PREFIX", "LD_LIBRARY_PATH",
        "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "GDAL_DATA",
        "PROJ_LIB", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "no_proxy", "XDG_CACHE_HOME",
        "MPLCONFIGDIR", "DYLD_LIBRARY_PATH", "PYTHONUTF8", "PYTHON_GIL", "GDAL_HTTP_TIMEOUT", "PROJ_NETWORK",
        "CUDA_PATH_V12_4",
    ],
)  # fmt: skip
def test_what_programs_need_is_passed(name: str) -> None:
    assert scrub_environment({name: "value"}) == {name: "value"}


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "DATABASE_URL", "PGPASSWORD", "JPY_PARENT_PID",
        "DISPLAY", "SSH_AUTH_SOCK", "PYTHONSTARTUP", "JUPYTER_TOKEN", "IPYTHONDIR", "anything",
    ],
)  # fmt: skip
def test_what_is_not_listed_is_dropped(name: str) -> None:
    assert scrub_environment({name: "value"}) == {}


@pytest.mark.parametrize(
    "name",
    [
        "CONDA_TOKEN", "PYTHON_API_KEY", "XDG_SECRET", "CUDA_PASSWORD", "MPL_CREDENTIALS", "PYTHONKEYRING", "LC_AUTH",
        "GDAL_HTTP_USERPWD", "GDAL_HTTP_BEARER", "GDAL_HTTP_HEADERS", "GDAL_HTTP_HEADER_FILE", "GDAL_PROXYUSERPWD",
        "PYTHONUSERPW", "CUDA_PAT", "GDAL_WEBHOOK", "omp_pw",
    ],
)  # fmt: skip
def test_a_secret_under_an_allowed_prefix_is_dropped(name: str) -> None:
    assert scrub_environment({name: "value"}) == {}


@pytest.mark.parametrize(
    "name",
    [
        "PROJECT_DB", "PROJECT_WEBHOOK", "CONDA_DEPLOY_LOGIN", "NVIDIA_NGC_LOGIN", "PYTHONANYWHERE_SITE",
        "CUDAHUB_USER", "GDALSERVER_LOGIN",
    ],
)  # fmt: skip
def test_a_name_that_only_begins_like_an_allowed_one_is_dropped(name: str) -> None:
    assert scrub_environment({name: "value"}) == {}


@pytest.mark.parametrize("name", ["GDAL_HTTP_PROXY", "PYTHONPATH", "LD_PRELOAD", "XDG_DATA_HOME"])
def test_an_address_with_credentials_is_dropped_whatever_its_name(name: str) -> None:
    assert scrub_environment({name: "https://me:secret@example.org/x"}) == {}


@pytest.mark.parametrize("name", ["http_proxy", "HTTPS_PROXY", "all_proxy"])
def test_a_proxy_without_credentials_is_passed(name: str) -> None:
    assert scrub_environment({name: "http://proxy:3128"}) == {name: "http://proxy:3128"}


@pytest.mark.parametrize(
    "url", ["http://me:p/w@proxy:3128", "http://me:p#w@proxy", "me:secret@proxy:3128", "me@proxy", "http://[::1"]
)
def test_a_proxy_with_credentials_is_dropped(url: str) -> None:
    assert scrub_environment({"http_proxy": url}) == {}


def test_the_person_may_pass_more() -> None:
    assert scrub_environment({"MY_API_KEY": "1", "OTHER": "2"}, extra=("MY_API_KEY",)) == {"MY_API_KEY": "1"}
