"""What `import autogen_nb` and `%load_ext autogen_nb` add to the start of IPython (at most 60 ms).

Each run is a fresh interpreter that starts an IPython shell in an empty profile, times itself from its first
statement to its last, and says so. The runs of the variants are interleaved, so that what the machine does
meanwhile falls on all of them; the median is what is shown.
"""

import os
import subprocess
import sys
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks._sizes import sized
from benchmarks._table import table

RUNS = sized(15, quick=1)
LIMIT_MS = 60

START = """
import time
start = time.perf_counter()
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
{more}
shell.run_cell("1 + 1", store_history=False, silent=True)
print((time.perf_counter() - start) * 1000)
"""
VARIANTS = {
    "IPython alone": "",
    "import autogen_nb": "import autogen_nb",
    "%load_ext autogen_nb": 'shell.run_line_magic("load_ext", "autogen_nb")',
}


def main() -> None:
    with TemporaryDirectory() as home:
        environment = {**os.environ, "HOME": home, "IPYTHONDIR": home}
        took: dict[str, list[float]] = {name: [] for name in VARIANTS}
        # The first round fills the file cache and compiles, and is not counted.
        for counted in range(RUNS + 1):
            for name, more in VARIANTS.items():
                milliseconds = _milliseconds(START.format(more=more), environment)
                took[name] += [milliseconds] if counted else []
    middle = {name: median(values) for name, values in took.items()}
    floor = middle["IPython alone"]
    rows = [
        (name, f"{value:.0f} ms", f"{value / floor:.2f}", f"{value - floor:+.0f} ms", f"{min(took[name]):.0f} ms")
        for name, value in middle.items()
    ]
    print(table(("", "median", "ratio", "added", "fastest"), rows))
    print(f"\nAt most {LIMIT_MS} ms may be added; {RUNS} interleaved runs each.")


def _milliseconds(source: str, environment: dict[str, str]) -> float:
    command = [sys.executable, "-c", source]
    ran = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return float(ran.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
