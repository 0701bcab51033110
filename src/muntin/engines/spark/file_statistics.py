"""What local parquet files say of their rows, read without Spark: footers, and a few rows.

footers   how many rows there are, and where the time was written with its bounds (Spark's default,
          INT96, has none) when it begins and ends.
sample    stretches of neighbouring rows, spread over the row groups. They say how many keys there
          are, and how time passes where footers do not: ROWS of the time and the keys in all,
          whatever the size of the files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import unquote, urlparse

import pyarrow as pa
import pyarrow.parquet as pq

from muntin.engines.row_sample import ROWS, Sample, spread
from muntin.errors import ColumnError


@dataclass(frozen=True, slots=True)
class Files:
    """Local parquet files, of which no more than the footers was read yet."""

    files: tuple[pq.ParquetFile, ...]

    @staticmethod
    def of(addresses: Sequence[str]) -> Files:
        """The files at these addresses."""
        places = [urlparse(name) for name in addresses]
        paths = [Path(unquote(place.path)) for place in places]
        local = all(place.scheme in ("", "file") for place in places)
        if not paths or not local or any(path.suffix != ".parquet" for path in paths):
            raise ColumnError(
                "only local parquet files say how many rows they hold: use statistics='sample', or "
                "give rows=, keys= and rate="
            )
        return Files(tuple(pq.ParquetFile(path) for path in paths))

    @property
    def rows(self) -> int:
        """How many rows they hold."""
        return sum(file.metadata.num_rows for file in self.files)

    def seconds(self, time: str) -> float | None:
        """From the first time to the last, by the footers; None where they do not say."""
        bounds = [both for file in self.files for both in _bounds(file.metadata, time)]
        if not bounds:
            return None
        lows, highs = zip(*bounds, strict=True)
        span: timedelta = max(highs) - min(lows)
        return max(span.total_seconds(), 1e-6)

    def sample(self, columns: Sequence[str]) -> Sample:
        """Some rows of those of these columns that the files have, under the names given."""
        names = {field.name.lower(): field.name for field in self.files[0].schema_arrow}
        own = {name: names[name.lower()] for name in columns if name.lower() in names}
        groups = [(f, g) for f in self.files for g in range(f.metadata.num_row_groups)]
        groups = [(f, g) for f, g in groups if f.metadata.row_group(g).num_rows]
        if not own or not groups:
            return Sample((), self.rows, 0)
        chosen = spread(len(groups))
        read = (groups[i] for i in chosen)
        parts = [_first_rows(file, group, own, ROWS // len(chosen)) for file, group in read]
        before = sum(f.metadata.row_group(g).num_rows for f, g in groups[: chosen[-1]])
        return Sample(tuple(parts), self.rows, before + parts[-1].num_rows)


def _first_rows(
    file: pq.ParquetFile, group: int, columns: Mapping[str, str], rows: int
) -> pa.Table:
    """The first rows of a row group: no more pages are read than it takes."""
    own = list(columns.values())
    batches = file.iter_batches(batch_size=rows, row_groups=[group], columns=own)
    first = pa.Table.from_batches([next(iter(batches))])
    return pa.table({name: first.column(held) for name, held in columns.items()})


def _bounds(footer: pq.FileMetaData, time: str) -> Iterable[tuple[datetime, datetime]]:
    """The first and last time of each row group that has them."""
    for number in range(footer.num_row_groups):
        group = footer.row_group(number)
        for i in range(group.num_columns):
            column = group.column(i)
            known = column.statistics
            named = column.path_in_schema.lower() == time.lower()
            if named and known and known.has_min_max and isinstance(known.min, datetime):
                yield _utc(known.min), _utc(known.max)


def _utc(instant: datetime) -> datetime:
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)
