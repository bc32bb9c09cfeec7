"""A server that behaves like Google's Gemini API, and refuses what Google refuses."""

import json
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from google.genai import types
from pydantic import BaseModel, ValidationError

from tests.models.fake_server import EVENTS, JSON, Answer, FakeServer

KEY = "AIzaSy-verysecretkey-of-mine"
UNSIGNED = "skip_thought_signature_validator"


class FakeGemini(FakeServer):
    """Each of the `answers` is the chunks of a reply, or a status, a body and headers."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[list[types.GenerateContentResponse | Mapping[str, Any]] | Answer] = []

    def models(self, path: str) -> Any:
        return {"models": [{"name": "models/gemini-3-pro"}, {"name": "models/gemini-2.5-flash"}]}

    def answer(self, path: str, headers: Mapping[str, str], body: Any) -> Answer:
        if reason := self.refusal(path, headers, body):
            return 400, {"error": {"code": 400, "message": reason, "status": "INVALID_ARGUMENT"}}, JSON
        answer = self.answers.pop(0)
        if isinstance(answer, tuple):
            return answer
        return 200, "".join(f"data: {json.dumps(as_json(each))}\r\n\r\n" for each in answer), EVENTS

    def refusal(self, path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> str:
        """What Google objects to; adds a request without fault to `bodies`, with all names in camel case."""
        if headers["x-goog-api-key"] != KEY:
            return "API key not valid. Please pass a valid API key."
        if not path.endswith(":streamGenerateContent?alt=sse") or not path.startswith("/v1beta/models/gemini-"):
            return f"unknown path {path}"
        try:
            contents = [types.Content.model_validate_json(json.dumps(each)) for each in body["contents"]]
            config = types.GenerationConfig.model_validate_json(json.dumps(body.get("generationConfig", {})))
            tools = [types.Tool.model_validate_json(json.dumps(each)) for each in body.get("tools", ())]
        except ValidationError as error:
            return f"Invalid JSON payload received. Unknown name {error}"
        if contents[0].role != "user" or not all(each.parts for each in contents):
            return "Please ensure that contents begin with a user turn, and have parts."
        for content, following in pairwise([*contents, types.Content(parts=[])]):
            calls = [part for part in content.parts or () if part.function_call]
            results = [part.function_response for part in following.parts or () if part.function_response]
            if [(call.id, call.name) for part in calls if (call := part.function_call)] != [
                (each.id, each.name) for each in results
            ]:
                return "Please ensure that the function responses are those of the function call turn."
            if calls and "gemini-3" in path and not calls[0].thought_signature:
                return "Function call is missing a thought_signature in functionCall parts."
        typed = {"contents": [*map(as_json, contents)], "tools": [*map(as_json, tools)]}
        self.bodies.append({**body, **typed, "generationConfig": as_json(config)})
        return ""


def as_json(value: BaseModel | Mapping[str, Any]) -> Any:
    return (
        json.loads(value.model_dump_json(exclude_none=True, by_alias=True)) if isinstance(value, BaseModel) else value
    )


def chunk(*parts: types.Part, finish: str | None = None, **usage: Any) -> types.GenerateContentResponse:
    reason = types.FinishReason(finish) if finish else None
    content = types.Content(role="model", parts=list(parts))
    return types.GenerateContentResponse(
        candidates=[types.Candidate(content=content, finish_reason=reason)],
        model_version="gemini-3-pro-001",
        response_id="r1",
        usage_metadata=types.GenerateContentResponseUsageMetadata(**usage) if usage else None,
    )
