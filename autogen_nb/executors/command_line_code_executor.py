"""The command-line executors with AutoGen's names: on this machine, and in a container."""

import ast
import builtins
import inspect
import keyword
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autogen_nb.core.text.outputs import text_of
from autogen_nb.errors import ConfigError, ExecutionError
from autogen_nb.executors.code_executor import OwnedExecutor, one_directory
from autogen_nb.kernels.places.container import IMAGE, ContainerProvisioner, Leaves
from autogen_nb.outputs import Output
from autogen_nb.trusted.held_folder import HeldFolder

PROMPT = """You have access to the following user defined functions. They can be imported from the module \
`$module_name` by their names, for example `from $module_name import $example`.

$functions"""
"""The prompt about the functions, with the placeholders ``$module_name``, ``$functions`` and ``$example``."""


@dataclass(frozen=True, slots=True)
class Alias:
    """An import under another name: ``import name as alias``."""

    name: str
    alias: str


@dataclass(frozen=True, slots=True)
class ImportFromModule:
    """An import of names from a module: ``from module import ...``."""

    module: str
    imports: Sequence[str | Alias]


Import = str | ImportFromModule | Alias
"""A module's name, a module under another name, or names from a module."""


@dataclass
class FunctionWithRequirements:
    """A function with its requirements, callable like the function."""

    func: Callable[..., Any]
    python_packages: Sequence[str] = ()
    global_imports: Sequence[Import] = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.func(*args, **kwargs)


def with_requirements(
    python_packages: Sequence[str] = (), global_imports: Sequence[Import] = ()
) -> Callable[[Callable[..., Any]], FunctionWithRequirements]:
    """A decorator that declares a function's requirements.

    Parameters
    ----------
    python_packages
        Packages that pip installs before the first block runs.
    global_imports
        Imports for the module: names of modules, `Alias`, `ImportFromModule`.
    """
    return lambda function: FunctionWithRequirements(function, python_packages, global_imports)


class FunctionsModule:
    def __init__(self, functions: Sequence[Any] = (), module: str = "functions") -> None:
        if not module.isidentifier() or keyword.iskeyword(module):
            raise ConfigError(f"functions_module is {module!r}; it must be a valid name of a module")
        requirements = [
            each if isinstance(each, FunctionWithRequirements) else FunctionWithRequirements(each) for each in functions
        ]
        self._names = [getattr(required.func, "__name__", "") for required in requirements]
        imports = dict.fromkeys(_import(item)[0] for required in requirements for item in required.global_imports)
        self.module = module
        self.packages = tuple(dict.fromkeys(name for required in requirements for name in required.python_packages))
        self._texts = [_module_source(required, set(self._names)) for required in requirements]
        head = "\n".join(["from __future__ import annotations", "", *imports])
        self.source = "\n\n\n".join([head, *self._texts]) + "\n"

    def write(self, folder: Path) -> None:
        """Writes the module to the folder, if there are functions."""
        if not self._texts:
            return
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with HeldFolder(folder) as held:
                held.save(f"{self.module}.py", self.source.encode())
        except OSError as error:
            raise ExecutionError(f"the functions cannot be written to {str(folder)!r}: {error}") from error

    def prompt(self, template: str = PROMPT) -> str:
        """Describes the functions for a model; "" without functions."""
        if not self._texts:
            return ""
        example, functions = self._names[0], "\n\n".join(map(_stub, self._texts))
        prompt = template.replace("$module_name", self.module).replace("$example", example)
        return prompt.replace("$functions", functions)


def _module_source(requirements: FunctionWithRequirements, known: set[str]) -> str:
    function, name = requirements.func, getattr(requirements.func, "__name__", "")
    if not inspect.isfunction(function):
        raise ConfigError(f"functions contains {function!r}; each must be a Python function")
    try:
        source = textwrap.dedent(inspect.getsource(function))
        node = ast.parse(source).body[0]
    except (OSError, TypeError, SyntaxError, IndexError) as error:
        raise ConfigError(
            f"the source of the function {name!r} is not available ({error}); define it by `def` in a file or a cell"
        ) from error
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        raise ConfigError(f"{name!r} is not defined by `def`, so code cannot import it")
    if outer := function.__code__.co_freevars:
        raise ConfigError(f"the function {name!r} takes {', '.join(outer)} from an outer function; define them inside")
    decorators = [each for each in node.decorator_list if not _declares_requirements(each)]
    outside = [*decorators, *node.args.defaults, *filter(None, node.args.kw_defaults)]
    used = {each.id for part in outside for each in ast.walk(part) if isinstance(each, ast.Name)}
    available = known.union(dir(builtins), *(_import(each)[1] for each in requirements.global_imports))
    if missing := sorted((used | _globals(function.__code__)) - available):
        raise ConfigError(
            f"the function {name!r} uses {', '.join(missing)} of its module, which the code cannot access: "
            "import it within the function, or name it by with_requirements(global_imports=[...])"
        )
    lines = source.splitlines()
    return "\n".join(line for each in [*decorators, node] for line in lines[each.lineno - 1 : each.end_lineno])


def _declares_requirements(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return getattr(called, "attr", getattr(called, "id", "")) == with_requirements.__name__


def _globals(code: Any) -> set[str]:
    import dis

    names = {str(step.argval) for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return names.union(*(_globals(each) for each in code.co_consts if inspect.iscode(each)))


def _import(requirements: Import) -> tuple[str, list[str]]:
    match requirements:
        case Alias(name=name, alias=alias):
            return f"import {name} as {alias}", [alias]
        case ImportFromModule(module=module, imports=names):
            listed = [f"{one.name} as {one.alias}" if isinstance(one, Alias) else one for one in names]
            return f"from {module} import {', '.join(listed)}", [one.split()[-1] for one in listed]
        case _:
            return f"import {requirements}", [requirements.partition(".")[0]]


def _stub(text: str) -> str:
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    doc = ast.get_docstring(node, clean=True)
    node.decorator_list = []
    node.body = [*([ast.Expr(ast.Constant(doc))] if doc else []), ast.Expr(ast.Constant(...))]
    return ast.unparse(node)


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
