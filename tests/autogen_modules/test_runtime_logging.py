import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autogen_nb import ConversableAgent, OpenAIWrapper, register_function
from autogen_nb.run import runtime_log
from autogen_nb.testing import FakeOpenAI, FakeReply


@pytest.fixture(autouse=True)
def _stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield
    runtime_log.stop()


def chat() -> None:
    def add(a: int) -> int:
        """Adds."""
        return a + 1

    call = {"name": "add", "arguments": '{"a": 1}', "id": "c"}
    with FakeOpenAI([FakeReply(tool_calls=[call]), "done"]) as server:
        entry = {"model": "fake", "base_url": server.base_url, "api_key": "secret", "price": [1, 1]}
        helper = ConversableAgent("helper", llm_config={"config_list": [entry]}, human_input_mode="NEVER")
        user = ConversableAgent("user", human_input_mode="NEVER")
        register_function(add, caller=helper, executor=user, description="Adds.")
        user.initiate_chat(helper, message="Add.", max_turns=2, silent=True)


def test_a_chat_fills_autogens_tables() -> None:
    session = runtime_log.start(config={"dbname": "log.db"})
    chat()

    connection = runtime_log.get_connection()
    assert connection is not None
    rows = connection.execute(
        "SELECT session_id, source_name, request, response, is_cached, cost FROM chat_completions"
    )
    completions = rows.fetchall()
    request, response = json.loads(completions[1][2]), json.loads(completions[1][3])
    assert [row[:2] for row in completions] == [(session, "helper")] * 2
    assert (completions[1][4], completions[1][5], response["usage"]["total_tokens"]) == (0, response["cost"], 8)
    assert (request["messages"][1]["content"], response["choices"][0]["message"]["content"]) == ("Add.", "done")
    agents = connection.execute("SELECT name, class FROM agents ORDER BY name").fetchall()
    assert agents == [("helper", "ConversableAgent"), ("user", "ConversableAgent")]
    events = connection.execute("SELECT event_name, source_name, json_state FROM events").fetchall()
    assert [row[:2] for row in events] == [("received_message", name) for name in ("helper", "user", "helper", "user")]
    assert json.loads(events[0][2])["message"]["content"] == "Add."
    assert connection.execute("SELECT function_name, returns FROM function_calls").fetchall() == [("add", "2")]
    assert connection.execute("SELECT version_number FROM version").fetchall() == [(1,)]
    assert "secret" not in "\n".join(connection.iterdump())


def test_the_file_has_a_json_line_for_each_row() -> None:
    runtime_log.start(logger_type="file", config={"filename": "a.log"})
    chat()
    runtime_log.stop()
    chat()

    lines = [json.loads(line) for line in Path("autogen_logs/a.log").read_text().splitlines()]
    assert [line["source_name"] for line in lines if line["table"] == "chat_completions"] == ["helper"] * 2
    assert runtime_log.get_connection() is None


def test_requests_of_a_wrapper_are_logged() -> None:
    runtime_log.start()
    OpenAIWrapper(config_list=[{"model": "offline"}]).create(messages=[{"role": "user", "content": "Hello?"}])

    connection = runtime_log.get_connection()
    assert connection is not None
    assert connection.execute("SELECT source_name FROM chat_completions").fetchall() == [("the client",)]
    assert connection.execute("SELECT count(*) FROM oai_wrappers").fetchall() == [(1,)]


def test_a_programs_own_logger_gets_the_calls_and_an_unknown_type_is_an_error() -> None:
    calls: list[str] = []

    class Logger:
        def __getattr__(self, name: str) -> Any:
            return lambda *_args, **_kwargs: calls.append(name)

    with pytest.raises(ValueError, match="'sqlite' or 'file'"):
        runtime_log.start(logger_type="cloud")
    runtime_log.start(Logger())
    chat()
    runtime_log.stop()
    chat()

    assert calls[:3] == ["start", "log_new_agent", "log_new_agent"]
    assert (calls.count("log_chat_completion"), calls.count("log_function_use"), calls[-1]) == (2, 1, "stop")
