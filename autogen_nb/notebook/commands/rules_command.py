"""``%autogen rules``: lists, adds and revokes saved rules."""

from collections.abc import Callable, Sequence
from pathlib import Path

from autogen_nb.core.policy.rules import Rule, parse
from autogen_nb.errors import ConfigError
from autogen_nb.human.rules_file import RulesFile, SavedRule
from autogen_nb.notebook.rendering.tables_html import DisplayData, line, table
from autogen_nb.notebook.view.status_line import did_you_mean

_EXAMPLE = "network api.example.org"
_ALL = "`%autogen rules` lists them"
VERBS = ("list", "add", "remove", "clear")


def execute(words: Sequence[str], rules: RulesFile, folder: Path, confirm: Callable[[str], bool]) -> DisplayData:
    verb, *rest = words or ["list"]
    match verb:
        case "list" if not rest:
            return _list(rules.saved_rules())
        case "add" if rest:
            rule = _read(rest, folder)
            if not rules.add(rule):
                return line(f"This rule already exists: {rule.words}.")
            way_back = f"`%autogen rules remove {rule}` revokes it."
            said = f"From now on, in all of your notebooks: {rule.words}."
            return line(" ".join(filter(None, (said, rule.warning, way_back))))
        case "remove" if rest:
            rule = _find_rule(rest, rules.saved_rules(), folder)
            if not rules.remove(rule):
                raise ConfigError(f"there is no rule {str(rule)!r}; {_ALL}")
            return line(f"Revoked: {rule.words}.")
        case "clear" if rest in ([], ["--yes"]):
            return _clear(rules, lambda question: bool(rest) or confirm(question))
        case "add" | "remove":
            raise ConfigError(f"%autogen rules {verb} needs a rule, such as: %autogen rules {verb} {_EXAMPLE}")
        case _:
            hint = did_you_mean(verb, VERBS, f"it has {', '.join(VERBS)}")
            raise ConfigError(f"%autogen rules has no {' '.join(words)!r}; {hint}")


def _list(saved: Sequence[SavedRule]) -> DisplayData:
    if not saved:
        return line(f"There are no rules. `%autogen rules add {_EXAMPLE}` makes one.")
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


def _clear(rules: RulesFile, confirm: Callable[[str], bool]) -> DisplayData:
    saved = rules.rules()
    if not saved:
        return line("There are no rules.")
    count = "the one rule" if len(saved) == 1 else f"all {len(saved)} rules"
    if not confirm(f"Revoke {count}? [y/n] "):
        return line("Nothing was revoked.")
    rules.remove(*saved)
    return line(f"Revoked {count}.")


def _read(words: Sequence[str], folder: Path) -> Rule:
    return parse(" ".join(words), folder=str(folder), home=str(Path("~").expanduser()))


def _find_rule(words: Sequence[str], saved: Sequence[SavedRule], folder: Path) -> Rule:
    if len(words) == 1 and words[0].isdecimal():
        if not 0 < int(words[0]) <= len(saved):
            raise ConfigError(f"there is no rule {words[0]}; {_ALL}")
        return saved[int(words[0]) - 1].rule
    return _read(words, folder)
