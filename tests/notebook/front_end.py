"""A front end without a browser: it runs cells in a real kernel, keeps their outputs, shows widgets and clicks.

It does with each message what JupyterLab does: outputs belong to the newest run of a cell, a display id is one
place wherever it is shown, and a button can only be clicked where an output shows it. It waits for conditions.
"""

import re
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, Literal, Self, TypeAlias

import zmq
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

Clicks: TypeAlias = Literal["main", "sub"]
"""Whether a click is sent to the kernel's main shell, as VS Code does, or to a subshell, as JupyterLab does."""

_PATIENCE = 60.0
_BLOCK_DECISION = re.compile(r" \u00b7 ((?:edited and run|run|skipped|not run)\b.*)$", re.MULTILINE)
_CLOCK = re.compile(r"(?: \u00b7|,) \d\d:\d\d(?=\W|$)")
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_WIDGET = "application/vnd.jupyter.widget-view+json"
_MODEL = "IPY_MODEL_"


@dataclass(slots=True)
class Output:
    kind: Literal["display", "result", "stdout", "stderr", "error"]
    data: dict[str, Any]
    metadata: dict[str, Any] = field(default_factory=dict)
    display_id: str | None = None

    @property
    def text(self) -> str:
        return _COLOURS.sub("", str(self.data.get("text/plain", "")))

    @property
    def about(self) -> str:
        return str(self.metadata.get("autogen_nb", {}).get("kind", ""))


@dataclass(slots=True)
class Run:
    request: str
    cell: str
    outputs: list[Output] = field(default_factory=list)
    reply: dict[str, Any] | None = None
    idle: bool = False
    clear_next: bool = False

    @property
    def done(self) -> bool:
        return self.idle and self.reply is not None

    @property
    def status(self) -> str:
        return str((self.reply or {}).get("status", ""))

    @property
    def text(self) -> str:
        return "\n".join(output.text for output in self.outputs)

    @property
    def error(self) -> str:
        return "\n".join(output.text for output in self.outputs if output.kind == "error")

    def about(self, kind: str) -> list[str]:
        return [output.text for output in self.outputs if output.about == kind]

    @property
    def decisions(self) -> list[str]:
        """The decisions without their times: lines of their own, and ends of the lines of blocks."""
        lines: list[str] = []
        for output in self.outputs:
            lines += [output.text] if output.about == "decision" else []
            lines += _BLOCK_DECISION.findall(output.text) if output.about == "message" else []
        return [_CLOCK.sub("", line) for line in lines]

    def html(self) -> str:
        return "\n".join(str(output.data.get("text/html", "")) for output in self.outputs)


class FrontEnd:
    """A notebook that is open in a front end, with a kernel of its own."""

    def __init__(
        self, cwd: Path, environ: Mapping[str, str], clicks: Clicks = "sub", python: Path | None = None
    ) -> None:
        self.cwd = cwd
        self.environ = {**environ}
        self.prompts: list[str] = []
        self.answers: list[str] = []
        self.messages: list[str] = []
        self.widgets: dict[str, dict[str, Any]] = {}
        self._page = ""
        self._completions: dict[str, dict[str, Any]] = {}
        self._unhandled: dict[str, str] = {}
        self._runs: dict[str, Run] = {}
        self._cells: dict[str, Run] = {}
        self._unanswered = 0
        self._log = (cwd / ".kernel.log").open("wb")
        # Sockets in a folder of its own: of two kernels that start at the same time, one may take the other's ports.
        self._sockets = Path(mkdtemp(prefix="agn-t-"))
        self.manager = KernelManager(
            kernel_name="python3", transport="ipc", connection_file=str(self._sockets / "k.json")
        )
        if python is not None:
            spec: Any = self.manager.kernel_spec
            spec.argv[0] = str(python)
        self.manager.start_kernel(cwd=str(cwd), env=dict(environ), stdout=self._log, stderr=subprocess.STDOUT)
        self._client: BlockingKernelClient = self.manager.blocking_client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=60)
        self._poller = zmq.Poller()
        for channel in (self._client.shell_channel, self._client.stdin_channel, self._client.iopub_channel):
            self._poller.register(channel.socket, zmq.POLLIN)
        self._subshell = self._new_subshell() if clicks == "sub" else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._client.stop_channels()
        self.manager.shutdown_kernel(now=False)
        self.manager.cleanup_resources()
        self._log.close()
        rmtree(self._sockets, ignore_errors=True)

    @property
    def pid(self) -> int:
        local: Any = self.manager.provisioner
        return int(local.pid)

    @property
    def quiet(self) -> bool:
        return all(run.done for run in self._runs.values())

    def open_page(self, name: str) -> None:
        self._page = name
        self._runs.clear()
        self._cells.clear()
        for kept in (self.prompts, self.answers, self.messages):
            kept.clear()
        self._unanswered = 0

    def restart(self) -> Run:
        """Restarts the kernel, and loads the extension."""
        self.manager.restart_kernel(now=True, cwd=str(self.cwd), env=self.environ)
        self._client.wait_for_ready(timeout=60)
        self._runs.clear()
        self.widgets.clear()
        self._subshell = self._new_subshell() if self._subshell is not None else None
        return self.run("%load_ext autogen_nb", "load")

    def load_page_again(self) -> None:
        self._runs.clear()
        self._cells.clear()
        self.widgets.clear()
        name = f"control-{len(self.messages)}"
        opened = {"comm_id": name, "target_name": "jupyter.widget.control", "data": {}}
        self._send("comm_open", opened, metadata={"version": "1.0.0"})
        self._send("comm_msg", {"comm_id": name, "data": {"method": "request_states"}})
        self.wait(lambda: "states" in self.widgets.get(name, {}), "the states of the widgets")
        states = self.widgets.pop(name)["states"]
        self.widgets.update({name: dict(each["state"]) for name, each in states.items()})

    def start(self, code: str, cell: str = "cell", *, stdin: bool = True) -> Run:
        content = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": stdin,
            "stop_on_error": True,
        }
        metadata = {"cellId": f"{self._page}-{cell}"}
        message = self._client.session.msg("execute_request", content, metadata=metadata)
        run = Run(message["header"]["msg_id"], cell)
        self._runs[run.request] = self._cells[cell] = run
        self._client.shell_channel.send(message)
        return run

    def run(self, code: str, cell: str = "cell", *, stdin: bool = True) -> Run:
        return self.finish(self.start(code, cell, stdin=stdin))

    def run_clicking(self, code: str, cell: str = "cell", *, click: Sequence[str]) -> Run:
        run = self.start(code, cell)
        for label in click:
            self.click(label)
        return self.finish(run)

    def run_all(self, *cells: str) -> list[Run]:
        gate = self.cwd / ".gate"
        gate.unlink(missing_ok=True)
        waiting = f"import os, time\nwhile not os.path.exists({str(gate)!r}):\n    time.sleep(0.01)"
        self.start(waiting, "gate")
        runs = [self.start(code, f"cell {number}") for number, code in enumerate(cells)]
        gate.touch()
        return [self.finish(run) for run in runs]

    def finish(self, run: Run, within: float = _PATIENCE) -> Run:
        self.wait(lambda: run.done, f"cell {run.cell!r} to finish", within)
        return run

    def complete(self, code: str) -> dict[str, Any]:
        """The reply to Tab at the end of the code."""
        content = {"code": code, "cursor_pos": len(code)}
        request = self._send("complete_request", content)
        self.wait(lambda: request in self._completions, f"the completion of {code!r}")
        return self._completions.pop(request)

    def value(self, expression: str) -> str:
        run = self.run(f"print({expression})", "value")
        assert run.status == "ok", run.error
        return run.text.strip()

    def interrupt(self, way: Literal["signal", "message"] = "signal") -> None:
        if way == "signal":
            self.manager.interrupt_kernel()
        else:
            self._client.control_channel.send(self._client.session.msg("interrupt_request", {}))

    def stop(self, run: Run, way: Literal["signal", "message"] = "signal", within: float = _PATIENCE) -> Run:
        self.interrupt(way)
        return self.finish(run, within)

    def visible(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for run in self._cells.values():
            for output in run.outputs:
                view = output.data.get(_WIDGET)
                if view:
                    yield from self._shown(str(view["model_id"]))

    def has(self, label: str) -> bool:
        return any(state.get("description") == label for _, state in self.visible())

    def asked(self, label: str = "Run") -> None:
        self.wait(lambda: self.has(label), f"a button {label!r}")

    def click(self, label: str) -> None:
        self._comm(self._labelled(label), {"method": "custom", "content": {"event": "click"}})

    def type(self, text: str, into: str) -> None:
        widget = self._field(into)
        self.widgets[widget]["value"] = text
        # ipywidgets sends what is typed only when the kernel is through with what was typed before.
        self.wait(lambda: widget not in self._unhandled.values(), f"the kernel to take in what was typed into {into!r}")
        self.set(widget, value=text)

    def tick(self, label: str) -> None:
        self.set(self._labelled(label), value=True)

    def choose(self, label: str, of: str) -> None:
        self.wait(lambda: any(state.get("tooltip") == of for _, state in self.visible()), f"a list {of!r}")
        widget, state = next(each for each in self.visible() if each[1].get("tooltip") == of)
        index = state["_options_labels"].index(label)
        self.set(widget, index=index)

    def set(self, widget: str, **state: object) -> None:
        self._comm(widget, {"method": "update", "state": state, "buffer_paths": []})

    def field(self, tooltip: str) -> str:
        return next(str(state["value"]) for _, state in self.visible() if state.get("tooltip") == tooltip)

    def wait(self, condition: Callable[[], bool], what: str, within: float = _PATIENCE, each: float = 0.5) -> None:
        deadline = time.monotonic() + within
        while not condition():
            left = deadline - time.monotonic()
            assert left > 0, f"waited {within} s for {what}; seen:\n{self._seen()}"
            self._pump(min(left, each))

    def _seen(self) -> str:
        return "\n".join(f"[{run.cell} {run.status or 'runs'}]\n{run.text}" for run in self._runs.values())[-6000:]

    def _pump(self, seconds: float) -> None:
        self._poller.poll(round(seconds * 1000))
        client = self._client
        for channel, take in (
            (client.iopub_channel, self._on_iopub),
            (client.shell_channel, self._on_shell),
            (client.stdin_channel, self._on_stdin),
        ):
            for message in _arrived(channel):
                self.messages.append(str(message))
                take(message)
        while self._unanswered and self.answers:
            self._unanswered -= 1
            client.input(self.answers.pop(0))

    def _on_shell(self, message: dict[str, Any]) -> None:
        request = message["parent_header"].get("msg_id", "")
        if message["msg_type"] == "complete_reply":
            self._completions[request] = message["content"]
        elif (run := self._runs.get(request)) is not None:
            run.reply = message["content"]

    def _on_stdin(self, message: dict[str, Any]) -> None:
        self.prompts.append(message["content"]["prompt"])
        self._unanswered += 1

    def _on_iopub(self, message: dict[str, Any]) -> None:
        kind, content = message["msg_type"], message["content"]
        run = self._runs.get(message["parent_header"].get("msg_id", ""))
        if kind.startswith("comm_"):
            self._on_comm(kind, content)
        elif kind == "update_display_data":
            self._update(content)
        elif run is None and kind == "status" and content["execution_state"] == "idle":
            self._unhandled.pop(message["parent_header"].get("msg_id", ""), None)
        elif run is not None and kind == "status":
            run.idle = run.idle or content["execution_state"] == "idle"
        elif run is not None and self._cells[run.cell] is run:
            self._add(run, kind, content)

    def _add(self, run: Run, kind: str, content: dict[str, Any]) -> None:
        if kind == "clear_output" and content["wait"]:
            run.clear_next = True
            return
        output = _output(kind, content)
        if run.clear_next or kind == "clear_output":
            run.outputs.clear()
            run.clear_next = False
        if output is None:
            return
        last = run.outputs[-1] if run.outputs else None
        if last is not None and last.kind == output.kind in ("stdout", "stderr"):
            last.data["text/plain"] += output.data["text/plain"]
        else:
            run.outputs.append(output)

    def _update(self, content: dict[str, Any]) -> None:
        place = content["transient"]["display_id"]
        for run in self._cells.values():
            for output in run.outputs:
                if output.display_id == place:
                    output.data, output.metadata = content["data"], content["metadata"]

    def _on_comm(self, kind: str, content: dict[str, Any]) -> None:
        name, data = content["comm_id"], content.get("data", {})
        if kind == "comm_open":
            self.widgets[name] = dict(data.get("state", {}))
        elif kind == "comm_close":
            self.widgets.pop(name, None)
        elif data.get("method") == "update_states":
            self.widgets[name] = {"states": data["states"]}
        elif data.get("method") in ("update", "echo_update"):
            self.widgets.setdefault(name, {}).update(data["state"])

    def _labelled(self, label: str) -> str:
        self.asked(label)
        return [name for name, state in self.visible() if state.get("description") == label][-1]

    def _field(self, into: str) -> str:
        def found() -> list[str]:
            return [name for name, state in self.visible() if into in (state.get("placeholder"), state.get("tooltip"))]

        self.wait(lambda: bool(found()), f"a field {into!r}")
        return found()[-1]

    def _shown(self, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
        state = self.widgets.get(name)
        if state is not None:
            yield name, state
            for child in state.get("children", ()):
                yield from self._shown(str(child).removeprefix(_MODEL))
            for view in [output["data"].get(_WIDGET) for output in state.get("outputs", ())]:
                if view:
                    yield from self._shown(str(view["model_id"]))

    def _comm(self, widget: str, data: dict[str, Any]) -> None:
        self._unhandled[self._send("comm_msg", {"comm_id": widget, "data": data})] = widget

    def _send(self, kind: str, content: dict[str, Any], metadata: dict[str, Any] | None = None) -> str:
        message = self._client.session.msg(kind, content, metadata=metadata)
        if self._subshell is not None:
            message["header"]["subshell_id"] = self._subshell
        self._client.shell_channel.send(message)
        return str(message["header"]["msg_id"])

    def _new_subshell(self) -> str | None:
        # What JupyterLab looks at before it asks for a subshell.
        self._client.kernel_info()
        if "kernel subshells" not in self._client.get_shell_msg(timeout=60)["content"].get("supported_features", []):
            return None
        request = self._client.session.msg("create_subshell_request", {})
        self._client.control_channel.send(request)
        # Replies to earlier requests may come first, such as that of a kernel which has ended.
        while True:
            reply = self._client.control_channel.get_msg(timeout=60)
            if reply["parent_header"].get("msg_id") == request["header"]["msg_id"]:
                return str(reply["content"]["subshell_id"])


def _arrived(channel: Any) -> Iterator[dict[str, Any]]:
    while True:
        try:
            yield channel.get_msg(timeout=0)
        except Empty:
            return


def _output(kind: str, content: dict[str, Any]) -> Output | None:
    match kind:
        case "stream":
            return Output(content["name"], {"text/plain": content["text"]})
        case "display_data":
            return Output("display", content["data"], content["metadata"], content["transient"].get("display_id"))
        case "execute_result":
            return Output("result", content["data"], content["metadata"])
        case "error":
            return Output("error", {"text/plain": "\n".join(content["traceback"]), **content})
        case _:
            return None
