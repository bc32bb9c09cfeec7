"""Who answers a group's question for its next speaker: chance, the caller's own function, a model."""

import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

from autogen_nb.agents.parts.callbacks import naming_errors
from autogen_nb.core.chats.message_roles import wire
from autogen_nb.core.chats.speaker_selection import METHODS, mentioned
from autogen_nb.core.ports import Completion, Model, ModelRequest
from autogen_nb.errors import CallbackError, ConfigError
from autogen_nb.events import SpeakerAsked, SpeakerGiven
from autogen_nb.run import OnCaller, OnEngine

if TYPE_CHECKING:
    from autogen_nb.agents.conversable import ConversableAgent
    from autogen_nb.agents.group_chat import GroupChat
    from autogen_nb.agents.group_manager import GroupChatManager

MESSAGE = """\
Several agents work on a task together:
{roles}

You speak for none of them: you decide who of {agentlist} speaks next. Read their conversation and answer with one \
name, and with nothing else."""

PROMPT = "Who of {agentlist} should speak next? Answer with that one name only."

SEVERAL = """\
You named several of {agentlist}, and only one of them can speak next. Take the one whose words the conversation waits \
for, and answer with that name only, spelled as it is here."""

NOBODY = """\
You named none of the agents. Those who can speak next are {agentlist}. Answer with one of these names only, spelled \
as it is here."""


def answer_speaker_question(
    agents: "Mapping[str, ConversableAgent]",
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
    manager = cast("GroupChatManager", agents[question.agent])
    group, last = manager.groupchat, agents[question.last]
    return choose_speaker(group, manager, question, lambda: group.chosen(last, manager, awaits=awaits), through)


def choose_speaker(
    group: "GroupChat",
    manager: "ConversableAgent",
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
            return OnCaller(lambda: _by_function(group, function))
        case "auto":
            model = group.selector or manager.model
            if model is None:
                raise ConfigError(
                    f"{manager.name} has no model to choose the next speaker with: give it an llm_config, or the "
                    "group another speaker_selection_method, such as 'round_robin'"
                )
            members = [each for each in group.agents if each.name in question.candidates]
            return OnEngine(lambda: ask_model_for_speaker(through(model), _request(group, members, question.tried)))


def fill_template(template: str, **values: str) -> str:
    """The template with values in its places; braces that mark no place stay."""
    try:
        return template.format(**values)
    except (KeyError, IndexError, ValueError):
        for name, value in values.items():
            template = template.replace(f"{{{name}}}", value)
        return template


def _by_function(group: "GroupChat", function: Callable[[], Any]) -> SpeakerGiven | Awaitable[SpeakerGiven]:
    with naming_errors(group.chooser):
        chosen = function()
    return _awaited(group, chosen) if isinstance(chosen, Awaitable) else _given(group, chosen)


async def _awaited(group: "GroupChat", chosen: Awaitable[Any]) -> SpeakerGiven:
    with naming_errors(group.chooser):
        found = await chosen
    return _given(group, found)


def _given(group: "GroupChat", chosen: Any) -> SpeakerGiven:
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


def _request(group: "GroupChat", members: "Sequence[ConversableAgent]", tried: Sequence[str]) -> ModelRequest:
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


def _instruction(group: "GroupChat", content: str) -> dict[str, Any]:
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
                yield SpeakerGiven(part.message.text, None, part.model, part.usage, part.cost, part.cached, part.host)
