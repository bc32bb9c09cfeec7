"""Completes ``%%autogen`` and ``%autogen``: commands, options and their values.

The values come from this process and its files; no server and no kernel is asked, so that Tab answers at once. Front
ends show an entry's `type` beside it, which is therefore the help text of an option or a command.
"""

import os
import re
from argparse import PARSER, Action
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult

from autogen_nb.agents.teams.team_chats import BaseGroupChat
from autogen_nb.core.policy.rules import RULE_KINDS
from autogen_nb.errors import AutogenError
from autogen_nb.kernels.places.kernelspec import installed_kernels
from autogen_nb.kernels.transfer.sizes import shape
from autogen_nb.models.config.model_selection import known_models
from autogen_nb.notebook.cell_source import ACTIONS, COMPLETES, HELP
from autogen_nb.notebook.commands.settings_commands import saved_servers
from autogen_nb.notebook.commands.table import COMMANDS, find_command, verbs_of
from autogen_nb.notebook.context import data_variables, is_table
from autogen_nb.notebook.notebook import Notebook
from autogen_nb.views.in_words import counted, shortened

Entries = Iterable[tuple[str, str]]
"""Texts, each with what a front end shows beside it."""

_CELL = re.compile(r"\s*%%autogen\s")
_LINE = re.compile(r"\s*%autogen\s")
_TOKEN = re.compile(r"""--[\w-]+=(?:"[^"]*"?|'[^']*'?|\S*)|"[^"]*"?|'[^']*'?|\S+""")
_FILES = "files"
_NO_ENTRIES: SimpleMatcherResult = {"completions": []}
_DETAIL = 60


def completions(
    notebook: Notebook, context: CompletionContext, files: Callable[[CompletionContext], SimpleMatcherResult]
) -> SimpleMatcherResult:
    """Returns the entries at the cursor; `files` is the matcher of files."""
    before = context.text_until_cursor
    above = context.full_text.split("\n")[: context.cursor_line]
    if (cell := _CELL.match(before)) and not "".join(above).strip():
        words, fragment = _split(before[cell.end() :])
        found = _of_arguments(notebook, ACTIONS, COMPLETES, words, fragment, is_cell=True)
    elif line := _LINE.match(before):
        words, fragment = _split(before[line.end() :])
        found = _of_line(notebook, words, fragment)
    else:
        return _NO_ENTRIES
    if found is None:
        return files(context) | {"suppress": True}
    part, entries = found
    begun = part.lstrip("\"'")
    fitting = [(text, detail) for text, detail in entries if text.lstrip('"').startswith(begun)]
    shown = [SimpleCompletion(text, type=_shown(detail)) for text, detail in fitting]
    return {"completions": shown, "matched_fragment": part, "ordered": True, "suppress": True}


def _split(text: str) -> tuple[list[str], str]:
    """Returns the words before the one at the end of the text, and that one."""
    tokens = list(_TOKEN.finditer(text))
    words = [token[0] for token in tokens]
    return (words[:-1], words[-1]) if tokens and tokens[-1].end() == len(text) else (words, "")


def _of_line(notebook: Notebook, words: Sequence[str], fragment: str) -> tuple[str, Entries] | None:
    if words and words[0] in HELP:
        words = words[1:]
    verbs = verbs_of(words[0]) if len(words) == 1 else []
    if not words:
        firsts = {name.split()[0]: verbs_of(name.split()[0]) for name in COMMANDS}
        entries = [(first, ", ".join(verbs) or COMMANDS[first].help) for first, verbs in firsts.items()]
        return fragment, [*entries, ("help", "explains the arguments of a command")]
    if verbs and not fragment.startswith("-"):
        return fragment, [(verb, COMMANDS[f"{words[0]} {verb}"].help) for verb in verbs]
    command = find_command(words)
    if command is None:
        return fragment, ()
    arguments = words[len(command.name.split()) :]
    return _of_arguments(notebook, command.actions, command.completes, arguments, fragment)


def _of_arguments(
    notebook: Notebook,
    actions: Sequence[Action],
    completes: Mapping[str, str],
    words: Sequence[str],
    fragment: str,
    *,
    is_cell: bool = False,
) -> tuple[str, Entries] | None:
    """Returns the part to complete and the entries; None for a file. In a cell, a word without a dash is the task."""
    flags = {flag: action for action in actions for flag in action.option_strings}
    positional = [action for action in actions if not action.option_strings]
    waiting, used = None, set[str]()
    for word in words:
        name, equals, _ = word.partition("=")
        if waiting is not None:
            waiting = None
        elif (action := flags.get(name)) is not None:
            used.add(action.dest)
            waiting = None if equals or action.nargs == 0 else action
        elif is_cell:
            return "", ()
        elif positional and positional[0].nargs not in ("+", PARSER):
            positional.pop(0)
    name, equals, value = fragment.partition("=")
    if waiting is None and equals and name in flags:
        waiting, fragment = flags[name], value
    options = [] if waiting is not None else _options(actions, used)
    asked = [waiting] if waiting is not None else positional[:1]
    if not asked or (waiting is None and fragment.startswith("-")):
        return fragment, options if not fragment or fragment.startswith("-") else ()
    source = completes[asked[0].dest]
    if source == _FILES:
        return None
    part, values = _values(notebook, asked[0], source, words, fragment)
    return part, values if fragment else [*values, *options]


def _values(
    notebook: Notebook, action: Action, source: str, words: Sequence[str], fragment: str
) -> tuple[str, list[tuple[str, str]]]:
    # Commas separate the names of variables.
    start = fragment[: fragment.rfind(",") + 1] if source.endswith("variables") else ""
    taken = {*words, *start.split(",")}
    values = SOURCES[source](notebook) if source else [(str(choice), "") for choice in action.choices or ()]
    # The words of a rule are not quoted.
    quotes = action.nargs != PARSER
    entries = [(f'"{text}"' if quotes and " " in text else text, detail) for text, detail in values]
    return fragment.removeprefix(start), [(text, detail) for text, detail in entries if text not in taken]


def _options(actions: Iterable[Action], used: Collection[str]) -> list[tuple[str, str]]:
    return [
        (flag, (action.help or "").replace("%%", "%"))
        for action in actions
        if action.dest not in used
        for flag in action.option_strings
        if flag.startswith("--")
    ]


def _shown(detail: str) -> str:
    # JupyterLab breaks the text at spaces, and shows the lines on top of each other.
    return shortened(detail, _DETAIL).replace(" ", "\u00a0") or " "


def _chats(notebook: Notebook) -> Entries:
    for chat in notebook.conversations:
        yield chat.name, counted(len(chat.runs), "cell", "cells") if chat.runs else "has not begun"


def _sessions(notebook: Notebook) -> Entries:
    return ((name, "a stored chat") for name in notebook.sessions.store.names())


def _stored(notebook: Notebook) -> Entries:
    yield from ((name, "an earlier chat of this notebook") for name in notebook.sessions.earlier)
    yield from _sessions(notebook)


def _tables(notebook: Notebook) -> Entries:
    variables = data_variables(notebook.namespace)
    return _described(
        {name: value for name, value in variables.items() if hasattr(value, "columns") and is_table(value)}
    )


def _described(variables: Mapping[str, object]) -> Entries:
    return ((name, " ".join(filter(None, (type(value).__name__, shape(value))))) for name, value in variables.items())


def _agent_variables(notebook: Notebook) -> Entries:
    """The known variables of all chats' kernels, those of the last cell's chat first."""
    latest = notebook.conversations.latest
    chats = (latest, *(chat for chat in notebook.conversations if chat is not latest))
    return ((name, f"in the kernel of {chat.name}") for chat in chats for name in sorted(chat.listed_variables))


def _teams(notebook: Notebook) -> Entries:
    for name, value in notebook.namespace.items():
        if isinstance(value, BaseGroupChat) and not name.startswith("_"):
            yield name, f"{type(value).__name__} of {len(value.participants)}"


def _models(notebook: Notebook) -> Entries:
    form = notebook.model_setting.form_connection
    models = {"offline": "a fixed analysis of tables; no language model"}
    # Another command reports what is wrong in the list of models.
    with suppress(AutogenError):
        for model in known_models(form, os.environ, notebook.defaults.model):
            models[model.name] = model.source
    models |= {name: source for name, source in notebook.listed_models if name not in models}
    return ((name, source) for name, source in models.items() if name)


def _rules(notebook: Notebook) -> Entries:
    with suppress(AutogenError):
        return [(str(rule), rule.words) for rule in notebook.rules.rules()]
    return ()


def _servers(_: Notebook) -> Entries:
    with suppress(AutogenError):
        return [(name, "an MCP server") for name in saved_servers()]
    return ()


SOURCES: Mapping[str, Callable[[Notebook], Entries]] = {
    "agent's variables": _agent_variables,
    "chats": _chats,
    "kernels": lambda _: ((name, "an installed kernel") for name in installed_kernels()),
    "kinds of effects": lambda _: ((kind, "") for kind in RULE_KINDS),
    "MCP servers": _servers,
    "models": _models,
    "rules": _rules,
    "sessions": _sessions,
    "stored": _stored,
    "tables": _tables,
    "teams": _teams,
    "variables": lambda notebook: _described(data_variables(notebook.namespace)),
}
"""What an option or an argument with the tag ``completes`` offers."""
