"""The variables that a notebook and the agent's kernel both have: which very objects, and what they were like."""

from collections.abc import Callable, Mapping
from weakref import ref

from autogen_nb.kernels.transfer.fingerprints import Fingerprint
from autogen_nb.kernels.transfer.variable_transfer import Handed


class SharedVariables:
    """What was handed to the kernel, or came from it; another kernel has none of it."""

    def __init__(self, pid: Callable[[], int | None]) -> None:
        self._pid_now = pid
        self._pid: int | None = None
        self._are: dict[str, Callable[[object], bool]] = {}
        self._prints: dict[str, Fingerprint] = {}

    @property
    def names(self) -> frozenset[str]:
        """The names of all that were shared, also with a kernel that is gone since."""
        return frozenset(self._are)

    def clear(self) -> None:
        """Forgets all of them."""
        self._are.clear()
        self._prints.clear()

    def hand(self, values: Mapping[str, object], handed: Handed | None = None) -> tuple[str, ...]:
        """Remembers that these very objects are in the kernel under their names."""
        if self._pid_now() != self._pid:
            self.clear()
            self._pid = self._pid_now()
        clashes = tuple(name for name in handed.overwritten if name not in self._are) if handed else ()
        self._prints.update((handed or Handed.of(values)).prints)
        self._are.update({name: _identity_test(value) for name, value in values.items()})
        return clashes

    def stale(self, namespace: Mapping[str, object]) -> tuple[str, ...]:
        """The names whose objects have changed since the kernel got its copies."""
        return Handed(self._prints).stale(namespace) if self._pid_now() == self._pid else ()

    def holds(self, name: str, value: object) -> bool:
        """Whether the kernel that there is now has a copy of this very object under that name."""
        return self._pid_now() == self._pid and name in self._are and self._are[name](value)


def _identity_test(value: object) -> Callable[[object], bool]:
    try:
        reference = ref(value)
    except TypeError:
        # Lists, texts and numbers take no weak references.
        number = id(value)
        return lambda other: id(other) == number
    return lambda other: reference() is other
