"""Which columns of the rows that are sent to Python hold which partials: each value is sent once.

The least, the largest and the sum of one value are that value in a row, and how many there are of
it is 1 where it is not null. So min, max, sum and count of v0 need one column, not four.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from muntin.aggregates.columns import PartialColumn
from muntin.kernels.portions import whole


@dataclass(frozen=True, slots=True)
class Sent:
    """The column that holds each partial; of the `counted` ones, that whose values they count.

    A partial that counts rows looks at no column: None. Without any names, each is its own.
    """

    holder: Mapping[str, str] = field(default_factory=dict)
    counted: Mapping[str, str | None] = field(default_factory=dict)

    def lift(self, rows: pa.Table, partials: Sequence[PartialColumn]) -> dict[str, pa.Array]:
        """The partials of every row.

        >>> rows = pa.table({"p0": [1.5, None]})
        >>> count = PartialColumn("p1", "", "", "sum")
        >>> Sent({"p0": "p0"}, {"p1": "p0"}).lift(rows, [count])["p1"].to_pylist()
        [1, 0]
        """
        return {p.name: self._column(rows, p.name) for p in partials}

    def _column(self, rows: pa.Table, name: str) -> pa.Array:
        if name not in self.counted:
            return whole(rows, self.holder.get(name, name))
        of = self.counted[name]
        column = None if of is None else whole(rows, of)
        if column is None or not column.null_count:
            return pa.array(np.ones(rows.num_rows, dtype=np.int64))
        return column.is_valid().cast(pa.int64())


AS_NAMED = Sent()
"""Every partial in a column of its own."""
