"""What a person is asked besides code: their turn with code, what running code is about to do, what it reads."""

import pytest

from autogen_nb.testing import FakeOpenAI
from tests.notebook.front_end import FrontEnd, Run
from tests.notebook.scripts import python

WORDS = "Your message to assistant instead"
REASON = "Why? The assistant reads it (may be empty)"
ASK = """
from autogen_nb.effects import Effect
from autogen_nb.events import EffectAsked, ApprovalAsked, CodeInputAsked, HumanInputAsked
from autogen_nb.messages import CodeBlock
from autogen_nb.notebook.asking.panels import ButtonPerson
from autogen_nb.notebook.view.notebook_view import NotebookView

view = NotebookView()
person = ButtonPerson(view, lambda: False)
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
TYPED = 'CodeInputAsked("user", "Your name: ")'
PASSWORD = 'CodeInputAsked("user", "Password: ", password=True)'


def told(model: FakeOpenAI) -> str:
    """The last message of the last request."""
    return str(model.requests[-1].body["messages"][-1]["content"])


def start(front: FrontEnd, method: str, question: str) -> Run:
    """A cell that asks a person with buttons one question, and prints the answer."""
    return front.start(ASK.format(method=method, question=question))


def shown(cell: Run) -> list[str]:
    """The lines that took the panels' places, without the time of day."""
    return [line.rsplit(" · ", 1)[0] for line in cell.about("decision")]


# Your turn, and code that waits


@pytest.mark.slow
def test_message_with_code_shows_one_panel(either: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print(6 * 7)"), "It is 42.")

    cell = either.start("%%autogen --human-input always\nMultiply.")
    either.asked("Run")
    labels = [state["description"] for _, state in either.visible() if state.get("_model_name") == "ButtonModel"]
    either.click("Run")
    either.wait(lambda: any("It is 42" in text for text in cell.about("message")), "the second reply")
    either.click("Exit")
    either.finish(cell)

    assert labels == ["Run", "Edit", "Skip", "Run all from here", "Send", "Exit"]
    assert shown(cell) == ["Run · by you", "Ended the chat · by you"]
    assert cell.about("stream") == ["42\n"]


@pytest.mark.slow
def test_words_in_the_place_of_code(either: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('never seen')"), "Then not.")

    cell = either.start("%%autogen --human-input always\nGo.")
    either.type("use another way", WORDS)
    either.click("Send")
    either.wait(lambda: any("Then not." in text for text in cell.about("message")), "the second reply")
    either.click("Exit")
    either.finish(cell)

    assert told(model) == "use another way"
    assert shown(cell) == ["Answered · by you", "Ended the chat · by you"]
    assert cell.about("stream") == []


@pytest.mark.slow
def test_choices_are_buttons(notebook: FrontEnd) -> None:
    question = 'HumanInputAsked("user", "assistant", "Which colour?", choices=("red", "blue"))'
    cell = start(notebook, "input", question)
    notebook.asked("red")
    panel = cell.about("panel")[0]
    field = notebook.field("Another answer")
    notebook.click("blue")
    notebook.finish(cell)

    assert panel.startswith("Which colour?")
    assert field == ""
    assert "HumanInputGiven(text='blue', by='you')" in cell.text
    assert shown(cell) == ["Answered · by you"]


@pytest.mark.slow
def test_all_that_follows_is_let_run(notebook: FrontEnd) -> None:
    question = 'ApprovalAsked("user", CodeBlock("python", "1"))'
    cell = notebook.start(ASK.format(method="approve", question=question))
    notebook.asked("Run all from here")
    hints = [state["tooltip"] for _, state in notebook.visible() if state.get("description") == "Run all from here"]
    notebook.click("Run all from here")
    notebook.finish(cell)

    assert hints == ["Run this and all later code of this cell unasked; the next cell asks again"]
    assert "onwards=True" in cell.text
    assert shown(cell) == ["Run, and so will all later code of this cell be · by you"]


@pytest.mark.slow
def test_run_all_from_here_ends_with_the_cell(either: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('one')"), {"content": python("print('two')"), "delay": 2}, "Done.")
    model.add(python("print('three')"))

    cell = either.start("%%autogen --new\nGo.")
    either.asked("Run")
    before = "runs without asking" in cell.text
    either.click("Run all from here")
    either.finish(cell)
    said = [UNASKED in message for message in either.messages]
    again = either.start("%%autogen\nGo on.", "again")
    either.click("Stop")
    either.finish(again)

    assert not before
    assert any(said)
    assert UNASKED not in cell.text

    assert cell.about("stream") == ["one\n", "two\n"]
    assert shown(cell) == [
        "Run, and so will all later code of this cell be · by you",
        "Run · by you (run all from here)",
    ]
    assert again.error == "Stopped by you."


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "option"),
    [("", " --confirm always"), ("%config AutogenMagics.confirm = 'always'", "")],
    ids=["option", "setting"],
)
def test_who_said_always_is_asked_about_each_block(
    fresh: FrontEnd, model: FakeOpenAI, before: str, option: str
) -> None:
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


@pytest.mark.slow
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
    assert shown(cell) == [
        f"Run · from now on: always allow writing {path} · by you",
        f"Run · by your rule: write {path}",
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prompt", "shown_first"),
    [
        ("Your words to bob (press Enter to let the agent go on by itself): ", "Your turn: a message to bob?\n"),
        ("? ", "Your turn: a message to bob?\n"),
        ("Who speaks next?\\n1: ann\\n2: bob\\nType a number: ", "Who speaks next?\n1: ann\n2: bob\nType a number\n"),
    ],
    ids=["usual", "no words", "its own"],
)
def test_what_is_asked_is_said(notebook: FrontEnd, prompt: str, shown_first: str) -> None:
    cell = start(notebook, "input", f'HumanInputAsked("user", "bob", "{prompt}")')
    notebook.asked("Send")
    panel = cell.about("panel")[0]
    notebook.click("Exit")
    notebook.finish(cell)

    assert panel.startswith(shown_first)


# What running code asks


@pytest.mark.slow
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
        notebook.type("no", REASON)
        notebook.click(clicks[1])
    notebook.finish(cell)

    assert panel.startswith("The code that runs waits: it connects to api.example.org next. Allow it?")
    assert any("requests" in head for head in heads)
    assert answer in cell.text
    assert shown(cell) == [line]
    assert list(notebook.visible()) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "asked"),
    [
        ("allow", 'EffectAsked("user", Effect("write", "a{0}b", "writes a{0}b"), "open(\'a{0}b\')")'),
        ("approve", 'ApprovalAsked("user", CodeBlock("python", "a{0}b"), 0, 2, ("writes a{0}b",))'),
        ("typed", 'CodeInputAsked("user", "a{0}b")'),
        ("input", 'HumanInputAsked("user", "bob", "a{0}b", choices=("a{0}b",))'),
    ],
)
def test_no_character_of_a_question_is_unseen(notebook: FrontEnd, method: str, asked: str) -> None:
    answer = {"allow": "Deny", "approve": "Stop", "typed": "Send", "input": "Exit"}[method]
    cell = start(notebook, method, asked.format(r"\u202e\u200b"))
    notebook.asked(answer)
    states = [state for _, state in notebook.visible()]
    notebook.click(answer)
    if method == "allow":
        notebook.type("why", REASON)
        notebook.click("Deny")
    notebook.finish(cell)

    texts = [str(state.get(key, "")) for state in states for key in ("value", "description", "tooltip")]
    texts += [cell.text, cell.html()]
    assert [text for text in texts if "\u202e" in text or "\u200b" in text] == []
    assert any("a[U+202E][U+200B]b" in text for text in texts)


@pytest.mark.slow
def test_code_is_stopped_where_it_goes_beyond_what_was_let_through(either: FrontEnd, model: FakeOpenAI) -> None:
    define = "def handle(text):\n    with open('../beyond.txt', 'w') as file:\n        file.write(text)"
    call = "print('begins')\nhandle('x')\nprint('went on')"
    model.add(python(define), *[python(call)] * 3)

    cell = either.start("%%autogen --new --confirm risky\nGo.")
    either.click("Run")
    either.click("Deny")
    either.type("not there", REASON)
    either.click("Deny")
    either.wait(lambda: len(cell.about("decision")) == 2, "the first verdict")
    either.asked("Allow")
    panel = cell.about("panel")[0]
    told_of_denial = told(model)
    either.click("Allow")
    either.wait(lambda: len(cell.about("decision")) == 3, "the second verdict")
    either.click("Stop")
    either.finish(cell)
    (either.cwd.parent / "beyond.txt").unlink()

    assert "beyond.txt" in panel
    assert "not there" in told_of_denial
    assert [line.split(":")[0] for line in shown(cell)[1:]] == ["Denied (not there)", "Allowed", "Denied"]
    assert cell.about("stream") == ["begins\n", "begins\n", "went on\n", "begins\n"]
    assert cell.error == "Stopped by you."


@pytest.mark.slow
def test_rule_is_named_before_it_is_accepted(either: FrontEnd) -> None:
    cell = start(either, "allow", CONNECTS)
    either.click("Always allow …")
    either.asked("Allow from now on")
    boxes = [state for _, state in either.visible() if state.get("_model_name") == "CheckboxModel"]
    either.click("Allow from now on")
    either.finish(cell)

    assert [box["description"] for box in boxes] == ["Always allow connections to api.example.org"]
    assert "rules=('network api.example.org',)" in cell.text
    assert shown(cell) == [
        "Allowed: connects to api.example.org · from now on: always allow connections to api.example.org · by you"
    ]


@pytest.mark.slow
def test_nothing_is_accepted_that_was_not_ticked(notebook: FrontEnd) -> None:
    cell = start(notebook, "allow", 'EffectAsked("user", Effect("write", "/srv/data/a.csv", "writes /srv/data/a.csv"))')

    def complaint() -> dict[str, object]:
        """The layout of the row that says what is missing."""
        texts = {str(state.get("value", "")): state for _, state in notebook.visible()}
        row = next(state for text, state in texts.items() if "Tick at least one" in text)
        return notebook.widgets[str(row["layout"]).removeprefix("IPY_MODEL_")]

    notebook.click("Always allow …")
    notebook.asked("Allow from now on")
    before = complaint()["display"]
    notebook.click("Allow from now on")
    notebook.wait(lambda: complaint().get("display") is None, "the complaint")
    notebook.click("Back")
    notebook.click("Allow")
    notebook.finish(cell)

    assert before == "none"
    assert "rules=()" in cell.text


@pytest.mark.slow
def test_line_for_running_code(either: FrontEnd) -> None:
    cell = start(either, "typed", TYPED)
    either.type("Ada", "Goes to the code")
    panel = cell.about("panel")[0]
    either.click("Send")
    either.finish(cell)

    assert panel.startswith("The code that runs waits for input: Your name")
    assert "CodeInputGiven(text='Ada', by='you')" in cell.text
    assert shown(cell) == ["Typed for the code (`Your name`): `Ada` · by you"]


@pytest.mark.slow
def test_enter_gives_all_that_was_typed(notebook: FrontEnd) -> None:
    cell = start(notebook, "typed", TYPED)
    notebook.asked("Send")
    letter_by_letter = [state["continuous_update"] for _, state in notebook.visible() if "continuous_update" in state]
    notebook.enter("Ada Lovelace", into="Goes to the code")
    notebook.finish(cell)

    assert letter_by_letter == [False]
    assert "CodeInputGiven(text='Ada Lovelace', by='you')" in cell.text


@pytest.mark.slow
def test_input_of_running_code_ends(notebook: FrontEnd) -> None:
    cell = start(notebook, "typed", TYPED)
    notebook.click("End of input")
    notebook.finish(cell)

    assert "CodeInputGiven(text=None, by='you')" in cell.text
    assert shown(cell) == ["Typed for the code (`Your name`): nothing, the input is at its end · by you"]


@pytest.mark.slow
def test_password_is_nowhere_but_with_the_code(notebook: FrontEnd) -> None:
    cell = notebook.start(
        ASK.format(method="typed", question=PASSWORD)
        .replace("print(answer)", "print(len(answer.text))")
        .replace("view.show(answer)", "from autogen_nb.run import kept\nview.show(kept(question, answer))")
    )
    notebook.type("hunter2-secret", "Goes to the code alone, and is not kept")
    notebook.click("Send")
    notebook.finish(cell)

    assert cell.about("stream") == []
    assert cell.text.rstrip().endswith("14")
    assert shown(cell) == ["Typed for the code (`Password`): a password · by you"]
    assert not [message for message in notebook.messages if "hunter2" in message]
    kept = notebook.run(
        "import ipywidgets\nprint([w for w in ipywidgets.Widget.get_manager_state()['state'].values()"
        " if 'hunter2' in str(w)])",
        "state",
    )
    assert kept.text.strip() == "[]"


# When nobody answers


@pytest.mark.slow
def test_question_is_given_up_and_asked_again(either: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('ran')"), "Done.")
    task = "%%autogen --human-timeout 1\nGo."

    cell = either.run(task)
    again = either.start(task.replace("1\n", "60\n"))
    either.wait(
        lambda: any("given up in" in str(state.get("value", "")) for _, state in either.visible()), "the warning"
    )
    either.click("Run")
    either.finish(again)

    assert cell.error.startswith("Not finished: nobody answered within 1 s, so nothing was decided.")
    assert cell.about("stream") == []
    assert again.about("stream") == ["ran\n"]
    assert len(model.requests) == 2


@pytest.mark.slow
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
            TYPED,
            "CodeInputGiven(text=None, by='nobody, in time')",
            "Typed for the code (`Your name`): nothing, the input is at its end · by nobody, in time",
        ),
    ],
    ids=["act", "input"],
)
def test_running_code_does_not_wait_for_ever(
    notebook: FrontEnd, method: str, question: str, answer: str, line: str
) -> None:
    code = ASK.format(method=method, question=question).replace("lambda: False", "lambda: False, patience=0.3")

    cell = notebook.run(code)

    assert answer in cell.text
    assert shown(cell) == [line]
    assert list(notebook.visible()) == []
