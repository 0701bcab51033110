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
from muntin.upserts.delta_rules import ATTEMPTS, check_shape, refuse_twins


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
        groups = source.select(self.key).group_by(list(self.key)).aggregate([])
        refuse_twins(source.num_rows, groups.num_rows, self.key)
        properties = None
        if batch is not None:
            written = Transaction(batch.app, batch.number)
            properties = CommitProperties(app_transactions=[written])
        for attempt in range(1, ATTEMPTS + 1):
            table = self._open() or self._create(source.schema)
            check_shape(_kinds(table.schema()), _kinds(Schema.from_arrow(source.schema)))
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

    def _condition(self) -> str:
        """Keys are equal, and null is a value like any other."""
        parts = (f'"{name.replace(chr(34), chr(34) * 2)}"' for name in self.key)
        return " AND ".join(f"(target.{part} IS NOT DISTINCT FROM source.{part})" for part in parts)

    def _fault(self, error: Exception) -> SinkError:
        said = " ".join(str(error).split())[:300]
        return SinkError(f"the Delta table at {shortened(self.path)!r} cannot be written: {said}")


def _is_written(table: DeltaTable, batch: Batch) -> bool:
    version = table.transaction_version(batch.app)
    return version is not None and version >= batch.number


def _kinds(schema: Schema) -> dict[str, str]:
    return {field.name: str(field.type) for field in schema.fields}


def flat_table(rows: pa.Table, columns: Sequence[Column]) -> pa.Table:
    """The columns of a result side by side, as Delta takes them."""
    return pa.table({column.name: pick(rows, column.path) for column in columns})
