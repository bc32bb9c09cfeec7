import sys
from pathlib import Path

import pytest

from autogen_nb.testing import FakeOpenAI
from tests.cli.commands import Ran, ran
from tests.notebook.conftest import python

CHAT = """
import os
import autogen_nb as autogen
assistant = autogen.AssistantAgent(
    "assistant", llm_config={"model": "scripted", "base_url": os.environ["OPENAI_BASE_URL"], "api_key": "none"}
)
user = autogen.UserProxyAgent(
    "user",
    human_input_mode="NEVER",
    is_termination_msg=lambda message: "TERMINATE" in message["content"],
    code_execution_config={"confirm": "always"},
)
if __name__ == "__main__":
    user.initiate_chat(assistant, message="Go.")
"""
AGENTS = CHAT.partition("if __name__")[0]


def talked(folder: Path, model: FakeOpenAI, typed: str) -> Ran:
    (folder / "talk.py").write_text(CHAT)
    return ran("talk.py", cwd=folder, typed=typed, program=[sys.executable], OPENAI_BASE_URL=model.base_url)


@pytest.mark.slow
def test_a_line_in_the_pipe_decides(tmp_path: Path) -> None:
    with FakeOpenAI([python("print('it', 'ran')"), "TERMINATE"]) as model:
        ended = talked(tmp_path, model, "r\n")

    assert ended.code == 0, ended.err
    assert "it ran" in ended.out


@pytest.mark.slow
def test_a_pipe_at_its_end_is_a_clear_error(tmp_path: Path) -> None:
    with FakeOpenAI([python("print('it', 'ran')")]) as model:
        ended = talked(tmp_path, model, "")

    assert ended.code != 0
    assert "nobody is there" in ended.err.splitlines()[-1]
    assert "it ran" not in ended.out
