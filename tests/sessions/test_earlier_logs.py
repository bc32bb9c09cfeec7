"""Logs that earlier releases wrote, each with the chat that wrote it."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from autogen_nb import ConversableAgent, GroupChat, GroupChatManager
from autogen_nb.agents.chats.initiated_chat import ChatOptions, ChatResult, TwoAgentChat
from autogen_nb.core.ports import ModelRequest, Part
from autogen_nb.events import Recorded, completion_of
from autogen_nb.messages import Completion, Message, Reasoning, Usage
from autogen_nb.sessions.store import SessionStore

EARLIER = Path(__file__).parent / "earlier"


def completion(name: str) -> Completion:
    thought = Reasoning("Hm.", 0.5, 7) if name == "carol" else None
    return Completion(Message(name), f"{name}-1", Usage(10, 2), cost=0.25, note="Short.", host="h", reasoning=thought)


class Repeating:
    """A model that always replies with its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def reply(self, request: ModelRequest) -> AsyncIterator[Part]:
        yield completion(self.name)


class Own(ConversableAgent):
    def generate_reply(self, *args: Any, **more: Any) -> Any:
        return super().generate_reply(*args, **more)

    def send(self, *args: Any, **more: Any) -> Any:
        return super().send(*args, **more)

    def receive(self, *args: Any, **more: Any) -> Any:
        return super().receive(*args, **more)


def agent(name: str, cls: type[ConversableAgent] = ConversableAgent, **more: Any) -> ConversableAgent:
    return cls(name, human_input_mode="NEVER", llm_config=Repeating(name), silent=True, **more)


def hold(log: list[Recorded]) -> ChatResult:
    """A group whose members use hooks, reply functions, overridden methods and a chat inside a chat."""
    alice, bob, carol = agent("alice", Own), agent("bob"), agent("carol", is_termination_msg=lambda _: False)
    helper = agent("helper", Own)

    def reply(recipient: Any, messages: Any, sender: Any, config: Any) -> tuple[bool, str]:
        return True, str(recipient.initiate_chat(helper, message="Help.", max_turns=1, silent=True).summary)

    bob.register_reply(ConversableAgent, reply)
    carol.register_hook("process_all_messages_before_reply", lambda messages: [*messages, {"content": "Now."}])
    group = GroupChat([alice, bob, carol], [], max_round=4, allow_repeat_speaker=False)
    manager = GroupChatManager(group, llm_config=Repeating("bob"), human_input_mode="NEVER", silent=True)
    options = ChatOptions(lambda *_: "Go.", silent=True, summary_method="reflection_with_llm")
    chat = TwoAgentChat(alice, manager, options, waits="sync", log=log)
    list(chat.exchange().events())
    return chat.result()


@pytest.fixture
def log(tmp_path: Path) -> list[Recorded]:
    store = SessionStore(Path(copytree(EARLIER, tmp_path / "sessions")))
    session = store.open("group")
    session.close()
    return list(session.runs[0].log)


def flat(log: Sequence[Recorded]) -> list[Recorded]:
    return [each for event in log for each in (event, *flat(getattr(event, "inner", ())))]


def test_log_with_the_fields_of_a_completion_resumes_at_every_event(log: list[Recorded]) -> None:
    whole: list[Recorded] = []
    result = hold(whole)

    assert [type(event) for event in log] == [type(event) for event in whole]
    assert list(map(completion_of, flat(log))) == list(map(completion_of, flat(whole)))
    for length in range(len(log) + 1):
        resumed = log[:length]
        again = hold(resumed)

        assert [type(event) for event in resumed] == [type(event) for event in log]
        assert (again.summary, again.chat_history, again.cost) == (result.summary, result.chat_history, result.cost)
