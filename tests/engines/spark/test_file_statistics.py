"""A few rows of parquet files tell how many keys there are and how time passes, in any layout."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin.engines.spark.file_statistics import Files

ROWS, SECONDS = 200_000, 5_000
LAYOUTS = ("by time", "by key", "mixed")


def write(folder: Path, keys: int, layout: str, groups: int, files: int = 1) -> Files:
    """Rows of two key columns, times in INT96, which have no bounds in a footer."""
    random = np.random.default_rng(keys)
    time, key = random.integers(0, SECONDS * 10**6, ROWS), random.integers(0, keys, ROWS)
    orders = {"by time": np.argsort(time), "by key": np.argsort(key), "mixed": np.arange(ROWS)}
    order = orders[layout]
    table = pa.table(
        {"TS": pa.array(time[order], pa.timestamp("us")), "a": key[order] % 2, "b": key[order] // 2}
    )
    paths = [folder / f"{number}.parquet" for number in range(files)]
    for number, path in enumerate(paths):
        part = table.slice(number * ROWS // files, ROWS // files)
        size = part.num_rows // groups
        pq.write_table(part, path, row_group_size=size, use_deprecated_int96_timestamps=True)
    return Files.of([f"file://{path}" for path in paths])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("keys", [1, 30, 3_000, 100_000])
def test_keys_are_counted_in_any_layout(tmp_path: Path, keys: int, layout: str) -> None:
    for groups, files in ((1, 1), (20, 1), (3, 4)):
        found = write(tmp_path, keys, layout, groups, files).sample(("a", "b", "ts"))
        counted = found.count_keys(("a", "b"))
        assert counted is not None
        assert keys / 1.5 <= counted <= keys * (4 if layout == "by key" else 1.5)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_time_passes_as_it_does_in_the_sample(tmp_path: Path, layout: str) -> None:
    for groups, files in ((1, 1), (20, 1), (3, 4)):
        found = write(tmp_path, 30, layout, groups, files)
        assert found.seconds("ts") is None
        assert found.sample(("ts",)).seconds("ts") == pytest.approx(SECONDS, rel=0.05)


def test_what_files_do_not_have_stays_unknown(tmp_path: Path) -> None:
    found = write(tmp_path, 30, "mixed", 1)
    sample = found.sample(("ts", "A", "other"))
    assert sample.count_keys(()) == 1
    assert sample.count_keys(("A",)) == 2
    assert sample.count_keys(("A", "other")) is None
    assert sample.seconds("A") is None
    assert found.sample(("other",)).seconds("other") is None
    pq.write_table(pa.table({"ts": pa.array([], pa.timestamp("us"))}), tmp_path / "0.parquet")
    empty = Files.of([str(tmp_path / "0.parquet")])
    assert empty.sample(("ts",)).seconds("ts") is None


def test_null_keys_are_a_key_and_null_times_are_none(tmp_path: Path) -> None:
    times = pa.array([None, 5, 1_000_005], pa.timestamp("us"))
    table = pa.table({"ts": times, "k": [None, "a", None]})
    pq.write_table(table, tmp_path / "0.parquet")
    sample = Files.of([str(tmp_path / "0.parquet")]).sample(("ts", "k"))
    assert sample.count_keys(("k",)) == 2
    assert sample.seconds("ts") == 1
