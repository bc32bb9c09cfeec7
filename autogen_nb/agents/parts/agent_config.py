"""What AutoGen's loose configuration means: exact values, or one clear error at construction."""

import difflib
import gc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from autogen_nb.agents.parts.execution_target import ExecutionTarget
from autogen_nb.core.chats.code_step import Reach
from autogen_nb.core.policy.organisation_policy import OrganisationPolicy
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.core.ports import Executor, Model
from autogen_nb.effects import CONFIRMS, Confirm
from autogen_nb.errors import ConfigError, WrongType
from autogen_nb.run import engine, policy

T = TypeVar("T")

_OWN_KEYS = ("kernel", "limits", "net", "passed", "restore", "sandbox", "timeout", "use_docker", "work_dir")
"""What belongs to an executor that is made here."""

_CODE_KEYS = ("confirm", "executor", "last_n_messages", "output_dir", "pictures", *_OWN_KEYS)
_DEFAULTS: Mapping[str, Any] = {"confirm": "never", "last_n_messages": "auto", "pictures": False, "restore": "nothing"}
"""What holds where nothing is said; the other keys have None for that."""


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_reach(value: Any) -> bool:
    return value == "auto" or (isinstance(value, int) and not _is_bool(value) and value >= 0)


def _are_names(value: Any) -> bool:
    return isinstance(value, list | tuple | set | frozenset) and all(isinstance(name, str) for name in value)


def _are_images(value: Any) -> bool:
    return isinstance(value, bool | str) or (isinstance(value, list | tuple) and bool(value) and _are_names(value))


_FITS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "confirm": (lambda value: value in CONFIRMS, f"one of {', '.join(CONFIRMS)}"),
    "kernel": (
        lambda value: isinstance(value, str) and bool(value.strip()),
        "an installed kernel's name or a server's address",
    ),
    "last_n_messages": (_is_reach, '"auto", 0 for off, or a number of messages'),
    "limits": (lambda value: isinstance(value, Mapping), "a dict, such as {'memory': '2 GB'}"),
    "net": (_is_bool, "True or False"),
    "output_dir": (lambda value: isinstance(value, str | Path), "a folder's path"),
    "passed": (_are_names, "a list of names of environment variables"),
    "pictures": (_is_bool, "True where the model that reads the output can see, or False"),
    "restore": (lambda value: value in ("nothing", "replay"), "one of nothing, replay"),
    "timeout": (lambda value: isinstance(value, int | float) and value > 0, "a number of seconds above 0"),
    "use_docker": (_are_images, "True, False, an image's name or a list of names"),
}
"""Which values a key may have, and how that reads in an error."""


@dataclass(frozen=True, slots=True)
class CodeConfig:
    """How an agent runs code."""

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
        private = bool(getattr(self.executor, "private_temporary", False))
        return PathScope(str(folder), own, str(Path("~").expanduser()), private_temporary=private)


def one_of(name: str, value: Any, choices: Sequence[T]) -> T:
    """The value, if it is one of the choices for the setting of this name."""
    if value in choices:
        return choices[choices.index(value)]
    raise ConfigError(f"{name} is {value!r}; it must be one of {', '.join(map(str, choices))}")


def read_count(name: str, value: Any, least: int = 1) -> int:
    """The value of a setting that is a whole number."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ConfigError(f"{name} is {value!r}; it must be a whole number, and at least {least}")
    return value


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
    """How code is run for a ``code_execution_config``, as the organisation's policy has it; None where it is not."""
    if config is False:
        return None
    organisation = policy()
    if isinstance(config, CodeConfig):
        confirm = organisation.confirmed(one_of("confirm", config.confirm, CONFIRMS))
        return replace(config, executor=_usable(config.executor, organisation), confirm=confirm)
    if config is not None and not isinstance(config, Mapping):
        raise WrongType(f"code_execution_config is {config!r}; it must be a dict, or False for no code execution")
    given = dict(config or {})
    if "code_executor" in given:
        given["executor"] = given.pop("code_executor")
    for key, value in given.items():
        _check(key, value)
    own = given.get("executor") is None
    settings = [] if own else [key for key in _OWN_KEYS if given.get(key) is not None]
    if settings:
        raise ConfigError(f"executor= stands alone: {', '.join(settings)} belongs to the executor itself")
    given = {**dict.fromkeys(_CODE_KEYS), **_DEFAULTS, **given}
    executor = _own_executor(given, organisation) if own else _usable(given["executor"], organisation)
    return CodeConfig(
        executor,
        given["last_n_messages"],
        organisation.confirmed(given["confirm"]),
        _kept_until_exit(executor) if own else None,
        None if given["output_dir"] is None else Path(given["output_dir"]),
        given["pictures"],
    )


def _check(key: str, value: Any) -> None:
    if key not in _CODE_KEYS:
        near = difflib.get_close_matches(str(key), _CODE_KEYS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known keys are {', '.join(_CODE_KEYS)}"
        raise WrongType(f"code_execution_config has no key {key!r}; {hint}")
    if key in _FITS and (value is not None or key in _DEFAULTS):
        fits, what = _FITS[key]
        if not fits(value):
            raise ConfigError(f"{key} is {value!r}; it must be {what}")


def _own_executor(given: Mapping[str, Any], organisation: OrganisationPolicy) -> Executor:
    use_docker, kernel, net = given["use_docker"], given["kernel"], given["net"]
    sandbox: Any = given["sandbox"] or ("docker" if use_docker else "none")
    if use_docker and sandbox != "docker":
        raise ConfigError(f"use_docker is {use_docker!r} and sandbox is {sandbox!r}; give one of them")
    images = () if use_docker is None or isinstance(use_docker, bool) else use_docker
    target = ExecutionTarget(sandbox, bool(net), kernel or "", (images,) if isinstance(images, str) else tuple(images))
    if target == ExecutionTarget() and given["sandbox"] is None and use_docker is None:
        # Nothing was said about walls.
        target = ExecutionTarget(organisation.sandbox)
    organisation.check_walls(target.sandbox, "the code")
    return target.executor(
        cwd=Path(given["work_dir"] or Path.cwd()),
        timeout=given["timeout"],
        limits=given["limits"],
        restore=given["restore"],
        passed=tuple(given["passed"] or ()),
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


def _kept_until_exit(executor: Executor) -> Callable[[], object]:
    forget = engine.at_exit(executor.stop)
    _own[id(executor)] = executor

    def release() -> None:
        forget()
        _own.pop(id(executor), None)
        engine.submit(executor.stop())

    return release


_own: dict[int, Executor] = {}
"""The executors that were made for agents, by their identity."""


def give_back_unreachable(executor: Executor) -> None:
    """Ends the kernels of agents that nobody has any more, where another one is about to start.

    Agents that have spoken remember each other, so that nothing but the cycle collector finds out about them.
    """
    starts = id(executor) in _own and not getattr(executor, "alive", True)
    if starts and any(getattr(each, "alive", False) for each in list(_own.values())):
        gc.collect()
