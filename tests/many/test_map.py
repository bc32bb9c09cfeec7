import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cloudpickle
import pandas as pd
import psutil  # type: ignore[import-untyped]
import pytest
from distributed import Client, LocalCluster, Variable

import autogen_nb
from autogen_nb.errors import ConfigError
from autogen_nb.testing import FakeOpenAI
from autogen_nb.testing.fake_openai import FakeReply, Plain, Received

KEY = "sk-a-key-that-stays-with-the-workers"
ROWS = [{"n": n} for n in range(12)]


class Server:
    """Answers a task such as "Double 3." with code, and the code's output with a sentence."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.before: Callable[[str, int], Plain | None] = lambda _task, _turn: None
        self.fake = FakeOpenAI(self.reply)

    def reply(self, request: Received) -> Plain:
        messages = [message["content"] for message in request.body["messages"]]
        task, turn = messages[1].splitlines()[0], len(messages) // 2
        self.asked[task] += 1
        if (instead := self.before(task, turn)) is not None:
            return instead
        number = (re.findall(r"\d+", task) or ["0"])[-1]
        if turn > 1:
            return f"The output is {messages[-1].split()[-1]}.\nTERMINATE"
        code = f"open('/tmp/{number}', 'w')" if task.startswith("Write") else f"print(result := 2 * {number})"
        return f"```python\n{code}\n```"


@contextmanager
def answering(fake: FakeOpenAI, folder: Path) -> Iterator[None]:
    """The server is the default model, and the folder is the working directory."""
    with pytest.MonkeyPatch.context() as patch, fake:
        patch.setenv("OPENAI_BASE_URL", fake.base_url)
        patch.setenv("OPENAI_API_KEY", KEY)
        patch.setenv("AUTOGEN_NB_MODEL", "fake")
        patch.chdir(folder)
        yield


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Client, Server]]:
    server = Server()
    with answering(server.fake, tmp_path_factory.mktemp("work")):
        options: Any = {"dashboard_address": "127.0.0.1:0", "silence_logs": 50}
        with LocalCluster(n_workers=2, threads_per_worker=1, **options) as local, Client(local) as client:
            yield client, server


@pytest.fixture
def client(cluster: tuple[Client, Server]) -> Client:
    return cluster[0]


@pytest.fixture
def server(cluster: tuple[Client, Server]) -> Server:
    cluster[1].asked.clear()
    cluster[1].before = lambda _task, _turn: None
    return cluster[1]


def test_the_table_is_that_of_a_loop(client: Client, server: Server, tmp_path: Path) -> None:
    ended: list[tuple[int, int]] = []

    table = autogen_nb.map(
        "Double {n}.",
        pd.DataFrame(ROWS),
        client=client,
        confirm="risky",
        outputs=["result"],
        out=tmp_path / "table.parquet",
        on_row=lambda row, done, total: ended.append((done, total)),
    )

    assert list(table.columns) == "n status answer result tokens cost seconds error session".split()
    assert list(table.status) == ["done"] * 12
    assert list(table.result) == [2 * n for n in range(12)]
    assert list(table.answer) == [f"The output is {2 * n}." for n in range(12)]
    assert ended == [(done, 12) for done in range(1, 13)]
    assert len(set(table.session)) == 12
    assert len(autogen_nb.sessions.read(table.session[3]).events) > 4
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "table.parquet"), table)


@pytest.mark.slow
def test_the_same_call_asks_nothing_again(client: Client, server: Server, tmp_path: Path) -> None:
    def stop(_row: Any, done: int, _total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    call: dict[str, Any] = {"client": client, "confirm": "risky", "out": tmp_path / "table.csv"}
    with pytest.raises(KeyboardInterrupt):
        autogen_nb.map("Again {n}.", ROWS[:6], on_row=stop, **call)
    with (tmp_path / "table.csv.rows.jsonl").open("ab") as journal:
        journal.write(b'a torn line {"key"')
    ended = [task for task, count in server.asked.items() if count == 2]
    first = autogen_nb.map("Again {n}.", ROWS[:6], **call)
    asked = sum(server.asked.values())
    second = autogen_nb.map("Again {n}.", ROWS[:6], **call)

    assert list(first.status) == ["done"] * 6
    assert len([task for task in ended if server.asked[task] == 2]) >= 2
    assert sum(server.asked.values()) == asked
    pd.testing.assert_frame_equal(first, second)
    assert (tmp_path / "table.csv.rows.jsonl").stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
def test_a_failed_row_says_why(client: Client, server: Server) -> None:
    call: dict[str, Any] = {"client": client, "confirm": "risky"}
    table = autogen_nb.map("{verb} {n}.", [{"verb": "Write", "n": 1}, {"verb": "Add", "n": 2}], **call)
    asked = sum(server.asked.values())
    autogen_nb.map("{verb} {n}.", [{"verb": "Write", "n": 1}, {"verb": "Add", "n": 2}], **call)
    kept = sum(server.asked.values())
    autogen_nb.map("{verb} {n}.", [{"verb": "Write", "n": 1}], retry_failed=True, **call)

    assert list(table.status) == ["failed", "done"]
    assert "needs a person's approval, and nobody is there (writes /tmp/1" in table.error[0]
    assert table.error[0].endswith("; use a sandbox, and set `confirm` to never")
    assert (kept, sum(server.asked.values())) == (asked, asked + 1)


@pytest.mark.slow
def test_rows_do_not_see_each_others_variables(client: Client, server: Server) -> None:
    def look(_task: str, turn: int) -> Plain | None:
        return None if turn > 1 else "```python\nprint('seen' in globals())\nseen = values.pop()\n```"

    server.before = look
    table = autogen_nb.map(
        "Look {n}.", ROWS[:6], client=client, confirm="risky", inputs={"values": [1, 2]}, outputs=["values"]
    )

    assert list(table.answer) == ["The output is False."] * 6
    assert list(table["values"]) == [[1]] * 6


@pytest.mark.slow
def test_a_budget_holds_for_all_rows(client: Client, server: Server) -> None:
    server.before = lambda _task, _turn: FakeReply(
        "Done.\nTERMINATE", usage={"prompt_tokens": 400, "completion_tokens": 100}
    )
    call: dict[str, Any] = {"client": client, "confirm": "risky"}
    table = autogen_nb.map("Spend {n}.", ROWS, budget="3000 tokens", **call)
    asked = sum(server.asked.values())
    more = autogen_nb.map("Spend {n}.", ROWS, budget="100k tokens", **call)

    assert 3 <= list(table.status).count("done") <= 6
    assert set(table.status) == {"done", "not run"}
    assert table.tokens.sum() == 500 * asked <= 3000
    assert table.error[table.status == "not run"].str.contains("of 3,000 tokens").all()
    assert list(more.status) == ["done"] * 12
    assert sum(server.asked.values()) == 12


@pytest.mark.slow
def test_a_server_that_asks_to_wait_holds_all_workers(client: Client, server: Server) -> None:
    limited, until, arrived = threading.Event(), [0.0], []

    def limit(task: str, turn: int) -> Plain | None:
        if task == "Hold 0." and not limited.is_set():
            limited.set()
            return FakeReply(status=429, headers={"Retry-After": "1"})
        if task == "Hold 1." and turn == 1:
            limited.wait(30)
            while not until[0]:
                until[0] = _hold(client)
        elif task == "Hold 1.":
            arrived.append(time.time())
        return None

    server.before = limit
    table = autogen_nb.map("Hold {n}.", ROWS[:2], client=client, confirm="risky")

    assert list(table.status) == ["done"] * 2
    assert arrived[0] >= until[0] > 0


def _hold(client: Client) -> float:
    names = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.extensions["variables"].variables))
    return float(Variable(names[-1], client=client).get(timeout=5)["until"])


def test_no_key_is_in_the_graph_or_in_files(client: Client, server: Server, tmp_path: Path) -> None:
    graphs: list[bytes] = []

    def note(_row: Any, _done: int, _total: int) -> None:
        graphs.append(client.run_on_scheduler(_graph))

    table = autogen_nb.map(
        "Hide {n}.", ROWS[:2], client=client, confirm="risky", out=tmp_path / "table.csv", on_row=note
    )
    texts = [path.read_bytes() for path in [*tmp_path.iterdir(), *Path.home().rglob("*.jsonl")]]

    assert list(table.status) == ["done"] * 2
    assert b"Hide" in graphs[0]
    assert KEY.encode() not in graphs[0]
    assert len(texts) > 3
    assert [text for text in texts if KEY.encode() in text] == []


def _graph(dask_scheduler: Any) -> bytes:
    return b"".join(cloudpickle.dumps(task.run_spec) for task in dask_scheduler.tasks.values())


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"task": "Double {m}."}, r"the task has '{m}', .* did you mean {n}?|the columns are 'n'"),
        ({"rows": []}, "there are no rows"),
        ({"rows": pd.DataFrame({"n": [1, None]})}, "row 1 has no value for {n}"),
        ({"rows": [{"n": 1, "status": 2}]}, "'status' is the name of a column of the results"),
        ({"rows": "missing.csv"}, "cannot be read from 'missing.csv'"),
        ({"confirm": "never"}, r"set `confirm` to risky \(.*\), or use a sandbox \("),
        ({"answer": "n"}, "'n' is the name of a column of the results"),
        (
            {"task": "Double {m}.", "out": "table.txt", "budget": "much"},
            r"(?s)^- the task has '{m}'.*\n- map: out is 'table.txt'.*\n- .*the budget is 'much'",
        ),
        ({"budget": "much"}, "the budget is 'much'"),
        ({"out": "table.txt"}, "must end in .csv or .parquet"),
        ({"client": "tcp://x:1", "model": {"model": "x", "api_key": KEY}}, "on a cluster, model must be a name"),
    ],
)
def test_a_bad_call_starts_nothing(changed: dict[str, Any], problem: str) -> None:
    call: dict[str, Any] = {"task": "Double {n}.", "rows": ROWS, "confirm": "risky", "client": None, **changed}

    with pytest.raises(ConfigError, match=problem):
        autogen_nb.map(**call)


@pytest.mark.slow
def test_rows_run_in_this_process_without_a_client(server: Server, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("n,who\n4,Ada\n5,Bo\n")
    ports, path = list[bool](), tmp_path / "rows.csv"

    def note(*_: Any) -> None:
        listening = [link for link in psutil.Process().net_connections() if link.status == psutil.CONN_LISTEN]
        ports.append(any(link.laddr.ip not in ("127.0.0.1", "::1") for link in listening))

    model = {"model": "fake", "base_url": server.fake.base_url, "api_key": KEY}
    options: dict[str, Any] = {"confirm": "never", "sandbox": "bwrap", "model": model, "on_row": note}
    table = autogen_nb.map("Ask {who} for {n}.", path, answer="reply", **options)

    assert list(table.status) == ["done"] * 2
    assert list(table.reply) == ["The output is 8.", "The output is 10."]
    assert [text for text in Path.home().rglob("*.jsonl") if KEY.encode() in text.read_bytes()] == []
    assert ports == [False, False]


def test_only_a_row_with_code_needs_a_person(server: Server) -> None:
    server.before = lambda task, _: None if "2" in task else "No code.\nTERMINATE"

    table = autogen_nb.map("Answer {n}.", ROWS[1:3])

    assert list(table.status) == ["done", "failed"]
    assert table.error[2 - 1].endswith("set `confirm` to risky, or use a sandbox")


def test_a_cluster_is_named_by_its_address(client: Client, server: Server) -> None:
    table = autogen_nb.map("Double {n}.", [{"n": 20}], client=client.scheduler_info()["address"], confirm="risky")

    assert list(table.answer) == ["The output is 40."]
    assert client.status == "running"
