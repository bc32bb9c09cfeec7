import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pexpect  # type: ignore[import-untyped]  # pexpect has no annotations
import pytest

from autogen_nb.testing import FakeOpenAI
from tests.cli.commands import PROGRAM, TIMEOUT, asked, hears_interrupts, ran
from tests.notebook.conftest import python
from tests.notebook.terminals import CHOICES
from tests.processes import gone

pytestmark = pytest.mark.slow

TASK = "Your task: "


@pytest.fixture
def terminal(tmp_path: Path, model: FakeOpenAI) -> Iterator[Any]:
    program, *arguments = *PROGRAM, "chat"
    environ = {**os.environ, **asked(model), "TERM": "dumb"}
    child = pexpect.spawn(
        program,
        arguments,
        cwd=str(tmp_path),
        env=environ,
        encoding="utf-8",
        timeout=TIMEOUT,
        dimensions=(60, 200),
        preexec_fn=hears_interrupts,
    )
    child.expect(TASK)
    yield child
    child.close(force=True)


def test_tasks_from_a_pipe_are_one_conversation(tmp_path: Path, model: FakeOpenAI) -> None:
    (tmp_path / "sales.csv").write_text("amount\n3\n4\n")
    model.add(python("total = sales.amount.sum()"), "Noted.", python("print('twice', total * 2)"), "It is 14.")

    arguments = ("chat", "-d", "sales.csv", "--confirm", "never")
    done = ran(*arguments, cwd=tmp_path, typed="Add it up.\nAnd twice that?\n", **asked(model))

    assert done.code == 0
    assert "sales.csv is loaded as the variable `sales`: 2 rows." in done.err
    assert "127.0.0.1 receives your task, names and types (no rows)" in done.err
    assert "twice 14" in done.out
    assert done.out.count("It is 14.") == 1
    last = [str(message["content"]) for message in model.requests[-1].body["messages"]]
    assert any("Add it up." in text for text in last)
    assert any("`sales`: DataFrame" in text for text in last)


def test_an_input_that_ends_before_the_answer_is_reported(tmp_path: Path, model: FakeOpenAI) -> None:
    model.add(python("print(1)"))

    done = ran("chat", cwd=tmp_path, typed="Print one.\n", **asked(model))

    assert done.code == 5
    assert "the standard input ended" in done.err
    assert "--confirm never" in done.err
    assert "initiate_chat" not in done.err


def talk(terminal: Any, *lines: tuple[str, str]) -> None:
    """Types each line, and waits for what answers it."""
    for typed, answer in lines:
        terminal.sendline(typed)
        terminal.expect(answer)


def ended(terminal: Any) -> int:
    terminal.expect(pexpect.EOF)
    terminal.close()
    return int(terminal.exitstatus)


def test_the_same_questions_in_words(terminal: Any, model: FakeOpenAI) -> None:
    model.add(python("print('one', 6 * 7)"), "It is 42.", python("print('two')"), python("print('three')"))

    talk(terminal, ("Compute.", CHOICES), ("r", f"one 42.*{TASK}"))
    talk(terminal, ("Once more.", CHOICES), ("s", "Why"), ("Not that one.", CHOICES), ("t", f"stopped by you.*{TASK}"))
    terminal.sendline("exit")

    assert ended(terminal) == 3
    assert "Not that one." in str(model.requests[-1].body["messages"])


def test_ctrl_c_interrupts_a_task_and_twice_ends_it_all(terminal: Any, model: FakeOpenAI) -> None:
    model.add(
        python("import os, time\nkept = 41\nprint('kernel', os.getpid(), flush=True)\ntime.sleep(600)"),
        python("print('still', kept + 1)"),
        "It is 42.",
    )

    talk(terminal, ("Wait.", CHOICES), ("r", r"kernel (\d+)"))
    kernel = int(terminal.match[1])
    terminal.sendintr()
    terminal.expect(f"Interrupted; Ctrl-C once more, or Ctrl-D, ends.*{TASK}")
    talk(terminal, ("Is it there?", CHOICES), ("r", f"still 42.*{TASK}"))
    terminal.sendintr()
    terminal.expect(f"Ctrl-C once more, or Ctrl-D.*{TASK}")
    terminal.sendintr()

    assert ended(terminal) == 130
    assert gone([kernel])
