"""The table of the commands of ``%autogen``, and the dispatcher."""

from collections.abc import Collection, Sequence

from autogen_nb.errors import ConfigError
from autogen_nb.notebook.cell_source import HELP, TASK_BELOW
from autogen_nb.notebook.commands import cell_commands as cells
from autogen_nb.notebook.commands import chat_commands as chats
from autogen_nb.notebook.commands import history_commands as lists
from autogen_nb.notebook.commands import settings_commands as saved
from autogen_nb.notebook.commands.command import Command, CommandContext
from autogen_nb.views.in_words import did_you_mean

COMMANDS = {
    each.name: each
    for each in (
        *(chats.pull, chats.push, chats.status, chats.variables, chats.restart, chats.interrupt, chats.stop),
        *(cells.fix, cells.explain, chats.show, chats.say, chats.code, chats.undo, chats.redo, chats.retry),
        *(chats.branch, chats.resume, lists.attach, chats.export),
        *(lists.chats, lists.history, lists.usage, lists.audit),
        *(lists.sessions, lists.show_session, lists.search, lists.remove),
        *(saved.servers, saved.add_server, saved.remove_server, saved.test_server),
        *(saved.rules, saved.add_rule, saved.remove_rule, saved.clear_rules),
        *(saved.model, saved.set_model, saved.forget_model, saved.models),
    )
}
_DEFAULTS = {"kernel": "status", "mcp": "list", "rules": "list", "sessions": "list"}
"""The second words of commands whose first word is enough."""


async def run_line(context: CommandContext, line: str) -> None:
    """Runs the command of a line; lists the commands if the line is empty or asks for help."""
    first, *more = line.split() or ["help"]
    if first in HELP and more:
        line, (first, *more) = " ".join((*more, "--help")), (*more, "--help")
    if first in HELP:
        context.write(_overview())
        return
    verbs = verbs_of(first)
    if verbs and " ".join(more) in HELP:
        context.write("\n".join(_rows([each for each in COMMANDS.values() if each.name.split()[0] == first])))
        return
    if verbs and more and not more[0].startswith("-") and more[0] not in verbs:
        hint = did_you_mean(more[0], verbs, f"it has {', '.join(verbs)}")
        raise ConfigError(f"%autogen {first} has no {more[0]!r}; {hint}")
    if first in _DEFAULTS and (not more or more[0].startswith("-")):
        line = " ".join((first, _DEFAULTS[first], *line.split(maxsplit=1)[1:]))
    if (found := find_command(line.split())) is not None:
        arguments = line.split(maxsplit=len(found.name.split()))[len(found.name.split()) :]
        if arguments and arguments[0] in HELP:
            context.write(found.parser.format_help())
        else:
            await found.run(context, "".join(arguments))
        return
    hint = did_you_mean(first, COMMANDS, f"{TASK_BELOW}.")
    names = ", ".join(dict.fromkeys(name.split()[0] for name in COMMANDS))
    explained = "%autogen without arguments explains them"
    raise ConfigError(f"%autogen {line} is not a command; {hint} The commands are {names}; {explained}")


def find_command(words: Sequence[str]) -> Command | None:
    """The command whose name of one or two words begins the line; None if there is none."""
    return COMMANDS.get(" ".join(words[:2])) or COMMANDS.get(" ".join(words[:1]))


def verbs_of(first: str) -> list[str]:
    """The second words of the commands that begin with the word."""
    return [name.removeprefix(f"{first} ") for name in COMMANDS if name.startswith(f"{first} ")]


def _overview() -> str:
    width = max(map(len, COMMANDS)) + 2
    lists = {name: verbs_of(name) for name, verb in _DEFAULTS.items() if verb == "list"}
    rows = [
        *_rows([each for name, each in COMMANDS.items() if name.split()[0] not in lists]),
        *(
            f"%autogen {name.ljust(width)}{COMMANDS[f'{name} list'].help}; also {', '.join(verbs[1:])}"
            for name, verbs in lists.items()
        ),
        "",
        f"%autogen help {'NAME'.ljust(width - 5)}explains the arguments of a command",
        f"%%autogen?{' ' * (width - 1)}explains the options of a cell",
        f"%config AutogenMagics{' ' * (width - 12)}shows and sets the defaults of these options",
    ]
    return "\n".join(rows)


def _rows(commands: Collection[Command]) -> list[str]:
    width = max(len(each.name) for each in commands) + 2
    return [f"%autogen {each.name.ljust(width)}{each.help}" for each in commands]
