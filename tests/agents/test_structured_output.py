from typing import Any

import pytest
from pydantic import BaseModel

import autogen_nb
from autogen_nb import StructuredMessage
from autogen_nb.agents.teams.team_messages import TaskResult
from autogen_nb.errors import ConfigError, ModelError
from tests.agents.teams import add, assistant, by_turns, calling, done, finished, kinds, says


class Trip(BaseModel):
    town: str
    days: int


GHENT = '{"town": "Ghent", "days": 2}'


class Planner(autogen_nb.BaseChatAgent):
    async def on_messages(self, messages: Any, cancellation_token: Any = None) -> Any:
        return StructuredMessage[Trip](source=self.name, content=Trip(town="Bruges", days=len(messages)))


def trip(result: TaskResult) -> Any:
    return result.messages[-1].content


def test_a_reply_that_is_no_object_is_refused_and_the_run_can_be_repeated() -> None:
    agent = assistant("guide", "Ghent!", GHENT, output_content_type=Trip)

    with pytest.raises(ModelError, match=r"'Ghent!' is no Trip .* run the task again"):
        done(agent)

    assert trip(done(agent)) == Trip(town="Ghent", days=2)


def test_by_default_the_model_writes_an_object_from_the_results_of_its_calls() -> None:
    agent = assistant("guide", calling("add", '{"a": 1, "b": 1}'), GHENT, tools=[add], output_content_type=Trip)

    assert trip(done(agent)) == Trip(town="Ghent", days=2)


def test_objects_of_custom_agents_and_in_saved_teams() -> None:
    def team() -> Any:
        guide = assistant("guide", GHENT, GHENT, output_content_type=Trip, output_content_type_format="{town}!")
        return by_turns(guide, Planner("planner"), says("clerk"), max_turns=3)

    first, second = team(), team()
    result = done(first, StructuredMessage[Trip](source="user", content=Trip(town="Gent", days=1)))
    finished(second.load_state(finished(first.save_state())))
    done(second, "Again.")

    assert kinds(result.messages) == [*(["StructuredMessage[Trip]"] * 3), "TextMessage"]
    assert [message.to_text() for message in result.messages[1:3]] == ["Ghent!", '{"town":"Bruges","days":2}']
    assert second.messages[1].content == Trip(town="Ghent", days=2)
    contents = [message["content"] for message in second.participants[0].model.inner.requests[0].messages]
    assert contents[1:] == ['{"town":"Gent","days":1}', GHENT, '{"town":"Bruges","days":2}', "clerk", "Again."]


def test_only_a_pydantic_class_is_an_output_type() -> None:
    with pytest.raises(ConfigError, match=r"give a subclass of pydantic\.BaseModel"):
        assistant("guide", GHENT, output_content_type=dict)
