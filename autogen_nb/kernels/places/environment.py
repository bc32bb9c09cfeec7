"""Selects the environment variables for the agent's kernel: well-known variables without secrets."""

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from autogen_nb.trusted.known_secrets import SECRET_NAME

_NAMES = frozenset(
    """
    PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR TEMP TMP VIRTUAL_ENV LD_LIBRARY_PATH LD_PRELOAD
    XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_DATA_DIRS XDG_CONFIG_DIRS MPLCONFIGDIR MPLBACKEND
    NUMEXPR_NUM_THREADS NUMEXPR_MAX_THREADS BLIS_NUM_THREADS VECLIB_MAXIMUM_THREADS
    SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NO_PROXY
    PROJ_LIB PROJ_DATA PROJ_NETWORK PROJ_DEBUG PROJ_CURL_CA_BUNDLE
    CONDA_PREFIX CONDA_DEFAULT_ENV CONDA_EXE CONDA_PYTHON_EXE CONDA_ROOT CONDA_SHLVL CONDA_PROMPT_MODIFIER
    CUDA_HOME CUDA_PATH CUDA_ROOT NVIDIA_VISIBLE_DEVICES NVIDIA_DRIVER_CAPABILITIES NVIDIA_TF32_OVERRIDE
    PYTHONPATH PYTHONHOME PYTHONSAFEPATH PYTHONPLATLIBDIR PYTHONUSERBASE PYTHONNOUSERSITE PYTHONEXECUTABLE
    PYTHONUTF8 PYTHONIOENCODING PYTHONCOERCECLOCALE PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONPYCACHEPREFIX
    PYTHONHASHSEED PYTHONOPTIMIZE PYTHONDEBUG PYTHONVERBOSE PYTHONDEVMODE PYTHONWARNINGS PYTHONWARNDEFAULTENCODING
    PYTHONFAULTHANDLER PYTHONTRACEMALLOC PYTHONMALLOC PYTHONMALLOCSTATS PYTHONPROFILEIMPORTTIME PYTHONASYNCIODEBUG
    PYTHONINTMAXSTRDIGITS PYTHONNODEBUGRANGES PYTHONTZPATH PYTHONCASEOK PYTHON_GIL PYTHON_JIT PYTHON_CPU_COUNT
    PYTHON_COLORS PYTHON_FROZEN_MODULES
    """.split()
)
_PREFIXES = ("LC_", "DYLD_", "CUDA_", "OMP_", "MKL_", "OPENBLAS_", "GDAL_")
_PROXIES = frozenset({"HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY"})
_ADDRESS_WITH_USER = re.compile(r"://\S*@")


def scrub_environment(environ: Mapping[str, str], extra: Iterable[str] = ()) -> dict[str, str]:
    requested = set(extra)
    return {name: value for name, value in environ.items() if name in requested or _allowed(name, value)}


def with_interpreter(environ: Mapping[str, str], python: str) -> dict[str, str]:
    folder = str(Path(python).parent)
    path = environ.get("PATH", os.defpath)
    return {**environ, "PATH": path if path.split(os.pathsep)[0] == folder else folder + os.pathsep + path}


def _allowed(name: str, value: str) -> bool:
    # Programs read proxy variables in upper and in lower case.
    upper = name.upper()
    if SECRET_NAME.search(upper) or _ADDRESS_WITH_USER.search(value):
        return False
    if upper in _PROXIES or ("PROXY" in upper and upper.startswith(_PREFIXES)):
        return "@" not in value
    return upper in _NAMES or upper.startswith(_PREFIXES)
