"""Jupyter servers of their own: a free port on loopback, a token, a private home."""

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from json import JSONDecodeError
from pathlib import Path
from typing import Literal, TypeAlias
from urllib.error import URLError
from urllib.request import Request, urlopen

from tests.conftest import home_variables

App: TypeAlias = Literal["lab", "notebook"]

START_SECONDS = 60.0

SETTINGS = {
    # A question about news would lie over the page, and its answer would leave the machine.
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    # A test that is about saving saves; in the others a save in the middle would be chance.
    "@jupyterlab/docmanager-extension:plugin": {"autosave": False},
    "@jupyterlab/apputils-extension:themes": {"adaptive-theme": False},
}
"""Defaults of the front end's settings, in place of its own."""

_MODULES = {"lab": "jupyterlab", "notebook": "notebook"}
_TRAITS = {"lab": "LabApp", "notebook": "JupyterNotebookApp"}


@dataclass(frozen=True, slots=True)
class Server:
    app: App
    url: str
    token: str
    root: Path

    def page(self, path: str) -> str:
        # A workspace of its own keeps JupyterLab from opening the notebooks of the test before.
        place = f"lab/workspaces/{secrets.token_hex(4)}/tree" if self.app == "lab" else "notebooks"
        return f"{self.url}{place}/{path}?token={self.token}"

    def end_kernels(self) -> None:
        with urlopen(f"{self.url}api/kernels?token={self.token}") as answer:
            kernels = json.load(answer)
        for kernel in kernels:
            target = f"{self.url}api/kernels/{kernel['id']}?token={self.token}"
            urlopen(Request(target, method="DELETE")).close()


@contextmanager
def serving(app: App, folder: Path) -> Iterator[Server]:
    home, root, token = folder / "home", folder / "root", secrets.token_hex(16)
    root.mkdir()
    environment = {**os.environ, **home_variables(home)}
    _write_settings(Path(environment["JUPYTER_CONFIG_DIR"]))
    command = [
        *(sys.executable, "-m", _MODULES[app], "--no-browser", "--allow-root", "--port=0"),
        f"--ServerApp.root_dir={root}",
        f"--IdentityProvider.token={token}",
        "--ServerApp.ip=127.0.0.1",
        # What the harness asks the application directly: dirty state, theme, kernel status.
        f"--{_TRAITS[app]}.expose_app_in_browser=True",
    ]
    log = folder / "server.log"
    with log.open("wb") as out:
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=subprocess.STDOUT)
        try:
            yield Server(app, _url(process, Path(environment["JUPYTER_RUNTIME_DIR"]), log), token, root)
        finally:
            process.terminate()
            process.wait()


def _write_settings(config: Path) -> None:
    file = config / "labconfig" / "default_setting_overrides.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(SETTINGS))


def _url(process: subprocess.Popen[bytes], runtime: Path, log: Path) -> str:
    until = time.monotonic() + START_SECONDS
    # The server writes down its port a moment before it listens, and tells no one when it does.
    while time.monotonic() < until and process.poll() is None:
        with suppress(FileNotFoundError, JSONDecodeError, URLError):
            described = json.loads((runtime / f"jpserver-{process.pid}.json").read_text())
            url: str = described["url"]
            with urlopen(f"{url}api", timeout=START_SECONDS):
                return url
        time.sleep(0.02)
    raise RuntimeError(f"the server did not start within {START_SECONDS:g} s:\n{log.read_text()}")
