"""A join whose windows come and go: a window that is registered finds the pairs that met before.

Rows are kept since the begin of the oldest instance that is open, and those after the watermark W
whatever runs. So a window that is registered answers every instance that has not ended and begins
where no row is missing: at once if it is no longer than those that run, and from W on in any case.
A suspended window gives out the instances that end by E, the newest time when it was suspended.
"""

from __future__ import annotations

from collections.abc import Sequence

from muntin.data_windows.controlled_records import ControlledRecordBucket
from muntin.data_windows.pair_bucket import PairBucket, PairSpec
from muntin.model.windows import first_open
from muntin.state.control import Label
from muntin.state.kept_labels import Obeyed

BEGIN = 1
"""The first instant that a row can have: the watermark of a stream begins at 0."""


class ControlledPairs(ControlledRecordBucket[PairSpec]):
    """A bucket on its state in a store, for the length of one step."""

    def _open(self, labels: Sequence[Label], obeyed: Obeyed | None = None) -> PairBucket:
        bucket = PairBucket(self.stream.spec, self.bucket, self.store, self.cache)
        bucket.labels = labels
        bucket.needed_from = self._reach_after(labels, bucket.header.last)
        return bucket

    def _since(self, label: Label, ended: int) -> int:
        window, held = label.periodic, self.kept.whole_from
        begin = first_open(window, max(self.kept.last, ended))
        if held is None or held <= BEGIN or begin >= held:
            return begin
        return held + (window.offset - held) % window.slide

    def _reach_after(self, labels: Sequence[Label], last: int) -> int:
        """The begin of the oldest instance that is open, or the instant after the watermark."""
        oldest = [begin for label in labels if (begin := _oldest(label, last)) is not None]
        held = min([*oldest, last + 1])
        before = self.kept.whole_from
        return held if before is None else max(before, held)


def _oldest(label: Label, last: int) -> int | None:
    """The begin of a window's first instance that ends after `last`; None if it has no more."""
    begin = first_open(label.periodic, last)
    begin = begin if label.since is None else max(begin, label.since)
    over = label.until is not None and begin + label.periodic.range > label.until
    return None if over else begin
