"""DABA: two stacks whose flip is spread evenly over the operations between two flips.

order  in-order      needs  a monoid, which need not commute
time   at most 4 combines an insert, 3 an evict, 1 a query: 8 a slide, 5 on average, whatever n
space  2n partials

Values v and aggregates a stand in two queues, cut by ordered positions F ≤ L ≤ R ≤ A ≤ B ≤ E:

        front list                                              back list
    F ────────── L ────────── R ────────── A ────────── B ──────────── E
    a = v_i…v_B   a = v_i…v_R  a = v_R…v_i  a = v_i…v_B   a = v_B…v_i

    (a = v_i…v_B is the aggregate from i up to, not including, B; v_R…v_i from R up to i itself.)

The answer is a[F] ⊕ a[E-1]. A flip only renames: the old front becomes L…R, the old back R…A. Then
every operation takes one step. `shrink` finishes the oldest entry of L…R and turns the newest of
R…A; when both are used up, `shift` passes over an entry of A…B, which is finished already.
Invariant (after each operation, unless empty): R - L = A - R and B - L = |front| - |back| - 1, so
L meets B exactly when front and back are equally long: the next flip is due and its work is done.

Tangwongsan, Hirzel and Schneider, "Low-latency sliding-window aggregation in worst-case constant
time", DEBS 2017; section 2.2 and Figure 9 of the multi-query paper.
"""

from __future__ import annotations

from muntin.incremental.chunked_queue import ChunkedQueue
from muntin.incremental.protocol import Technique


class DABA(Technique):
    """
    >>> from muntin.aggregates import max
    >>> window = DABA(max("v"))
    >>> for value in (9, 4, 7): window.insert(value)
    >>> window.evict(); window.insert(1)
    >>> window.query(), len(window)
    (7, 3)
    """

    name = "daba"

    def _start(self) -> None:
        self._values = ChunkedQueue[object]()
        self._sums = ChunkedQueue[object]()
        self._l = self._r = self._a = self._b = 0

    def insert(self, value: object) -> None:
        partial = self.monoid.lift(value)
        end = self._sums.end
        back = self.monoid.combine(self._sums[end - 1], partial) if self._b < end else partial
        self._values.append(partial)
        self._sums.append(back)
        self._fix()

    def evict(self) -> None:
        self._refuse_empty()
        self._values.popleft()
        self._sums.popleft()
        self._fix()

    def __len__(self) -> int:
        return len(self._values)

    def whole(self) -> object:
        sums = self._sums
        if not sums:
            return self.monoid.identity
        if self._b == sums.end:
            return sums[sums.first]
        return self.monoid.combine(sums[sums.first], sums[sums.end - 1])

    def _fix(self) -> None:
        """Restore the invariant: flip if it is time, then one step."""
        first, end = self._sums.first, self._sums.end
        if first == self._b:  # no front: at most one value is left, and it is its own aggregate
            self._l = self._r = self._a = self._b = end
            return
        if self._l == self._b:  # flip: R is at the old B already
            self._l, self._a, self._b = first, end, end
        if self._l == self._r:
            self._l, self._r, self._a = self._l + 1, self._r + 1, self._a + 1
        else:
            self._shrink()

    def _shrink(self) -> None:
        sums, combine = self._sums, self.monoid.combine
        left, turned = self._l, self._a - 1
        middle = combine(sums[left], sums[turned])
        if self._a == self._b:  # nothing is turned yet: A…B is empty
            sums[left], sums[turned] = middle, self._values[turned]
        else:
            rest = sums[self._a]
            sums[left], sums[turned] = (
                combine(middle, rest),
                combine(self._values[turned], rest),
            )
        self._l, self._a = left + 1, turned
