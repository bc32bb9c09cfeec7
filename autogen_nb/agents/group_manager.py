"""AutoGen 0.2's agents with a group: `GroupChatManager` relays its messages, `SocietyOfMindAgent` replies from it."""

import json
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from autogen_nb.agents.chats.participant import ask_model
from autogen_nb.agents.conversable import ConversableAgent, TerminationTest
from autogen_nb.agents.group_chat import GroupChat
from autogen_nb.agents.parts.agent import Agent, both_forms
from autogen_nb.agents.parts.reply_functions import BuiltinStep, step_forms
from autogen_nb.core.chats.chat_flow import RunGroup, with_author
from autogen_nb.core.chats.reply_steps import Step
from autogen_nb.core.ports import ModelRequest
from autogen_nb.engine import engine
from autogen_nb.errors import ConfigError
from autogen_nb.messages import Message
from autogen_nb.run import Waits


class GroupChatManager(ConversableAgent):
    """An agent that replies to a message by running the chat of a group; ``agent.initiate_chat(manager)`` starts it.

    The other parameters are those of `ConversableAgent`, in AutoGen 0.2's order and with its defaults for a manager.
    The manager's ``is_termination_msg`` ends the group's chat. By default, the manager's model selects the speakers.

    Parameters
    ----------
    groupchat
        The group that this agent manages.

    Attributes
    ----------
    last_speaker
        The author of the last message that the manager relayed.
    """

    # AutoGen 0.2 has an async function at the position before the group's step; here the position is empty.
    layout = (None, "group", *ConversableAgent.layout)

    def __init__(
        self,
        groupchat: GroupChat | None = None,
        name: str = "chat_manager",
        max_consecutive_auto_reply: int | None = sys.maxsize,
        human_input_mode: str = "NEVER",
        system_message: str | list[str] | None = "You lead a group of agents.",
        silent: bool | None = None,
        *,
        is_termination_msg: TerminationTest | None = None,
        function_map: Mapping[str, Callable[..., Any]] | None = None,
        code_execution_config: Any = False,
        llm_config: Any = None,
        default_auto_reply: str | dict[str, Any] | None = "",
        description: str | None = None,
        chat_messages: Mapping[ConversableAgent, list[dict[str, Any]]] | None = None,
    ) -> None:
        if not isinstance(groupchat, GroupChat):
            raise ConfigError(f"groupchat is {groupchat!r}; give the manager the GroupChat that it leads")
        if isinstance(llm_config, Mapping) and (llm_config.get("functions") or llm_config.get("tools")):
            raise ConfigError(
                "a group's manager calls no functions; remove 'functions' and 'tools' from its llm_config"
            )
        super().__init__(
            name,
            system_message=system_message,
            is_termination_msg=is_termination_msg,
            max_consecutive_auto_reply=max_consecutive_auto_reply,
            human_input_mode=human_input_mode,
            function_map=function_map,
            code_execution_config=code_execution_config,
            llm_config=llm_config,
            default_auto_reply=default_auto_reply,
            description=description,
            chat_messages=chat_messages,
            silent=silent,
        )
        self.groupchat = groupchat
        self.last_speaker: ConversableAgent | None = None

    def companions(self) -> Sequence[ConversableAgent]:
        self.groupchat.check_settings()
        return self.groupchat.agents

    def builtin_step(self, step: BuiltinStep) -> Step | None:
        if step != "group":
            return super().builtin_step(step)
        group = self.groupchat
        if self in group.nested_agents():
            raise ConfigError(f"{self.name} cannot be an agent of the group that it leads, or of a group nested in it")
        specs = tuple(agent.spec() for agent in group.agents)
        rules = group.selection_rules(self.name, own=group.overrides_selection)
        introduction = Message(group.introductions_msg()) if group.send_introductions else None
        return RunGroup(specs, rules, group.max_round, introduction)

    def remember(self, message: Message, peer: Agent, *, sent: bool) -> None:
        """Adds a message to the manager's history; a received message gets the name of its author."""
        super().remember(message if sent else with_author(message, peer.name), peer, sent=sent)

    def pass_on(self, message: Message, speaker: ConversableAgent, recipients: Collection[ConversableAgent]) -> None:
        """Adds a speaker's message to the histories of the group and of the recipients."""
        self.last_speaker = speaker
        # As in AutoGen 0.2, only people and functions can clear histories; only their messages have a `role`.
        clears = message.role is not None and "CLEAR HISTORY" in message.text.upper()
        if self.groupchat.enable_clear_history and self.groupchat.messages and clears:
            for agent, peer in ((speaker, self), (self, speaker)):
                agent.chat_messages[peer].pop()
            message = replace(message, content=self.clear_agents_history(message.to_dict(), self.groupchat))
            speaker.remember(message, self, sent=True)
            self.remember(message, speaker, sent=False)
        # Bypasses overrides of `append`, because a replay must not run the user's code.
        GroupChat.append(self.groupchat, message.history_entry(speaker.name, own=False), speaker)
        for member in recipients:
            self.remember(message, member, sent=True)
            member.remember(message, self, sent=False)

    def chat_messages_for_summary(self, agent: Agent) -> list[dict[str, Any]]:
        """The messages of the group."""
        del agent
        return self.groupchat.messages

    def clear_history(self, recipient: Agent | None = None, nr_messages_to_preserve: int | None = None) -> None:
        """Clears the manager's own history; without `nr_messages_to_preserve`, also the group's messages."""
        super().clear_history(recipient, nr_messages_to_preserve)
        if not nr_messages_to_preserve:
            self.groupchat.reset()

    def clear_agents_history(self, reply: Mapping[str, Any], groupchat: GroupChat) -> str:
        """Carries out the command "clear history" in a message, and returns the message's text without it.

        After the command, an agent's name limits the command to this agent, and a number tells how many of the last
        messages to preserve. If the message is a function's result, at least one message is preserved.
        """
        words = str(reply["content"]).split()
        start = next(at for at in reversed(range(len(words))) if words[at].upper() == "CLEAR")
        end, preserved, agent = start + 2, 0, None
        for word in words[end : end + 2]:
            # A punctuation mark may follow the name or the number.
            number = next((part for part in (word, word[:-1]) if part.isdigit()), None)
            named = groupchat.agent_by_name(word) or groupchat.agent_by_name(word[:-1])
            preserved, agent = int(number or preserved), named or agent
            end += number is not None or named is not None
        preserved = preserved or int("tool_responses" in reply)
        for member in groupchat.agents if agent is None else [agent]:
            member.clear_history(nr_messages_to_preserve=preserved)
        if agent is None:
            groupchat.messages[:] = groupchat.messages[-preserved:] if preserved else []
        return " ".join(words[:start] + words[end:])

    run_chat, a_run_chat = step_forms("run_chat", "group", "The step that runs the group's chat.")

    async def _resume(
        self,
        waits: Waits,
        /,
        messages: str | Sequence[Mapping[str, Any]],
        remove_termination_string: str | Callable[[str], str] | None = None,
        silent: bool | None = False,
    ) -> tuple[ConversableAgent, dict[str, Any]]:
        del waits, silent
        group = self.groupchat
        earlier = [dict(message) for message in (json.loads(messages) if isinstance(messages, str) else messages)]
        speakers = [self._speaker_of(message) for message in earlier]
        if not earlier:
            raise ConfigError("there is no message to resume from; pass the messages of an earlier chat")
        self.clear_history()
        for agent in group.agents:
            agent.clear_history()
        for entry, speaker in zip(earlier[:-1], speakers, strict=False):
            message = Message.of(entry)
            if speaker is not self:
                speaker.remember(message, self, sent=True)
                self.remember(message, speaker, sent=False)
            others = [agent for agent in group.agents if agent is not speaker]
            self.pass_on(with_author(message, message.name or speaker.name), speaker, others)
        group.send_introductions = False
        last, ending = earlier[-1], remove_termination_string
        content = last.get("content")
        if ending is not None and isinstance(content, str):
            last["content"] = content.replace(ending, "") if isinstance(ending, str) else ending(content)
        return speakers[-1], last

    resume, a_resume = both_forms(_resume)

    def messages_to_string(self, messages: Sequence[Mapping[str, Any]]) -> str:
        return json.dumps(list(messages))

    def messages_from_string(self, message_string: str) -> list[dict[str, Any]]:
        return list(json.loads(message_string))

    def _speaker_of(self, message: Mapping[str, Any]) -> ConversableAgent:
        name = message.get("name", self.name)
        speaker = self.groupchat.agent_by_name(name)
        if speaker is None and name not in (self.name, self.groupchat.admin_name):
            raise ConfigError(
                f"an earlier message is by {name!r}, who is not in the group of {', '.join(self.groupchat.agent_names)}"
            )
        return speaker or self


TRANSCRIPT = "You and your team worked on an earlier request. This is the transcript of your conversation:"
ANSWER = "Write the final answer to the original request, so that it stands by itself, without the steps in between."


class SocietyOfMindAgent(ConversableAgent):
    """An agent that holds a group chat for each reply.

    `response_preparer` makes the reply from the group's messages. It is a function that takes this agent and the
    messages, or a prompt for this agent's model.
    """

    layout: ClassVar[tuple[BuiltinStep | None, ...]] = ("termination", "functions", "code")

    def __init__(
        self,
        name: str,
        chat_manager: GroupChatManager,
        response_preparer: str | Callable[..., Any] | None = None,
        *,
        llm_config: Any = False,
        **settings: Any,
    ) -> None:
        super().__init__(name, "", llm_config=llm_config, **settings)
        self.chat_manager = chat_manager
        self.response_preparer = response_preparer or (_last_message if self.model is None else ANSWER)
        self.register_reply([Agent, None], type(self).generate_inner_monologue_reply, position=len(self.layout))

    def update_chat_manager(self, chat_manager: GroupChatManager) -> None:
        self.chat_manager = chat_manager

    def generate_inner_monologue_reply(
        self, messages: Sequence[Mapping[str, Any]], sender: Any = None, config: Any = None
    ) -> tuple[bool, Any]:
        del config
        *earlier, last = messages
        group = self.chat_manager.groupchat
        self.chat_manager.reset()
        for agent in group.agents:
            agent.reset()
            for message in earlier:
                author = self.name if message.get("role") == "assistant" or sender is None else sender.name
                self.chat_manager.send({"name": author, **message}, agent, request_reply=False, silent=True)
        self.initiate_chat(self.chat_manager, message=last, clear_history=False)
        if callable(self.response_preparer):
            return True, self.response_preparer(self, group.messages)
        assert self.model is not None
        before, after = ({"role": "system", "content": text} for text in (TRANSCRIPT, self.response_preparer))
        request = ModelRequest([before, *map(_as_text, group.messages), after])
        completion = engine.call(ask_model(self.model, request, self)).completion
        self.count_usage(completion)
        return True, completion.message.text


def _as_text(message: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a user message with the message's content, or else with its call as text."""
    call = message.get("function_call")
    call_text = f"{call['name']}({call['arguments']})" if call else ""
    name = {"name": message["name"]} if "name" in message else {}
    return {**name, "content": message.get("content") or call_text, "role": "user"}


def _last_message(_: Any, messages: Sequence[Mapping[str, Any]]) -> str:
    return str(messages[-1].get("content") or "").replace("TERMINATE", "").strip()
