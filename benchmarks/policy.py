"""What a policy that asks about risky code asks about, on the labelled corpus of tests/corpus, and what it misses."""

import statistics
import time
from collections.abc import Callable, Iterable
from functools import partial

from autogen_nb.core.analysis import effects, effects_to_confirm
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.messages import CodeBlock
from benchmarks._guarded import guarded as run_guarded
from benchmarks._sizes import sized
from benchmarks._table import table
from tests.corpus import OWN, SNIPPETS, Snippet

CORPUS = sized(SNIPPETS, quick=SNIPPETS[::11])
FOLDER = "/home/ann/work"
GROUND = PathScope(FOLDER, f"{FOLDER}/{OWN}", "/home/ann", private_temporary=True)


def read(snippet: Snippet, *, guarded: bool = False) -> bool:
    """True if the reading asks about the snippet before it runs."""
    block = CodeBlock(snippet.language, snippet.code)
    return effects_to_confirm("risky", block, GROUND, guarded=guarded) is not None


def figures(what: str, asked: Callable[[Snippet], bool], snippets: Iterable[Snippet] = CORPUS) -> str:
    """A table of how many of each kind are asked about, with those by name that are judged wrongly."""
    rows: list[tuple[str, str, str]] = []
    wrong: list[str] = []
    for risky in (True, False):
        for held_out in (False, True):
            some = [each for each in snippets if (each.risky, each.held_out) == (risky, held_out)]
            found = [each for each in some if asked(each)]
            wrong += [
                f"{'missed' if risky else 'asked about'}: {each.name}" for each in some if (each in found) != risky
            ]
            label = f"{what}, {'risky' if risky else 'harmless'}{', held out' if held_out else ''}"
            rows.append((label, f"{len(found)} of {len(some)}", f"{100 * len(found) / len(some):.1f} %"))
    return "\n".join([table(("", "asked about", ""), rows), *wrong])


def milliseconds() -> list[float]:
    """How long the reading of each snippet takes."""
    times = []
    for each in CORPUS:
        begun = time.perf_counter()
        effects.__wrapped__(CodeBlock(each.language, each.code), GROUND)
        times.append(1000 * (time.perf_counter() - begun))
    return times


def main() -> None:
    print(figures("the reading", read))
    print(f"\n{figures('the reading behind the guard', partial(read, guarded=True))}")
    times = milliseconds()
    python = [each for each in CORPUS if each.language == "python"]
    came = run_guarded(python)
    print(f"\n{figures('the guard alone', lambda each: bool(came[each.name].asked), python)}")
    print(f"\none reading: {statistics.median(times):.2f} ms in the middle, {max(times):.1f} ms at most")


if __name__ == "__main__":
    main()
