"""A queue whose items keep their position for life: chunked arrays, never copied as it grows.

time   append, popleft, read and write by position: O(1)      space  n + less than two chunks

The n-th item ever appended has position n; positions first … end - 1 are in the queue. It stands
for the papers' circular arrays where the size of the window need not be known, and is what DABA
asks for (section 2.2 of the multi-query paper: chunked-array queues): no step copies the items.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
_GONE: Any = None

_BITS = 8
_MASK = (1 << _BITS) - 1


class ChunkedQueue(Generic[Item]):
    """
    >>> queue = ChunkedQueue()
    >>> for letter in "abc": queue.append(letter)
    >>> queue.popleft(), queue.first, queue.end, queue[2], list(queue)
    ('a', 1, 3, 'c', ['b', 'c'])
    """

    __slots__ = ("_chunks", "_newest", "end", "first")

    def __init__(self) -> None:
        self._chunks: dict[int, list[Item]] = {}
        self._newest: list[Item] = []
        self.first = 0
        self.end = 0

    def append(self, item: Item) -> None:
        """Put the item at position `end`."""
        if not self.end & _MASK:
            self._newest = self._chunks[self.end >> _BITS] = []
        self._newest.append(item)
        self.end += 1

    def popleft(self) -> Item:
        """Take the item at position `first`."""
        chunk, slot = self.first >> _BITS, self.first & _MASK
        item = self._chunks[chunk][slot]
        self._chunks[chunk][slot] = _GONE  # what has left the window must not be kept alive
        self.first += 1
        if slot == _MASK:
            del self._chunks[chunk]
        return item

    def __getitem__(self, position: int) -> Item:
        return self._chunks[position >> _BITS][position & _MASK]

    def __setitem__(self, position: int, item: Item) -> None:
        self._chunks[position >> _BITS][position & _MASK] = item

    def __len__(self) -> int:
        return self.end - self.first

    def __iter__(self) -> Iterator[Item]:
        return self.since(self.first)

    def since(self, position: int) -> Iterator[Item]:
        """The items from the position on, older first."""
        return (self[at] for at in range(position, self.end))
