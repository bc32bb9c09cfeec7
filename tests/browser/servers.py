"""Jupyter servers of their own: a free port on loopback, a token, a private home."""

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias
from urllib.request import Request, urlopen

from tests.conftest import home_variables
from tests.contract.servers import free_port, listening

App: TypeAlias = Literal["lab", "notebook"]

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
    home, root, token, port = folder / "home", folder / "root", secrets.token_hex(16), free_port()
    root.mkdir()
    environment = {**os.environ, **home_variables(home)}
    _write_settings(Path(environment["JUPYTER_CONFIG_DIR"]))
    command = [
        *(_MODULES[app], "--no-browser", "--allow-root", f"--port={port}", "--ServerApp.port_retries=0"),
        f"--ServerApp.root_dir={root}",
        f"--IdentityProvider.token={token}",
        "--ServerApp.ip=127.0.0.1",
        # What the harness asks the application directly: dirty state, theme, kernel status.
        f"--{_TRAITS[app]}.expose_app_in_browser=True",
    ]
    url = f"http://127.0.0.1:{port}/"
    with listening(command, f"{url}api", token, root, environment):
        yield Server(app, url, token, root)


def _write_settings(config: Path) -> None:
    file = config / "labconfig" / "default_setting_overrides.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(SETTINGS))
