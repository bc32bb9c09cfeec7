"""Records which of the notebook's variables have copies in the agent's kernel."""

from collections.abc import Callable, Mapping
from weakref import ref

from autogen_nb.kernels.inside.fingerprints import Fingerprint
from autogen_nb.kernels.transfer.variable_transfer import TransferRecord


class SharedVariables:
    def __init__(self, kernel: Callable[[], object]) -> None:
        self._current_kernel = kernel
        self._kernel: object = None
        self._identity_tests: dict[str, Callable[[object], bool]] = {}
        self._fingerprints: dict[str, Fingerprint] = {}

    @property
    def names(self) -> frozenset[str]:
        """The names of all variables with a copy, in this kernel or an earlier one."""
        return frozenset(self._identity_tests)

    def copy(self) -> "SharedVariables":
        """A copy of this record, for when the kernel later returns to its present state."""
        copied = SharedVariables(self._current_kernel)
        copied._kernel = self._kernel
        copied._identity_tests.update(self._identity_tests)
        copied._fingerprints.update(self._fingerprints)
        return copied

    def clear(self) -> None:
        self._identity_tests.clear()
        self._fingerprints.clear()

    def hand(self, values: Mapping[str, object], record: TransferRecord | None = None) -> tuple[str, ...]:
        """Records that the kernel has copies of `values`; returns the agent's variables that the copies replaced."""
        if self._current_kernel() != self._kernel:
            self.clear()
            self._kernel = self._current_kernel()
        clashes = tuple(name for name in record.overwritten if name not in self._identity_tests) if record else ()
        self._fingerprints.update((record or TransferRecord.of(values)).fingerprints)
        self._identity_tests.update({name: _identity_test(value) for name, value in values.items()})
        return clashes

    def stale(self, namespace: Mapping[str, object]) -> tuple[str, ...]:
        if not self._fingerprints or self._current_kernel() != self._kernel:
            return ()
        return TransferRecord(self._fingerprints).stale(namespace)

    def holds(self, name: str, value: object) -> bool:
        """True if the current kernel has a copy of this object under this name."""
        return (
            self._current_kernel() == self._kernel
            and name in self._identity_tests
            and self._identity_tests[name](value)
        )


def _identity_test(value: object) -> Callable[[object], bool]:
    try:
        reference = ref(value)
    except TypeError:
        # Lists, strings and numbers support no weak references, and a new object may have the `id` of a deleted one.
        return lambda other: other is value
    return lambda other: reference() is other
