import datetime as dt
import json
import random
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from autogen_nb.errors import TransferError
from autogen_nb.kernels.inside.encode import save
from autogen_nb.kernels.transfer.decode import decode
from autogen_nb.trusted.held_folder import HeldFolder

VALUES: dict[str, list[Any]] = {
    "numbers": [1, None, 3],
    "floats": [1.5, float("inf"), None],
    "texts": ["a", None, "ä"],
    "lists": [[1], [], None],
    "moments": [dt.datetime(2020, 1, 1, tzinfo=dt.UTC), None, dt.datetime(2021, 1, 1, tzinfo=dt.UTC)],
    "truths": [True, False, None],
}


def there_and_back(value: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        assert save(value, folder) == {}
        return decode(HeldFolder(Path(folder)))


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
    with tempfile.TemporaryDirectory() as folder:
        assert "has the column 'm' of the type" in save(table, folder)["refused"]


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

    with tempfile.TemporaryDirectory() as folder:
        assert "cannot be written as Arrow data" in save(frame, folder)["refused"]


def test_without_the_library_an_error_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    (tmp_path / "0.arrow").write_bytes(b"")
    (tmp_path / "manifest.json").write_text('["pyarrow.Table", "0.arrow"]')

    with pytest.raises(TransferError, match="pyarrow is not installed here"):
        decode(HeldFolder(tmp_path))


@pytest.mark.parametrize("name", ["../x.arrow", "0.npy", "/etc/passwd", "0.arrow", None, 5])
def test_no_other_file_is_read(tmp_path: Path, name: Any) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps(["polars.DataFrame", name]))

    with pytest.raises(TransferError):
        decode(HeldFolder(tmp_path))


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
