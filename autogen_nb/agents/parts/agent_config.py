"""What AutoGen's loose configuration means: exact values, or one clear error at construction."""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast

from autogen_nb.agents.parts.execution_target import ExecutionTarget, Sandbox
from autogen_nb.core.chats.code_step import Reach, RunCode
from autogen_nb.core.chats.human_input import MODES, Mode
from autogen_nb.core.policy.organisation_policy import OrganisationPolicy
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.core.ports import Executor, Model
from autogen_nb.effects import CONFIRMS, Confirm
from autogen_nb.errors import ConfigError, WrongType
from autogen_nb.run import engine, policy

_OWN_KEYS = ("kernel", "limits", "net", "passed", "restore", "sandbox", "timeout", "use_docker", "work_dir")
"""What belongs to an executor that is made here."""

_CODE_KEYS = ("confirm", "executor", "last_n_messages", "output_dir", "pictures", *_OWN_KEYS)
_RESTORES: tuple[Literal["nothing", "replay"], ...] = ("nothing", "replay")


@dataclass(frozen=True, slots=True)
class CodeConfig:
    """How an agent runs code.

    Parameters
    ----------
    release
        Ends an executor that was made for the agent.
    output_dir
        Where output that is too long to be shown is kept whole in a file, if anywhere.
    pictures
        Whether who reads the output is sent the plots, too.
    timeout
        Seconds for one block; None leaves it to the executor.
    """

    executor: Executor
    reach: Reach = "auto"
    confirm: Confirm = "never"
    release: Callable[[], object] | None = None
    output_dir: Path | None = None
    pictures: bool = False
    timeout: float | None = None

    @property
    def scope(self) -> PathScope:
        """Where the code stands: the executor's folder, with `output_dir` as what is the chat's own there."""
        folder = Path(getattr(self.executor, "cwd", None) or Path.cwd()).absolute()
        own = "" if self.output_dir is None else str(folder / self.output_dir)
        return PathScope(str(folder), own, str(Path("~").expanduser()))

    def step(self, *, together: bool) -> RunCode:
        """The step that runs code so, block by block or the blocks of a message `together`."""
        return RunCode(self.reach, self.confirm, together, pictures=self.pictures, scope=self.scope)


def read_human_input_mode(mode: str) -> Mode:
    """The mode, if it is one."""
    for known in MODES:
        if mode == known:
            return known
    raise ConfigError(f"human_input_mode is {mode!r}; it must be one of {', '.join(MODES)}")


def read_llm_config(llm_config: Any) -> Model | None:
    """The model that an ``llm_config`` names; a model itself and a model's name are taken too."""
    if llm_config is None or llm_config is False:
        return None
    if hasattr(llm_config, "reply"):
        model: Model = llm_config
        return model
    from autogen_nb.models.config.model_selection import model_for

    return model_for(llm_config)


def read_code_config(config: Any) -> CodeConfig | None:
    """How code is run for a ``code_execution_config``, as the organisation's policy has it; None where it is not.

    Raises
    ------
    WrongType
        For a key that is not known.
    ConfigError
        For a value that is out of range or keys that exclude each other.
    """
    if config is False:
        return None
    organisation = policy()
    if isinstance(config, CodeConfig):
        executor, confirm = _usable(config.executor, organisation), organisation.confirmed(_confirm(config.confirm))
        return replace(config, executor=executor, confirm=confirm)
    if config is None:
        config = {}
    if not isinstance(config, Mapping):
        raise WrongType(f"code_execution_config is {config!r}; it must be a dict, or False for no code execution")
    given = dict(config)
    if "code_executor" in given:
        given["executor"] = given.pop("code_executor")
    for key in given:
        if key not in _CODE_KEYS:
            near = difflib.get_close_matches(str(key), _CODE_KEYS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known keys are {', '.join(_CODE_KEYS)}"
            raise WrongType(f"code_execution_config has no key {key!r}; {hint}")
    reach, confirm = (
        _reach(given.get("last_n_messages", "auto")),
        organisation.confirmed(_confirm(given.get("confirm", "never"))),
    )
    executor = _executor(given, organisation)
    release = None if given.get("executor") is not None else _kept_until_exit(executor)
    return CodeConfig(executor, reach, confirm, release, _output_dir(given.get("output_dir")), _pictures(given))


def _reach(value: Any) -> Reach:
    if value == "auto" or (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
        reach: Reach = value
        return reach
    raise ConfigError(f'last_n_messages is {value!r}; it must be "auto", 0 for off, or a number of messages')


def _output_dir(value: Any) -> Path | None:
    if value is not None and not isinstance(value, str | Path):
        raise ConfigError(f"output_dir is {value!r}; it must be a folder's path")
    return None if value is None else Path(value)


def _pictures(given: Mapping[str, Any]) -> bool:
    pictures = given.get("pictures", False)
    if not isinstance(pictures, bool):
        raise ConfigError(
            f"pictures is {pictures!r}; it is True where the model that reads the output can see, or False"
        )
    return pictures


def _confirm(value: Any) -> Confirm:
    for known in CONFIRMS:
        if value == known:
            return known
    raise ConfigError(f"confirm is {value!r}; it must be one of {', '.join(CONFIRMS)}")


def _executor(given: Mapping[str, Any], organisation: OrganisationPolicy) -> Executor:
    executor = given.get("executor")
    settings = [key for key in _OWN_KEYS if given.get(key) is not None]
    if executor is not None:
        if settings:
            raise ConfigError(f"executor= stands alone: {', '.join(settings)} belongs to the executor itself")
        return _usable(executor, organisation)
    timeout, work_dir = given.get("timeout"), given.get("work_dir")
    if timeout is not None and not (isinstance(timeout, int | float) and timeout > 0):
        raise ConfigError(f"timeout is {timeout!r}; it must be a number of seconds above 0")
    cwd = Path.cwd() if work_dir is None else Path(work_dir)
    where = _where(given)
    if where == ExecutionTarget() and given.get("sandbox") is None and given.get("use_docker") is None:
        # Nothing was said about walls.
        where = ExecutionTarget(organisation.sandbox)
    organisation.check_walls(where.sandbox, "the code")
    return where.executor(
        cwd=cwd, timeout=timeout, limits=_limits(given), restore=_restore(given), passed=_passed(given)
    )


def _usable(executor: Any, organisation: OrganisationPolicy) -> Executor:
    organisation.check_walls(getattr(executor, "walls", "none"), "the executor")
    if hasattr(executor, "run"):
        chosen: Executor = executor
        return chosen
    if not callable(getattr(executor, "execute_code_blocks", None)):
        raise ConfigError(f"executor is {executor!r}; it must be an executor, such as LocalCommandLineCodeExecutor()")
    from autogen_nb.executors.adapted_executor import AdaptedExecutor

    return AdaptedExecutor(executor)


def _where(given: Mapping[str, Any]) -> ExecutionTarget:
    use_docker, kernel, net = given.get("use_docker"), given.get("kernel"), given.get("net")
    sandbox = given.get("sandbox") or ("docker" if use_docker else "none")
    if use_docker and sandbox != "docker":
        raise ConfigError(f"use_docker is {use_docker!r} and sandbox is {sandbox!r}; give one of them")
    if kernel is not None and not (isinstance(kernel, str) and kernel.strip()):
        raise ConfigError(f"kernel is {kernel!r}; it must be an installed kernel's name or a server's address")
    if net is not None and not isinstance(net, bool):
        raise ConfigError(f"net is {net!r}; it must be True or False")
    # It checks its values itself.
    return ExecutionTarget(cast("Sandbox", sandbox), bool(net), kernel or "", _images(use_docker))


def _images(use_docker: Any) -> tuple[str, ...]:
    images = [use_docker] if isinstance(use_docker, str) else use_docker
    if images is None or isinstance(images, bool):
        return ()
    if not (isinstance(images, list | tuple) and images and all(isinstance(name, str) for name in images)):
        raise ConfigError(f"use_docker is {use_docker!r}; it must be True, False, an image's name or a list of names")
    return tuple(images)


def _limits(given: Mapping[str, Any]) -> Mapping[str, Any] | None:
    limits = given.get("limits")
    if limits is not None and not isinstance(limits, Mapping):
        raise ConfigError(f"limits is {limits!r}; it must be a dict, such as {{'memory': '2 GB'}}")
    return limits


def _restore(given: Mapping[str, Any]) -> Literal["nothing", "replay"]:
    restore = given.get("restore", "nothing")
    for known in _RESTORES:
        if restore == known:
            return known
    raise ConfigError(f"restore is {restore!r}; it must be one of {', '.join(_RESTORES)}")


def _passed(given: Mapping[str, Any]) -> tuple[str, ...]:
    passed = given.get("passed") or ()
    if not (isinstance(passed, list | tuple | set | frozenset) and all(isinstance(name, str) for name in passed)):
        raise ConfigError(f"passed is {passed!r}; it must be a list of names of environment variables")
    return tuple(passed)


def _kept_until_exit(executor: Executor) -> Callable[[], object]:
    """Has the executor stopped when the process ends; calling what is returned stops it earlier."""
    forget = engine.at_exit(executor.stop)

    def release() -> None:
        forget()
        engine.submit(executor.stop())

    return release
