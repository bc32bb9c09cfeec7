"""``%autogen``: the subcommands, their arguments and their help."""

import os
import re
import shlex
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from autogen_nb import run
from autogen_nb.errors import ConfigError
from autogen_nb.models.config.local_servers import LocalServers
from autogen_nb.notebook import variable_choice
from autogen_nb.notebook.asking.person import confirm
from autogen_nb.notebook.commands import (
    audit_command,
    history_command,
    kernel_command,
    model_command,
    rules_command,
    sessions_command,
    show_command,
)
from autogen_nb.notebook.conversations import NotebookConversation
from autogen_nb.notebook.notebook import Notebook, cell_view
from autogen_nb.notebook.rendering import tables_html
from autogen_nb.notebook.rendering.tables_html import DisplayData
from autogen_nb.notebook.transformer import HELP, TASK_BELOW
from autogen_nb.notebook.view.status_line import did_you_mean
from autogen_nb.sessions import script

_OPTION = re.compile(r"--\w+")


def words_of(line: str) -> list[str]:
    """Splits a line into words; a quoted word can contain spaces."""
    try:
        # The quotes in a rule are part of the rule.
        return line.split() if line.split()[:1] == ["rules"] else shlex.split(line)
    except ValueError as error:
        raise ConfigError(f"%autogen {line}: {str(error).lower()}") from None


def name_and_options(command: str, words: Sequence[str]) -> tuple[str, set[str]]:
    """Returns the only name among the words of a command ("" without a name), and the options."""
    names = [word for word in words if not word.startswith("-")] or [""]
    options = {word for word in words if word.startswith("-")}
    entry = COMMANDS[command]
    if len(names) > 1 or (entry.needs_words and not names[0]) or not options <= set(_OPTION.findall(entry.arguments)):
        raise ConfigError(f"the command is %autogen {command} {entry.arguments}, not {' '.join((command, *words))!r}")
    return names[0], options


def take_option(words: Sequence[str], *options: str) -> tuple[list[str], str | None]:
    """Returns the words without an option and its value, and the value (None without the option)."""
    rest, value = list(words), None
    for option in options:
        if option in rest:
            index = rest.index(option)
            if index + 1 == len(rest):
                raise ConfigError(f"{option} needs a value")
            value = rest[index + 1]
            del rest[index : index + 2]
    return rest, value


def whole_number(command: str, word: str) -> int:
    if not word.isdecimal() or not int(word):
        raise ConfigError(f"%autogen {command} takes a whole number above 0, not {word!r}")
    return int(word)


class Commands:
    """`ask` runs a command that asks questions."""

    def __init__(
        self,
        shell: InteractiveShell,
        notebook: Notebook,
        ask: Callable[[str, Sequence[str]], None],
        servers: LocalServers | None = None,
    ) -> None:
        self._shell = shell
        self._notebook = notebook
        self._chats = notebook.conversations
        self._ask = ask
        self._servers = servers or LocalServers()

    def run(self, line: str) -> None:
        """Runs the command of a line; lists the commands if the line is empty or asks for help."""
        name, *words = words_of(line) or [""]
        command = COMMANDS.get(name)
        if not name or name in HELP:
            print(_usage())  # noqa: T201  # the command's output
        elif command is None:
            hint = did_you_mean(name, COMMANDS, f"{TASK_BELOW}.")
            known_names = f"{hint} The commands are {', '.join(COMMANDS)}; %autogen without arguments explains them"
            raise ConfigError(f"%autogen {' '.join((name, *words))} is not a command; {known_names}")
        elif command.needs_words and not words:
            raise ConfigError(f"%autogen {name} needs arguments: %autogen {name} {command.arguments}")
        elif command.run is None:
            self._ask(name, words)
        else:
            command.run(self, words)

    def say(self, text: str) -> None:
        self._show(tables_html.line(text, kind="kernel"))

    def pull(self, words: Sequence[str]) -> None:
        names, chat = self.split_chat_option(words)
        unpickle = "--unpickle" in names
        if not chat.alive:
            raise ConfigError(f"chat {chat.name!r} has no kernel to pull from yet; run a %%autogen cell first")
        requested_names = [name for name in names if name != "--unpickle"]
        values = {name: run.engine.call(chat.executor.get(name, unpickle=unpickle)) for name in requested_names}
        replaced = chat.bring(values, self._notebook.namespace)
        print(variable_choice.copied_variables_line(values, "here"))  # noqa: T201  # the command's output
        if replaced:
            print(variable_choice.replaced_variables_line(replaced, "your notebook"))  # noqa: T201  # the command's output

    def push(self, words: Sequence[str]) -> None:
        names, chat = self.split_chat_option(words)
        values = variable_choice.named_variables(names, self._notebook.namespace, "%autogen push")
        replaced = chat.hand(values, run.engine.call(chat.put(values)), self._notebook.namespace)
        print(variable_choice.copied_variables_line(values, "to the agent's kernel"))  # noqa: T201  # the command's output
        if replaced:
            print(variable_choice.replaced_variables_line(replaced, "the agent's kernel"))  # noqa: T201  # the command's output

    def kernel(self, words: Sequence[str]) -> None:
        rest, chat = self.split_chat_option(words)
        verb, *more = rest or ["status"]
        if len(more) > 1 or (more and chat is not self._chats.latest):
            raise ConfigError(f"%autogen kernel {verb} takes the name of one chat")
        self._show(kernel_command.execute(verb, self._chat_named(more[0]) if more else chat))

    def chats(self, _words: Sequence[str]) -> None:
        self._show(history_command.chats(self._chats, self._notebook.teams))

    def history(self, words: Sequence[str]) -> None:
        chat, _ = self.chat_and_options("history", words)
        self._check_restart(chat)
        self._show(history_command.history(chat))

    def usage(self, _words: Sequence[str]) -> None:
        if not any(chat.runs for chat in self._chats):
            self._check_restart(self._chats.named())
        self._show(history_command.usage(self._chats))

    def rules(self, words: Sequence[str]) -> None:
        self._show(rules_command.execute(words, self._notebook.rules, self._chats.cwd, confirm))

    def audit(self, words: Sequence[str]) -> None:
        chat, options = self.chat_and_options("audit", words)
        self._show(audit_command.execute(chat, sent="--sent" in options))

    def show(self, words: Sequence[str]) -> None:
        chat, _ = self.chat_and_options("show", words)
        if not chat.runs:
            self.say_why_empty(chat)
        show_command.show_runs(chat.runs, cell_view(self._shell))
        if chat.open_run is not None:
            self._show(tables_html.line(show_command.NOT_ENDED))

    def code(self, words: Sequence[str]) -> None:
        rest, chat = self.split_started_chat(words)
        number, _ = name_and_options("code", rest)
        runs = chat.runs[-whole_number("code", number) :] if number else chat.runs
        if not (code := script.code_of_parts(part for each in runs for part in script.parts(each.task, each.log))):
            raise ConfigError(f"no block of chat {chat.name!r} has run without an error yet")
        self._shell.set_next_input(code)

    def sessions(self, words: Sequence[str]) -> None:
        store = self._notebook.sessions.store
        match words:
            case ["show", name]:
                show_command.show_runs(store.read(store.find(name)).runs, cell_view(self._shell))
            case _:
                self._show(sessions_command.execute(words, store))

    def say_why_empty(self, chat: NotebookConversation) -> None:
        """Says that a restart ended the chat, or else that the chat has nothing to show."""
        restart_notice = self._notebook.sessions.remark(chat)
        self.say(
            f"{restart_notice} The next %%autogen cell begins a new one." if restart_notice else show_command.EMPTY
        )

    def model(self, words: Sequence[str]) -> None:
        if words[:1] == ["set"]:
            self._ask("model", words)
        else:
            self._show(model_command.execute(words, self._notebook.model_setting, os.environ))

    def models(self, words: Sequence[str]) -> None:
        self._show(model_command.list_models(words, self._notebook, os.environ, self._servers))

    def chat_and_options(self, command: str, words: Sequence[str]) -> tuple[NotebookConversation, set[str]]:
        rest, chat = self.split_chat_option(words)
        name, options = name_and_options(command, rest)
        return self._chat_named(name) if name else chat, options

    def split_chat_option(self, words: Sequence[str]) -> tuple[list[str], NotebookConversation]:
        names, chat = take_option(words, "-c", "--chat")
        return names, self._chat_named(chat)

    def split_started_chat(self, words: Sequence[str]) -> tuple[list[str], NotebookConversation]:
        """Like `split_chat_option`; raises ConfigError if a restart of the notebook's kernel has ended the chat."""
        rest, chat = self.split_chat_option(words)
        self._check_restart(chat)
        return rest, chat

    def _check_restart(self, chat: NotebookConversation) -> None:
        if not chat.runs and (notice := self._notebook.sessions.remark(chat)):
            raise ConfigError(notice)

    def _chat_named(self, chat: str | None) -> NotebookConversation:
        known_names = {conversation.name for conversation in self._chats}
        if chat is not None and chat not in known_names:
            raise ConfigError(f"there is no chat {chat!r}; known are {', '.join(sorted(known_names)) or 'none yet'}")
        return self._chats.latest if chat is None else self._chats.named(chat)

    def _show(self, displayed: DisplayData) -> None:
        data, metadata = displayed
        publisher: Any = self._shell.display_pub
        publisher.publish(data=data, metadata=metadata)


@dataclass(frozen=True, slots=True)
class LineCommand:
    """A command; one without `run` asks questions."""

    arguments: str
    help: str
    run: Callable[[Commands, Sequence[str]], None] | None = None
    needs_words: bool = False


COMMANDS = {
    "pull": LineCommand(
        "NAME [NAME ...] [-c CHAT] [--unpickle]",
        "copies variables of the agent's kernel here, as data only;\n"
        "with --unpickle, any type, but the agent's code may then run in your notebook",
        Commands.pull,
        needs_words=True,
    ),
    "push": LineCommand(
        "NAME [NAME ...] [-c CHAT]",
        "copies variables of the notebook to the agent's kernel",
        Commands.push,
        needs_words=True,
    ),
    "kernel": LineCommand(
        f"{'|'.join(kernel_command.VERBS)} [CHAT]",
        "shows, restarts, interrupts or stops the agent's kernel",
        Commands.kernel,
    ),
    "chats": LineCommand("", "lists the chats of this notebook", Commands.chats),
    "history": LineCommand("[CHAT]", "lists the messages of a chat, with their times", Commands.history),
    "usage": LineCommand("", "lists the tokens and the cost of the chats by cell and model", Commands.usage),
    "rules": LineCommand(
        "",
        "lists the effects that code may have without a question;\n"
        "'rules add network api.example.org', 'rules remove N', 'rules clear'",
        Commands.rules,
    ),
    "audit": LineCommand(
        "[CHAT] [--sent]", "lists questions, answers and code that ran; with --sent, requests to models", Commands.audit
    ),
    "show": LineCommand("[CHAT]", "shows the chat again, and asks its open question again", Commands.show),
    "resume": LineCommand(
        "[NAME] [--yes|--fresh]",
        "continues a chat after a restart of this notebook's kernel; --yes runs its blocks again without a question,\n"
        "--fresh does not run them",
    ),
    "undo": LineCommand(
        "[N] [--from CELL] [-c CHAT] [--yes]",
        "takes back the last N cells of a chat (1 without N), or the cells from number CELL on, with the agent's\n"
        "variables; asks first if effects stay, unless --yes is given",
    ),
    "redo": LineCommand("[CHAT] [--yes]", "brings back what undo took back, as long as the chat has no new cell"),
    "branch": LineCommand(
        "NAME [--at N] [-c CHAT] [--yes]",
        "makes a new chat that goes on from here, or from after cell N, in a kernel of its own; the blocks run again\n"
        "there to restore the variables; --yes runs them without a question",
        needs_words=True,
    ),
    "retry": LineCommand(
        "[-m MODEL] [-c CHAT]",
        "runs the last cell of a chat again, with the variables from before it, and shows both answers side by side;\n"
        "the new answer is kept, and redo brings back the earlier one",
    ),
    "export": LineCommand(
        "FILE [-c CHAT] [--yes] [--unchecked] [--force]",
        "writes the chat as a notebook (.ipynb), script (.py) or page (.md, .html), and first checks in a new\n"
        "kernel whether its code has the same results; --unchecked does not run the code",
        needs_words=True,
    ),
    "code": LineCommand(
        "[N] [-c CHAT]",
        "puts the code of the chat, or of its last N cells, into a new cell, without the blocks that failed",
        Commands.code,
    ),
    "sessions": LineCommand(
        sessions_command.ARGUMENTS,
        "lists, shows, searches and removes stored chats of all notebooks",
        Commands.sessions,
    ),
    "model": LineCommand(
        "[set|forget]",
        "shows the model, its server, and the setting that selects them;\n"
        "'model set [NAME] [--url URL]' opens the form, 'model forget' returns to the environment",
        Commands.model,
    ),
    "models": LineCommand("", "lists the configured models, and the models that this machine serves", Commands.models),
}

_WIDTH = 72
"""The maximum width of the usage text, for narrow windows."""


def _usage() -> str:
    lines = []
    for name, command in COMMANDS.items():
        lines.append(f"%autogen {name} {command.arguments}".rstrip())
        lines += textwrap.wrap(command.help, _WIDTH, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(
        (
            *lines,
            "%%autogen?\n    shows the options of a cell",
            "%config AutogenMagics\n    shows and sets the defaults of these options",
        )
    )
