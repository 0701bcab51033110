"""The program of an edge as SQL: which rows of the parent go to which instances, and the grouping.

A cut gives each row the latest cut at or before it. A congruence gives a row at position p to the
instances that `muntin.plan.feeds` solves for:

    start = p - offset - (j + i·turns)·stride,    0 ≤ j + i·turns < count

Where the stride divides the slide (records, slices, tumbling parents), p - j·stride is simply the
latest begin at or before p. Where it does not, j solves the congruence and is computed first. Each
i is a row of a small table of numbers; if there is only one, the table is left out, and conditions
that always hold are left out too, so that simple edges read simply. A stair is a union of two: of
the narrower window, and of the slices that its stairs stand on:

    SELECT start - pmod(start, 1200000000) AS start, min(p0) AS p0 FROM … GROUP BY ALL
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from muntin.dialects.expressions import shift
from muntin.dialects.writer import Writer
from muntin.model.windows import Window
from muntin.physical import PhysicalNode
from muntin.physical.lowering import Congruence, Cut, Suffix
from muntin.plan.feeds import Feed
from muntin.plan.slicing.cuts import Slices


@dataclass(frozen=True, slots=True)
class Parent:
    """What a node reads: its name and, unless it is the source, its node."""

    name: str
    node: PhysicalNode | None

    @property
    def position(self) -> str:
        """The column that says where a row stands: `t` of a record, `start` of a piece."""
        return "t" if self.node is None else "start"

    @property
    def everywhere(self) -> int:
        """Where pieces may begin: at every multiple of this, from some begin on."""
        shape = None if self.node is None else self.node.shape
        return shape.slide if isinstance(shape, Window) else 1


def select_group(
    node: PhysicalNode,
    parent: Parent,
    keys: Sequence[str],
    partials: Sequence[tuple[str, str]],
    writer: Writer,
    foot: Parent | None = None,
) -> str:
    """The SELECT of a node; `partials` are (name, aggregate) over the parent's columns.

    `foot` is what the stairs of a node stand on, if it is a stair.
    """
    aggregated = [f"{sql} AS {name}" for name, sql in partials]
    if isinstance(node.program, Cut):
        start = slice_start(node.program.slices, parent.position, writer)
        return _select(keys, start, aggregated, parent.name) + "\nGROUP BY ALL"
    if isinstance(node.program, Suffix):
        assert foot is not None, "stairs stand on slices"
        fed = [(each, foot) for each in node.program.delta.feeds]
        fed += [(each, parent) for each in node.program.piece.feeds]
    else:
        assert isinstance(node.program, Congruence), "the data decides what feeds other windows"
        fed = [(each, parent) for each in node.program.feeds]
    feeds = [_fed(feed, of, writer) for feed, of in fed]
    if len(feeds) == 1:
        start, source, conditions = feeds[0]
        return _select(keys, start, aggregated, source, conditions) + "\nGROUP BY ALL"
    assert parent.node is not None, "records are one progression"
    carried = [name for name, _ in partials]
    union = "\nUNION ALL\n".join(
        _select(keys, start, carried, source, conditions) for start, source, conditions in feeds
    )
    rows = f"(\n{indent(union)}\n) AS fed"
    return _select(keys, "start", aggregated, rows) + "\nGROUP BY ALL"


def slice_start(slices: Slices, position: str, writer: Writer) -> str:
    """Where the slice of a position begins: at the latest of its cuts."""
    cuts = [writer.latest(position, cut.phase, cut.step) for cut in slices.cuts]
    return cuts[0] if len(cuts) == 1 else f"greatest({', '.join(cuts)})"


def _after(position: str, origin: int, step: int, writer: Writer) -> str:
    """How long after the latest instant `origin` modulo `step` the position is."""
    return writer.remainder(shift(position, -origin), step)


def _fed(feed: Feed, parent: Parent, writer: Writer) -> tuple[str, str, list[str]]:
    """The start, the source of rows, and the conditions of one feed."""
    if feed.turns > 1 and feed.stride != feed.gcd:
        return _solved(feed, parent, writer)
    p, slide = parent.position, feed.turns * feed.gcd
    begin = feed.offset + feed.origin
    conditions = []
    if _may_miss(feed, parent):
        conditions.append(f"{_after(p, begin, feed.gcd, writer)} = 0")
    if feed.turns == 1:  # all offsets of the progression are begins of the child, or none is
        start, phase, step, many = shift(p, -feed.offset), "", feed.stride, feed.count
    else:
        phase, step = _after(p, begin, slide, writer), slide
        start = shift(writer.latest(p, begin, slide), -feed.offset)
        many = -(-feed.count // feed.turns)
    if feed.turns > 1 and feed.count % feed.turns:
        past = phase if many == 1 else f"{phase} + i * {step}"
        conditions.append(f"{past} < {feed.count * feed.stride}")
    if many == 1:
        return start, parent.name, conditions
    return f"{start} - i * {step}", writer.counting(parent.name, many), conditions


def _may_miss(feed: Feed, parent: Parent) -> bool:
    """Whether some positions of the parent are no piece of any instance of the child.

    Every record and every slice is one (their progression has stride 1), and so is every instance
    of a tumbling parent. Of a hopping parent it may be one in many: a day made of 24 hours reads
    one in twelve of the instances of 1 hour/5 minutes.
    """
    return parent.everywhere % feed.gcd != 0


def _solved(feed: Feed, parent: Parent, writer: Writer) -> tuple[str, str, list[str]]:
    """The general formula: j first, then every instance that far or a whole turn further."""
    p = parent.position
    after = shift(p, -feed.offset - feed.origin)
    turn = writer.remainder(writer.quotient(after, feed.gcd), feed.turns)
    solution = writer.remainder(f"{turn} * {feed.inverse}", feed.turns)
    miss = f" WHERE {writer.remainder(after, feed.gcd)} = 0" if _may_miss(feed, parent) else ""
    source = f"(SELECT *, {solution} AS j FROM {parent.name}{miss}) AS placed"
    many = -(-feed.count // feed.turns)
    steps = "j" if many == 1 else f"(j + i * {feed.turns})"
    conditions = [] if feed.count % feed.turns == 0 else [f"{steps} < {feed.count}"]
    start = f"{shift(p, -feed.offset)} - {steps} * {feed.stride}"
    return start, source if many == 1 else writer.counting(source, many), conditions


def _select(
    keys: Sequence[str],
    start: str,
    columns: Sequence[str],
    source: str,
    conditions: Sequence[str] = (),
) -> str:
    position = "start" if start == "start" else f"{start} AS start"
    where = f"\nWHERE {' AND '.join(conditions)}" if conditions else ""
    return f"{select([*keys, position, *columns])}\nFROM {source}{where}"


def select(columns: Sequence[str], margin: str = "") -> str:
    """SELECT and its columns, in one line if that is short.

    Names of the user's may hold line breaks, so text with them is laid out once, by its margin,
    and never indented afterwards.
    """
    line = f"{margin}SELECT {', '.join(columns)}"
    if len(line) <= 90:
        return line
    return f"{margin}SELECT\n{margin}  " + f",\n{margin}  ".join(columns)


def indent(text: str) -> str:
    """Every line two spaces further in; for text without names of the user's."""
    return "\n".join(f"  {line}" for line in text.split("\n"))
