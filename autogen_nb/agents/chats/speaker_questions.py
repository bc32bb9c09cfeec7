"""Who answers a group's question for its next speaker: chance, the caller's own function, a model."""

import random
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, cast

from autogen_nb.agents.chats.participant import GroupLeader, Participant, SpeakerGroup
from autogen_nb.agents.parts.callbacks import call_user_code
from autogen_nb.agents.parts.prompts import fill_template
from autogen_nb.core.chats.message_roles import wire
from autogen_nb.core.chats.speaker_selection import METHODS, mentioned
from autogen_nb.core.ports import Completion, Model, ModelRequest
from autogen_nb.errors import CallbackError, ConfigError
from autogen_nb.events import SpeakerAsked, SpeakerGiven
from autogen_nb.run import OnCaller, OnEngine


def answer_speaker_question(
    agents: Mapping[str, Participant],
    question: SpeakerAsked,
    *,
    awaits: bool,
    through: Callable[[Model], Model] = lambda model: model,
) -> OnCaller | OnEngine:
    """Who says who speaks next in a group's chat.

    Parameters
    ----------
    agents
        The group's manager, and all who may have spoken last.
    through
        What is put around a model before it is asked.
    """
    # Only the flow of a group's manager asks this.
    manager, last = agents[question.agent], agents[question.last]
    group = cast("GroupLeader", manager).groupchat
    return choose_speaker(group, manager, question, lambda: group.choose(last, manager, awaits=awaits), through)


def choose_speaker(
    group: SpeakerGroup,
    manager: Participant,
    question: SpeakerAsked,
    function: Callable[[], Any],
    through: Callable[[Model], Model] = lambda model: model,
) -> OnCaller | OnEngine:
    """The same outside of a chat; `function` is the caller's own choice."""
    match question.method:
        case "random":
            # Nothing depends on its being hard to guess.
            return OnCaller(lambda: SpeakerGiven(random.choice(question.candidates)))  # noqa: S311
        case "function":
            return OnCaller(lambda: call_user_code(function, group.chooser, lambda chosen: _given(group, chosen)))
        case "auto":
            model = group.selector or manager.model
            if model is None:
                raise ConfigError(
                    f"{manager.name} has no model to choose the next speaker with: give it an llm_config, or the "
                    "group another speaker_selection_method, such as 'round_robin'"
                )
            members = [each for each in group.agents if each.name in question.candidates]
            return OnEngine(lambda: ask_model_for_speaker(through(model), _request(group, members, question.tried)))


def _given(group: SpeakerGroup, chosen: Any) -> SpeakerGiven:
    if chosen is None:
        return SpeakerGiven(None)
    if isinstance(chosen, str) and chosen.lower() in METHODS:
        return SpeakerGiven(None, chosen.lower())
    if any(chosen is member for member in group.agents):
        return SpeakerGiven(str(chosen.name))
    raise CallbackError(
        f"{group.chooser} returned {getattr(chosen, 'name', chosen)!r}; it must return an agent of the group "
        f"({', '.join(group.agent_names)}), one of {', '.join(METHODS)}, or None to end the chat"
    )


def _request(group: SpeakerGroup, members: Sequence[Participant], tried: Sequence[str]) -> ModelRequest:
    """The conversation between what the model has to do and what it said before, with what was wrong with that."""
    names = tuple(member.name for member in members)
    told = group.select_speaker_prompt(members)
    after: list[dict[str, Any]] = [] if told is None else [_instruction(group, told)]
    for words in tried:
        several = len(mentioned(words, names)) > 1
        template = group.select_speaker_auto_multiple_template if several else group.select_speaker_auto_none_template
        again = fill_template(template, agentlist=str(list(names)))
        after += [{"role": "assistant", "content": words}, _instruction(group, again)]
    system = {"role": "system", "content": group.select_speaker_msg(members)}
    return ModelRequest((system, *wire(_uncalled(group.messages)), *after))


def _instruction(group: SpeakerGroup, content: str) -> dict[str, Any]:
    return {"role": group.role_for_select_speaker_messages, "content": content}


def _uncalled(messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The messages without the calls of the last one: an endpoint refuses calls that nobody has answered."""
    *before, last = messages
    return [*before, {key: value for key, value in last.items() if key not in ("function_call", "tool_calls")}]


async def ask_model_for_speaker(model: Model, request: ModelRequest) -> AsyncIterator[SpeakerGiven]:
    """Whom a model names."""
    async with aclosing(cast("Any", model.reply(request))) as parts:
        async for part in parts:
            if isinstance(part, Completion):
                yield SpeakerGiven(
                    part.message.text,
                    model=part.model,
                    usage=part.usage,
                    cost=part.cost,
                    cached=part.cached,
                    host=part.host,
                )
