"""What holds for every test: no network, no keys, and a home folder of its own."""

import ipaddress
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

FOREIGN = (
    "OPENAI_", "AZURE_", "ANTHROPIC_", "GEMINI_", "GOOGLE_", "DEEPSEEK_", "MISTRAL_", "GROQ_", "OPENROUTER_",
    "AUTOGEN_NB_", "JUPYTER_", "JPY_", "XDG_", "MPL", "IPYTHON", "PYTHONDONTWRITEBYTECODE",
)  # fmt: skip
"""Beginnings of the names of variables that would let the machine's own set-up into a test."""


class NetworkUsed(RuntimeError):
    """A test tried to leave this machine; no `OSError`, so that code under test does not take it for one."""


_home = pytest.StashKey[Path]()


def pytest_configure(config: pytest.Config) -> None:
    sys.addaudithook(_stay_here)
    # Under nohup or in a background job SIGINT is ignored, and each child would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    config.stash[_home] = home = Path(tempfile.mkdtemp(prefix="autogen-nb-tests-"))
    for name in [name for name in os.environ if name.startswith(FOREIGN)]:
        del os.environ[name]
    os.environ.update(home_variables(home))
    # How long one example takes on a busy machine is chance, and so is which examples a run draws.
    settings.register_profile("here", deadline=None, derandomize=True)
    settings.load_profile("here")


def pytest_unconfigure(config: pytest.Config) -> None:
    # What a browser or a kernel still writes while it ends must not fail the run.
    shutil.rmtree(config.stash[_home], ignore_errors=True)


def home_variables(home: Path) -> dict[str, str]:
    return {
        "HOME": str(home),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_CONFIG_DIR": str(home / "jupyter" / "config"),
        "JUPYTER_DATA_DIR": str(home / "jupyter" / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "jupyter" / "runtime"),
        "JUPYTER_PLATFORM_DIRS": "1",
        "MPLCONFIGDIR": str(home / "matplotlib"),
    }


@pytest.fixture(scope="session")
def project() -> Path:
    return Path(__file__).parent.parent


def _stay_here(event: str, arguments: tuple[Any, ...]) -> None:
    # An audit hook sees what C code does too, and no test can take it away.
    if event in ("socket.connect", "socket.sendto"):
        address = arguments[1]
        # A path is a Unix socket of this machine.
        if isinstance(address, tuple) and not _is_here(address[0]):
            raise NetworkUsed(f"{event} to {address!r}: tests reach this machine only")
    elif event in ("socket.getaddrinfo", "socket.gethostbyname") and not _is_here(arguments[0]):
        raise NetworkUsed(f"{event} of {arguments[0]!r}: tests reach this machine only")


def _is_here(host: str | bytes | None) -> bool:
    name = host.decode() if isinstance(host, bytes) else host or "localhost"
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return name == "localhost"
    # 0.0.0.0 and :: are what a server binds, and lead back here.
    return address.is_loopback or address.is_unspecified
