import datetime as dt
import json
import math
import random
import re
import tempfile
import tracemalloc
import zoneinfo
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_nb.errors import TransferError
from autogen_nb.kernels.inside.encode import save
from autogen_nb.kernels.transfer.decode import decode
from autogen_nb.trusted.held_folder import HeldFolder


def there_and_back(value: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        assert save(value, folder) == {}
        return decode(HeldFolder(Path(folder)))


def typed(value: Any) -> Any:
    match value:
        case list() | tuple():
            return type(value), [typed(item) for item in value]
        case set() | frozenset():
            return type(value), sorted(repr(typed(item)) for item in value)
        case dict():
            return dict, [(typed(key), typed(item)) for key, item in value.items()]
    return type(value), repr(value)


def refusal(value: Any) -> str:
    with tempfile.TemporaryDirectory() as folder:
        found = save(value, folder)
        return found["path"] + " " + found["refused"]


zones = (
    st.none()
    | st.builds(dt.timezone, st.timedeltas(dt.timedelta(hours=-23), dt.timedelta(hours=23)))
    | st.sampled_from([dt.UTC, zoneinfo.ZoneInfo("Europe/Berlin"), dt.timezone(dt.timedelta(hours=1), "mine")])
)
hashable = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=2**70)
    | st.floats(allow_nan=False)
    | st.complex_numbers(allow_nan=False)
    | st.text(st.characters(codec=None))
    | st.binary()
    | st.dates()
    | st.datetimes(timezones=zones)
    | st.times()
    | st.timedeltas()
    | st.decimals(allow_nan=False)
)
keys = st.recursive(hashable, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3), max_leaves=4)
values = st.recursive(
    hashable,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.sets(keys, max_size=4)
        | st.dictionaries(keys, inner, max_size=4)
    ),
    max_leaves=12,
)


@pytest.mark.slow
@given(values)
def test_plain_values_come_back_exactly(value: Any) -> None:
    assert typed(there_and_back(value)) == typed(value)


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, -0.0, complex(math.nan, -0.0), Decimal("sNaN"), Decimal("1.20")]
)
def test_special_numbers_come_back(value: Any) -> None:
    assert repr(there_and_back([value])) == repr([value])


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6).reshape(2, 3), np.asfortranarray(np.ones((3, 2), "f4")), np.array(True), np.zeros((0, 3), "u1"),
        np.array([1 + 2j], "c8"), np.array(["ab", "ä"]), np.array([b"ab"]), np.array([">"], ">U1"),
        np.array([1], ">i4"),
        np.array(["2020-01-01", "NaT"], "M8[D]"), np.array([1, 2], "m8[ns]"), np.arange(10)[::-2],
        np.array([1.5], "f2"),
    ],
    ids=lambda array: f"{array.dtype.str}{array.shape}",
)  # fmt: skip
def test_arrays_come_back_exactly(array: Any) -> None:
    found = there_and_back(array)

    np.testing.assert_array_equal(found, array, strict=True)
    assert found.dtype.str == array.dtype.str


@pytest.mark.parametrize(
    "scalar",
    [np.float64(1.5), np.float32("nan"), np.int8(-1), np.bool_(1), np.str_("ä"), np.bytes_(b""), np.str_(""),
     np.datetime64("2020-01-01"), np.timedelta64(3, "s"), np.complex64(1j), np.uint64(2**64 - 1)],
    ids=lambda scalar: type(scalar).__name__ + str(scalar),
)  # fmt: skip
def test_numpy_scalars_come_back_exactly(scalar: Any) -> None:
    found = there_and_back(scalar)

    assert (type(found), repr(found)) == (type(scalar), repr(scalar))


def test_an_array_of_objects_comes_back() -> None:
    array = np.empty((2, 1), dtype=object)
    array[0, 0], array[1, 0] = [1, 2], None

    found = there_and_back(array)
    assert (found.dtype, found.shape, found.tolist()) == (np.dtype(object), (2, 1), [[[1, 2]], [None]])


COLUMNS: dict[str, Any] = {
    "integers": np.array([1, 2, 3]),
    "small": np.array([1, 2, 3], "i2"),
    "floats": [1.5, math.nan, math.inf],
    "booleans": [True, False, True],
    "complex": [1j, 2, 3],
    "text": ["a", None, "ä"],
    "text that may be missing": pd.array(["a", pd.NA, "b"], dtype="string"),
    "objects": pd.Series([1, "a", (2.5, None)], dtype=object),
    "text as objects": pd.Series(["a", "b", math.nan], dtype=object),
    "moments as objects": pd.Series([pd.Timestamp("2020-01-01", tz="Asia/Tokyo"), pd.NaT, pd.NA], dtype=object),
    "spans as objects": pd.Series([pd.Timedelta("1 day"), dt.date(2020, 1, 1), np.int8(1)], dtype=object),
    "moments": pd.to_datetime(["2020-01-01", "NaT", "2020-01-03 04:05:06.789"], format="ISO8601"),
    "moments in seconds": pd.Series(pd.to_datetime(["2020-01-01", "NaT", "2021-01-01"])).dt.as_unit("s"),
    "zoned": pd.to_datetime(["2020-07-01", "NaT", "2020-01-03"]).tz_localize("Europe/Berlin"),
    "zoned utc": pd.to_datetime(["2020-07-01", "NaT", "2020-01-03"], utc=True),
    "spans": pd.to_timedelta(["1 day", None, "3 h"]),
    "categories": pd.Categorical(["b", None, "a"], categories=["b", "a", "c"], ordered=True),
    "number categories": pd.Categorical([3, 1, 3]),
    "ranges": pd.cut([1, 5, 9], bins=3),
    "months": pd.period_range("2020-01", periods=3, freq="M"),
    "Int64": pd.array([1, None, 3], dtype="Int64"),
    "UInt8": pd.array([1, None, 3], dtype="UInt8"),
    "Float32": pd.array([1.5, None, 3], dtype="Float32"),
    "boolean": pd.array([True, None, False], dtype="boolean"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_come_back_exactly(name: str) -> None:
    series = pd.Series(COLUMNS[name], name=name)
    frame = pd.DataFrame({"first": [1, 2, 3], name: COLUMNS[name]})

    pd.testing.assert_series_equal(there_and_back(series), series, check_freq=True)
    pd.testing.assert_frame_equal(there_and_back(frame), frame)


@pytest.mark.parametrize(
    "index",
    [
        pd.RangeIndex(2, 20, 3, name="r"), pd.Index([1, 2], name=("a", 1)), pd.Index(["x", "y"]), pd.Index([1, "a"]),
        pd.date_range("2020", periods=3, freq="MS", name="d"), pd.date_range("2020", periods=2, tz="UTC"),
        pd.timedelta_range("1 day", periods=3), pd.period_range("2020", periods=3, freq="Q"),
        pd.MultiIndex.from_product([["a", "b"], [1, 2]], names=["x", None]), pd.CategoricalIndex(["a", "b", "a"]),
        pd.MultiIndex.from_arrays([[1, None], ["a", "b"]]), pd.Index([], dtype="f8"), pd.Index([True, False]),
        pd.interval_range(0, 3),
    ],
    ids=lambda index: f"{type(index).__name__}-{index.dtype}",
)  # fmt: skip
def test_indexes_come_back_exactly(index: Any) -> None:
    found = there_and_back(index)

    pd.testing.assert_index_equal(found, index, exact=True)
    assert getattr(found, "freq", None) == getattr(index, "freq", None)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(), pd.DataFrame(index=[1, 2]), pd.DataFrame(columns=["a", "b"]),
        pd.DataFrame([[1, 2, 3.5]], columns=["a", "a", "b"]), pd.DataFrame(np.ones((3, 2))),
        pd.DataFrame({("a", "x"): [1], ("a", "y"): ["t"]}), pd.DataFrame({"a": [1], "b": ["x"], "c": [2]}),
        pd.DataFrame({"v": [1, 2]}, index=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["k", "n"])),
        pd.DataFrame({"t": pd.to_datetime(["2020"]), "u": pd.to_datetime(["2021"])}),
    ],
    ids=["empty", "rows only", "columns only", "same names", "matrix", "two levels", "mixed", "keys", "dates"],
)  # fmt: skip
def test_frames_come_back_exactly(frame: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(there_and_back(frame), frame, check_column_type=True)


def a_cycle() -> list[Any]:
    found: list[Any] = [1]
    found.append({"self": found})
    return found


def a_tower() -> list[Any]:
    found: list[Any] = []
    for _ in range(500):
        found = [found]
    return found


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (a_cycle(), "[1]['self'] is part of itself"),
        (a_tower(), "nested more than 60 levels deep"),
        (print, "is a builtin_function_or_method"),
        ({"where": Path()}, "['where'] is a pathlib PosixPath; only data comes back: str(...)"),
        (range(3), "is a range; only data comes back: list(...)"),
        (random.Random(), "is a random Random"),
        (np.array([(1, 2)], dtype=[("a", "i4"), ("b", "i4")]), "array of dtype"),
        (np.ma.array([1]), "is a numpy MaskedArray"),
        (pd.DataFrame({"a": [1], "m": pd.Series([print])}), "['m'][0] is a builtin_function_or_method"),
        (pd.Series(pd.arrays.SparseArray([0, 1])), "has the dtype Sparse"),
        (type("Row", (tuple,), {})((1, 2)), "is a"),
    ],
    ids=["cycle", "tower", "function", "path", "range", "object", "records", "masked", "column", "sparse", "row"],
)  # fmt: skip
def test_value_that_is_no_data_is_refused(value: Any, reason: str) -> None:
    assert reason in refusal(value)


SAMPLE = {
    "plain": [1, 2.5, "a", None, True, 2**80, b"x", (1, {2}), frozenset({3}), dt.datetime(2020, 1, 1, tzinfo=dt.UTC)],
    "array": np.arange(4.0).reshape(2, 2),
    "objects": np.array([1, "a"], dtype=object),
    "scalar": np.float32(1),
    "frame": pd.DataFrame(dict(COLUMNS), index=pd.RangeIndex(3)),
    "keys": pd.DataFrame({"v": [1, 2]}, index=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)])),
    "moment": pd.Timestamp("2020", tz="UTC"),
}
HOSTILE: list[Any] = [
    None, True, -1, 0, 1, 2**62, 10**30, 1e308, "", "nan", "../../etc/passwd", "0.npy", "1.npy", "/etc/passwd", [], {},
    ["list"], ["dict", [[["list", []], 1]]], ["array", "../x"], ["array", "99.npy"], ["Index"], ["nope", 1], [[]],
    ["int", "0x" + "f" * 100], ["int", "__import__('os')"], ["set", [["list", []]]], ["scalar", "O", ""],
    ["scalar", "V8", "AAAAAAAAAAA="],
    ["scalar", "<U9999999999", ""], ["RangeIndex", 0, 10**30, 1, None],
    ["datetime", "2020", 0, ["zone", "../../etc/passwd"]],
    ["objects", [10**9, 10**9], []], ["objects", [-1], []], ["zone", "x"], ["fixed", 0, 0, 0, None],
    ["Timestamp", 2**80, "ns", None],
]  # fmt: skip


def places(part: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    for number, item in enumerate(part if isinstance(part, list) else []):
        found += places(item, (*path, number))
    return found


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    assert save(SAMPLE, str(folder)) == {}
    return folder


@pytest.mark.slow
@given(seed=st.integers(0, 2**32), changes=st.integers(1, 4))
@settings(max_examples=120)
def test_no_manifest_does_harm(written: Path, seed: int, changes: int) -> None:
    chance = random.Random(seed)
    text = (written / "manifest.json").read_text()
    box = [json.loads(text)]
    for _ in range(changes):
        *way, last = chance.choice(places(box)[1:])
        target: Any = box
        for step in way:
            target = target[step]
        target[last] = chance.choice(HOSTILE)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in written.glob("*.npy"):
            (folder / file.name).hardlink_to(file)
        (folder / "manifest.json").write_text(json.dumps(box[0]))
        with suppress(TransferError):
            decode(HeldFolder(folder))


def refused(folder: Path, manifest: bytes, match: str | None = None) -> None:
    (folder / "manifest.json").write_bytes(manifest)
    with pytest.raises(TransferError, match=match):
        decode(HeldFolder(folder))


@pytest.mark.parametrize(
    "manifest",
    [
        b"", b"\xff", b"[" * 100_000, b"nan", b"NaN", b"Infinity", b'["float", 1]', b"{}",
        b"1" * 10_000,
        *(json.dumps(["polars.DataFrame", name]).encode() for name in ("../x.arrow", "0.npy", "/etc/passwd", None, 5)),
    ],
    ids=lambda manifest: repr(manifest[:40]),
)  # fmt: skip
def test_broken_manifests_are_refused(tmp_path: Path, manifest: bytes) -> None:
    refused(tmp_path, manifest)


@pytest.mark.parametrize("text", ['["DataFrame", R, R, []]', '["DataFrame", ["RangeIndex", 0, 0, 1, null], R, []]'])
def test_a_range_of_a_few_bytes_takes_no_memory(tmp_path: Path, text: str) -> None:
    tracemalloc.start()
    try:
        refused(tmp_path, re.sub(r"\bR\b", '["RangeIndex", 0, 20000000, 1, null]', text).encode())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < 50_000_000


def test_a_pickled_array_is_not_loaded(tmp_path: Path) -> None:
    np.save(tmp_path / "0.npy", np.array([print], dtype=object), allow_pickle=True)

    refused(tmp_path, b'["array", "0.npy"]')


def test_a_header_that_asks_for_more_than_the_file_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "0.npy", np.arange(4))
    data = (tmp_path / "0.npy").read_bytes()
    (tmp_path / "0.npy").write_bytes(data.replace(b"(4,), }           ", b"(400000000000,), }"))

    refused(tmp_path, b'["array", "0.npy"]')


VALUES: dict[str, list[Any]] = {
    "numbers": [1, None, 3],
    "floats": [1.5, float("inf"), None],
    "texts": ["a", None, "ä"],
    "lists": [[1], [], None],
    "moments": [dt.datetime(2020, 1, 1, tzinfo=dt.UTC), None, dt.datetime(2021, 1, 1, tzinfo=dt.UTC)],
    "truths": [True, False, None],
}


def test_an_arrow_table_comes_back_exactly() -> None:
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table(VALUES).replace_schema_metadata({"about": "x"})
    table = table.append_column("kinds", arrow.array(["a", "b", "a"]).dictionary_encode())

    found = there_and_back({"inner": [table]})["inner"][0]

    assert found.schema.equals(table.schema, check_metadata=True)
    assert found.equals(table)


def test_a_column_of_an_unknown_type_is_refused() -> None:
    arrow = pytest.importorskip("pyarrow")

    table = arrow.table(
        {"m": arrow.ExtensionArray.from_storage(arrow.uuid(), arrow.array([b"x" * 16], arrow.binary(16)))}
    )
    assert "has the column 'm' of the type" in refusal(table)


def test_a_polars_frame_comes_back_exactly() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(VALUES).with_columns(kinds=polars.Series(["a", "b", "a"], dtype=polars.Categorical))

    found = there_and_back(frame)
    series = there_and_back(frame["texts"])

    assert found.schema == frame.schema
    assert found.equals(frame)
    assert (series.name, series.to_list()) == ("texts", ["a", None, "ä"])


def test_a_polars_column_of_objects_is_refused() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"o": polars.Series([object()], dtype=polars.Object)})

    assert "cannot be written as Arrow data" in refusal(frame)


def test_without_the_library_an_error_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    (tmp_path / "0.arrow").write_bytes(b"")

    refused(tmp_path, b'["pyarrow.Table", "0.arrow"]', "pyarrow is not installed in this environment")


@pytest.mark.parametrize("library", ["pyarrow", "polars"])
def test_no_arrow_file_does_harm(library: str) -> None:
    module = pytest.importorskip(library)
    table = module.table(VALUES) if library == "pyarrow" else module.DataFrame(VALUES)
    chance = random.Random(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save(table, name)
        whole = (folder / "0.arrow").read_bytes()
        for _ in range(200):
            data = bytearray(whole)
            for _ in range(chance.randint(1, 5)):
                data[chance.randrange(len(data))] = chance.randrange(256)
            (folder / "0.arrow").write_bytes(data[: chance.choice([len(data), chance.randrange(len(data))])])
            with suppress(TransferError):
                decode(HeldFolder(folder))
