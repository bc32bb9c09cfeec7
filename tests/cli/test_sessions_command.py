from pathlib import Path

import pytest

from autogen_nb.cli.main import main
from autogen_nb.conversations.chat_sessions import ChatSessions
from autogen_nb.conversations.conversations import Conversations
from autogen_nb.events import CodeAsked, CodeRan
from autogen_nb.messages import CodeBlock
from autogen_nb.notebook.notebook import Notebook
from autogen_nb.outputs import Display
from autogen_nb.sessions.store import SessionStore
from autogen_nb.settings import Settings
from tests.notebook.command_lines import output_of

CHART = Display({"text/html": "<p>a<script>draw()</script>", "text/plain": "a chart in words"})


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    session = SessionStore().create("main", chat="main")
    log = session.begin("Draw.", "Draw.", {"cell": "a", "request": "1"}, Settings().to_json()).log
    log.append(CodeAsked("user", (CodeBlock("python", "draw()"),)))
    log.append(CodeRan(0, (CHART,), ran=1))
    session.close()
    return session.name


def test_exported_page_has_the_text_of_a_chart(session: str) -> None:
    code = main(["sessions", "export", session, "out.html", "--unchecked"])

    page = Path("out.html").read_text()
    assert code == 0
    assert "a chart in words" in page
    assert "draw()</script>" not in page


def test_sessions_of_a_map_are_one_line_until_all_are_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("platformdirs.user_data_path", lambda *_, **__: tmp_path)
    store = SessionStore()
    for number in range(3):
        store.create(f"map-21ad7d24-{number}", chat="map").close()

    codes = [main(["sessions"]), main(["sessions", "list"]), main(["sessions", "list", "--all"])]
    said = capsys.readouterr()
    notebook = Notebook({}, Conversations(tmp_path), Settings(), ChatSessions(tmp_path))
    cell, every = (output_of(notebook, f"sessions {words}") for words in ("", "list --all"))

    assert codes == [0, 0, 0]
    assert said.out.count("3 sessions") == 2
    assert said.out.count("map-21ad7d24-") == 5
    assert said.err == "`autogen-nb sessions list --all` lists each session\n" * 2
    assert cell.count("map-21ad7d24-") == 1
    assert cell.endswith("`%autogen sessions list --all` lists each session")
    assert every.count("map-21ad7d24-") == 3
    assert "--all" not in every
