from dataclasses import replace
from typing import Any

import pytest

from autogen_nb.agents.conversable import ConversableAgent
from autogen_nb.agents.parts.usage_tracker import gather_usage_summary
from autogen_nb.errors import ConfigError
from autogen_nb.messages import Completion, Message, Usage
from tests.agents.chatting import BOTH_WAYS, Way, assistant, chat, contents, heard, model_of, send, user


@BOTH_WAYS
def test_a_result_is_a_snapshot(way: Way) -> None:
    proxy, teacher = user(max_consecutive_auto_reply=0), assistant("One.", "Two.")

    first = chat(way, proxy, teacher, message="First.")
    second = chat(way, proxy, teacher, message="Second.")
    second.chat_history[0]["content"] = "changed"

    assert contents(first) == ["First.", "One."]
    assert proxy.chat_messages[teacher][0]["content"] == "Second."
    assert first.chat_id != second.chat_id


@BOTH_WAYS
@pytest.mark.parametrize(
    ("method", "summary"),
    [
        ("last_msg", "Bye. \n"),
        (None, ""),
        (lambda sender, recipient, args: f"{sender.name} {recipient.name} {args['k']}", "user assistant v"),
    ],
    ids=["last_msg", "none", "callable"],
)
def test_summaries(way: Way, method: Any, summary: str) -> None:
    proxy = user(is_termination_msg=lambda message: "TERMINATE" in message["content"])

    result = chat(
        way, proxy, assistant("Bye. \nTERMINATE"), message="Hi.", summary_method=method, summary_args={"k": "v"}
    )

    assert result.summary == summary


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"max_turns": 0}, "max_turns is 0"),
        ({"carryover": 3}, "carryover is 3; it must be a str or a list"),
        ({"summary_method": "shortest"}, "summary_method is 'shortest'"),
        ({"cache": 42}, r"cache is 42; give a cache such as Cache.disk\(cache_seed=42\)"),
    ],
)
def test_options_that_are_invalid(arguments: dict[str, Any], said: str) -> None:
    teacher = assistant("Hi.")

    with pytest.raises(ConfigError, match=said):
        chat("sync", user(), teacher, message="Hi.", **arguments)

    assert model_of(teacher).requests == []


def test_history_with_a_peer() -> None:
    proxy, teacher = user(max_consecutive_auto_reply=0), assistant("Hi.")
    nothing = proxy.last_message()

    chat("sync", proxy, teacher, message="Hi?")
    last = proxy.last_message()
    proxy.clear_history(teacher)

    assert nothing is None
    assert last is not None
    assert last["content"] == "Hi."
    assert proxy.chat_messages[teacher] == []
    with pytest.raises(KeyError, match="have not exchanged a message"):
        proxy.last_message(teacher)


def test_a_model_that_an_agent_does_not_have() -> None:
    one, other = ConversableAgent("one", default_auto_reply=None), ConversableAgent("other", default_auto_reply=None)

    with pytest.raises(ConfigError, match="needs an agent with a model"):
        chat("sync", one, other, message="Hi.", summary_method="reflection_with_llm")


@BOTH_WAYS
def test_stop_reply_at_receive(way: Way) -> None:
    proxy, one, other = user(), assistant("TERMINATE"), assistant("TERMINATE")
    for teacher in (one, other):
        chat(way, proxy, teacher, message="Hi?")

    one.stop_reply_at_receive(proxy)
    other.stop_reply_at_receive()
    for teacher in (one, other):
        send(way, proxy, "Still there?", teacher)

    assert heard(proxy, one)[2:] == heard(proxy, other)[2:] == ["Still there?"]


def test_counts_can_be_reset() -> None:
    proxy, teacher = user(), assistant(*"abcd", max_consecutive_auto_reply=1, human_input_mode="NEVER")

    send("sync", proxy, "Hi?", teacher, request_reply=True)
    teacher.reset_consecutive_auto_reply_counter(proxy)
    send("sync", proxy, "Hi?", teacher, request_reply=True)
    teacher.reset()
    send("sync", proxy, "Hi?", teacher, request_reply=True)
    teacher.reset_consecutive_auto_reply_counter()
    send("sync", proxy, "Hi?", teacher, request_reply=True)

    assert heard(teacher, proxy) == ["Hi?", "c", "Hi?", "d"]


@pytest.mark.parametrize("given", [(), (None, user()), ([],)])
def test_nothing_to_reply_to(given: tuple[Any, ...]) -> None:
    with pytest.raises(ConfigError, match="assistant has no message to reply to"):
        assistant().generate_reply(*given)


REPLY = Completion(Message("x"), "m", Usage(10, 5), cost=0.5)


def sums(cost: float | None, times: int = 1) -> dict[str, Any]:
    return {"cost": cost, "prompt_tokens": 10 * times, "completion_tokens": 5 * times, "total_tokens": 15 * times}


def test_sums_of_several_agents() -> None:
    agents = [assistant(), assistant()]
    for agent, reply in zip(agents, (REPLY, replace(REPLY, cached=True)), strict=True):
        agent.usages.add(reply)

    assert gather_usage_summary(agents) == {
        "usage_including_cached_inference": {"total_cost": 1.0, "m": sums(1.0, 2)},
        "usage_excluding_cached_inference": {"total_cost": 0.5, "m": sums(0.5)},
    }


def test_printed_summary(capsys: pytest.CaptureFixture[str]) -> None:
    agent = assistant()
    agent.usages.add(REPLY)
    agent.usages.add(replace(REPLY, model="other", cost=None, cached=True))

    agent.print_usage_summary()
    agent.print_usage_summary("actual")
    assistant().print_usage_summary(["total"])

    assert capsys.readouterr().out.splitlines() == [
        "Usage of assistant:",
        "  without cached replies: $0.50000",
        "    m: 10 + 5 tokens, $0.50000",
        "  with cached replies: cost unknown",
        "    m: 10 + 5 tokens, $0.50000",
        "    other: 10 + 5 tokens, cost unknown",
        "Usage of assistant:",
        "  without cached replies: $0.50000",
        "    m: 10 + 5 tokens, $0.50000",
        "Usage of assistant:",
        "  with cached replies: none",
    ]


@pytest.mark.parametrize("mode", ["all", [], ["total", "x"]])
def test_unknown_mode_is_refused(mode: Any) -> None:
    with pytest.raises(ConfigError, match="it must be 'actual', 'total' or a list of those"):
        assistant().print_usage_summary(mode)
