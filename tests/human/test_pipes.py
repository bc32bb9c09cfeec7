import subprocess
import sys
from pathlib import Path

import pytest

from autogen_nb.testing import FakeOpenAI
from tests.notebook.conftest import environment, python

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


def ran(folder: Path, model: FakeOpenAI, typed: str) -> "subprocess.CompletedProcess[str]":
    (folder / "talk.py").write_text(CHAT)
    environ = environment(folder, OPENAI_BASE_URL=model.base_url)
    return subprocess.run(
        [sys.executable, "talk.py"],
        cwd=folder,
        env=environ,
        input=typed,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.slow
def test_a_line_in_the_pipe_decides(tmp_path: Path) -> None:
    with FakeOpenAI([python("print('it', 'ran')"), "TERMINATE"]) as model:
        ended = ran(tmp_path, model, "r\n")

    assert ended.returncode == 0, ended.stderr
    assert "it ran" in ended.stdout


@pytest.mark.slow
def test_a_pipe_at_its_end_is_a_clear_error(tmp_path: Path) -> None:
    with FakeOpenAI([python("print('it', 'ran')")]) as model:
        ended = ran(tmp_path, model, "")

    assert ended.returncode != 0
    assert "nobody is there" in ended.stderr.splitlines()[-1]
    assert "it ran" not in ended.stdout
