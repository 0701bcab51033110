"""Which keys are known: the end of the newest instance with rows, of each window and key.

A table with a column for each window and a row for each key, by its number; its schema also tells
the types of the partials, so that empty instances can be made where no piece is left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from muntin.kernels.monoids import Array
from muntin.model.windows import Window
from muntin.state.pieces import longs

NEVER = -(2**62)
"""Before all instants: a window in which the key had no rows yet."""
FILLED = "filled"
"""The column that is true of results without rows."""
_PIECES = b"pieces"


@dataclass(frozen=True, slots=True)
class Known:
    """The known ends, in a table."""

    table: pa.Table

    @staticmethod
    def none(pieces: pa.Schema) -> Known:
        """No key is known yet; `pieces` are the columns of pieces."""
        return Known(
            pa.table({}).replace_schema_metadata({_PIECES: pieces.serialize().to_pybytes()})
        )

    @property
    def pieces(self) -> pa.Schema:
        """The columns of pieces."""
        return pa.ipc.read_schema(pa.py_buffer(self.table.schema.metadata[_PIECES]))

    def ends(self, window: Window, keys: int) -> Array:
        """The known end of each of so many keys.

        >>> known = Known.none(pa.schema([])).with_ends({Window(10, 5): np.array([20, 30])})
        >>> known.ends(Window(10, 5), 3).tolist() == [20, 30, NEVER]
        True
        """
        found, name = np.full(keys, NEVER, dtype=np.int64), _name(window)
        if name in self.table.column_names:
            found[: self.table.num_rows] = longs(self.table, name)
        return found

    def with_ends(self, ends: Mapping[Window, Array]) -> Known:
        """These ends instead."""
        table = pa.table({_name(window): pa.array(each) for window, each in ends.items()})
        return Known(table.replace_schema_metadata(self.table.schema.metadata))

    def only(self, stays: Array) -> Known:
        """The keys that stay; those after the last known one are not known."""
        return Known(self.table.filter(pa.array(stays[: self.table.num_rows])))


def _name(window: Window) -> str:
    return f"{window.range}/{window.slide}/{window.offset}"
