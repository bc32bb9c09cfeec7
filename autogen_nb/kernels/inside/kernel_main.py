"""The main script of the agent's kernel process: an ipykernel that ignores the person's configuration.

It runs only in that process, as a script outside of the package.
"""

import gc
import sys


def main() -> None:
    """Runs a kernel; the arguments are those of ``python -m ipykernel_launcher``."""
    # Imports create little garbage, and collecting it takes a twentieth of the start's time.
    thresholds = gc.get_threshold()
    gc.set_threshold(100_000)
    from ipykernel.kernelapp import IPKernelApp
    from IPython.core import application

    # Removes the folders of the machine's configuration; IPYTHONDIR already replaces the person's folder.
    del application.SYSTEM_CONFIG_DIRS[:]
    del application.ENV_CONFIG_DIRS[:]
    # The working directory is last on the path, so that a file such as `seaborn.py` hides no package.
    sys.path.append("")
    app = IPKernelApp.instance()
    # Importing the debugger would take a quarter of the start's time; the agent's code can still import it.
    debugger = "debugpy"
    sys.modules[debugger] = None  # type: ignore[assignment]  # marks the module as missing
    app.initialize()
    del sys.modules[debugger]
    gc.set_threshold(*thresholds)
    app.start()


if __name__ == "__main__":
    main()
