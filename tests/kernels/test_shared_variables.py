from autogen_nb.kernels.transfer.shared_variables import SharedVariables
from autogen_nb.kernels.transfer.variable_transfer import Handed


def test_the_same_object_is_held() -> None:
    shared = SharedVariables(lambda: 1)
    first, second = {1, 2}, {1, 2}
    shared.hand({"numbers": first, "count": 3})

    assert shared.holds("numbers", first)
    assert not shared.holds("numbers", second)
    assert not shared.holds("other", first)
    assert shared.holds("count", 3)
    first = second
    assert not shared.holds("numbers", {1, 2})


def test_another_kernel_has_none_of_them() -> None:
    pids = [1]
    shared, numbers = SharedVariables(lambda: pids[-1]), [1, 2]
    shared.hand({"numbers": numbers, "old": 1})
    numbers.append(3)
    before = shared.stale({"numbers": numbers})
    pids.append(2)

    assert before == ("numbers",)
    assert shared.stale({"numbers": numbers}) == ()
    assert not shared.holds("numbers", numbers)
    assert shared.hand({"new": 4}, Handed.of({"new": 4}, ("old",))) == ("old",)
    assert shared.names == {"new"}
