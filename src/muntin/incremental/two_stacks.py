"""Two stacks: aggregate a first-in-first-out window in amortised constant time.

order  in-order      needs  a monoid, which need not commute
time   three combines a slide amortised, one evict may cost n - 1      space  n + 1 partials

The window is cut where the last flip happened, oldest first:

    f1 … fk | b1 … bm        F_i = f_i ⊕ … ⊕ f_k        B = b1 ⊕ … ⊕ bm

Invariant: _front is [F_k, …, F_1], _back is [b1, …, bm], _total is B; the answer is F_1 ⊕ B.
Each value is flipped at most once, hence the amortised bound. Tangwongsan et al., DEBS 2017;
section 2.2 and Figure 8 of the multi-query paper, which keeps a value beside each aggregate (2n).
"""

from __future__ import annotations

from muntin.incremental.protocol import Technique


class TwoStacks(Technique):
    """
    >>> from muntin.aggregates import max
    >>> window = TwoStacks(max("v"))
    >>> for value in (9, 4, 7): window.insert(value)
    >>> window.evict(); window.insert(1)
    >>> window.query(), len(window)
    (7, 3)
    """

    name = "two-stacks"

    def _start(self) -> None:
        self._front: list[object] = []
        self._back: list[object] = []
        self._total = self.monoid.identity

    def insert(self, value: object) -> None:
        self.push(self.monoid.lift(value))

    def push(self, partial: object) -> None:
        """Insert a value that is a partial already."""
        self._total = self.monoid.combine(self._total, partial) if self._back else partial
        self._back.append(partial)

    def evict(self) -> None:
        self._refuse_empty()
        if not self._front:
            self._flip()
        self._front.pop()

    def __len__(self) -> int:
        return len(self._front) + len(self._back)

    def whole(self) -> object:
        if not self._front:
            return self._total if self._back else self.monoid.identity
        if not self._back:
            return self._front[-1]
        return self.monoid.combine(self._front[-1], self._total)

    def _flip(self) -> None:
        """Move the back to the front, newest first, so that the oldest ends on top."""
        suffix = self._back.pop()
        self._front.append(suffix)
        while self._back:
            suffix = self.monoid.combine(self._back.pop(), suffix)
            self._front.append(suffix)
