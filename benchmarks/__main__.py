"""Runs every module beside this one that has a `main`, one after the other, and prints their tables.

`--quick` measures little: it shows that they still work.
"""

import pkgutil
import sys
from importlib import import_module

import benchmarks
from benchmarks._sizes import be_quick

QUICK = "--quick"
NAMES = [module.name for module in pkgutil.iter_modules(benchmarks.__path__) if not module.name.startswith("_")]


def main(arguments: list[str]) -> None:
    names = [argument for argument in arguments if argument != QUICK]
    if QUICK in arguments:
        be_quick()
        print("Little is measured: this shows that each benchmark works, and no figure means anything.")
    unknown = sorted(set(names) - set(NAMES))
    if unknown:
        raise SystemExit(f"no benchmark {', '.join(unknown)}; there are {', '.join(NAMES)}")
    for name in names or NAMES:
        module = import_module(f"benchmarks.{name}")
        print(f"\n{name}: {(module.__doc__ or '').splitlines()[0]}\n", flush=True)
        module.main()


if __name__ == "__main__":
    main(sys.argv[1:])
