"""A server that behaves like Google's Gemini API, and refuses what Google refuses."""

import json
import threading
from collections.abc import Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import Any, Self

from google.genai import types
from pydantic import BaseModel, ValidationError

KEY = "AIzaSy-verysecretkey-of-mine"
UNSIGNED = "skip_thought_signature_validator"

Answer = list[types.GenerateContentResponse | Mapping[str, Any]] | tuple[int, Any, Mapping[str, str]]
"""The chunks of a reply, or a status, a body and headers."""


class FakeGemini:
    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                models = [{"name": "models/gemini-3-pro"}, {"name": "models/gemini-2.5-flash"}]
                self.respond(200, {"models": models}, {})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                fake.headers.append({name.lower(): value for name, value in self.headers.items()})
                if reason := fake.refusal(self.path, self.headers, body):
                    self.respond(400, {"error": {"code": 400, "message": reason, "status": "INVALID_ARGUMENT"}}, {})
                    return
                answer = fake.answers.pop(0)
                if isinstance(answer, tuple):
                    self.respond(*answer)
                    return
                events = "".join(f"data: {json.dumps(as_json(each))}\r\n\r\n" for each in answer)
                self.respond(200, events, {"content-type": "text/event-stream"})

            def respond(self, status: int, body: Any, headers: Mapping[str, str]) -> None:
                data = (body if isinstance(body, str) else json.dumps(body)).encode()
                self.send_response(status)
                for name, value in {"content-type": "application/json", **headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                # A client may close an unfinished reply.
                with suppress(ConnectionError):
                    self.wfile.write(data)

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def refusal(self, path: str, headers: Any, body: Mapping[str, Any]) -> str:
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
