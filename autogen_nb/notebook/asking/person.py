"""Who answers a cell's questions: a person with buttons, a person who types, or nobody.

A cell asks the chat's questions, and four of its own: which model to use if none is configured, whether to copy the
variables that the task mentions, whether to run the blocks of an ended kernel again, and whether to undo a run although
some of its effects stay.
"""

import getpass
import io
import sys
from collections.abc import Awaitable, Generator, Iterable
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, NamedTuple, NoReturn, Protocol, TextIO, cast

from ipykernel.iostream import OutStream
from IPython.core.interactiveshell import InteractiveShell

from autogen_nb.core.ports import Human
from autogen_nb.engine import engine
from autogen_nb.errors import AutogenError, ChatUnfinished, ConfigError
from autogen_nb.events import ApprovalAsked, ApprovalGiven, CodeInputAsked, EffectAsked, HumanInputAsked, Recorded
from autogen_nb.human.rule_based_approver import RULE_PREFIX, RUN_ALL, NobodyToAsk
from autogen_nb.human.terminal_human import TerminalHuman, read_line
from autogen_nb.models.config.model_selection import NO_MODEL, ModelConnection
from autogen_nb.models.config.providers import (
    checked_base,
    host_of,
    login_of,
    provider_at,
    revealed,
    server_of,
    shown_url,
)
from autogen_nb.models.config.server_check import CheckedConnection, check_connection
from autogen_nb.models.remote.clients import OPENAI_URL, checked_key
from autogen_nb.views import in_words

_OFFER_AFTER = 3
"""After this many approvals in a row, the cell suggests fewer questions."""

OFFER = (
    "You ran three blocks in a row unchanged. `--confirm risky` asks only before code that reaches beyond this "
    "notebook's folder, writes, deletes, connects or starts something."
)

NOT_CONFIGURED = "No model is configured. Your task is kept."
KEY_NEEDED = "The key for `{host}` and the model `{model}` is not kept: type it again. Your task is kept."
_FEW = 8


@dataclass(frozen=True, slots=True)
class ModelForm:
    """A question for a model; with `only_key`, the address and the model are known."""

    head: str
    initial: ModelConnection
    offline: bool = True
    only_key: bool = False
    stop: str = "Do not run the task"


class ChoiceButton(NamedTuple):
    text: str
    answer: bool | None
    hint: str
    style: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """A question with the answers True and False, and perhaps a stop; if it is `optional`, no answer means False."""

    buttons: tuple[ChoiceButton, ...]
    typed: str
    stopped: str = ""
    optional: bool = False


COPY = Choice(
    (
        ChoiceButton("Copy", True, "Copy to the agent's kernel", "primary"),
        ChoiceButton("Do not copy", False, "Run the task without the variables"),
        ChoiceButton("Stop", None, "Do not run the task"),
    ),
    " [y/n] ",
    stopped="the task was not run",
    optional=True,
)


def copy_and_run_again(name: str) -> Choice:
    return Choice(
        (
            ChoiceButton(f"Copy {name} to the agent and run again", True, "The agent's kernel gets a copy", "primary"),
            ChoiceButton("Do not copy", False, "The assistant reads the error, and that the variable is yours"),
        ),
        " [y/n] ",
        optional=True,
    )


RESTORE = Choice(
    (
        ChoiceButton("Run again", True, "Run the blocks in a new kernel; you approve effects outside it", "primary"),
        ChoiceButton("Go on without", False, "The agent begins with an empty kernel"),
        ChoiceButton("Stop", None, "Run nothing"),
    ),
    "\n[y]es, [n]o: go on without them, [t] stop: ",
    stopped="nothing was run",
)
UNDO = Choice(
    (
        ChoiceButton("Undo", True, "Take back the conversation and the agent's variables", "primary"),
        ChoiceButton("Keep", False, "Take nothing back"),
    ),
    "\n[y]es, [n]o: ",
)
APPLY = Choice(
    (
        ChoiceButton("Put the new cell below", True, "Nothing runs until you run the cell", "primary"),
        ChoiceButton("Leave the cell as it is", False, "Put no cell into the notebook"),
    ),
    " Put the new cell below? [y/n] ",
    optional=True,
)
REVOKE = Choice(
    (
        ChoiceButton("Revoke", True, "Code asks again before these effects", "primary"),
        ChoiceButton("Keep", False, "Revoke nothing"),
    ),
    "\n[y]es, [n]o: ",
)


def key_for(url: str, stored: ModelConnection) -> str | None:
    """The stored key of the address's server, or else the key of its provider in the environment."""
    if server_of(url) == server_of(stored.base_url) and stored.api_key:
        return stored.api_key
    provider = provider_at(url)
    return (provider.key()[1] or None) if provider and server_of(url) == server_of(provider.address()) else None


def failure_message(error: BaseException, connection: ModelConnection, stored: ModelConnection) -> str:
    """Formats the error, and says if a key was not sent because it belongs to another server."""
    message = sentence(str(error)) if isinstance(error, AutogenError) else f"{type(error).__name__}: {error}"
    if stored.api_key and not connection.api_key:
        message += f" The key for `{host_of(stored.base_url)}` was not sent to `{host_of(connection.base_url)}`."
    return message


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


def loses_secrets(stored: ModelConnection, connection: ModelConnection) -> bool:
    """Returns whether the stored connection has a key or a login, and the new connection has neither."""
    stored_secret, secret = (each.api_key or login_of(each.base_url or "") for each in (stored, connection))
    return bool(stored_secret and not secret)


def choice_request(connection: ModelConnection, checked: CheckedConnection) -> str:
    host, models = host_of(connection.base_url), checked.models
    if not models:
        return f"`{host}` does not list its models: type the name of one."
    if checked.refused is None:
        message = f"`{host}` answers"
    elif checked.refused.status == HTTPStatus.NOT_FOUND:
        message = f"`{host}` has no model `{in_words.shortened(connection.model)}`"
    else:
        message = str(checked.refused).rstrip(".")
    more = f", and {len(models) - _FEW} more" if len(models) > _FEW else ""
    named = ", ".join(f"`{in_words.shortened(name)}`" for name in models[:_FEW])
    return f"{message}: choose one of its models: {named}{more}."


class Person(Human, Protocol):
    def connection(self, form: ModelForm) -> ModelConnection | Awaitable[ModelConnection]:
        """Asks which model to use, and tests its server."""

    def choose(self, choice: Choice, what: str) -> bool | Awaitable[bool]:
        """Asks for a choice, which `what` describes."""

    def for_row(self, title: str) -> Human:
        """Returns who answers the questions about one row of a table."""

    def stopping(self, what: str) -> Awaitable[object] | None:
        """Shows a stop button, and waits for a click; None for a person without buttons."""


class AbsentPerson(NobodyToAsk):
    """Answers in a notebook that a program executes, where no person can answer."""

    def connection(self, form: ModelForm) -> NoReturn:
        del form
        raise ConfigError(NO_MODEL)

    def choose(self, choice: Choice, what: str) -> bool:
        if choice.optional:
            return False
        raise ConfigError(f"nobody is there to answer, and --yes was not given. {what}")

    def for_row(self, title: str) -> "AbsentPerson":
        del title
        return self

    def stopping(self, what: str) -> None:
        """Does nothing."""


class RelayingHuman:
    """A human whose answers come from `_relay`, which gets the name of the method and its question."""

    def input(self, question: HumanInputAsked) -> Any:
        return self._relay("input", question)

    def approve(self, question: ApprovalAsked) -> Any:
        return self._relay("approve", question)

    def allow(self, question: EffectAsked) -> Any:
        return self._relay("allow", question)

    def typed(self, question: CodeInputAsked) -> Any:
        return self._relay("typed", question)

    def _relay(self, method: str, question: Any) -> Any:
        raise NotImplementedError


@contextmanager
def _printing_uncaptured() -> Generator[None, None, None]:
    """Prints to the cell or the terminal even if ``%%capture`` captures the output."""
    kernel = getattr(InteractiveShell.instance(), "kernel", None)
    if isinstance(sys.stdout, OutStream) or (kernel is None and not isinstance(sys.stdout, io.StringIO)):
        yield
        return
    page = sys.__stdout__ if kernel is None else _CellOutput(kernel)
    with redirect_stdout(cast("TextIO", page or sys.stdout)):
        yield


class _CellOutput(io.TextIOBase):
    """Sends text directly to the front end, below the running cell."""

    def __init__(self, kernel: Any) -> None:
        super().__init__()
        self._kernel = kernel

    def write(self, text: str) -> int:
        kernel, content = self._kernel, {"name": "stdout", "text": text}
        kernel.session.send(
            kernel.iopub_socket, "stream", content, parent=kernel.get_parent("shell"), ident=b"stream.stdout"
        )
        return len(text)


class TypingPerson(TerminalHuman):
    input = _printing_uncaptured()(TerminalHuman.input)
    approve = _printing_uncaptured()(TerminalHuman.approve)
    allow = _printing_uncaptured()(TerminalHuman.allow)

    def connection(self, form: ModelForm) -> ModelConnection:
        self._announce()
        message, proposal = form.head, form.initial
        offline = (
            "[o] run this with the model `offline` (a fixed analysis, no language model), " if form.offline else ""
        )
        while True:
            match _ask_line(f"{message} [s] name a server and its key, {offline}[t] stop? ").strip().lower():
                case "s":
                    stored = proposal
                    try:
                        proposal = _ask_connection(stored)
                        print(f"Asking {host_of(proposal.base_url)} ...")  # noqa: T201  # the person waits for the server
                        checked = engine.call(check_connection(proposal))
                    except AutogenError as error:
                        message = failure_message(error, proposal, stored)
                    else:
                        if checked.connection.model:
                            return checked.connection
                        message = choice_request(proposal, checked)
                case "o" if form.offline:
                    return ModelConnection("offline")
                case _:
                    raise ChatUnfinished("Stopped: no model was chosen, and the task was not run", reason="stopped")

    def choose(self, choice: Choice, what: str) -> bool:
        self._announce()
        answer = _ask_line(f"{what}{choice.typed}").strip().lower()
        if choice is RESTORE and answer in ("t", ""):
            raise ChatUnfinished(f"Stopped: {choice.stopped}", reason="stopped")
        return answer in ("y", "yes")

    def for_row(self, title: str) -> "TypingPerson":
        print(title)  # noqa: T201  # the question below is about this row
        return self

    def stopping(self, what: str) -> None:
        """Does nothing: Ctrl-C stops."""


def approved_each_block(events: Iterable[Recorded]) -> bool:
    approvals = [event for event in events if isinstance(event, ApprovalGiven)][-_OFFER_AFTER:]
    return len(approvals) == _OFFER_AFTER and all(
        (approval.decision, approval.code, approval.onwards) == ("run", None, False)
        and not approval.by.startswith((RUN_ALL, RULE_PREFIX))
        for approval in approvals
    )


def _ask_connection(stored: ModelConnection) -> ModelConnection:
    default = shown_url(stored.base_url or OPENAI_URL)
    url = revealed(_ask_line(f"Base URL [{default}]: ").strip() or default, stored.base_url)
    hint = "empty for the stored key" if stored.api_key else "empty for no key"
    typed = getpass.getpass(f"API key (kept in memory only; {hint}): ").strip()
    model = _ask_line(f"Model [{stored.model}]: " if stored.model else "Model: ").strip() or stored.model
    url = checked_base(url)
    return ModelConnection(model, checked_key(typed, "API key") or key_for(url, stored), url)


def _ask_line(prompt: str) -> str:
    return read_line(prompt, at_end="a person was asked and nobody is there: the standard input is at its end")
