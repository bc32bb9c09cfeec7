"""Who speaks next among several: decided here where it can be, asked for where it cannot.

1. The caller's own function has the first word; it may name a member, leave the choice to a method, or end it all.
2. After a message with calls only those are candidates who can answer them; a single one speaks.
3. Of those, the ones who may follow the last speaker are candidates. Where nobody is left, all members are; a member
   whom nobody may follow speaks last.
4. A single candidate speaks unasked. Of several, the method chooses: by turns, by chance, by a person, by a model.
5. A model that names nobody, or several, is asked again; where that does not help, it goes by turns.
"""

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from autogen_nb.core.chats.human_input import EXIT
from autogen_nb.core.chats.reply_steps import Asking, Stop, ask
from autogen_nb.errors import ConfigError, SessionError
from autogen_nb.events import (
    CandidatesAsked,
    CandidatesGiven,
    HumanInputAsked,
    HumanInputGiven,
    SpeakerAsked,
    SpeakerGiven,
)
from autogen_nb.messages import Message

Method: TypeAlias = Literal["auto", "manual", "random", "round_robin"]
METHODS: tuple[Method, ...] = ("auto", "manual", "random", "round_robin")

ATTEMPTS = 2
"""How often a person is asked for a speaker before it goes by turns; AutoGen 0.2 asks as often."""


@dataclass(frozen=True, slots=True)
class Selection:
    """How several agents come to their next speaker."""

    agent: str
    members: tuple[str, ...]
    method: Method | Literal["function"] = "auto"
    follows: Mapping[str, AbstractSet[str]] | None = None
    functions: Mapping[str, AbstractSet[str]] | None = None
    retries: int = 2
    narrowed: bool = False

    def next(self, last: str, message: Message) -> Asking[str | Stop]:
        """Who speaks after `message`, which `last` has said; `last` need not be a member."""
        method = self.method
        if method == "function":
            chosen = yield from self._by_function(last)
            if isinstance(chosen, Stop) or chosen in self.members:
                return chosen
            method = _known(chosen)
        group = (yield from self._narrow(last)) if self.narrowed else self
        candidates = group.candidates(last, message)
        if not candidates:
            return Stop("answered", f"Nobody may speak after {last}.")
        if len(candidates) == 1:
            return candidates[0]
        match method:
            case "round_robin":
                return group.after(last, candidates)
            case "random":
                given = yield from ask(SpeakerAsked(self.agent, last, candidates, "random"), SpeakerGiven)
                return among(given.said, candidates)
            case "manual":
                return (yield from group.by_person(last, candidates))
            case _:
                return (yield from group.by_model(last, candidates))

    def candidates(self, last: str, message: Message) -> tuple[str, ...]:
        """Who may speak after the message, in the order of their turns; empty where the last speaker ends it."""
        able = self._able([call.name for call in message.calls])
        if able is None:
            able = self.members
        elif len(able) == 1:
            return able
        if self.follows is not None and last in self.members:
            if last not in self.follows:
                return ()
            able = tuple(each for each in able if each in self.follows[last])
        return able or self.members

    def after(self, last: str, candidates: Sequence[str]) -> str:
        """The candidate whose turn comes next after a speaker; after a stranger it is the first one's."""
        begin = self.members.index(last) + 1 if last in self.members else 0
        turns = self.members[begin:] + self.members[:begin]
        return next(each for each in turns if each in candidates)

    def _able(self, names: Sequence[str]) -> tuple[str, ...] | None:
        """Who can call all of the functions, or else has any; None where it does not matter."""
        if self.functions is None or not names:
            return None
        able = tuple(each for each in self.members if self.functions.get(each, frozenset()) >= set(names))
        able = able or tuple(each for each in self.members if self.functions.get(each))
        if not able:
            raise ConfigError(
                f"no agent in the group of {self.agent} can call {', '.join(names)}; register it with one of them for "
                "execution, or set func_call_filter=False"
            )
        return able

    def _by_function(self, last: str) -> Asking[str | Stop]:
        given = yield from ask(SpeakerAsked(self.agent, last, self.members, "function"), SpeakerGiven)
        if given.said is not None:
            return among(given.said, self.members)
        if given.method is not None:
            return given.method
        return Stop("terminated", "The function that chooses the next speaker named nobody, which ends the chat.")

    def _narrow(self, last: str) -> "Asking[Selection]":
        names = (yield from ask(CandidatesAsked(self.agent, last), CandidatesGiven)).names
        if not names:
            raise SessionError("the log does not belong to this chat: it lets nobody speak")
        return replace(self, members=tuple(among(name, self.members) for name in names), follows=None)

    def by_person(self, last: str, candidates: tuple[str, ...]) -> Asking[str | Stop]:
        """The candidate whom a person names; the next in turn where they name none."""
        prompt = first = _prompt(candidates, self.after(last, candidates))
        for _ in range(ATTEMPTS):
            question = HumanInputAsked(self.agent, last, prompt, empty_means="auto")
            text = (yield from ask(question, HumanInputGiven)).text
            if text == EXIT:
                return Stop("exit", "The person ended the chat.")
            if text.strip() in ("", "q"):
                break
            chosen = _chosen(text.strip(), candidates)
            if chosen is not None:
                return chosen
            prompt = f"{text!r} is neither a number nor a name of the list.\n{first}"
        return self.after(last, candidates)

    def by_model(self, last: str, candidates: tuple[str, ...]) -> Asking[str]:
        """The candidate whom the model names; the next in turn where it does not name one."""
        tried: tuple[str, ...] = ()
        for _ in range(1 + self.retries):
            given = yield from ask(SpeakerAsked(self.agent, last, candidates, "auto", tried), SpeakerGiven)
            words = given.said or ""
            named = mentioned(words, candidates)
            if len(named) == 1:
                return named[0]
            tried += (words,)
        return self.after(last, candidates)


def mentioned(words: str, names: Sequence[str]) -> tuple[str, ...]:
    """The names that stand in the words as words of their own.

    A name's underscores may be written as spaces, or escaped as in Markdown; upper and lower case differ.
    """
    return tuple(name for name in names if re.search(rf"(?<!\w)(?:{_spellings(name)})(?!\w)", words))


def _spellings(name: str) -> str:
    return "|".join(re.escape(each) for each in (name, name.replace("_", " "), name.replace("_", r"\_")))


def _prompt(candidates: Sequence[str], following: str) -> str:
    names = "\n".join(f"{number}: {name}" for number, name in enumerate(candidates, 1))
    return (
        f"Who speaks next?\n{names}\n"
        f"Type a number or a name (press Enter for {following}, whose turn it is, or type {EXIT!r} to end the chat): "
    )


def _chosen(text: str, candidates: Sequence[str]) -> str | None:
    if text in candidates:
        return text
    return candidates[int(text) - 1] if text.isdecimal() and 1 <= int(text) <= len(candidates) else None


def among(name: str | None, names: Sequence[str]) -> str:
    """The name; a log that gives another one as the answer is not this chat's."""
    if name is not None and name in names:
        return name
    raise SessionError(f"the log does not belong to this chat: {name!r} cannot speak next, only {', '.join(names)}")


def _known(method: str) -> Method:
    for known in METHODS:
        if method == known:
            return known
    raise SessionError(f"the log does not belong to this chat: {method!r} is no method of choosing a speaker")
