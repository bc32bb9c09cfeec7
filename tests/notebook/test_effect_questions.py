import pytest

from autogen_nb.testing import FakeOpenAI
from tests.executors.wheels import wheel
from tests.notebook.conftest import python
from tests.notebook.front_end import FrontEnd, Run

pytestmark = pytest.mark.slow

# Written so that nothing of it is known before it runs.
WRITES = "exec(bytes.fromhex('" + b"open(name, 'w').close()".hex() + "'))"
WRITE = f"""
def write(name):
    try:
        {WRITES}
    except PermissionError:
        return 'denied'
    return 'written'
"""
BESIDE = f"""{WRITE}
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(3) as pool:
    print(*pool.map(write, ['../beside-1', '../beside-2', '../beside-3']))
"""
LATE = f"""{WRITE}
import os, threading, time
threading.Thread(target=write, args=['../late'], daemon=True).start()
while not os.path.exists('late-enough'):
    time.sleep(0.02)
print('over')
"""


def started(front: FrontEnd, model: FakeOpenAI, code: str) -> Run:
    model.add(python(code), "Done.")
    cell = front.start("%%autogen --new\nGo.")
    front.click("Run")
    return cell


def listed(front: FrontEnd, count: int) -> None:
    head = f"The running code asks {count} questions:"
    front.wait(lambda: any(head in str(state.get("value")) for _, state in front.visible()), f"a list of {count}")


def test_threads_ask_in_one_list(either: FrontEnd, model: FakeOpenAI) -> None:
    cell = started(either, model, BESIDE)
    listed(either, 3)
    rows = cell.about("panel")[0].splitlines()[1:4]
    either.click("Allow")
    listed(either, 2)
    either.click("Deny all")
    either.finish(cell)
    written = [path for number in (1, 2, 3) if (path := either.cwd.parent / f"beside-{number}").exists()]
    for path in written:
        path.unlink()

    decided = cell.about("decision")[0].rsplit(" · by you · ", 1)[0]
    words = [row.partition(" It ")[2] for row in rows]
    assert sorted(words) == [f"writes {either.cwd.parent / f'beside-{number}'}" for number in (1, 2, 3)]
    assert [f"writes {path}" for path in written] == words[2:]
    assert sorted(decided.split(" · ")) == [f"Allowed: {words[2]}", f"Denied: {words[0]}; {words[1]}"]
    assert sorted(cell.about("stream")[-1].splitlines()[-1].split()) == ["denied", "denied", "written"]
    assert list(either.visible()) == []


def test_question_of_code_that_has_ended_goes(either: FrontEnd, model: FakeOpenAI) -> None:
    cell = started(either, model, LATE)
    either.asked("Allow")
    (either.cwd / "late-enough").touch()
    either.finish(cell)
    (either.cwd / "late-enough").unlink()
    audit = either.run("%autogen audit", "audit").text

    assert "Done." in cell.text
    assert "not decided (the code has ended)" in audit
    assert "Not decided, since the code has ended: writes" in cell.about("decision")[0]
    assert "Allowed" not in cell.text
    assert not (either.cwd.parent / "late").exists()
    assert list(either.visible()) == []


@pytest.mark.parametrize("confirm", ["risky", "always"])
def test_an_install_is_one_question(fresh: FrontEnd, model: FakeOpenAI, confirm: str) -> None:
    wheel(fresh.cwd, "ordinary_one")
    install = "%pip install --no-index --find-links . ordinary_one"
    use = "import importlib.metadata, ordinary_one\nprint(importlib.metadata.version('ordinary-one'))"
    model.add(python(install), python(use), "Done.")

    cell = fresh.start(f"%%autogen --confirm {confirm}\nGo.")
    fresh.click("Run")
    fresh.wait(lambda: len(model.requests) == 2 or fresh.has("Allow"), "the end of the installation")
    if confirm == "always":
        fresh.click("Run")
    fresh.wait(lambda: cell.done or fresh.has("Allow"), "the end of the cell")

    assert cell.done
    assert cell.about("stream")[-1].endswith("1.0\n")
    assert cell.decisions == ["run by you"] * (2 if confirm == "always" else 1)
