"""Which environment variables reach the agent's kernel: an allow-list, and never what looks like a secret.

Code that a model wrote can read its environment, so what is not in there cannot be stolen.
"""

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

_NAMES = frozenset(
    """
    PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR TEMP TMP VIRTUAL_ENV LD_LIBRARY_PATH LD_PRELOAD
    XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_DATA_DIRS XDG_CONFIG_DIRS MPLCONFIGDIR MPLBACKEND
    OMP_NUM_THREADS MKL_NUM_THREADS OPENBLAS_NUM_THREADS NUMEXPR_NUM_THREADS NUMEXPR_MAX_THREADS
    BLIS_NUM_THREADS VECLIB_MAXIMUM_THREADS
    SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NO_PROXY
    """.split()
)
_PREFIXES = (
    "LC_", "PYTHON", "CONDA_", "DYLD_", "CUDA", "NVIDIA", "OMP_", "MKL_", "OPENBLAS_", "GDAL", "PROJ",
)  # fmt: skip
_PROXIES = frozenset({"HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY"})
# Run at start, for the person's own shell.
_NEVER = frozenset({"PYTHONSTARTUP"})
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH|PRIVATE|COOKIE|SIGNATURE|(?:^|_)(?:PWD|PAT|DSN)(?:_|$)")


def scrub_environment(environ: Mapping[str, str], extra: Iterable[str] = ()) -> dict[str, str]:
    """The variables of `environ` that the agent's kernel may have.

    Parameters
    ----------
    environ
        The environment to choose from, usually `os.environ`.
    extra
        Names that the person asks for; they are passed whatever they look like.
    """
    wanted = set(extra)
    return {name: value for name, value in environ.items() if name in wanted or _allowed(name, value)}


def with_interpreter(environ: Mapping[str, str], python: str) -> dict[str, str]:
    """The environment in which `python` on PATH is this interpreter."""
    place = str(Path(python).parent)
    path = environ.get("PATH", os.defpath)
    return {**environ, "PATH": path if path.split(os.pathsep)[0] == place else place + os.pathsep + path}


def _allowed(name: str, value: str) -> bool:
    # Proxies are written both ways.
    upper = name.upper()
    if upper in _NEVER or _SECRET.search(upper):
        return False
    if upper in _PROXIES:
        return not _carries_credentials(value)
    return upper in _NAMES or upper.startswith(_PREFIXES)


def _carries_credentials(url: str) -> bool:
    """Whether there is a user's part in the address; what cannot be read is taken to have one."""
    try:
        parts = urlsplit(url if "//" in url else f"//{url}")
    except ValueError:
        return True
    return "@" in parts.netloc
