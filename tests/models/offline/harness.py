"""A chat with the offline model in a real Python namespace: no double, its blocks are really run."""

import asyncio
import contextlib
import io
import re
import sys
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import matplotlib as mpl

from autogen_nb.core.analysis import effects
from autogen_nb.core.ports import ModelRequest
from autogen_nb.messages import CodeBlock, Completion
from autogen_nb.models.offline.model import OfflineModel

mpl.use("Agg")

LIMIT = 15
PICTURES = "_pictures"
SHOWN = "[shown to the person: image/png, <Figure size 800x450 with 1 Axes>]\n"
_BLOCK = re.compile(r"^```python\n(.*?)\n```$", re.DOTALL | re.MULTILINE)


def ask(messages: list[dict[str, Any]]) -> str:
    return completion(messages).message.text


def completion(messages: list[dict[str, Any]]) -> Completion:
    async def collect() -> Completion:
        items = [item async for item in OfflineModel().reply(ModelRequest(tuple(messages)))]
        last = items[-1]
        assert isinstance(last, Completion)
        assert "".join(item for item in items if isinstance(item, str)) == last.message.text
        return last

    return asyncio.run(collect())


def block_of(reply: str) -> str | None:
    found = _BLOCK.findall(reply)
    assert len(found) <= 1
    return found[0] if found else None


def steps(chat: "Chat") -> list[str]:
    return [block.split("]")[0].removeprefix("# [") for block in chat.blocks]


def draw() -> int:
    pyplot: Any = sys.modules.get("matplotlib.pyplot")
    numbers = pyplot.get_fignums() if pyplot else []
    for number in numbers:
        figure = pyplot.figure(number)
        pyplot.close(figure)
        figure.canvas.draw()
    return len(numbers)


def execute(code: str, namespace: dict[str, Any]) -> str:
    out = io.StringIO()
    status = "0 (execution succeeded)"
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            exec(compile(code, "<cell>", "exec"), namespace)
            pictures = draw()
            namespace[PICTURES] = namespace.get(PICTURES, 0) + pictures
            out.write(SHOWN * pictures)
        except Exception:  # noqa: BLE001  (any exception of the block is its result)
            out.write(traceback.format_exc())
            status = "1 (execution failed)"
    return f"exitcode: {status}\nCode output: {out.getvalue()}"


@dataclass
class Chat:
    """A conversation and the namespace in which its blocks run."""

    namespace: dict[str, Any] = field(default_factory=dict)
    react: Callable[[str, dict[str, Any]], str] = execute
    messages: list[dict[str, Any]] = field(
        default_factory=lambda: [{"role": "system", "content": "You are a helpful assistant."}]
    )
    blocks: list[str] = field(default_factory=list)
    finish_reason: str = ""

    def say(self, task: str) -> str:
        self.messages.append({"role": "user", "content": task})
        for _ in range(LIMIT):
            last = completion(self.messages)
            reply, self.finish_reason = last.message.text, last.finish_reason
            self.messages.append({"role": "assistant", "content": reply})
            code = block_of(reply)
            if code is None:
                return reply
            compile(code, "<block>", "exec")
            # A person is not asked about files that the block does not write.
            assert [effect for effect in effects(CodeBlock("python", code)) if effect.kind == "write"] == []
            self.blocks.append(code)
            self.messages.append({"role": "user", "content": self.react(code, self.namespace)})
        raise AssertionError(f"no end after {LIMIT} replies:\n{self.text}")

    @property
    def replies(self) -> list[str]:
        return [message["content"] for message in self.messages if message["role"] == "assistant"]

    @property
    def pictures(self) -> int:
        return int(self.namespace.get(PICTURES, 0))

    @property
    def text(self) -> str:
        return "\n\n".join(f"=== {message['role']}\n{message['content']}" for message in self.messages)


def with_frames(task: str, **frames: Any) -> str:
    lines = []
    for name, frame in frames.items():
        columns = ", ".join(f"{label} ({dtype})" for label, dtype in frame.dtypes.items())
        lines.append(f"- `{name}`: DataFrame, {len(frame)} rows x {frame.shape[1]} columns: {columns}")
    return "\n".join([task, "", "Variables in your kernel:", *lines, "Your folder for files: autogen_files/main"])
