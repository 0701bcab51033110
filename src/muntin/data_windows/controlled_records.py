"""A bucket of records whose windows come and go: commands first, then the records of a batch.

Sessions and the like, and trailing windows, share this: labels and commands as on periodic streams
(muntin.state.kept_labels), a bucket of records for the windows of the moment, and rows under the
label of their window. What differs is from when a window that is registered answers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Generic

import pyarrow as pa

from muntin.data_windows.record_bucket import RecordBucket, Spec
from muntin.state.control import Label, Terms
from muntin.state.controlled import ControlledStep
from muntin.state.kept_labels import KeptLabels, Obeyed, Start
from muntin.state.state import Cache
from muntin.state.store import Store


@dataclass(frozen=True, slots=True)
class ControlledRecords(Generic[Spec]):
    """A stream with a control: what it asks of a bucket but for windows, and those of its start."""

    spec: Spec
    start: Start


class ControlledRecordBucket(ABC, Generic[Spec]):
    """A bucket on its state in a store, for the length of one step."""

    def __init__(
        self,
        stream: ControlledRecords[Spec],
        bucket: int,
        store: Store,
        cache: Cache | None = None,
    ) -> None:
        self.stream, self.bucket, self.store, self.cache = stream, bucket, store, cache
        self.kept = KeptLabels.read(store, stream.start)

    @abstractmethod
    def _open(self, labels: Sequence[Label], obeyed: Obeyed | None = None) -> RecordBucket[Spec]:
        """The bucket of these windows, brought to them; its rows come under their labels."""

    @abstractmethod
    def _since(self, label: Label, ended: int) -> int | None:
        """From when on a window that is registered while the stream runs is complete.

        None where it always was: it has all that another one has. `ended` is by when the windows
        that had its id before have given their last row.
        """

    def _reach_after(self, labels: Sequence[Label], last: int) -> int | None:
        """From when on no event is missing after a step, where single ones are kept."""
        return None

    def begin(self, tables: Sequence[pa.Table]) -> None:
        """Take in records of the history that the stream starts from; several calls add up."""
        bucket = self._open(self.kept.labels)
        bucket.begin(tables)
        last = bucket.header.last
        whole = self._reach_after(self.kept.labels, last)
        now = replace(self.kept, newest=last, last=last, whole_from=whole)
        now.write(self.store)

    def step(
        self,
        tables: Sequence[pa.Table],
        watermark: int,
        commands: Sequence[bytes | str] = (),
        newest: int | None = None,
    ) -> ControlledStep:
        """Obey the commands of a batch, take in its records, and emit what its watermark allows.

        `commands` and `newest`, the newest row, are those of the whole stream.
        """
        kept = self.kept
        obeyed = kept.obey(commands, self.stream.start.terms)
        labels, complete = self._settle(obeyed)
        entries = obeyed.log(labels, complete)
        bucket = self._open(labels, obeyed)
        step = bucket.step(tables, watermark)
        shown = tuple(label for label in labels if not label.is_done(kept.last))
        known = [n for n in (kept.newest, newest) if n is not None]
        last = bucket.header.last
        now = replace(
            kept,
            labels=shown,
            newest=max(known, default=None),
            last=last,
            met=kept.met + len(entries),
            whole_from=self._reach_after(shown, last),
        )
        if now != kept or not kept.stored:
            now.write(self.store)
        return ControlledStep(step, step.results, shown, entries)

    def _settle(self, obeyed: Obeyed) -> tuple[list[Label], dict[int, int]]:
        """The labels, new ones with the instant from which on they answer; by command, too."""
        found, complete = list[Label](), dict[int, int]()
        for label in obeyed.labels:
            since = label.since
            if self.kept.newest is not None and obeyed.is_new(label):
                assert label.order is not None, "a command registered it"
                since = self._since(label, obeyed.ended(label, found))
                if since is not None:
                    complete[label.order] = since
            found.append(replace(label, since=since))
        return found, complete


def flags_of(label: Label, terms: Terms) -> str | None:
    """A letter for each aggregate of the stream, "1" where the label asks for it; None for all."""
    names = label.aggregates
    return None if names is None else "".join("01"[name in names] for name in terms.aggregates)
