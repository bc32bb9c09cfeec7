from typing import Any

import pytest
from pydantic import BaseModel

from autogen_nb.agents.teams.team_messages import TaskResult
from autogen_nb.errors import ConfigError, ModelError
from tests.agents.teams import assistant, done


class Trip(BaseModel):
    town: str
    days: int


GHENT = '{"town": "Ghent", "days": 2}'


def trip(result: TaskResult) -> Any:
    return result.messages[-1].content


def test_a_reply_that_is_no_object_is_refused_and_the_run_can_be_repeated() -> None:
    agent = assistant("guide", "Ghent!", GHENT, output_content_type=Trip)

    with pytest.raises(ModelError, match=r"'Ghent!' is no Trip .* run the task again"):
        done(agent)

    assert trip(done(agent)) == Trip(town="Ghent", days=2)


def test_an_object_has_a_text_of_its_format() -> None:
    agent = assistant("guide", GHENT, output_content_type=Trip, output_content_type_format="{town}!")

    assert done(agent).messages[-1].to_text() == "Ghent!"


def test_only_a_pydantic_class_is_an_output_type() -> None:
    with pytest.raises(ConfigError, match=r"give a subclass of pydantic\.BaseModel"):
        assistant("guide", GHENT, output_content_type=dict)
