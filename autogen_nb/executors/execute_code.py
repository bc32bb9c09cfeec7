"""AutoGen 0.2's functions that run a piece of code, or create an executor from a configuration."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autogen_nb.core.text.code_blocks import BASH, PYTHON, SHELL
from autogen_nb.errors import ConfigError
from autogen_nb.executors.command_line_code_executor import DockerCommandLineCodeExecutor, LocalCommandLineCodeExecutor
from autogen_nb.executors.jupyter_code_executor import EmbeddedIPythonCodeExecutor
from autogen_nb.kernels.outcome import TIMED_OUT
from autogen_nb.kernels.places.container import IMAGE
from autogen_nb.messages import CodeBlock

DEFAULT_TIMEOUT = 600  # seconds


def execute_code(
    code: str | None = None,
    timeout: float | None = None,
    filename: str | None = None,
    work_dir: str | Path | None = None,
    use_docker: bool | str | list[str] = False,
    lang: str = "python",
) -> tuple[int, str, str | None]:
    """Runs code as a program; returns its exit code, its output (or "Timeout"), and the image of its container or None.

    The code is saved in the file `filename` of `work_dir`, or read from it if `code` is None.
    """
    if lang.lower() not in PYTHON | SHELL | BASH:
        raise ConfigError(f"lang is {lang!r}; execute_code runs Python and shell code")
    folder = Path(work_dir or "extensions")
    if code is None and filename is None:
        raise ConfigError("execute_code needs the code, or the name of a file in work_dir")
    code = (folder / str(filename)).read_text(encoding="utf-8") if code is None else code
    image = IMAGE if use_docker is True else use_docker[0] if isinstance(use_docker, list) else use_docker or None
    settings: Any = {"timeout": timeout or DEFAULT_TIMEOUT, "work_dir": folder, "cleanup_temp_files": True}
    with (
        DockerCommandLineCodeExecutor(image, **settings)
        if image
        else LocalCommandLineCodeExecutor(**settings) as executor
    ):
        # The comment makes the executor save the block under this name and keep the file.
        named = code if filename is None else f"# filename: {filename}\n{code}"
        result = executor.execute_code_blocks([CodeBlock(lang.lower(), named)])
    return (1, "Timeout", image) if result.exit_code == TIMED_OUT else (result.exit_code, result.output, image)


def create_virtual_env(dir_path: str | Path, **env_args: Any) -> Any:
    """Creates a virtual environment for `LocalCommandLineCodeExecutor` like `venv.EnvBuilder`, by default with pip."""
    import venv

    builder = venv.EnvBuilder(**env_args or {"with_pip": True})
    builder.create(dir_path)
    return builder.ensure_directories(dir_path)


class CodeExecutorFactory:
    @staticmethod
    def create(code_execution_config: Mapping[str, Any]) -> Any:
        """The value of "executor"; if it is a name, a new executor with the settings in the entry of this name."""
        executor = code_execution_config.get("executor")
        if hasattr(executor, "execute_code_blocks"):
            return executor
        classes = {"ipython-embedded": EmbeddedIPythonCodeExecutor, "commandline-local": LocalCommandLineCodeExecutor}
        if executor not in classes:
            raise ConfigError(f"executor is {executor!r}; it must be an executor, or one of {', '.join(classes)}")
        return classes[executor](**code_execution_config.get(executor, {}))
