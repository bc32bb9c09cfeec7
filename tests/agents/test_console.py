import re
from collections.abc import AsyncIterator
from typing import Any

import pytest

from autogen_nb.agents.teams.message_stream import Console
from autogen_nb.agents.teams.team_messages import Response, TaskResult, TextMessage
from autogen_nb.agents.user_proxy import UserProxyAgent
from autogen_nb.errors import ConfigError
from tests.agents.teams import add, assistant, by_turns, calling, finished, says

RULE = "-" * 80


def test_text(capsys: pytest.CaptureFixture[str]) -> None:
    me = UserProxyAgent("me", input_func=lambda _: "typed")
    a = assistant("a", calling("add", '{"a": 1, "b": 2}'), tools=[add])
    done = finished(Console(by_turns(a, me, max_turns=2).run_stream(task="start")))

    assert isinstance(done, TaskResult)
    assert capsys.readouterr().out == (
        f"{RULE}\nuser (to team):\n\nstart\n"
        '>>> calls add({"a": 1, "b": 2})\n>>> add returned: 3\n'
        f"{RULE}\nme (to team):\n\ntyped\n"
    )


@pytest.mark.parametrize("streams", [False, True])
def test_the_word_that_ends_a_run_is_not_written(streams: bool, capsys: pytest.CaptureFixture[str]) -> None:
    team = by_turns(assistant("a", "Done.\n\nTERMINATE", "next", model_client_stream=streams), max_turns=2)
    finished(Console(team.run_stream(task="Say:\nTERMINATE")))
    said = [f"{RULE}\na (to team):\n\n{text}\n" for text in ("Done.", "next")]

    assert (
        re.sub(r"\(scripted · .*\n", "", capsys.readouterr().out)
        == f"{RULE}\nuser (to team):\n\nSay:\nTERMINATE\n{''.join(said)}"
    )


def test_statistics(capsys: pytest.CaptureFixture[str]) -> None:
    team = by_turns(assistant("a", "one two", system_message=""), max_turns=1)
    finished(Console(team.run_stream(task="start"), output_stats=True))

    assert re.search(
        r"turns reached · 1 reply · 3 tokens · cost unknown · .* s · The limit of turns was reached: 1\.\n$",
        capsys.readouterr().out,
    )


def test_terminal_sequences_of_a_model_are_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    finished(Console(by_turns(says("a", "\x1b[31mred\x1b[0m \x07 \u202egnp"), max_turns=1).run_stream(task="start")))

    assert capsys.readouterr().out.splitlines()[-1] == "red  [U+202E]gnp"


def test_streams_of_others(capsys: pytest.CaptureFixture[str]) -> None:
    async def stream(*items: Any) -> AsyncIterator[Any]:
        for item in items:
            yield item

    response = Response(chat_message=TextMessage(source="a", content="hi"))

    assert finished(Console(stream(response))) is response
    assert capsys.readouterr().out == f"{RULE}\na:\n\nhi\n"
    with pytest.raises(ConfigError, match="ended without a result"):
        finished(Console(stream()))
