"""Selects the next speaker of a group.

1. If `method` is "function", the caller's function may name a member, choose another method, or end the chat.
2. With `functions`, after a message with calls, the candidates are the members who can run all the calls, or else those
   who have any function. A single such member speaks.
3. `follows` limits the candidates to members who may follow the last speaker. If no candidate is left, all members are
   candidates. If `follows` has no entry for the last speaker, the chat ends.
4. A single candidate speaks. Among several, the method selects: in turn, at random, by a person or by a model.
5. If the model names no candidate or several, it gets the question again, at most `retries` times. Then the next in
   turn speaks.
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
    Called,
    HumanInputAsked,
    HumanInputGiven,
    Returned,
    SpeakerAsked,
    SpeakerGiven,
)
from autogen_nb.messages import Message

Method: TypeAlias = Literal["auto", "manual", "random", "round_robin"]
METHODS: tuple[Method, ...] = ("auto", "manual", "random", "round_robin")

ATTEMPTS = 2
"""After this number of invalid answers by a person, the next in turn speaks, as in AutoGen 0.2."""


@dataclass(frozen=True, slots=True)
class Selection:
    agent: str
    members: tuple[str, ...]
    method: Method | Literal["function"] = "auto"
    follows: Mapping[str, AbstractSet[str]] | None = None
    functions: Mapping[str, AbstractSet[str]] | None = None
    retries: int = 2
    narrowed: bool = False

    def next(self, last: str, message: Message) -> Asking[str | Stop]:
        """The speaker after `message`, or the end of the chat; the message's author `last` need not be a member."""
        method = self.method
        if method == "function":
            choice = yield from self._by_function(last)
            if isinstance(choice, Stop) or choice in self.members:
                return choice
            if choice not in METHODS:
                raise SessionError(f"the log does not belong to this chat: {choice!r} chooses no speaker")
            method = choice
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
                answer = yield from ask(SpeakerAsked(self.agent, last, candidates, "random"), SpeakerGiven)
                return checked_member(answer.said, candidates)
            case "manual":
                return (yield from group.by_person(last, candidates))
            case _:
                return (yield from group.by_model(last, candidates))

    def candidates(self, last: str, message: Message) -> tuple[str, ...]:
        """The members who may speak next, in the order of turns; empty if the chat ends."""
        able = self._able([call.name for call in message.calls])
        if able is None:
            able = self.members
        elif len(able) == 1:
            return able
        if self.follows is not None and last in self.members:
            if last not in self.follows:
                return ()
            able = tuple(member for member in able if member in self.follows[last])
        return able or self.members

    def after(self, last: str, candidates: Sequence[str]) -> str:
        """The next candidate in turn; the first candidate if `last` is not a member."""
        begin = self.members.index(last) + 1 if last in self.members else 0
        turns = self.members[begin:] + self.members[:begin]
        return next(member for member in turns if member in candidates)

    def _able(self, names: Sequence[str]) -> tuple[str, ...] | None:
        """The members who can run all functions in `names`, or else the members who have any function.

        None if all members are candidates.
        """
        if self.functions is None or not names:
            return None
        able = tuple(member for member in self.members if self.functions.get(member, frozenset()) >= set(names))
        able = able or tuple(member for member in self.members if self.functions.get(member))
        if not able:
            raise ConfigError(
                f"no agent in the group of {self.agent} can call {', '.join(names)}; register the function with a "
                "member for execution, or set func_call_filter=False"
            )
        return able

    def _by_function(self, last: str) -> Asking[str | Stop]:
        answer = yield from ask(SpeakerAsked(self.agent, last, self.members, "function"), SpeakerGiven)
        if answer.said is not None:
            return checked_member(answer.said, self.members)
        if answer.method is not None:
            return answer.method
        return Stop("terminated", "The function that chooses the next speaker named nobody, which ends the chat.")

    def _narrow(self, last: str) -> "Asking[Selection]":
        names = (yield from ask(Called("candidate_func", self.agent, last), Returned)).names
        if not names:
            raise SessionError("the log does not belong to this chat: it lets nobody speak")
        return replace(self, members=tuple(checked_member(name, self.members) for name in names), follows=None)

    def by_person(self, last: str, candidates: tuple[str, ...]) -> Asking[str | Stop]:
        prompt = first = _prompt(candidates, self.after(last, candidates))
        for _ in range(ATTEMPTS):
            question = HumanInputAsked(self.agent, last, prompt, empty_means="auto")
            text = (yield from ask(question, HumanInputGiven)).text
            if text == EXIT:
                return Stop("exit", "The person ended the chat.")
            if text.strip() in ("", "q"):
                break
            choice = _parsed_choice(text.strip(), candidates)
            if choice is not None:
                return choice
            prompt = f"{text!r} is neither a number nor a name of the list.\n{first}"
        return self.after(last, candidates)

    def by_model(self, last: str, candidates: tuple[str, ...]) -> Asking[str]:
        tried: tuple[str, ...] = ()
        for _ in range(1 + self.retries):
            answer = yield from ask(SpeakerAsked(self.agent, last, candidates, "auto", tried), SpeakerGiven)
            words = answer.said or ""
            named = mentioned_names(words, candidates)
            if len(named) == 1:
                return named[0]
            tried += (words,)
        return self.after(last, candidates)


def mentioned_names(words: str, names: Sequence[str]) -> tuple[str, ...]:
    """The names that the text has as whole words; a model may write an underscore as a space, or escape it."""
    return tuple(name for name in names if re.search(rf"(?<!\w)(?:{_spellings(name)})(?!\w)", words))


def _spellings(name: str) -> str:
    return "|".join(re.escape(spelling) for spelling in (name, name.replace("_", " "), name.replace("_", r"\_")))


def _prompt(candidates: Sequence[str], following: str) -> str:
    names = "\n".join(f"{number}: {name}" for number, name in enumerate(candidates, 1))
    return (
        f"Who speaks next?\n{names}\n"
        f"Type a number or a name (press Enter for {following}, whose turn it is, or type {EXIT!r} to end the chat): "
    )


def _parsed_choice(text: str, candidates: Sequence[str]) -> str | None:
    if text in candidates:
        return text
    return candidates[int(text) - 1] if text.isdecimal() and 1 <= int(text) <= len(candidates) else None


def checked_member(name: str | None, names: Sequence[str]) -> str:
    if name is not None and name in names:
        return name
    raise SessionError(f"the log does not belong to this chat: {name!r} cannot speak next, only {', '.join(names)}")
