"""The executors by command line with AutoGen's names: on this machine, and in a container."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autogen_nb.errors import ConfigError
from autogen_nb.executors.code_executor import OwnedExecutor, one_directory
from autogen_nb.executors.handed_functions import PROMPT, HandedFunctions
from autogen_nb.kernels.places.container import IMAGE, ContainerPlace, Leaves
from autogen_nb.messages import CodeBlock


class CommandLineCodeExecutor(OwnedExecutor):
    """An executor that runs each block as a program of its own, with functions that its code can import.

    The other parameters are those of `OwnedExecutor`.

    Parameters
    ----------
    functions
        Functions of one's own; code imports them from the module `functions_module`.
    execution_policies
        Languages and whether their blocks run; where they do not, they are only saved. Others run.
    cleanup_temp_files
        Whether files of blocks go when the blocks have run; a file that its block names by ``# filename:`` stays.
    """

    def __init__(
        self,
        work_dir: Path,
        *,
        timeout: float,
        functions: Sequence[Any],
        functions_module: str,
        execution_policies: Mapping[str, bool] | None,
        cleanup_temp_files: bool,
        init_command: str | None = None,
        **program: Any,
    ) -> None:
        self._functions = HandedFunctions(tuple(functions), functions_module)
        self._init_command = init_command
        self._ready = False
        super().__init__(
            timeout=timeout,
            work_dir=work_dir,
            leaves="named" if cleanup_temp_files else "all",
            only_saved=[language for language, runs in (execution_policies or {}).items() if not runs],
            **program,
        )

    @property
    def functions(self) -> list[Any]:
        """The functions that code can import."""
        return list(self._functions.functions)

    @property
    def functions_module(self) -> str:
        """The name of their module."""
        return self._functions.module

    def format_functions_for_prompt(self, prompt_template: str = PROMPT) -> str:
        """What a model is told of the functions: heads and docstrings; "" where there are none.

        Parameters
        ----------
        prompt_template
            A text with ``$module_name`` and ``$functions`` in it.
        """
        return self._functions.prompt(prompt_template)

    async def _prepare(self) -> None:
        # Code may have written over them.
        self._functions.write(self.work_dir)
        if self._ready:
            return
        if self._init_command is not None:
            why = f"{self._init_command!r} failed before the code could run"
            await self._succeed(["sh", "-c", self._init_command], why)
        if packages := self._functions.packages:
            pip = [self._python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
            await self._succeed([*pip, *packages], f"{', '.join(packages)} could not be installed for the code")
        self._ready = True

    async def _stop(self, told: str) -> None:
        await super()._stop(told)
        self._ready = False

    def _code_file(self, block: CodeBlock) -> Path | None:
        return self.cwd / self._file_name(block)


class LocalCommandLineCodeExecutor(CommandLineCodeExecutor):
    """Runs each block as a program of this machine, which can do what its user can do.

    The other parameters are those of `CommandLineCodeExecutor`. Python is this interpreter, and what code installs
    comes on top of its packages until `stop`.

    Parameters
    ----------
    virtual_env_context
        A virtual environment whose Python and programs are taken: what `venv.EnvBuilder.ensure_directories` returns.
    """

    def __init__(
        self,
        timeout: float = 60,
        virtual_env_context: Any = None,
        work_dir: str | Path | None = None,
        functions: Sequence[Any] = (),
        functions_module: str = "functions",
        execution_policies: Mapping[str, bool] | None = None,
        *,
        cleanup_temp_files: bool = False,
    ) -> None:
        super().__init__(
            one_directory(work_dir=work_dir),
            timeout=timeout,
            functions=functions,
            functions_module=functions_module,
            execution_policies=execution_policies,
            cleanup_temp_files=cleanup_temp_files,
            python=_interpreter(virtual_env_context),
        )


class DockerCommandLineCodeExecutor(CommandLineCodeExecutor):
    """Runs each block as a program in a container that sees the working directory alone.

    The other parameters are those of `CommandLineCodeExecutor`.

    Parameters
    ----------
    image
        The image, which is pulled where it is not there; it needs ``sh`` and ``python3``.
    container_name
        What the engine calls the container.
    bind_dir
        The directory of the engine's machine that is the working directory, where that has another path there.
    auto_remove
        Whether the container is removed when it ends.
    stop_container
        Whether it ends with `stop`, and with this process.
    net
        Whether the code may use the network.
    init_command
        What a shell runs in the container before the first block.
    extra_volumes
        Other directories that the code sees: ``{"/here": {"bind": "/there", "mode": "ro"}}``.
    extra_hosts, device_requests
        Names of hosts, and devices, for the container, as the engine takes them.

    Raises
    ------
    ConfigError
        When there is no engine, or no Docker library; the message says what to do.
    """

    def __init__(
        self,
        image: str = IMAGE,
        container_name: str | None = None,
        timeout: float = 60,
        work_dir: str | Path | None = None,
        bind_dir: str | Path | None = None,
        auto_remove: bool = True,
        stop_container: bool = True,
        execution_policies: Mapping[str, bool] | None = None,
        *,
        functions: Sequence[Any] = (),
        functions_module: str = "functions",
        delete_tmp_files: bool = False,
        net: bool = False,
        init_command: str | None = None,
        extra_volumes: Mapping[str, Mapping[str, str]] | None = None,
        extra_hosts: Mapping[str, str] | None = None,
        device_requests: Sequence[Any] | None = None,
    ) -> None:
        cwd = one_directory(work_dir=work_dir)
        settings = container_settings(
            net, bind_dir, auto_remove=auto_remove, stop_container=stop_container, name=container_name,
            volumes=extra_volumes, extra_hosts=extra_hosts, device_requests=device_requests,
        )  # fmt: skip
        super().__init__(
            cwd,
            timeout=timeout,
            functions=functions,
            functions_module=functions_module,
            execution_policies=execution_policies,
            cleanup_temp_files=delete_tmp_files,
            init_command=init_command,
            place=ContainerPlace(cwd=cwd, images=[image], **settings),
        )


def container_settings(
    net: bool, bind_dir: str | Path | None, *, auto_remove: bool, stop_container: bool, **more: Any
) -> dict[str, Any]:
    """What AutoGen's executors are told of a container, as `ContainerPlace` takes it; `more` is for the engine."""
    leaves: Leaves = "running" if not stop_container else "nothing" if auto_remove else "ended"
    bound = None if bind_dir is None else one_directory(bind_dir=bind_dir)
    given = {name: value or None for name, value in more.items()}
    return {"net": net, "bound": bound, "leaves": leaves, "more": given}


def _interpreter(context: Any) -> str:
    python = sys.executable if context is None else getattr(context, "env_exe", None)
    if not isinstance(python, str) or not Path(python).exists():
        raise ConfigError(
            f"virtual_env_context is {context!r}, without a Python of its own (env_exe); make the environment by "
            "venv.EnvBuilder(with_pip=True).create(folder), and give what ensure_directories(folder) returns"
        )
    return python
