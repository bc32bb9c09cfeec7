"""The main script of the agent's kernel process: an ipykernel that nothing of the person's own set-up changes.

It runs inside that process only, as a file and not as a part of this package.
"""

import gc
import sys


def main() -> None:
    """Runs a kernel; the arguments are those of ``python -m ipykernel_launcher``."""
    # Modules make little garbage; to look for it takes a twentieth of the start.
    thresholds = gc.get_threshold()
    gc.set_threshold(100_000)
    from ipykernel.kernelapp import IPKernelApp
    from IPython.core import application

    # Configuration and start-up files of the machine; those of the person are out of the way by IPYTHONDIR.
    del application.SYSTEM_CONFIG_DIRS[:]
    del application.ENV_CONFIG_DIRS[:]
    # At the end: a `seaborn.py` beside the notebook hides no package, a module of the person's own is found.
    sys.path.append("")
    app = IPKernelApp.instance()
    # Nobody debugs this kernel, and its debugger takes a quarter of the start; the agent's code may still import it.
    debugger = "debugpy"
    sys.modules[debugger] = None  # type: ignore[assignment]  # how the import system is told that there is none
    app.initialize()
    del sys.modules[debugger]
    gc.set_threshold(*thresholds)
    app.start()


if __name__ == "__main__":
    main()
