"""Lists and copies variables inside the agent's kernel, and configures ipykernel and IPython.

`transfer/variable_exchange.py` calls `answer` in a silent execute request, and reads the result from a JSON file.
"""

import asyncio
import gc
import json
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

import zmq

_MAX_QUEUED_MESSAGES = 64
_DIGEST_SECONDS = 0.2
_DIGEST_SECONDS_OF_BLOCK = 0.05
_SCRIPT = """import json, sys, vl_convert
sys.stdout.buffer.write(vl_convert.vegalite_to_png(json.load(sys.stdin), allowed_base_urls=[]))"""
DRAW = (sys.executable, "-I", "-c", _SCRIPT)
"""Draws an Altair chart in a process of its own: vl-convert's threads would prevent checkpoints."""


def install(modules: dict[str, Any]) -> None:
    import IPython.core.logger  # noqa: F401  # otherwise the shell imports this module during the first block

    shell = _shell()
    _MODULES.update(modules)
    connect(shell.kernel)
    _keep_kernel_on_exit(shell)
    # Choosing a tip for each reply to a `kernel_info_request` would change the state of `random`.
    shell.enable_tip = False
    formatter = shell.display_formatter
    formatter.formatters["text/html"].for_type_by_name("IPython.lib.display", "IFrame", _local_page)
    bundles = formatter.mimebundle_formatter
    for version in ("v5", "v6"):
        bundles.for_type_by_name(f"altair.vegalite.{version}.api", "TopLevelMixin", _with_picture)


def connect(kernel: Any) -> None:
    """Configures the kernel's sockets and loop; a woken checkpoint has new ones."""
    thread = getattr(kernel, "iopub_thread", None)
    if thread is not None:
        # The output waits while its queue is full. ZMQ would drop messages, such as the idle status. Only the thread
        # of a ZMQ socket may use the socket.
        thread.schedule(lambda: thread.socket.set_hwm(_MAX_QUEUED_MESSAGES))
        thread.schedule(lambda: thread.socket.setsockopt(zmq.XPUB_NODROP, 1))
    # A woken checkpoint still has the pipe of its kernel.
    earlier, (read_end, write_end) = _WAKE_PIPE.copy(), os.pipe()
    os.set_blocking(read_end, False)
    os.set_blocking(write_end, False)
    try:
        asyncio.get_event_loop().add_reader(read_end, os.read, read_end, 4096)
        signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
        _WAKE_PIPE[:] = read_end, write_end
    except (RuntimeError, ValueError, NotImplementedError):
        # This is not the main thread, or the loop does not support readers.
        earlier = [read_end, write_end]
    for descriptor in earlier:
        os.close(descriptor)


def _connect_to_cluster(address: str, security: Any) -> None:
    """Connects to a Dask scheduler; the client becomes the kernel's default client."""
    from distributed import Client

    client = None
    with suppress(ValueError):
        client = Client.current()
    if client is None or client.status != "running" or client.scheduler.address != address:
        Client(address, security=security, timeout=10)
        for thread in threading.enumerate():
            # The person sees this name if the thread prevents a checkpoint.
            thread.name = "Dask client" if thread.name == "IO loop" else thread.name


def import_ahead(name: str) -> None:
    """Imports a module, and for pandas also the modules that the first use imports."""
    # Garbage collection would take a sixth of the time, and imports leave little garbage.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        __import__(name)
        if name == "pandas":
            sys.modules[name].DataFrame({"": [""]})
    except ModuleNotFoundError as error:
        # A missing module is no error, but a missing dependency is.
        if not f"{name}.".startswith(f"{error.name}."):
            raise
    finally:
        if was_enabled:
            gc.enable()


def answer(function: str, arguments: str, reply: str) -> None:
    functions: dict[str, Callable[..., Any]] = {"variables": variables, "save": _save, "load": _load}
    result = functions[function](**json.loads(arguments))
    with open(f"{reply}.part", "w", encoding="ascii") as file:
        json.dump(result, file)
    os.replace(f"{reply}.part", reply)


def _save(writer: str, name: str, folder: str) -> Any:
    namespace, is_data = _shell().user_ns, _MODULES["encode"].is_data
    if name not in namespace:
        return {"missing": [other for other, value in _own_variables().items() if is_data(value)]}
    return _MODULES[writer].save(namespace[name], folder)


def _load(files: dict[str, str], cluster: str) -> dict[str, Any]:
    pickles = _MODULES["pickles"]
    try:
        if cluster:
            _connect_to_cluster(*pickles.load(cluster))
    except Exception as error:  # noqa: BLE001  # Dask and the network may raise any exception
        return {"cluster": f"{type(error).__name__}: {error}"}
    result: dict[str, Any] = pickles.load_all(files, _shell().user_ns)
    changes()
    return result


def variables() -> list[dict[str, Any]]:
    """The variables of the agent's code; `data` is true if `encode` can probably copy the value."""
    sizes, is_data, digest = _MODULES["sizes"], _MODULES["encode"].is_data, _digests(_DIGEST_SECONDS)
    return [
        {
            "name": name,
            "type": type(value).__name__,
            "shape": sizes.shape(value),
            "size": sizes.size_of(value),
            "data": is_data(value),
            "digest": digest(value),
        }
        for name, value in _own_variables().items()
    ]


def _own_variables() -> dict[str, Any]:
    shell, absent = _shell(), object()
    classes = (type, type(sys), type(variables), type(len))
    return {
        name: value
        for name, value in list(shell.user_ns.items())
        if not name.startswith("_")
        and value is not shell.user_ns_hidden.get(name, absent)
        and not isinstance(value, classes)
    }


def changes() -> str:
    """JSON list of [what, name, old size, new size] since the last call; `what` is "new", "changed" or "deleted"."""
    digest_of, shape = _digests(_DIGEST_SECONDS_OF_BLOCK), _MODULES["sizes"].shape
    values, before = _own_variables(), dict(_STATES)
    _STATES.clear()
    for name, value in values.items():
        _STATES[name] = id(value), digest_of(value), shape(value) or type(value).__name__
    changed = []
    for name, (identity, digest, size) in _STATES.items():
        if name not in before:
            changed.append(["new", name, "", size])
            continue
        old_identity, old_digest, old_size = before[name]
        is_same = digest == old_digest if digest and old_digest else identity == old_identity
        if not is_same and identity == old_identity:
            # Each pickle of some objects is different, such as of Matplotlib's figures.
            is_same = digest_of(values[name]) != digest
        if not is_same or size != old_size:
            changed.append(["changed", name, old_size, size])
    return json.dumps(changed + [["deleted", name, "", ""] for name in before if name not in _STATES])


def lost_values() -> str:
    """JSON lists of the names of variables that a woken kernel does not have as they were (`lost_values.py`)."""
    return json.dumps(_MODULES["lost_values"].lost_values(_shell().user_ns))


def _digests(seconds: float) -> Callable[[Any], str]:
    """Returns a function that computes digests. To save time, the function returns "" after `seconds`."""
    fingerprint = _MODULES["fingerprints"].fingerprint
    end = time.monotonic() + seconds

    def digest(value: Any) -> str:
        if time.monotonic() > end:
            return ""
        complete = fingerprint(value, in_any_process=True)
        return complete.digest.hex() if complete.digest else ""

    return digest


def _shell() -> Any:
    from IPython.core.getipython import get_ipython

    return get_ipython()


def _local_page(iframe: Any) -> str:
    """The HTML of an IFrame; for a local file, the file's contents, since the notebook's page cannot load it."""
    if not (iframe.src.endswith((".html", ".htm")) and os.path.isfile(iframe.src)):
        return str(iframe._repr_html_())
    with open(iframe.src, encoding="utf-8", errors="replace") as file:
        return file.read()


def _with_picture(chart: Any, **options: Any) -> Any:
    bundle = chart._repr_mimebundle_(**options)
    if not isinstance(bundle, dict) or find_spec("vl_convert") is None:
        return bundle
    try:
        import subprocess
        from base64 import b64encode

        specification = chart.to_dict()
        # vl-convert would load addresses without the guard's notice.
        if "://" in json.dumps({**specification, "$schema": ""}):
            return bundle
        drawn = subprocess.run(  # noqa: S603  # the guard knows this command
            DRAW, input=json.dumps(specification).encode(), capture_output=True, check=True, timeout=10
        )
    except Exception:  # noqa: BLE001  # a chart does not need its picture
        return bundle
    return {**bundle, "image/png": b64encode(drawn.stdout).decode()}


def _keep_kernel_on_exit(shell: Any) -> None:
    class Exit(type(shell.exiter)):  # type: ignore[misc]  # the shell requires an instance of its own class
        def __call__(self, code: Any = None) -> None:
            raise SystemExit(code)

    # IPython needs `exiter` to reset the namespace.
    shell.exiter = Exit(shell)
    for name in ("exit", "quit"):
        shell.user_ns[name] = shell.user_ns_hidden[name] = shell.exiter
    # The warning is useful only in a terminal.
    warnings.filterwarnings("ignore", message="To exit: use 'exit', 'quit', or Ctrl-D.")


_WAKE_PIPE: list[int] = []
_MODULES: dict[str, Any] = {}
_STATES: dict[str, tuple[int, str, str]] = {}
