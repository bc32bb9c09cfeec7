"""The script of the agent's kernel process: runs ipykernel without the configuration of the person and the machine."""

import atexit
import gc
import io
import os
import sys
from contextlib import suppress
from importlib.machinery import SourceFileLoader


def main() -> None:
    # Registered first, so that `atexit` calls it last.
    atexit.register(_leave)
    _mark_imports()
    # Garbage collection would take 5 % of the start-up time, and imports leave little garbage.
    thresholds = gc.get_threshold()
    gc.set_threshold(100_000)
    from ipykernel.kernelapp import IPKernelApp
    from IPython.core import application

    del application.SYSTEM_CONFIG_DIRS[:]
    del application.ENV_CONFIG_DIRS[:]
    # The working directory comes last, so that a file such as `seaborn.py` in it hides no package.
    sys.path.append("")
    app = IPKernelApp.instance()
    # Importing the debugger would take 25 % of the start-up time; the agent's code can still import it.
    debugger = "debugpy"
    sys.modules[debugger] = None  # type: ignore[assignment]  # marks the module as missing
    app.initialize()
    del sys.modules[debugger]
    gc.set_threshold(*thresholds)
    app.start()
    # This ends the control thread; later, `atexit` ends the IOPub thread, which sends the control thread's messages.
    app.control_thread.stop()
    app.control_thread.join()


def _mark_imports() -> None:
    """Reads modules with flags by which the guard leaves the decision to the wall (`confine.py`)."""
    read = SourceFileLoader.get_data
    marked = os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY | os.O_DSYNC

    def get_data(self: SourceFileLoader, path: str) -> bytes:
        try:
            descriptor = os.open(path, marked)
        except PermissionError:
            return read(self, path)
        with open(descriptor, "rb", buffering=0) as file:
            return file.read()

    SourceFileLoader.get_data = get_data  # type: ignore[method-assign,assignment]


def _leave() -> None:
    """Ends the process without Python's finalization, which takes too long with large libraries."""
    for each in gc.get_objects():
        # Modules and tracebacks may still refer to open files. `isinstance` would run the code of proxy objects.
        if issubclass(type(each), (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom)):
            with suppress(Exception):
                each.flush()
    os._exit(0)


if __name__ == "__main__":
    try:
        main()
    except BaseException:
        atexit.unregister(_leave)
        raise
