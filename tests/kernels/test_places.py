from pathlib import Path

import pytest

from autogen_nb.agents.parts.execution_target import ExecutionTarget
from autogen_nb.errors import ConfigError
from autogen_nb.kernels.places import PLACES, PlaceKind, PlaceOptions
from autogen_nb.kernels.places.environment import scrub_environment
from autogen_nb.kernels.places.local import LocalPlace


def test_a_row_makes_a_place_that_can_be_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Host(LocalPlace):
        def __init__(self, options: PlaceOptions) -> None:
            self.address = options.kernel

    row = PlaceKind(Host, label="host {host}", schemes=("ssh://",), costly=True, lacks=("by SSH", ("limits",)))
    monkeypatch.setitem(PLACES, "ssh", row)
    target = ExecutionTarget(kernel="ssh://me@there/python3")
    executor = target.executor(cwd=tmp_path)

    assert (target.text, target.kind.costly, target.kind.wall) == ("host there", True, False)
    assert executor.walls == "none"
    with pytest.raises(ConfigError, match="limits is not supported by SSH"):
        target.executor(cwd=tmp_path, limits={"memory": 10**9})
    with pytest.raises(ConfigError, match="net applies only to a sandbox"):
        ExecutionTarget(kernel="ssh://me@there/python3", net=True)


@pytest.mark.parametrize("name", ["http_proxy", "HTTPS_PROXY", "all_proxy"])
def test_a_proxy_without_credentials_is_passed(name: str) -> None:
    assert scrub_environment({name: "http://proxy:3128"}) == {name: "http://proxy:3128"}


@pytest.mark.parametrize("url", ["http://me:p/w@proxy:3128", "http://me:p#w@proxy", "me:secret@proxy:3128", "me@proxy"])
def test_a_proxy_with_credentials_is_dropped(url: str) -> None:
    assert scrub_environment({"http_proxy": url}) == {}
