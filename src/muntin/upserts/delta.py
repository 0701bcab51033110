"""Write a result into a Delta table: one MERGE, committed with the number of the micro-batch.

The commit carries an application transaction: the query's id with the batch's number. A version
that is there already would be accepted in silence, so it is asked for first. Commits of others
make Delta refuse ours; then the table is read again and the MERGE is done anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Schema, Transaction
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError

from muntin.errors import SinkError, shortened
from muntin.upserts.arrow import pick
from muntin.upserts.batch import Batch
from muntin.upserts.columns import Column

ATTEMPTS = 5
"""How often a MERGE is tried while others write into the same table."""


@dataclass(frozen=True, slots=True)
class DeltaTarget:
    """A table to write, and the columns that tell its rows apart."""

    path: str
    key: tuple[str, ...]

    def is_written(self, batch: Batch) -> bool:
        """Whether this micro-batch, or a later one of the same query, is in the table."""
        table = self._open()
        return table is not None and _is_written(table, batch)

    def merge(self, source: pa.Table, batch: Batch | None) -> None:
        """Replace and insert rows, unless the micro-batch is there already."""
        self._refuse_twins(source)
        properties = None
        if batch is not None:
            written = Transaction(_app(batch), batch.number)
            properties = CommitProperties(app_transactions=[written])
        for attempt in range(1, ATTEMPTS + 1):
            table = self._open() or self._create(source.schema)
            self._check_shape(table, source.schema)
            if source.num_rows == 0 or (batch is not None and _is_written(table, batch)):
                return
            try:
                merger = table.merge(
                    source, self._condition(), "source", "target", commit_properties=properties
                )
                merger.when_matched_update_all().when_not_matched_insert_all().execute()
            except CommitFailedError as error:
                if attempt == ATTEMPTS:
                    raise self._fault(error) from None
            except DeltaError as error:
                raise self._fault(error) from None
            else:
                return

    def _open(self) -> DeltaTable | None:
        try:
            return DeltaTable(self.path)
        except TableNotFoundError:
            return None
        except (DeltaError, OSError, ValueError) as error:
            raise self._fault(error) from None

    def _create(self, schema: pa.Schema) -> DeltaTable:
        try:
            return DeltaTable.create(self.path, schema, mode="ignore")
        except (DeltaError, OSError, ValueError) as error:
            raise self._fault(error) from None

    def _check_shape(self, table: DeltaTable, schema: pa.Schema) -> None:
        """Refuse a table whose columns differ, and say which."""
        there = _kinds(table.schema())
        wanted = _kinds(Schema.from_arrow(schema))
        wrong = [
            f"{shortened(name)!r} is {there[name]} and not {kind}"
            if name in there
            else f"{shortened(name)!r} ({kind}) is missing"
            for name, kind in wanted.items()
            if there.get(name) != kind
        ]
        wrong += [f"{shortened(name)!r} is not in the result" for name in there.keys() - wanted]
        if wrong:
            raise SinkError(
                f"the Delta table has another shape than the result: column {'; '.join(wrong)}. "
                "Write into another folder, or change this table"
            )

    def _refuse_twins(self, source: pa.Table) -> None:
        groups = source.select(self.key).group_by(list(self.key)).aggregate([])
        if groups.num_rows < source.num_rows:
            raise SinkError(
                f"{source.num_rows - groups.num_rows} rows of the result have the key of another "
                f"row: the key ({', '.join(map(shortened, self.key))}) must tell all rows apart, "
                "so name more columns in key="
            )

    def _condition(self) -> str:
        """Keys are equal, and null is a value like any other."""
        parts = (f'"{name.replace(chr(34), chr(34) * 2)}"' for name in self.key)
        return " AND ".join(f"(target.{part} IS NOT DISTINCT FROM source.{part})" for part in parts)

    def _fault(self, error: Exception) -> SinkError:
        said = " ".join(str(error).split())[:300]
        return SinkError(f"the Delta table at {shortened(self.path)!r} cannot be written: {said}")


def _app(batch: Batch) -> str:
    """The application that Delta's log knows the query by."""
    return f"muntin-{batch.query}"


def _is_written(table: DeltaTable, batch: Batch) -> bool:
    version = table.transaction_version(_app(batch))
    return version is not None and version >= batch.number


def _kinds(schema: Schema) -> dict[str, str]:
    return {field.name: str(field.type) for field in schema.fields}


def flat_table(rows: pa.Table, columns: Sequence[Column]) -> pa.Table:
    """The columns of a result side by side, as Delta takes them."""
    table = pa.table({column.name: pick(rows, column.path) for column in columns})
    refused = (pa.types.is_duration, pa.types.is_null, pa.types.is_interval)
    for field in table.schema:
        if any(is_such(field.type) for is_such in refused):
            raise SinkError(
                f"column {shortened(field.name)!r} is {field.type}, which Delta has no type for: "
                "cast it, for example to a number or to a string"
            )
    return table
