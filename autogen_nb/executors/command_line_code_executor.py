"""The command-line executors with AutoGen's names: on this machine, and in a container."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autogen_nb.core.text.execution_report import text_of
from autogen_nb.errors import ConfigError, ExecutionError
from autogen_nb.executors.code_executor import OwnedExecutor, one_directory
from autogen_nb.executors.functions_module import PROMPT, FunctionsModule
from autogen_nb.kernels.places.container import IMAGE, ContainerProvisioner, Leaves
from autogen_nb.outputs import Output


class CommandLineCodeExecutor(OwnedExecutor):
    """An executor that runs each block as a program, with functions that the blocks can import.

    The other parameters are those of `OwnedExecutor`.

    Parameters
    ----------
    functions
        The person's functions; code imports them from the module `functions_module`.
    execution_policies
        Maps each language to True to run its blocks, or to False to only save them.
    cleanup_temp_files
        True to remove the blocks' files after the run, except files named with ``# filename:``.
    init_command
        A shell command to run before the first block.
    """

    def __init__(
        self,
        *,
        functions: Sequence[Any] = (),
        functions_module: str = "functions",
        execution_policies: Mapping[str, bool] | None = None,
        cleanup_temp_files: bool = False,
        init_command: str | None = None,
        **options: Any,
    ) -> None:
        self._functions = FunctionsModule(functions, functions_module)
        self.functions = list(functions)
        self.functions_module = functions_module
        self._init_command = init_command
        self._is_ready = False
        leaves = "named" if cleanup_temp_files else "all"
        only_saved = [language for language, runs in (execution_policies or {}).items() if not runs]
        super().__init__(in_kernel=False, leaves=leaves, only_saved=only_saved, **options)

    def format_functions_for_prompt(self, prompt_template: str = PROMPT) -> str:
        """Describes the functions for a model, by signature and docstring; "" without functions.

        Parameters
        ----------
        prompt_template
            A template with ``$module_name``, ``$functions`` and, for the name of a function, ``$example``.
        """
        return self._functions.prompt(prompt_template)

    async def _prepare(self) -> None:
        await super()._prepare()
        # Earlier code may have overwritten the module.
        self._functions.write(self.work_dir)
        if self._is_ready:
            return
        if self._init_command is not None:
            await self._check_run(
                ["sh", "-c", self._init_command], f"{self._init_command!r} failed before the code could run"
            )
        if packages := self._functions.packages:
            pip = [self._python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
            await self._check_run([*pip, *packages], f"{', '.join(packages)} could not be installed for the code")
        self._is_ready = True

    async def _check_run(self, argv: Sequence[str], failure: str) -> None:
        """Runs a program that must succeed; otherwise raises an error with `failure` and the last lines of output."""
        outputs: list[Output] = []
        if not (await self._shell.run(argv, None, outputs.append)).ok:
            raise ExecutionError(f"{failure}: {' '.join(text_of(outputs).splitlines()[-3:])}")

    async def _end_code(self, note: str) -> None:
        await super()._end_code(note)
        self._is_ready = False


class LocalCommandLineCodeExecutor(CommandLineCodeExecutor):
    """Runs each block as a program on this machine, with the rights of this process.

    The other parameters are those of `CommandLineCodeExecutor`. By default, this process's interpreter runs
    Python blocks, which can import packages that earlier blocks installed; `stop` removes these packages.

    Parameters
    ----------
    virtual_env_context
        A virtual environment whose interpreter runs the blocks: the result of `create_virtual_env` in `code_utils`,
        or of `venv.EnvBuilder.ensure_directories`.
    """

    def __init__(
        self,
        timeout: float = 60,
        virtual_env_context: Any = None,
        work_dir: str | Path | None = None,
        functions: Sequence[Any] = (),
        functions_module: str = "functions",
        execution_policies: Mapping[str, bool] | None = None,
        **more: Any,
    ) -> None:
        more |= {"functions": functions, "functions_module": functions_module, "execution_policies": execution_policies}
        python = sys.executable if virtual_env_context is None else getattr(virtual_env_context, "env_exe", None)
        if not isinstance(python, str) or not Path(python).exists():
            raise ConfigError(
                f"virtual_env_context is {virtual_env_context!r}, which has no Python interpreter (env_exe); create "
                "the environment with venv.EnvBuilder(with_pip=True).create(folder), and pass the result of "
                "ensure_directories(folder)"
            )
        super().__init__(work_dir=one_directory(work_dir=work_dir), timeout=timeout, python=python, **more)


class DockerCommandLineCodeExecutor(CommandLineCodeExecutor):
    """Runs each block as a program in a container that sees only the working directory.

    The other parameters are those of `CommandLineCodeExecutor`.

    Parameters
    ----------
    image
        The image, which is pulled if necessary; it needs ``sh`` and ``python3``.
    container_name
        The container's name in the container engine.
    bind_dir
        The path of the working directory on the machine of the container engine, if the path differs there.
    auto_remove
        True to remove the container when it ends.
    stop_container
        True to end the container when `stop` is called, or when this process ends.
    delete_tmp_files
        AutoGen 0.2's name for `cleanup_temp_files`.
    net
        True to allow network access.
    extra_volumes
        Further directories in the container: ``{"/here": {"bind": "/there", "mode": "ro"}}``.
    extra_hosts, device_requests
        Host names and devices for the container, in the format of the Docker library.

    Raises
    ------
    ConfigError
        If the container engine or the Docker library is missing; the message says what to do.
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
        delete_tmp_files: bool = False,
        net: bool = False,
        extra_volumes: Mapping[str, Mapping[str, str]] | None = None,
        extra_hosts: Mapping[str, str] | None = None,
        device_requests: Sequence[Any] | None = None,
        **more: Any,
    ) -> None:
        cwd = one_directory(work_dir=work_dir)
        more = {"cleanup_temp_files": delete_tmp_files, "execution_policies": execution_policies, **more}
        options = {"volumes": extra_volumes, "extra_hosts": extra_hosts, "device_requests": device_requests}
        settings = container_settings(
            options, container_name, bind_dir, auto_remove=auto_remove, stop_container=stop_container, net=net
        )
        provisioner = ContainerProvisioner(cwd=cwd, images=[image], **settings)
        super().__init__(work_dir=cwd, timeout=timeout, provisioner=provisioner, **more)


def container_settings(
    options: Mapping[str, Any],
    container_name: str | None = None,
    bind_dir: str | Path | None = None,
    *,
    auto_remove: bool = True,
    stop_container: bool = True,
    net: bool = False,
) -> dict[str, Any]:
    """Converts AutoGen's parameters to those of `ContainerProvisioner`; Docker's library gets `options`."""
    leaves: Leaves = "running" if not stop_container else "nothing" if auto_remove else "ended"
    host_cwd = None if bind_dir is None else one_directory(bind_dir=bind_dir)
    options = {name: value or None for name, value in options.items()} | {"name": container_name}
    return {"net": net, "host_cwd": host_cwd, "leaves": leaves, "options": options}
