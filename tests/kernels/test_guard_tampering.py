import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from autogen_nb.effects import Effect
from autogen_nb.kernels.inside.guard_questions import sign
from autogen_nb.kernels.outcome import TIMED_OUT
from tests.corpus import sections
from tests.kernels.guarded import GuardedKernel, errors, guarded_kernel

HELPER = """
saved = []
def replace(owner, *names, by=None):
    for name in names:
        saved.append((owner, name, getattr(owner, name)))
        setattr(owner, name, by or (lambda *a, **k: True))
def attempt():
    try:
        open('out', 'w')
        return 'opened'
    except PermissionError as error:
        return str(error)
    finally:
        for owner, name, value in reversed(saved):
            setattr(owner, name, value)
        del saved[:]
"""

REPLACED = dict(sections(Path(__file__).with_name("guard_tampering.txt")))


@pytest.mark.parametrize("name", REPLACED)
def test_nothing_that_is_replaced_answers(kernel: GuardedKernel, name: str) -> None:
    code = REPLACED[name].replace("{cwd}", str(kernel.folder))

    ran = kernel.run(f"{HELPER}\n{code}\nprint(attempt())")

    assert "denied" in ran.stdout, errors(ran)
    # Forged permissions end the block for the guard, so that nobody is asked any more.
    assert ("not today" in ran.stdout) is (len(kernel.asked) == 1) is ("forged" not in name)
    assert not (kernel.folder / "out").exists()


def test_nothing_of_the_guard_is_in_sight(kernel: GuardedKernel) -> None:
    code = """
import sys
reached = []
try:
    open('first', 'w')
except PermissionError as error:
    entry = error.__traceback__
    while entry is not None:
        reached += [*entry.tb_frame.f_globals.values(), *entry.tb_frame.f_locals.values()]
        entry = entry.tb_next
handler = get_ipython().kernel.shell_handlers['execute_request']
reached += [*handler.__globals__.values(), *(cell.cell_contents for cell in handler.__closure__)]
def of(each):
    return f"{type(each).__module__} {type(each).__name__} {getattr(each, '__module__', '')}"
print([of(each) for each in reached if 'autogen_nb_guard' in of(each) or '_Guard' in of(each)])
print([name for name in sys.modules if 'guard' in name and 'autogen' in name])
"""
    assert kernel.run(code).stdout == "[]\n[]\n"


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GuardedKernel]:
    with guarded_kernel(tmp_path_factory.mktemp("tampering")) as made:
        yield made


def test_answers_forged_on_the_kernels_own_socket(kernel: GuardedKernel) -> None:
    code = """
import json, threading, time
from jupyter_client.session import Session
kernel = get_ipython().kernel
app = kernel.parent
import zmq
def forge():
    context = zmq.Context()
    socket = context.socket(zmq.DEALER)
    socket.connect(f"ipc://{app.ip}-{app.stdin_port}")
    session = Session(key=kernel.session.key)
    for _ in range(40):
        told = json.dumps({"text": json.dumps({"allowed": True}), "signature": ""})
        session.send(socket, "input_reply", {"value": told})
        session.send(socket, "input_reply", {"value": "y"})
        time.sleep(0.01)
    socket.close(0); context.term()
thread = threading.Thread(target=forge); thread.start()
time.sleep(0.1)
try:
    open('forged', 'w')
except PermissionError as error:
    print(error)
thread.join()
"""
    ran = kernel.run(code, Effect("read_private"))

    assert "not today" in ran.stdout, errors(ran)
    assert not (kernel.folder / "forged").exists()


def test_prompt_that_looks_like_a_question_is_a_prompt(kernel: GuardedKernel) -> None:
    prompts: list[str] = []

    async def ask(prompt: str, password: bool) -> str:
        prompts.append(prompt)
        return "typed"

    forged = 'autogen_nb guard 0000 {"number": "1", "kind": "write", "target": "", "words": "", "line": "1"}'
    kernel.asked = []
    ran = kernel.shared.execute(
        f"print(get_ipython().kernel.raw_input({forged!r}))", permissions=kernel.permissions(), ask=ask
    )

    assert (ran.stdout, prompts, kernel.asked) == ("typed\n", [forged], [])


def test_terms_cannot_be_used_again(kernel: GuardedKernel) -> None:
    seen = kernel.run("print(list(get_ipython().kernel.get_parent('shell')['content']))")

    assert "autogen_nb_guard" not in seen.stdout
    assert "code" in seen.stdout


def test_guard_that_watches_does_not_stop(kernel: GuardedKernel) -> None:
    kernel.run("print()")
    handle = kernel.shared.kernel._handle
    assert handle is not None
    assert handle.guard is not None
    text = json.dumps({"number": 10**6, "permissions": None})
    begin = f"sys.audit('autogen_nb.guard.begin', {text!r}, {sign(handle.guard.secret, text)!r}, b'', {{}})"

    ran = kernel.run(f"import sys; {begin}\nopen('forged', 'w')")

    assert "denied" in str(errors(ran))
    assert not (kernel.folder / "forged").exists()
    assert kernel.kinds("open('forged', 'w')") == ["write"]


def test_threads_that_race_for_one_answer(kernel: GuardedKernel) -> None:
    code = """
from concurrent.futures import ThreadPoolExecutor
def write(i):
    try:
        open(f'race{i}', 'w').close()
        return True
    except PermissionError:
        return False
with ThreadPoolExecutor(8) as pool:
    print(sum(pool.map(write, range(8))))
"""
    ran = kernel.run(code)

    assert (ran.stdout, len(kernel.asked)) == ("0\n", 8)


def test_a_question_for_nobody_does_not_stop_the_clock(kernel: GuardedKernel) -> None:
    code = """
import time
own = get_ipython().kernel
parent = own.get_parent('shell')
ident = [parent['header']['session'].encode()]
own.session.send(own.stdin_socket, 'input_request', {'prompt': '', 'password': False}, parent, ident=ident)
time.sleep(20)
"""
    ran = kernel.shared.execute(code, timeout=1, permissions=kernel.permissions(nobody=True))

    assert ran.finished.exit_code == TIMED_OUT
