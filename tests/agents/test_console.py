import re
from collections.abc import AsyncIterator
from typing import Any

import pytest

from autogen_nb.agents.teams.console import Console
from autogen_nb.agents.teams.team_messages import Response, TaskResult, TextMessage
from autogen_nb.agents.user_proxy import UserProxyAgent
from autogen_nb.errors import ConfigError
from tests.agents.teams import add, assistant, by_turns, calling, finished, says


def test_text(capsys: pytest.CaptureFixture[str]) -> None:
    me = UserProxyAgent("me", input_func=lambda _: "typed")
    a = assistant("a", calling("add", '{"a": 1, "b": 2}'), tools=[add])
    done = finished(Console(by_turns(a, me, max_turns=2).run_stream(task="start")))

    assert isinstance(done, TaskResult)
    assert capsys.readouterr().out == (
        "---------- TextMessage (user) ----------\nstart\n"
        '---------- ToolCallRequestEvent (a) ----------\nadd({"a": 1, "b": 2})\n'
        "---------- ToolCallExecutionEvent (a) ----------\nadd: 3\n"
        "---------- ToolCallSummaryMessage (a) ----------\n3\n"
        "---------- TextMessage (me) ----------\ntyped\n"
    )


@pytest.mark.parametrize("streams", [False, True])
def test_the_word_that_ends_a_run_is_not_written(streams: bool, capsys: pytest.CaptureFixture[str]) -> None:
    team = by_turns(assistant("a", "Done.\n\nTERMINATE", "next", model_client_stream=streams), max_turns=2)
    finished(Console(team.run_stream(task="Say:\nTERMINATE")))
    kind = "ModelClientStreamingChunkEvent" if streams else "TextMessage"

    assert capsys.readouterr().out == (
        "---------- TextMessage (user) ----------\nSay:\nTERMINATE\n"
        f"---------- {kind} (a) ----------\nDone.\n---------- {kind} (a) ----------\nnext\n"
    )


def test_statistics(capsys: pytest.CaptureFixture[str]) -> None:
    team = by_turns(assistant("a", "one two", system_message=""), max_turns=1)
    finished(Console(team.run_stream(task="start"), output_stats=True))
    written = re.sub(r"\d\.\d s", "0.0 s", capsys.readouterr().out)

    assert written.endswith(
        "one two\n(1 prompt + 2 completion tokens)\n---------- Summary ----------\n"
        "2 messages in 0.0 s, 1 prompt + 2 completion tokens\n"
        "The limit of turns was reached: 1.\n"
    )


def test_terminal_sequences_of_a_model_are_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    finished(Console(by_turns(says("a", "\x1b[31mred\x1b[0m \x07 \u202egnp"), max_turns=1).run_stream(task="start")))

    assert capsys.readouterr().out.splitlines()[-1] == "red [U+0007] [U+202E]gnp"


def test_streams_of_others(capsys: pytest.CaptureFixture[str]) -> None:
    async def stream(*items: Any) -> AsyncIterator[Any]:
        for item in items:
            yield item

    response = Response(chat_message=TextMessage(source="a", content="hi"))

    assert finished(Console(stream(response))) is response
    assert capsys.readouterr().out == "---------- TextMessage (a) ----------\nhi\n"
    with pytest.raises(ConfigError, match="ended without a result"):
        finished(Console(stream()))
