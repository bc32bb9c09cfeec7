import signal
import sys
from pathlib import Path

import pandas as pd
import pytest

from autogen_nb.cli.main import main
from autogen_nb.testing import FakeOpenAI
from tests.cli.commands import TIMEOUT, asked, ran, started

CALL = ["map", "Greet {who}.", "--data", "rows.csv", "--out", "out.csv", "--confirm", "risky", "--workers", "1"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rows.csv").write_text("who\nAda\nBo\n")
    return tmp_path


@pytest.mark.slow
def test_a_stopped_command_goes_on(folder: Path, model: FakeOpenAI) -> None:
    model.add("The first.", "```python\nimport time\ntime.sleep(600)\n```")
    with started(*CALL, cwd=folder, **asked(model)) as process:
        assert process.stderr is not None
        first = process.stderr.readline()
        assert model.wait_requests(2, TIMEOUT)
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=TIMEOUT)[1]
    model.add("The second.")
    done = ran(*CALL, cwd=folder, **asked(model))

    assert (process.returncode, first) == (130, "1/2 done: The first.\n")
    assert (
        err == "autogen-nb map: stopped; out.csv.rows.jsonl has the rows so far, and the same command runs the rest\n"
    )
    assert (done.code, done.out, done.err) == (0, "The table is out.csv: 2 done\n", "2/2 done: The second.\n")
    assert set(pd.read_csv(folder / "out.csv").answer) == {"The first.", "The second."}


def test_without_dask_it_names_the_extra(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setitem(sys.modules, "distributed", None)

    assert main(CALL) == 2
    assert capsys.readouterr().err == "autogen-nb: map needs Dask and pandas: pip install 'autogen-nb[data]'\n"
