import importlib.util
import os
import sys

import pytest

from tests.contract.ways import Agent
from tests.executors.wheels import wheel
from tests.kernels.looping import STUBBORN

SLEEPS = "import time\nprint('on', flush=True)\ntime.sleep(99)"
SLEEPING = pytest.mark.parametrize(
    ("language", "code"), [("python", SLEEPS), ("sh", "echo on; sleep 99")], ids=["python", "sh"]
)
# It never has more than 1.2 GB, and keeps nothing when it ends.
GROWS = """
import time
def grow():
    held = []
    try:
        for _ in range(24):
            held.append(bytearray(b"x") * 50_000_000)
            time.sleep(0.05)
        print("had it all")
    finally:
        held.clear()
grow()
"""
WIDGET = """
from ipykernel.comm import Comm  # older kernels have no package `comm`
data = {"state": {"value": None, "count": 0}, "buffer_paths": [["value"]]}
widget = Comm("jupyter.widget", data, buffers=[b"\\x00\\xff"])
for count in range(100):
    widget.send({"method": "update", "state": {"count": count}})
@widget.on_msg
def answer(message):
    widget.send({"method": "update", "state": {"got": bytes(message["buffers"][0]).hex()}})
"""
SPAWNS = """
import subprocess, time
children = []
try:
    for _ in range(200):
        children.append(subprocess.Popen(["sleep", "60"]))
    time.sleep(60)
finally:
    for child in children:
        child.kill()
        child.wait()
"""
# It leaves no room for one process more, and does not yield.
FILLS = """
import signal, subprocess, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
children = []
try:
    while len(children) < 300:
        children.append(subprocess.Popen(["sleep", "60"]))
except OSError:
    pass
time.sleep(60)
"""


def test_both_streams_come_in_order(agent: Agent) -> None:
    code = "import sys\nfor i in range(3):\n    print(i, flush=True); print(i, 'err', file=sys.stderr, flush=True)"

    assert agent.python(code).text == "0\n0 err\n1\n1 err\n2\n2 err\n"
    assert agent.run(("sh", "echo a; echo b >&2; echo c")).text == "a\nb\nc\n"


def test_blocks_run_in_order_up_to_the_first_failure(agent: Agent) -> None:
    ran = agent.run(("python", "print(1)"), ("sh", "echo 2"), ("python", "print(3)\n1/0"), ("sh", "echo 4"))

    assert ran.text.startswith("1\n2\n3\n")
    assert "ZeroDivisionError" in ran.text
    assert "4\n" not in ran.text
    assert (ran.exit_code, ran.ran) == (1, 3)


@pytest.mark.parametrize(
    ("language", "code", "exit_code"),
    [
        ("python", "pass", 0),
        ("python", "import sys; sys.exit(3)", 3),
        ("python", "raise SystemExit", 0),
        ("python", "raise ValueError(1)", 1),
        ("python", "def (", 1),
        ("sh", "exit 7", 7),
        ("bash", "false", 1),
        ("rust", "fn main() {}", 1),
    ],
)
def test_exit_codes(agent: Agent, language: str, code: str, exit_code: int) -> None:
    assert agent.run((language, code)).exit_code == exit_code


def test_text_of_any_script_and_bytes_of_none(agent: Agent) -> None:
    assert agent.python("print('ä€😀' * 3)").text == "ä€😀" * 3 + "\n"
    assert agent.run(("bash", r"printf 'ä\377b'")).text == "ä\N{REPLACEMENT CHARACTER}b"


@pytest.mark.parametrize(("language", "code"), [("python", "print('half \ud83d')"), ("sh", "echo 'half \ud83d'")])
def test_code_with_half_a_surrogate_pair_runs(agent: Agent, language: str, code: str) -> None:
    assert agent.run((language, code)).text == "half \N{REPLACEMENT CHARACTER}\n"


@pytest.mark.slow
def test_much_output_comes_whole(agent: Agent) -> None:
    lines = agent.python("for i in range(100_000):\n    print(f'{i:09}')").text.splitlines()

    assert lines == [f"{number:09}" for number in range(100_000)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "code", "note"),
    [("python", SLEEPS, "ran out of time"), ("bash", "echo on; sleep 98765 | cat", ""), ("python", STUBBORN, "")],
    ids=["python", "bash", "python that does not yield"],
)
def test_a_block_that_runs_out_of_time_is_ended(agent: Agent, language: str, code: str, note: str) -> None:
    ran = agent.run((language, code), timeout=3)

    assert ran.text.startswith("on\n")
    assert ran.exit_code == 124
    assert note in ran.note
    assert agent.run(("python", "print(1)"), ("sh", "echo 2")).text == "1\n2\n"


@SLEEPING
def test_a_run_that_is_given_up_leaves_the_agent_usable(agent: Agent, language: str, code: str) -> None:
    agent.given_up(language, code)

    assert agent.run(("python", "print(1)"), ("sh", "echo 2")).text == "1\n2\n"


@SLEEPING
def test_an_interrupt_ends_the_block(agent: Agent, language: str, code: str) -> None:
    ran = agent.interrupted(language, code)

    assert ran.text.startswith("on\n")
    assert ran.exit_code == 130
    assert "interrupted" in ran.note
    assert agent.python("print(1)").text == "1\n"


@pytest.mark.slow
@pytest.mark.parametrize("end", ["os._exit(9)", "os.kill(os.getpid(), 9)"], ids=["exit", "kill"])
def test_a_crash_is_a_failure_and_the_next_block_runs(agent: Agent, end: str) -> None:
    ran = agent.python(f"import os, time\nprint('on', flush=True)\ntime.sleep(0.5)\n{end}")

    assert ran.text.startswith("on\n")
    assert ran.exit_code != 0
    assert agent.python("print(1)").text == "1\n"


def test_without_a_person_input_is_an_error(agent: Agent) -> None:
    ran = agent.python("input('name? ')", timeout=60)

    assert ran.exit_code == 1
    assert "Error" in ran.text
    assert agent.run(("sh", "cat; echo end"), timeout=60).text == "end\n"


def test_files_are_written_in_the_working_directory(agent: Agent) -> None:
    ran = agent.run(("python", "open('made.txt', 'w').write('ä')"), ("sh", "cp made.txt copied.txt && mkdir -p sub"))

    assert ran.exit_code == 0
    assert (agent.folder / "copied.txt").read_text(encoding="utf-8") == "ä"


def test_a_named_block_is_saved_and_can_be_imported(agent: Agent) -> None:
    code = "# filename: plans/planned.py\nanswer = 42\n"
    ran = agent.run(("python", code), ("python", "from plans.planned import answer\nprint(answer)"))

    assert ran.text == "42\n"
    assert (agent.folder / "plans" / "planned.py").read_text(encoding="utf-8") == code


@pytest.mark.parametrize("name", ["../outside.py", "/outside.py", "."])
@pytest.mark.parametrize("language", ["python", "sh"])
def test_a_name_outside_is_refused(agent: Agent, language: str, name: str) -> None:
    ran = agent.run((language, f"# filename: {name}\necho = print('ran')"))

    assert "not inside the working directory" in ran.text
    assert ran.exit_code == 1
    assert not os.path.lexists(agent.folder.parent / "outside.py")


def test_no_key_is_in_the_environment(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "planted-key")
    code = "import os\nprint(dict(os.environ), open('/proc/self/environ').read())"
    text = agent.run(("python", code), ("sh", "env")).text

    assert "PATH" in text
    assert "planted-key" not in text


def test_variables_live_on(kernel: Agent) -> None:
    kernel.run(("python", "a = 20"), ("python", "a += 1"))

    assert kernel.python("a * 2").text == "42\n"


def test_variables_survive_an_error_and_a_time_limit(kernel: Agent) -> None:
    kernel.python("b = 7\n1/0")
    ran = kernel.python("import time\ntime.sleep(99)", timeout=1)

    assert "variables are kept" in ran.note
    assert kernel.python("b").text == "7\n"


@pytest.mark.slow
def test_a_loss_of_variables_is_reported(kernel: Agent) -> None:
    ran = kernel.python("c = 1\nimport os, signal\nos.kill(os.getpid(), signal.SIGKILL)")

    assert "variables are lost" in ran.note
    assert "NameError" in kernel.python("c").text


def test_input_is_answered_by_a_person(kernel: Agent) -> None:
    code = "from getpass import getpass\nprint(input('name? ') + getpass('word? '))"
    ran = kernel.answered(code, {"name? ": "Ada", "word? ": "x"})

    assert ran.text == "Adax\n"


def test_rich_output_comes_beside_text(kernel: Agent) -> None:
    ran = kernel.python("from IPython.display import HTML, display\ndisplay(HTML('<b>x</b>'))\n1 + 1")

    assert [getattr(item, "data", {}).get("text/html") for item in ran.outputs] == ["<b>x</b>", None]
    assert ran.text == "2\n"


@pytest.mark.slow
def test_values_pass_both_ways(kernel: Agent) -> None:
    value = {"numbers": list(range(200_000)), "text": "ä" * 3_000_000, 1: (2, None)}
    executor = kernel.executor
    kernel.loop.run(executor.put({"value": value}), 120)  # type: ignore[attr-defined]  # of a kernel's executor

    assert kernel.python("back = value\nlen(value['text'])").text == "3000000\n"
    assert kernel.loop.run(executor.get("back"), 120) == value  # type: ignore[attr-defined]  # same


def test_widgets_pass_state_and_buffers_both_ways(kernel: Agent) -> None:
    kernel.python(WIDGET)
    widgets = kernel.executor.kernel.widgets  # type: ignore[attr-defined]  # of a kernel's executor
    changes, _ = widgets.read()
    ((name, state),) = changes.items()
    widgets.send(name, {"method": "update", "state": {}}, [b"\x00\xfe"])
    kernel.python("1")

    assert state == {"value": b"\x00\xff", "count": 99}
    assert widgets.read()[0] == {name: {"got": "00fe"}}


def test_variables_are_listed(kernel: Agent) -> None:
    kernel.python("listed = [1, 2]")
    found = kernel.loop.run(kernel.executor.variables())  # type: ignore[attr-defined]  # of a kernel's executor

    assert ("listed", "list") in [(item.name, item.type) for item in found]


def test_the_interpreter_is_this_one(agent: Agent) -> None:
    assert agent.python("import sys; print(sys.version_info[0])").text == f"{sys.version_info[0]}\n"
    assert agent.run(("sh", "python3 -c 'print(1)'")).text == "1\n"


@pytest.mark.slow
def test_what_is_installed_is_the_chats_own(agent: Agent) -> None:
    package = wheel(agent.folder, "autogen_nb_sample")
    install = f"""
import subprocess, sys
pip = [sys.executable, "-m", "pip", "install", "--no-index", "--quiet", {package.name!r}]
print(subprocess.run(pip, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).returncode)
"""
    look = "import autogen_nb_sample; print(autogen_nb_sample.value)"

    assert agent.python(install).text == "0\n"
    assert agent.python(look).text == "from the wheel\n"
    assert agent.run(("sh", f'python3 -c "{look}"')).text == "from the wheel\n"
    assert importlib.util.find_spec("autogen_nb_sample") is None


@pytest.mark.parametrize(
    ("language", "code"), [("python", "while True: print('x' * 1_000)"), ("sh", "yes")], ids=["python", "sh"]
)
def test_a_block_that_prints_too_much_is_ended(limited: Agent, language: str, code: str) -> None:
    ran = limited.run((language, code), timeout=100)

    assert ran.exit_code == 137
    assert "passed its output limit of 2 MB" in ran.note
    assert len(ran.text) <= 2_000_000 + 200
    assert limited.run(("python", "print(1)"), ("sh", "echo 2")).text == "1\n2\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "code"), [("python", GROWS), ("sh", f"python3 -c '{GROWS}'")], ids=["python", "sh"]
)
def test_a_block_that_takes_too_much_memory_is_ended(watched: Agent, language: str, code: str) -> None:
    ran = watched.run((language, code), timeout=100)

    assert ran.exit_code != 0
    assert "memory limit of 600 MB" in ran.note
    assert "had it all" not in ran.text
    assert watched.run(("python", "print(1)"), ("sh", "echo 2")).text == "1\n2\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "code"),
    [("python", SPAWNS), ("sh", "for _ in $(seq 200); do sleep 60 & done; wait")],
    ids=["python", "sh"],
)
def test_a_block_that_starts_too_many_processes_is_ended(watched: Agent, language: str, code: str) -> None:
    ran = watched.run((language, code), timeout=50)

    assert ran.exit_code not in (0, 124)
    assert "processes limit of 150" in ran.note
    assert watched.run(("python", "print(1)"), ("sh", "echo 2")).text == "1\n2\n"


@pytest.mark.slow
def test_a_block_that_leaves_no_room_for_processes_is_ended(watched: Agent) -> None:
    ran = watched.run(("python", FILLS), timeout=5)

    assert ran.exit_code != 0
    # A container does not end a block that passes this limit: it refuses the processes, and time runs out.
    assert "processes limit of 150" in ran.note or "ran out of time" in ran.note
    assert watched.run(("python", "print(1)"), ("sh", "echo 2")).text == "1\n2\n"
