from pathlib import Path

import pytest

from autogen_nb.cli.main import main
from autogen_nb.notebook.commands import sessions_command
from autogen_nb.sessions.store import SessionStore


def test_sessions_of_a_map_are_one_line_until_all_are_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("platformdirs.user_data_path", lambda *_, **__: tmp_path)
    store = SessionStore()
    for number in range(3):
        store.create(f"map-21ad7d24-{number}", chat="map").close()

    codes = [main(["sessions"]), main(["sessions", "list"]), main(["sessions", "list", "--all"])]
    said = capsys.readouterr()
    cell, every = (sessions_command.execute(words, store)[0]["text/plain"] for words in ([], ["list", "--all"]))

    assert codes == [0, 0, 0]
    assert said.out.count("3 sessions") == 2
    assert said.out.count("map-21ad7d24-") == 5
    assert said.err == "`autogen-nb sessions list --all` lists each session\n" * 2
    assert cell.count("map-21ad7d24-") == 1
    assert cell.endswith("`%autogen sessions list --all` lists each session")
    assert every.count("map-21ad7d24-") == 3
    assert "--all" not in every
