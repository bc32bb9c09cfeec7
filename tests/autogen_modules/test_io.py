from collections.abc import Iterator
from typing import Any

import pytest

from autogen_nb import ConversableAgent
from autogen_nb.run.surfaces import IOConsole, IOStream
from autogen_nb.testing import ScriptedModel


class Recorder(IOStream):
    def __init__(self, *lines: str) -> None:
        self.lines = list(lines)
        self.text = ""

    def print(self, *objects: Any, sep: str = " ", end: str = "\n", flush: bool = False) -> None:
        self.text += sep.join(map(str, objects)) + end

    def input(self, prompt: str = "", *, password: bool = False) -> str:
        self.text += prompt
        return self.lines.pop(0)


@pytest.fixture(autouse=True)
def _terminal() -> Iterator[None]:
    yield
    IOStream.set_global_default(None)


def chat() -> None:
    helper = ConversableAgent("helper", llm_config=ScriptedModel(["Hi there"]), human_input_mode="NEVER")
    ConversableAgent("user", human_input_mode="ALWAYS").initiate_chat(helper, message="Hello", max_turns=2)


def test_the_programs_stream_gets_the_text_and_answers_the_questions(capsys: pytest.CaptureFixture[str]) -> None:
    stream = Recorder("exit")
    IOStream.set_global_default(stream)

    chat()

    assert "Hi there" in stream.text
    assert (stream.lines, capsys.readouterr().out) == ([], "")


def test_a_stream_of_a_context_is_set_for_its_time() -> None:
    stream = Recorder("exit")
    with IOStream.set_default(stream):
        chat()

        assert IOStream.get_default() is stream
    assert isinstance(IOStream.get_default(), IOConsole)
