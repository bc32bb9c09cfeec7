from typing import Literal

import pytest

from autogen_nb.effects import DANGEROUS
from autogen_nb.testing import FakeOpenAI
from tests.notebook.conftest import python
from tests.notebook.front_end import FrontEnd, Run

pytestmark = pytest.mark.slow

ASK = """
from autogen_nb.effects import Effect
from autogen_nb.events import ApprovalAsked, CodeInputAsked, EffectAsked
from autogen_nb.messages import CodeBlock
from autogen_nb.notebook.asking.button_person import ButtonPerson
from autogen_nb.notebook.view.notebook_view import NotebookView

view = NotebookView()
person = ButtonPerson(lambda: view, lambda: False)
question = {question}
view.show(question)
answer = await person.{method}(question)
view.show(answer)
print(answer)
"""
CONNECTS = (
    'EffectAsked("user", Effect("network", "api.example.org", "connects to api.example.org"), "requests.get(url)")'
)
UNASKED = "runs without asking until this cell ends"
PASSWORD = 'CodeInputAsked("user", "Password: ", password=True)'


def start(front: FrontEnd, method: str, question: str) -> Run:
    return front.start(ASK.format(method=method, question=question))


def test_message_with_code_shows_one_panel_and_words_may_take_its_place(either: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('never seen')"), python("print(6 * 7)", words="Another way:"), "It is 42.")

    cell = either.start("%%autogen --human-input always\nMultiply.")
    either.asked("Run")
    labels = [state["description"] for _, state in either.visible() if state.get("_model_name") == "ButtonModel"]
    either.type("use another way", "Your message to assistant instead")
    either.click("Send")
    either.wait(lambda: "Another way:" in cell.text, "the second reply")
    words = model.requests[-1].body["messages"][-1]["content"]
    either.click("Run")
    either.wait(lambda: any("It is 42" in text for text in cell.about("message")), "the third reply")
    either.click("Exit")
    either.finish(cell)

    assert labels == ["Run", "Edit", "Skip", "Run all from here", "Send", "Exit"]
    assert words == "use another way"
    assert cell.decisions == ["Answered · by you", "run by you", "Ended the chat · by you"]
    assert cell.about("stream") == ["42\n"]


def test_tips_come_once_and_after_the_outputs(fresh: FrontEnd, model: FakeOpenAI) -> None:
    cells: list[Run] = []

    def ask_next() -> None:
        ran = len(cells[-1].decisions)
        fresh.click("Run")
        fresh.wait(lambda: len(cells[-1].decisions) > ran, "the decision")

    for name in ("one", "two"):
        model.add(*(python(f"{name}_{number} = {number}\nprint({number})") for number in range(3)), "Done.")
        cells.append(fresh.start("%%autogen --new\nGo.", name))
        for _ in range(3):
            ask_next()
        fresh.finish(cells[-1])

    kinds = [output.about for output in cells[0].outputs]
    assert kinds.index("end") < kinds.index("offer")
    first, second = (cell.about("offer") for cell in cells)
    assert len(first) == len(second) == 1
    assert first != second
    assert ["copies one here" in cell.text for cell in cells] == [True, False]


def test_nothing_runs_before_a_click_and_run_all_from_here_ends_with_the_cell(
    either: FrontEnd, model: FakeOpenAI
) -> None:
    pressed = either.cwd / "pressed"
    one = python("open('pressed', 'w').close()\nprint('one')")
    model.add(one, {"content": python("print('two')"), "delay": 2}, "Done.")
    model.add(python("print('three')"))

    cell = either.start("%%autogen --new\nGo.")
    either.asked("Run")
    before = "runs without asking" in cell.text, pressed.exists()
    either.click("Run all from here")
    either.finish(cell)
    said = [UNASKED in message for message in either.messages]
    again = either.run_clicking("%%autogen\nGo on.", "again", click=["Stop"])

    pressed.unlink()
    assert before == (False, False)
    assert any(said)
    assert UNASKED not in cell.text
    assert cell.about("stream") == ["one\n", "two\n"]
    assert cell.decisions == ["run by you, together with all later code of this cell", "run by you (run all from here)"]
    assert again.error == "Not finished. Run this cell again to start over."


@pytest.mark.parametrize(
    ("before", "option"),
    [("", " --confirm always"), ("%config AutogenMagics.confirm = 'always'", "")],
    ids=["option", "setting"],
)
def test_confirm_always_asks_about_each_block(fresh: FrontEnd, model: FakeOpenAI, before: str, option: str) -> None:
    model.add(*[python("open('../x', 'w')")] * 2)

    fresh.run(before, "config")
    cell = fresh.start(f"%%autogen{option}\nGo.")
    fresh.asked("Run")
    labels = [state["description"] for _, state in fresh.visible() if state.get("_model_name") == "ButtonModel"]
    fresh.click("Stop")
    fresh.finish(cell)
    fresh.run("%config AutogenMagics.ask = 'text'", "words")
    fresh.answers.append("t")
    fresh.run(f"%%autogen --new{option}\nGo.", "again")

    assert labels == ["Run", "Edit", "Skip", "Stop"]
    assert fresh.prompts == ["[r]un, [e]dit, [s]kip, s[t]op? "]


EFFECT = 'Effect("{0}", "/a", "{0}s /a")'
APPROVE = f'person.approve(ApprovalAsked("user", CodeBlock("python", "f()"), effects=({EFFECT},), always=True))'
ALLOW = f'person.allow(EffectAsked("user", {EFFECT}))'


@pytest.mark.parametrize(
    ("calls", "buttons"),
    [
        ([APPROVE.format("write")], "Run:primary Edit: Skip:"),
        *(([APPROVE.format(kind)], "Skip:primary Edit: Run:warning") for kind in sorted(DANGEROUS)),
        ([ALLOW.format("write")], "Allow:primary Always allow …: Deny: Stop:"),
        ([ALLOW.format("delete")], "Deny:primary Always allow …: Allow:warning Stop:"),
        (
            [ALLOW.format("write"), ALLOW.format("delete")],
            "Allow: Deny: Deny: Allow:warning Deny all: Allow all:warning",
        ),
    ],
    ids=["write", *sorted(DANGEROUS), "allow write", "allow delete", "allow both"],
)
def test_dangerous_effect_is_a_warning(notebook: FrontEnd, calls: list[str], buttons: str) -> None:
    code = ASK.partition("question =")[0] + f"import asyncio\nprint(await asyncio.gather({', '.join(calls)}))"
    cell = notebook.start(code)
    notebook.wait(lambda: notebook.has("Stop") and notebook.has("Deny all") == (len(calls) > 1), "the panel")
    states = [state for _, state in notebook.visible()]
    notebook.click("Stop")
    notebook.finish(cell)

    shown = [f"{state['description']}:{state['button_style']}" for state in states if "button_style" in state]
    warnings = [state for state in states if "--jp-warn-color0" in str(state.get("value"))]
    assert " ".join(shown).startswith(buttons)
    assert len(warnings) == (":warning" in buttons)


def test_accepted_rule_lets_the_next_block_run(notebook: FrontEnd, model: FakeOpenAI) -> None:
    path = notebook.cwd / "ruled.txt"
    write = f"open({str(path)!r}, 'w').close()"
    model.add(python(f"{write}\nprint('one')"), python(f"{write}\nprint('two')"), "Done.")

    cell = notebook.start("%%autogen --confirm risky\nGo.")
    notebook.click("Always allow …")
    notebook.asked("Allow and run")
    boxes = [state["description"] for _, state in notebook.visible() if state.get("_model_name") == "CheckboxModel"]
    notebook.tick(f"Always allow writing {path}")
    notebook.click("Allow and run")
    notebook.finish(cell)

    assert boxes[0] == f"Always allow writing {path}"
    assert cell.about("stream") == ["one\n", "two\n"]
    assert cell.decisions == [
        f"run by you · from now on: always allow writing {path}",
        f"run by your rule: write {path}",
    ]


@pytest.mark.parametrize(
    ("clicks", "answer", "line"),
    [
        (("Allow",), "allowed=True, reason='', by='you', stop=False", "Allowed: connects to api.example.org · by you"),
        (("Deny", "Deny"), "allowed=False, reason='no', by='you'", "Denied (no): connects to api.example.org · by you"),
        (
            ("Stop",),
            "allowed=False, reason='', by='you', stop=True",
            "Denied: connects to api.example.org · the chat is stopped · by you",
        ),
    ],
    ids=["allow", "deny", "stop"],
)
def test_running_code_waits_for_leave(notebook: FrontEnd, clicks: tuple[str, ...], answer: str, line: str) -> None:
    cell = start(notebook, "allow", CONNECTS)
    notebook.asked("Allow")
    panel = cell.about("panel")[0]
    heads = [str(state.get("value", "")) for _, state in notebook.visible()]
    notebook.click(clicks[0])
    if clicks[1:]:
        notebook.type("no", "Why? The assistant reads it (may be empty)")
        notebook.click(clicks[1])
    notebook.finish(cell)

    assert panel.startswith("The running code waits: it connects to api.example.org next. Allow it?")
    assert any("requests" in head for head in heads)
    assert answer in cell.text
    assert cell.decisions == [line]
    assert list(notebook.visible()) == []


def test_password_is_nowhere_but_with_the_code(notebook: FrontEnd) -> None:
    cell = notebook.start(
        ASK.format(method="typed", question=PASSWORD)
        .replace("print(answer)", "print(len(answer.text))")
        .replace("view.show(answer)", "from autogen_nb import run\nview.show(run.without_password(question, answer))")
    )
    notebook.type("hunter2-secret", "Goes only to the code, and is not stored")
    notebook.click("Send")
    notebook.finish(cell)

    assert cell.about("stream") == []
    assert cell.text.rstrip().endswith("14")
    assert cell.decisions == ["Typed for the code (`Password`): a password · by you"]
    assert not [message for message in notebook.messages if "hunter2" in message]
    kept = notebook.run(
        "import ipywidgets\nprint([w for w in ipywidgets.Widget.get_manager_state()['state'].values()"
        " if 'hunter2' in str(w)])",
        "state",
    )
    assert kept.text.strip() == "[]"


@pytest.mark.parametrize(
    ("method", "question", "answer", "line"),
    [
        (
            "allow",
            CONNECTS,
            "EffectJudged(allowed=False, reason='nobody answered within 0.3 s', by='nobody, in time'",
            "Denied (nobody answered within 0.3 s): connects to api.example.org · by nobody, in time",
        ),
        (
            "typed",
            'CodeInputAsked("user", "Your name: ")',
            "CodeInputGiven(text=None, by='nobody, in time')",
            "Typed for the code (`Your name`): the end of the input · by nobody, in time",
        ),
    ],
    ids=["act", "input"],
)
def test_running_code_does_not_wait_for_ever(
    notebook: FrontEnd, method: str, question: str, answer: str, line: str
) -> None:
    code = ASK.format(method=method, question=question).replace("lambda: False", "lambda: False, human_timeout=0.3")

    cell = notebook.run(code)

    assert answer in cell.text
    assert cell.decisions == [line]
    assert list(notebook.visible()) == []


def test_only_an_optional_choice_is_made_without_an_answer(notebook: FrontEnd) -> None:
    cell = notebook.run("""
from autogen_nb.errors import NobodyThere
from autogen_nb.notebook.asking.button_person import ButtonPerson
from autogen_nb.notebook.asking.person import COPY, RESTORE
from autogen_nb.notebook.view.notebook_view import NotebookView

view = NotebookView()
person = ButtonPerson(lambda: view, lambda: False, human_timeout=0.3)
print("copied:", await person.choose(COPY, "Copy?"))
try:
    await person.choose(RESTORE, "Restore?")
except NobodyThere as error:
    print(error.reason)
""")

    assert cell.status == "ok", cell.error
    assert "copied: False\n" in cell.text
    assert "nobody answered within 0.3 s\n" in cell.text
    assert list(notebook.visible()) == []


def test_typed_line_or_the_end_of_the_input_goes_to_the_code(either: FrontEnd, model: FakeOpenAI) -> None:
    none = "try:\n    input()\nexcept EOFError:\n    print('nothing')"
    model.add(python(f"print('Hello')\nprint('So you are', input('Name? '))\n{none}"), "Done.")

    cell = either.start("%%autogen --confirm never\nAsk me.")
    either.asked("Send")
    before = cell.about("stream")
    either.type("Ada", "The running code waits for input: Name?")
    either.click("Send")
    either.wait(lambda: "The running code waits for input\n" in cell.text, "the second question")
    either.click("End of input")
    either.finish(cell)

    assert before == ["Hello\n"]
    assert cell.about("stream") == ["Hello\n", "So you are Ada\n", "nothing\n"]
    assert cell.decisions == [
        "Typed for the code (`Name?`): `Ada` · by you",
        "Typed for the code: the end of the input · by you",
    ]
    assert list(either.visible()) == []


def stop(front: FrontEnd, run: Run, way: Literal["signal", "message"] = "signal") -> None:
    front.stop(run, way)
    assert (run.status, run.error) == ("error", "Stopped.")


@pytest.mark.parametrize("way", ["signal", "message"])
def test_stop_while_a_panel_waits(either: FrontEnd, model: FakeOpenAI, way: Literal["signal", "message"]) -> None:
    model.add(python("1"))
    cell = either.start("%%autogen\nGo.")
    queued = either.start("print('queued')", "queued")
    either.asked("Run")

    stop(either, cell, way)

    assert list(either.visible()) == []
    assert cell.about("end")[0].startswith("Did not finish")
    assert either.finish(queued).status == "aborted"
    assert either.value("6 * 7") == "42"


def test_stop_while_the_model_writes(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add({"content": "word " * 400, "piece_delay": 0.05})
    cell = notebook.start("%%autogen\nWrite.")
    notebook.wait(lambda: any("word" in text for text in cell.about("partial")), "the first words")

    stop(notebook, cell)

    assert "cut off" in cell.about("partial")[0]
    assert model.wait_aborted(5)


def test_stop_while_code_runs(notebook: FrontEnd, model: FakeOpenAI) -> None:
    loop = python("kept = 'kept'\nprint('looping')\nwhile True: pass")
    model.add(loop, python("print(kept, 'and usable')"), "Fine.")
    cell = notebook.start("%%autogen --confirm never\nLoop.")
    notebook.wait(lambda: cell.about("stream") == ["looping\n"], "the loop")

    stop(notebook, cell)
    after = notebook.run("%%autogen --confirm never\nGo on.", "after")

    assert after.about("stream") == ["kept and usable\n"]


STUBBORN = """kept = 'kept'
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
print('stubborn')
while True: pass"""


def test_the_next_cell_waits_for_code_that_does_not_stop_until_it_is_killed(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python(STUBBORN), python("print('kept' in globals())"), "Gone.")
    cell = fresh.start("%%autogen --confirm never\nGo.", "stubborn")
    fresh.wait(lambda: cell.about("stream") == ["stubborn\n"], "the code")
    stop(fresh, cell)
    waiting = fresh.start("%%autogen\nGo on.", "waiting")
    fresh.wait(lambda: "waiting until the stopped code has ended" in waiting.text, "the status line")
    stop(fresh, waiting)
    fresh.wait(lambda: "did not stop within 5 s, so its kernel was killed" in waiting.text, "the line")
    after = fresh.run("%%autogen --confirm never\nShow it.", "after")

    assert after.about("stream") == ["False\n"]
    assert "did not stop; the kernel was killed" in str(model.requests[-1])
