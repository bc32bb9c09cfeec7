from autogen_nb.core.chats.chat_flow import two_agent_chat
from autogen_nb.core.chats.reply_steps import generate_function_call_reply, generate_oai_reply
from autogen_nb.events import (
    Answer,
    Ended,
    FunctionsAsked,
    FunctionsReturned,
    HumanInputAsked,
    HumanInputGiven,
    ModelReplied,
    Question,
    Recorded,
)
from autogen_nb.messages import Completion, Message
from tests.core.worlds import play, spec, texts

CALL = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
PLAN = "1. Look.\n2. Tell.\n\nTERMINATE"


def planned(answer: str) -> list[Recorded]:
    replies = iter([Message(None, tool_calls=[CALL]), Message(PLAN), Message("Done.")])

    def world(question: Question) -> Answer:
        match question:
            case FunctionsAsked():
                return FunctionsReturned(("seen",))
            case HumanInputAsked():
                return HumanInputGiven(answer)
            case _:
                return ModelReplied(Completion(next(replies), "scripted"))

    user, assistant = spec("user", generate_function_call_reply), spec("assistant", generate_oai_reply)
    return play(two_agent_chat(user, assistant, opening=Message("Go."), plan=True), world)


def test_person_approves_or_edits_the_first_reply_without_calls() -> None:
    approved, changed = planned(""), planned("1. Tell.")

    assert [event.draft for event in approved if isinstance(event, HumanInputAsked)] == ["1. Look.\n2. Tell."]
    assert texts(approved) == ["Go.", "", "seen", PLAN, "I approve the plan. Carry it out.", "Done."]
    assert texts(changed)[4] == "I changed the plan. Carry out this one:\n\n1. Tell."
    assert texts(planned("1. Look.\n2. Tell.")) == texts(approved)


def test_person_may_end_the_chat_at_the_plan() -> None:
    events = planned("exit")

    assert events[-1] == Ended("exit", "The person ended the chat.")
    assert texts(events)[-1] == PLAN
