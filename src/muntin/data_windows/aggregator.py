"""Cutty: fold records into slices that begin only where windows begin (Algorithm 1).

order  records of one key in order      needs  a monoid, which need not commute
time   one combine a record, one append a slice, one merge a window
space  for one FIFO function no more slices than open windows, the open slice included

    ──┬──────┬───────────┬─────────        slices are cut where windows begin;
      [A     [B          [C                A ends inside the slice of C: its aggregate is
                              A]           merge(A, B) ⊕ the open slice so far

Against the paper's text: results are merged before anything is removed; nothing is removed while a
window that needs it is open; nothing is stored before the first window begins. With several
functions, a slice at whose start no open window begins is joined to the one before it, so that the
number of slices stays within that of open windows there too (`coalesce=False`: the paper's, which
keeps such slices until all before them are gone).

The same aggregator is what the paper compares with (section 7.1), by where it cuts:
`cut="begins"` Cutty, `cut="edges"` Pairs (also where windows end), `cut="records"` RA (everywhere).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from muntin.aggregates import Aggregate
from muntin.data_windows.store import STORES
from muntin.errors import StrategyError, did_you_mean, is_one_of
from muntin.incremental import Monoid
from muntin.incremental.protocol import monoid_of

CUTS = ("begins", "edges", "records")


class Aggregator:
    """
    >>> from muntin.aggregates import sum
    >>> totals = Aggregator(sum("v"))
    >>> totals.begin([0]); totals.fold(1); totals.fold(2); totals.begin([1]); totals.fold(4)
    >>> totals.end([0]), totals.end([1]), totals.partials
    ([7], [4], 0)
    """

    def __init__(
        self,
        aggregate: Aggregate | Monoid,
        store: str = "eager",
        cut: str = "begins",
        coalesce: bool = True,
    ) -> None:
        if not is_one_of(store, STORES):
            raise StrategyError(f"unknown store {store!r}: {did_you_mean(store, STORES)}")
        if cut not in CUTS:
            raise StrategyError(f"unknown cut {cut!r}: {did_you_mean(cut, CUTS)}")
        self.monoid = monoid_of(aggregate)
        self.store = STORES[store](self.monoid)
        self._cut, self._coalesce = cut, coalesce and cut == "begins"
        self._partial: object = self.monoid.identity
        self._empty = True  # whether the open slice has no record yet
        self._open = 0  # the number that the open slice will have in the store
        self._starts: dict[int, int] = {}  # window ↦ the slice that it begins with
        self._begun: dict[int, int] = {}  # slice ↦ how many open windows begin with it
        self._order: deque[int] = deque()  # these slices, oldest first, and some that are gone

    @property
    def partials(self) -> int:
        """How many slices are held, the open one included."""
        return len(self.store) + (not self._empty)

    @property
    def active(self) -> int:
        return len(self._starts)

    def begin(self, windows: Iterable[int]) -> None:
        """These windows begin with the record that is folded next."""
        numbers = list(windows)
        if not numbers:
            return
        self.cut()
        for window in numbers:
            self._starts[window] = self._open
        if self._open not in self._begun:
            self._begun[self._open] = 0
            self._order.append(self._open)
        self._begun[self._open] += len(numbers)

    def fold(self, value: object) -> None:
        """The next record; where no window is open it is passed over."""
        if not self._starts:
            return
        lifted = self.monoid.lift(value)
        self._partial = lifted if self._empty else self.monoid.combine(self._partial, lifted)
        self._empty = False
        if self._cut == "records":
            self._close()

    def cut(self) -> None:
        """A slice ends here, though no window begins: for panes and pairs."""
        if not self._empty:
            self._close()

    def end(self, windows: Iterable[int]) -> list[Any]:
        """The results of windows that end before the record that is folded next."""
        numbers = list(windows)
        if self._cut == "edges" and numbers:
            self.cut()
        results = [self.monoid.lower(self._merge(self._starts[w])) for w in numbers]
        for window in numbers:
            self._forget(self._starts.pop(window))
        return results

    def _merge(self, start: int) -> object:
        if start == self._open:
            return self._partial
        stored = self.store.merge(start)
        return stored if self._empty else self.monoid.combine(stored, self._partial)

    def _close(self) -> None:
        """Store the open slice, or join it to the newest if no open window begins with it."""
        if self._coalesce and self._open not in self._begun and len(self.store):
            self.store.extend_newest(self._partial)
        elif self._begun:
            self._open = self.store.append(self._partial) + 1
        self._partial, self._empty = self.monoid.identity, True

    def _forget(self, slice: int) -> None:
        self._begun[slice] -= 1
        if self._begun[slice]:
            return
        del self._begun[slice]
        oldest = self._order[0]
        while self._order and self._order[0] not in self._begun:
            self._order.popleft()
        if slice == oldest:
            self.store.remove_up_to(self._order[0] if self._order else self._open)
            if not self._order:
                self._partial, self._empty = self.monoid.identity, True
        elif self._coalesce and slice != self._open:
            self.store.coalesce(slice)
