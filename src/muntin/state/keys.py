"""The keys of a bucket, numbered: pieces carry a number instead of the key.

A key is kept as long as one of its slices is: `until` says when the last of them leaves. Numbers
are given in order of appearance and stay, until more than half of the keys have left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from muntin.kernels.grouping import codes_of
from muntin.kernels.monoids import Array
from muntin.kernels.portions import whole

UNTIL = "until"
SMALL = 1_000
"""Fewer keys than this are not worth renumbering."""


@dataclass(frozen=True, slots=True)
class Keys:
    """Distinct keys by number, each with the instant at which nothing of it is left."""

    table: pa.Table

    @staticmethod
    def empty(like: pa.Table, names: Sequence[str]) -> Keys:
        """No keys yet, with columns as those of the pieces."""
        return Keys(like.select(list(names)).slice(0, 0).append_column(UNTIL, _longs([])))

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @property
    def until(self) -> Array:
        """When the last slice of each key leaves."""
        return np.asarray(whole(self.table, UNTIL).to_numpy(zero_copy_only=False))

    def number(self, pieces: pa.Table, until: Array) -> tuple[Keys, Array]:
        """The keys with those of more pieces, and the number of each piece's key.

        >>> pieces = pa.table({"k0": ["b", "a", None, "b"]})
        >>> keys, number = Keys.empty(pieces, ["k0"]).number(pieces, np.array([5, 6, 7, 8]))
        >>> number.tolist(), keys.table.to_pydict()
        ([0, 1, 2, 0], {'k0': ['b', 'a', None], 'until': [8, 6, 7]})
        """
        names = [name for name in self.table.column_names if name != UNTIL]
        own = len(self)
        both = [pa.concat_arrays([whole(self.table, name), whole(pieces, name)]) for name in names]
        codes = codes_of(both, own + pieces.num_rows)
        number = _appearance(codes)[own:] if names else np.zeros(pieces.num_rows, dtype=np.int64)
        new, first = np.unique(number, return_index=True)
        rows = pa.array(first[new >= own])
        longest = np.concatenate((self.until, np.zeros(len(rows), dtype=np.int64)))
        np.maximum.at(longest, number, until)
        columns = [
            pa.concat_arrays([whole(self.table, n), whole(pieces, n).take(rows)]) for n in names
        ]
        table = pa.table([*columns, _longs(longest)], names=[*names, UNTIL])
        return Keys(table), number

    def with_until(self, until: Array) -> Keys:
        """The same keys, needed for another time."""
        place = self.table.column_names.index(UNTIL)
        return Keys(self.table.set_column(place, UNTIL, _longs(until)))

    def leaving(self, last: int) -> Array | None:
        """Which keys stay, if so many have left that the others should be renumbered."""
        stays = self.until > last
        worth = len(self) > SMALL and 2 * np.count_nonzero(stays) < len(self)
        return stays if worth else None

    def only(self, stays: Array) -> Keys:
        """The keys that stay, renumbered in order."""
        return Keys(self.table.filter(pa.array(stays)))


def _appearance(codes: Array) -> Array:
    """Codes renumbered in the order in which they first appear."""
    return np.asarray(pa.array(codes).dictionary_encode().indices.to_numpy(zero_copy_only=False))


def _longs(values: Array | list[int]) -> pa.Array:
    return pa.array(values, pa.int64())
