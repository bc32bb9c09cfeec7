"""``%autogen rules``: lists, adds and revokes saved rules."""

from argparse import PARSER
from collections.abc import Sequence
from pathlib import Path

from autogen_nb.core.policy.rules import Rule, parse
from autogen_nb.errors import ConfigError
from autogen_nb.human.rules_file import SavedRule
from autogen_nb.notebook.asking.person import REVOKE
from autogen_nb.notebook.commands.command import YES, CommandContext, argument, command
from autogen_nb.notebook.rendering.chat_html import Content, note_display, table

_EXAMPLE = "network api.example.org"
_ALL = "`%autogen rules` lists them"
_RULE = argument("words", nargs=PARSER, metavar="RULE", completes="kinds of effects")
_SAVED_RULE = argument("words", nargs=PARSER, metavar="RULE", completes="rules")


@command("lists the effects that code may have without a question", name="rules list")
async def rules(context: CommandContext) -> None:
    context.show(_list(context.notebook.rules.saved_rules()))


@command(f"allows an effect in all notebooks, such as: {_EXAMPLE}", _RULE, name="rules add", split=str.split)
async def add_rule(context: CommandContext, words: Sequence[str]) -> None:
    rule = _read(words, context.notebook.conversations.cwd)
    if not context.notebook.rules.add(rule):
        context.say(f"This rule already exists: {rule.words}.")
        return
    way_back = f"{rule.warning} `%autogen rules remove {rule}` revokes it.".lstrip()
    context.say(f"From now on, in all of your notebooks: {rule.words}. {way_back}")


@command("revokes a rule, or the rule with a number", _SAVED_RULE, name="rules remove", split=str.split)
async def remove_rule(context: CommandContext, words: Sequence[str]) -> None:
    saved = context.notebook.rules
    rule = _find_rule(words, saved.saved_rules(), context.notebook.conversations.cwd)
    if not saved.remove(rule):
        raise ConfigError(f"there is no rule {str(rule)!r}; {_ALL}")
    context.say(f"Revoked: {rule.words}.")


@command("revokes all rules", YES, name="rules clear")
async def clear_rules(context: CommandContext, *, yes: bool) -> None:
    saved = context.notebook.rules.rules()
    if not saved:
        context.say("There are no rules.")
        return
    count = "the one rule" if len(saved) == 1 else f"all {len(saved)} rules"
    with context.stage() as stage:
        if not (yes or await stage.ask(lambda person: person.choose(REVOKE, f"Revoke {count}?"))):
            stage.view.note("Nothing was revoked.")
            return
        context.notebook.rules.remove(*saved)
        stage.view.note(f"Revoked {count}.")


def _list(saved: Sequence[SavedRule]) -> Content:
    if not saved:
        return note_display(f"There are no rules. `%autogen rules add {_EXAMPLE}` makes one.")
    rows = [
        (
            str(number),
            str(saved_rule.rule),
            saved_rule.rule.words,
            saved_rule.made.astimezone().strftime("%Y-%m-%d %H:%M"),
        )
        for number, saved_rule in enumerate(saved, 1)
    ]
    return table(("#", "rule", "what it does", "made"), rows, kind="rules", numbers={"#"})


def _read(words: Sequence[str], folder: Path) -> Rule:
    return parse(" ".join(words), folder=str(folder), home=str(Path("~").expanduser()))


def _find_rule(words: Sequence[str], saved: Sequence[SavedRule], folder: Path) -> Rule:
    if len(words) == 1 and words[0].isdecimal():
        if not 0 < int(words[0]) <= len(saved):
            raise ConfigError(f"there is no rule {words[0]}; {_ALL}")
        return saved[int(words[0]) - 1].rule
    return _read(words, folder)
