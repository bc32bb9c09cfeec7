"""`SocietyOfMindAgent`: AutoGen 0.2's agent whose replies come from its own group chat."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from autogen_nb.agents.chats.model_questions import ask_model
from autogen_nb.agents.conversable import ConversableAgent
from autogen_nb.agents.group_manager import GroupChatManager
from autogen_nb.agents.parts.agent import Agent
from autogen_nb.agents.parts.reply_functions import BuiltinStep
from autogen_nb.core.ports import ModelRequest
from autogen_nb.engine import engine

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
        return True, self._written_reply(self.response_preparer, group.messages)

    def _written_reply(self, prompt: str, messages: Sequence[Mapping[str, Any]]) -> str:
        assert self.model is not None
        first, last = ({"role": "system", "content": content} for content in (TRANSCRIPT, prompt))
        request = ModelRequest([first, *map(_as_text, messages), last])
        completion = engine.call(ask_model(self.model, request, self)).completion
        self.count_usage(completion)
        return completion.message.text


def _as_text(message: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a user message with the message's content, or else with its call as text."""
    call = message.get("function_call")
    call_text = f"{call['name']}({call['arguments']})" if call else ""
    name = {"name": message["name"]} if "name" in message else {}
    return {**name, "content": message.get("content") or call_text, "role": "user"}


def _last_message(_: Any, messages: Sequence[Mapping[str, Any]]) -> str:
    return str(messages[-1].get("content") or "").replace("TERMINATE", "").strip()
