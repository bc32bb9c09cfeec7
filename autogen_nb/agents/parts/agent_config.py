"""Checks AutoGen's configuration and converts it to typed values; an error names the invalid setting."""

import difflib
import gc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, cast

from autogen_nb.core.chats.code_step import Reach, RunCode
from autogen_nb.core.policy.organisation_policy import OrganisationPolicy
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.core.ports import Executor, Model
from autogen_nb.effects import CONFIRMS, Confirm
from autogen_nb.engine import engine
from autogen_nb.errors import ConfigError, WrongType
from autogen_nb.kernels.places.place import Place
from autogen_nb.trusted import policy_file

T = TypeVar("T")

_EXECUTOR_KEYS = ("kernel", "limits", "net", "passed", "sandbox", "timeout", "use_docker", "work_dir")
"""The keys of a ``code_execution_config`` that configure a new executor."""

_CODE_KEYS = ("confirm", "executor", "last_n_messages", "output_dir", "pictures", *_EXECUTOR_KEYS)
_DEFAULTS: Mapping[str, Any] = {"confirm": "never", "last_n_messages": "auto", "pictures": False}

_NO_RESTORE = (
    "code_execution_config has no key 'restore' any more; leave it out, and use %%autogen or autogen-nb chat, which go "
    "back to a checkpoint after a crash"
)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_reach(value: Any) -> bool:
    return value == "auto" or (isinstance(value, int) and not _is_bool(value) and value >= 0)


def _are_names(value: Any) -> bool:
    return isinstance(value, list | tuple | set | frozenset) and all(isinstance(name, str) for name in value)


def _are_images(value: Any) -> bool:
    return isinstance(value, bool | str) or (isinstance(value, list | tuple) and bool(value) and _are_names(value))


_VALID: Mapping[str, tuple[Callable[[Any], bool], str]] = {
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
    "pictures": (_is_bool, "True if the model that reads the output accepts images, or False"),
    "timeout": (lambda value: isinstance(value, int | float) and value > 0, "a number of seconds above 0"),
    "use_docker": (_are_images, "True, False, an image's name or a list of names"),
}
"""Maps a key to a test of the value, and to a description of valid values for error messages."""


@dataclass(frozen=True, slots=True)
class CodeConfig:
    executor: Executor
    reach: Reach = "auto"
    confirm: Confirm = "never"
    release: Callable[[], object] | None = None
    output_dir: Path | None = None
    pictures: bool = False
    timeout: float | None = None

    @property
    def step(self) -> RunCode:
        """The reply step that runs code with these settings."""
        # A guard asks about effects of Python code when they happen.
        is_guarded = getattr(self.executor, "why_no_guard", "none") == ""
        return RunCode(self.reach, self.confirm, scope=self.scope, guarded=is_guarded)

    @property
    def scope(self) -> PathScope:
        """The path scope of the executor's folder, with `output_dir` as the chat's own folder."""
        folder = Path(getattr(self.executor, "cwd", None) or Path.cwd()).absolute()
        own_folder = "" if self.output_dir is None else str(folder / self.output_dir)
        private = bool(getattr(self.executor, "private_temporary", False))
        return PathScope(str(folder), own_folder, str(Path("~").expanduser()), private_temporary=private)


def one_of(name: str, value: Any, choices: Sequence[T]) -> T:
    if value in choices:
        return choices[choices.index(value)]
    raise ConfigError(f"{name} is {value!r}; it must be one of {', '.join(map(str, choices))}")


def read_client(value: Any) -> Any:
    """A team's `model_client`, which is a model."""
    if not hasattr(value, "reply"):
        raise ConfigError(f"model_client is {value!r}; give a client: OpenAIChatCompletionClient(model='gpt-6-sol')")
    return value


def read_count(name: str, value: Any, minimum: int = 1) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < minimum:
        raise ConfigError(f"{name} is {value!r}; it must be a whole number, and at least {minimum}")
    return value


def read_llm_config(llm_config: Any) -> Model | None:
    """The model for an ``llm_config``, which may also be a model or its name; None without a model."""
    if llm_config is None or llm_config is False:
        return None
    if hasattr(llm_config, "reply"):
        return cast("Model", llm_config)
    from autogen_nb.models.config.model_selection import model_for

    if isinstance(llm_config, Mapping):
        # The agent itself adds the definitions of its tools and functions to each request.
        llm_config = {key: value for key, value in llm_config.items() if key not in ("functions", "tools")}
    return model_for(llm_config)


def read_code_config(config: Any) -> CodeConfig | None:
    """The settings of a ``code_execution_config`` under the organisation's policy; None if `config` is False."""
    if config is False:
        return None
    organisation = policy_file.policy()
    if isinstance(config, CodeConfig):
        confirm = organisation.stricter_confirm(one_of("confirm", config.confirm, CONFIRMS))
        return replace(config, executor=_usable(config.executor, organisation), confirm=confirm)
    if config is not None and not isinstance(config, Mapping):
        raise WrongType(f"code_execution_config is {config!r}; it must be a dict, or False for no code execution")
    options = dict(config or {})
    if "code_executor" in options:
        options["executor"] = options.pop("code_executor")
    for key, value in options.items():
        _check(key, value)
    creates = options.get("executor") is None
    settings = [] if creates else [key for key in _EXECUTOR_KEYS if options.get(key) is not None]
    if settings:
        raise ConfigError(f"executor= cannot be combined with {', '.join(settings)}; configure the executor itself")
    options = {**dict.fromkeys(_CODE_KEYS), **_DEFAULTS, **options}
    executor = _create_executor(options, organisation) if creates else _usable(options["executor"], organisation)
    confirm, release = organisation.stricter_confirm(options["confirm"]), _stop_at_exit(executor) if creates else None
    output_dir = None if options["output_dir"] is None else Path(options["output_dir"])
    return CodeConfig(executor, options["last_n_messages"], confirm, release, output_dir, options["pictures"])


def _check(key: str, value: Any) -> None:
    if key == "restore":
        raise WrongType(_NO_RESTORE)
    if key not in _CODE_KEYS:
        similar = difflib.get_close_matches(str(key), _CODE_KEYS, n=1)
        hint = f"did you mean {similar[0]!r}?" if similar else f"known keys are {', '.join(_CODE_KEYS)}"
        raise WrongType(f"code_execution_config has no key {key!r}; {hint}")
    if key in _VALID and (value is not None or key in _DEFAULTS):
        is_valid, expected = _VALID[key]
        if not is_valid(value):
            raise ConfigError(f"{key} is {value!r}; it must be {expected}")


def _create_executor(options: Mapping[str, Any], organisation: OrganisationPolicy) -> Executor:
    use_docker, kernel, net = options["use_docker"], options["kernel"], options["net"]
    sandbox: Any = options["sandbox"] or ("docker" if use_docker else "none")
    if use_docker and sandbox != "docker":
        raise ConfigError(f"use_docker is {use_docker!r} and sandbox is {sandbox!r}; give one of them")
    images = () if use_docker is None or isinstance(use_docker, bool) else use_docker
    place = Place(sandbox, bool(net), kernel or "", (images,) if isinstance(images, str) else tuple(images))
    if place == Place() and options["sandbox"] is None and use_docker is None:
        place = Place(organisation.sandbox)
    organisation.check_sandbox(place.sandbox, "the code")
    limits, passed = options["limits"], tuple(options["passed"] or ())
    place.check_options(limits=limits, passed=passed)
    from autogen_nb.executors.block_executor import BlockExecutor
    from autogen_nb.kernels.limits.block_limits import Limits

    limits, cwd = None if limits is None else Limits.of(limits), options["work_dir"] or Path.cwd()
    return BlockExecutor(place=place, cwd=cwd, timeout=options["timeout"], limits=limits, passed=passed)


def _usable(executor: Any, organisation: OrganisationPolicy) -> Executor:
    place = getattr(executor, "place", None)
    organisation.check_sandbox(place.sandbox if isinstance(place, Place) else "none", "the executor")
    if hasattr(executor, "run"):
        return cast("Executor", executor)
    if not callable(getattr(executor, "execute_code_blocks", None)):
        raise ConfigError(f"executor is {executor!r}; it must be an executor, such as LocalCommandLineCodeExecutor()")
    from autogen_nb.executors.code_executor import AdaptedExecutor

    return AdaptedExecutor(executor)


def _stop_at_exit(executor: Executor) -> Callable[[], object]:
    unregister = engine.at_exit(executor.stop)
    _created[id(executor)] = executor

    def release() -> None:
        unregister()
        _created.pop(id(executor), None)
        engine.submit(executor.stop())

    return release


_created: dict[int, Executor] = {}
"""The executors that this module created and that are not released, by `id()`."""


def stop_unreachable_kernels(executor: Executor) -> None:
    """Stops the kernels of agents that are no longer used, if this executor is about to start a kernel.

    Agents that have talked refer to each other, so only Python's cyclic garbage collector frees them.
    """
    starts = id(executor) in _created and not getattr(executor, "alive", True)
    if starts and any(getattr(other, "alive", False) for other in list(_created.values())):
        gc.collect()
