import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from autogen_nb.testing import FakeOpenAI, FakeReply, Received
from tests.notebook.conftest import KEY_FIELD, environment, fill_form, python
from tests.notebook.front_end import FrontEnd, Run
from tests.notebook.test_extension import agents_kernels

pytestmark = pytest.mark.slow

UNSET = "import os\nfor name in ('OPENAI_BASE_URL', 'AUTOGEN_NB_MODEL'):\n    os.environ.pop(name, None)"
KEY = "sk-never-to-be-seen-4711"


@pytest.fixture
def unset(fresh: FrontEnd) -> FrontEnd:
    fresh.run(UNSET, "environ")
    fresh.run("%autogen model forget", "forget")
    return fresh


def words(front: FrontEnd) -> str:
    return "\n".join(str(state.get("value")) for _, state in front.visible() if state.get("_model_name") == "HTMLModel")


def plain(shown: str) -> str:
    return re.sub(r' (?:style|class)="[^"]*"', "", shown)


def filled(front: FrontEnd, url: str, key: str = "", model: str = "local-model") -> Run:
    """The first cell of a notebook, whose form is filled in."""
    cell = front.start("%%autogen --confirm never\nGo.", "first")
    front.asked("Use this server")
    assert cell.about("panel")[0].startswith("No model is configured.")
    fill_form(front, url, key, model)
    front.finish(cell)
    assert cell.status == "ok", cell.error
    return cell


def test_a_key_reaches_the_server_and_nothing_else(unset: FrontEnd, model: FakeOpenAI) -> None:
    model.add("Yes.", python("import os\nprint(sorted(os.environ.values()))"), "Fine.")

    cell = filled(unset, model.base_url, KEY)
    log = unset.value("repr(__import__('autogen_nb').last) + repr(__import__('autogen_nb').last.log)")
    agents = [Path(f"/proc/{process.pid}/environ").read_text(errors="replace") for process in agents_kernels(unset)]

    assert {each.headers["authorization"] for each in model.requests} == {f"Bearer {KEY}"}
    assert model.requests[1].body["messages"][-1]["content"] == "Go."
    assert [message for message in unset.messages if KEY in message] == []
    assert KEY not in cell.text + cell.html() + log + str(cell.outputs) + str(unset.widgets)
    assert [environ for environ in agents if KEY in environ] == []
    assert len(agents) == 1
    assert KEY not in str(model.requests[2].body)
    assert unset.value(f"any({KEY!r} in value for value in os.environ.values())") == "False"


def test_each_mistake_is_one_sentence_with_a_way_out(unset: FrontEnd, model: FakeOpenAI) -> None:
    unknown = FakeReply(status=404, error="no such model")
    model.add(FakeReply(status=401, error="wrong key"), unknown, "Yes.", "Fine.")
    right = model.base_url
    port = right.split(":")[2].removesuffix("/v1")
    azure = "https://mine.openai.azure.com/openai/deployments/d"
    # Each sentence differs from the one before, so that it is known to be new.
    mistakes = [
        ("", "", "Base URL is empty; give an address such as"),
        (f"127.0.0.1:{port}", "", f"did you mean &#x27;{right}&#x27;?"),
        (azure, "", "give &#x27;https://mine.openai.azure.com/openai/v1&#x27;"),
        (f"{right}?api-version=1", "", f"give &#x27;{right}&#x27;"),
        (right, "sk-one\nsk-two", "API key holds characters that no key has"),
        (right.replace("http:", "https:"), "", "if it speaks plain HTTP, use an http:// address"),
        ("http://127.0.0.1:1", "", "refused the connection; is a server running there?"),
        (right, "sk-wrong-of-a-test", "answered 401: wrong key. Give a valid key"),
        (right, KEY, "no such model"),
    ]

    cell = unset.start("%%autogen\nGo.")
    told = []
    for url, key, said in mistakes:
        fill_form(unset, url, key)
        unset.wait(lambda said=said: said in words(unset), said)  # type: ignore[misc]  # the default binds the sentence
        told.append((unset.field("Base URL"), unset.field(KEY_FIELD), unset.field("Model")))
    fill_form(unset, f" {right}/ ", f" {KEY}\n")
    unset.finish(cell)

    assert told == [(url, "", "local-model") for url, _, _ in mistakes]
    assert cell.status == "ok", cell.error
    assert [each.headers["authorization"] for each in model.requests[1:]] == [f"Bearer {KEY}"] * 3
    assert [message for message in unset.messages if KEY in message] == []
    assert {each.path for each in model.requests} == {"/v1/chat/completions"}


def test_a_model_is_chosen_from_the_servers_list(unset: FrontEnd) -> None:
    def known(asked: Received) -> str | FakeReply:
        return "Fine." if asked.body["model"] == "two" else FakeReply(status=404, error="no such model")

    with FakeOpenAI(known, models=("one", "two")) as server:
        cell = unset.start("%%autogen\nGo.")
        fill_form(unset, server.base_url, model="")
        unset.wait(lambda: "choose one of its models: <code>one</code>" in plain(words(unset)), "the models")
        fill_form(unset, server.base_url, model="tow")
        said = "has no model <code>tow</code>: choose one of its models: <code>two</code>, <code>one</code>."
        unset.wait(lambda: said in plain(words(unset)), "the models again")
        typed = unset.field("Model")
        unset.choose("two", "Its models")
        unset.wait(lambda: unset.field("Model") == "two", "the model in its field")
        unset.click("Use this server")
        unset.finish(cell)

        assert typed == "tow"
        assert cell.status == "ok", cell.error
        assert [each.body["model"] for each in server.requests] == ["tow", "two"]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (FakeReply("Half of", finish_reason="content_filter"), "stopped the reply by its content filter"),
        (
            FakeReply(status=400, error="prompt is too long: 9 tokens > 8 maximum"),
            "8 maximum. A new chat (--new) or fewer",
        ),
    ],
    ids=["filtered", "long"],
)
def test_a_reply_that_is_none_is_one_line(fresh: FrontEnd, model: FakeOpenAI, reply: FakeReply, said: str) -> None:
    model.add(reply, "Fine.")

    cell, queued = fresh.run_all("%%autogen -a answer\nGo.", "print('queued')")
    after = fresh.run("%%autogen\nGo on.", "two")

    assert (cell.status, queued.status, cell.about("status")) == ("error", "aborted", [])
    assert said in cell.error
    assert len(cell.error.splitlines()) == 1
    assert fresh.value("'answer' in globals()") == "False"
    assert after.about("message")[-1].endswith("Fine."), after.error
    assert [message["content"] for message in model.requests[1].body["messages"][1:]] == ["Go.", "Go on."]


def test_a_busy_server_is_reported_and_can_be_stopped(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(FakeReply(status=503, error="all seats are taken", headers={"Retry-After": "50"}), "Never.")

    cell = fresh.start("%%autogen\nGo.")
    reason = r"asks to wait 50 s \(503\): all seats are taken"
    seconds: set[str] = set()

    def counts_down() -> bool:
        seconds.update(re.findall(rf"{reason} \u00b7 trying again in (\d+) s", cell.text))
        return len(seconds) > 1

    fresh.wait(counts_down, "a countdown")
    status = cell.about("status")[0]
    fresh.stop(cell, within=30)

    assert "stops it" in status
    assert len(cell.error.splitlines()) == 1
    assert len(model.requests) == 1


OPTION = "%%autogen -m gpt-9{}\nGo."
CONFIG = "%config AutogenMagics.model = '{}'"
VARIABLE = "%env AUTOGEN_NB_MODEL={}"


@pytest.mark.parametrize("way", ["Stop", "timeout", "interrupt"])
@pytest.mark.parametrize("source", [OPTION, CONFIG, VARIABLE], ids=["option", "config", "variable"])
def test_a_refused_model_is_only_that_cells(unset: FrontEnd, source: str, way: str) -> None:
    def known(request: Received) -> str | FakeReply:
        return "Fine." if request.body["model"] == "gpt-walk" else FakeReply(status=404, error="no such model")

    with FakeOpenAI(known) as server:
        first = filled(unset, server.base_url, model="gpt-walk")
        wait = " --human-timeout 1" if way == "timeout" else ""
        if source != OPTION:
            unset.run(source.format("gpt-9"), "source")
        refused = unset.start(OPTION.format(wait) if source == OPTION else f"%%autogen{wait}\nGo.", "refused")
        unset.asked("Use this server")
        if way == "Stop":
            unset.click("Stop")
        elif way == "interrupt":
            unset.interrupt()
        unset.finish(refused)
        explicit = unset.run("%%autogen -m gpt-walk\nGo.", "explicit")
        if source != OPTION:
            unset.run(source.format("gpt-walk"), "source")
        new = unset.run("%%autogen --new\nGo.", "new")
        again = unset.start("%%autogen -m gpt-9\nGo.", "again")
        unset.asked("Use this server")
        unset.click("Stop")
        unset.finish(again)

        assert [each.status for each in (first, refused, explicit, new, again)] == ["ok", "error", "ok", "ok", "error"]
        models = [request.body["model"] for request in server.requests]
        assert models[models.index("gpt-9") :] == ["gpt-9", "gpt-walk", "gpt-walk", "gpt-9"]


def test_a_proposed_address_is_taken_by_its_button(unset: FrontEnd, model: FakeOpenAI) -> None:
    model.add("Yes.", "Fine.")
    cell = unset.start("%%autogen\nGo.")
    fill_form(unset, model.base_url.removeprefix("http://").removesuffix("/v1"), KEY)
    unset.click(f"Use {model.base_url}")
    unset.finish(cell)

    assert cell.status == "ok", cell.error
    assert [request.headers["authorization"] for request in model.requests] == [f"Bearer {KEY}"] * 2


@pytest.fixture
def other_notebooks(tmp_path: Path) -> Iterator[Callable[[], FrontEnd]]:
    """Opens notebooks of one person, each with a kernel of its own."""
    (tmp_path / "stored_keys.py").write_text(KEYRING)
    with ExitStack() as stack:

        def another() -> FrontEnd:
            environ = environment(tmp_path, PYTHONPATH=str(tmp_path), PYTHON_KEYRING_BACKEND="stored_keys.Keyring")
            front = stack.enter_context(FrontEnd(tmp_path, environ))
            front.run(f"{UNSET}\n%load_ext autogen_nb", "load")
            return front

        yield another


# A backend that keeps its keys in a file, as a system's keyring does.
KEYRING = """
import json, pathlib
from keyring.backend import KeyringBackend

file = pathlib.Path.home() / "keys.json"

class Keyring(KeyringBackend):
    priority = 1
    def _keys(self): return json.loads(file.read_text()) if file.exists() else {}
    def get_password(self, service, name): return self._keys().get(f"{service} {name}")
    def set_password(self, service, name, key): file.write_text(json.dumps(self._keys() | {f"{service} {name}": key}))
    def delete_password(self, service, name):
        file.write_text(json.dumps({k: v for k, v in self._keys().items() if k != f"{service} {name}"}))
"""


def test_address_and_model_are_remembered_and_the_key_is_asked_for(
    other_notebooks: Callable[[], FrontEnd], model: FakeOpenAI, tmp_path: Path
) -> None:
    model.add(*["Yes.", "Fine."] * 2)
    first = other_notebooks()
    filled(first, model.base_url, KEY)
    second = other_notebooks()
    again = second.start("%%autogen\nGo.")
    second.asked("Another server")
    [panel] = again.about("panel")
    second.type(KEY, KEY_FIELD)
    second.click("Use this server")
    second.finish(again)

    assert "The key for `127.0.0.1" in panel
    assert again.status == "ok", again.error
    assert {(each.headers["authorization"], each.body["model"]) for each in model.requests} == {
        (f"Bearer {KEY}", "local-model")
    }
    assert [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()] == []


@pytest.mark.parametrize("key", ["", KEY], ids=["no key", "keyring"])
def test_nothing_is_asked_again(
    other_notebooks: Callable[[], FrontEnd], model: FakeOpenAI, tmp_path: Path, key: str
) -> None:
    model.add("Yes.", "Fine.", "Fine.", "Fine.") if key else model.add("Fine.", "Fine.", "Fine.")
    first = other_notebooks()
    cell = first.start("%%autogen\nGo.")
    first.asked("Use this server")
    if key:
        first.tick("Keep the key in this system's keyring, for all notebooks")
    fill_form(first, model.base_url, key)
    first.finish(cell)
    second = other_notebooks()
    again = second.run("%%autogen\nGo.")
    forgotten = second.run("%autogen model forget", "forget")
    third = other_notebooks().run("%%autogen\nGo.", stdin=False)

    assert again.status == "ok", again.error
    assert "selects local-model at" in again.text.replace("`", "")
    assert "deleted, for all notebooks" in forgotten.text
    assert "no model is configured" in third.error
    assert [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()] == []
