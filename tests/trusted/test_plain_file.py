import os
from collections.abc import Callable
from pathlib import Path

import pytest

from autogen_nb.errors import ConfigError
from autogen_nb.models.client_types import Image
from autogen_nb.models.wrappers.replay import ReplayModel


@pytest.mark.parametrize("read", [ReplayModel, Image.from_file])
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path, read: Callable[[Path], object]) -> None:
    os.mkfifo(tmp_path / "named.png")

    with pytest.raises(ConfigError, match="it is no plain file"):
        read(tmp_path / "named.png")
