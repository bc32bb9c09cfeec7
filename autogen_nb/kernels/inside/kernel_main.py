"""The script of the agent's kernel process: runs ipykernel without the configuration of the person and the machine."""

import gc
import sys


def main() -> None:
    # Garbage collection would take 5 % of the start, and imports leave little garbage.
    thresholds = gc.get_threshold()
    gc.set_threshold(100_000)
    from ipykernel.kernelapp import IPKernelApp
    from IPython.core import application

    del application.SYSTEM_CONFIG_DIRS[:]
    del application.ENV_CONFIG_DIRS[:]
    # The working directory comes last, so that its files, such as `seaborn.py`, hide no package.
    sys.path.append("")
    app = IPKernelApp.instance()
    # Importing the debugger would take 25 % of the start; the agent's code can still import it.
    debugger = "debugpy"
    sys.modules[debugger] = None  # type: ignore[assignment]  # marks the module as missing
    app.initialize()
    del sys.modules[debugger]
    gc.set_threshold(*thresholds)
    app.start()


if __name__ == "__main__":
    main()
