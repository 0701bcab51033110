"""The core of due windows: what all of them hold, read as the few pieces that a technique keeps.

A step emits the instances of a window that begin in [first, last]: one, or a few. All of them hold
the core [last, first + range). Its whole blocks, the runs of the state, are read as

    technique    pieces of a key                what is combined once and remembered
    panes        every slice                    nothing
    b-int        at most 2·(FAN_OUT - 1) of     FAN_OUT blocks, and FAN_OUT of these, and so on:
                 each length                    a ladder (B-Int, with more than two children)
    two-stacks   2                              from each block to a flip, and from the flip on

and slices outside of whole blocks one by one. So what a result reads stays bounded, however many
slices its window has; panes reads all of them. `physical.due_techniques` predicts how much.

Of a flight of stairs each delta has a core of its own, as in the paper's Figure 4: between where
the due instances of a stair have begun and where those of the next narrower one begin.

What was combined is remembered by the tokens of its runs and never written: the state keeps the
finest slices alone. A run that a late row has changed has another token, so just what holds it is
combined again, and a worker that remembers nothing combines everything once.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import pyarrow as pa

from muntin.kernels.grouping import Grouping
from muntin.kernels.tree import Between, Branch, begins_of
from muntin.model.windows import Window
from muntin.physical.blocks import FAN_OUT, core_of, has_core
from muntin.state.pieces import GROUP, START, by_group, encode_pieces, longs
from muntin.state.state import State


@dataclass(frozen=True, slots=True)
class Combined:
    """Pieces of several slices each, one a key, or None; and a key that no other content has."""

    key: str
    table: pa.Table | None


@dataclass(frozen=True, slots=True)
class Edge:
    """From where to where instances begin, or end; up to the next edge they are so long."""

    first: int
    last: int
    length: int = 0


def edges_of(branch: Branch, between: Between) -> list[Edge]:
    """Where the instances of a flight that are needed begin, stair by stair, and where they end."""
    found: list[Edge] = []
    waiting = [branch]
    while waiting:
        each = waiting.pop()
        assert isinstance(each.shape, Window), "stairs are windows"
        first, last = map(int, begins_of(each, between))
        if first <= last and (each is branch or each.delta):  # others begin where their parent does
            found.append(Edge(first, last, each.delta or each.shape.range))
            if each is branch:
                found.append(Edge(first + each.shape.range, last + each.shape.range))
        waiting += each.branches
    return found


@dataclass(frozen=True, slots=True)
class Cores:
    """The runs of one base of a state, and what was combined of them."""

    state: State
    base: int
    technique: str

    def tables(self, edges: Sequence[Edge]) -> list[pa.Table]:
        """Pieces of all instances that begin and end at these edges, oldest first."""
        block = self.state.header.bases[self.base].block
        found: list[pa.Table] = []
        since = min(edge.first for edge in edges)
        for stretch in self._stretches(edges):
            low, flip, high = core_of(stretch.length, stretch.first, stretch.last, block)
            if self.technique == "two-stacks" and low < flip:
                core = [self._suffix(low, flip), self._prefix(flip, high)]
            else:
                held = self._blocks(low, high)
                core = [self._rung(*each) for each in rungs(low, high, held)]
            found += self._slices(since, low * block)
            found += [each.table for each in core if each.table is not None]
            since = high * block
        return found + self._slices(since, max(edge.last for edge in edges))

    def pays(self, edges: Sequence[Edge]) -> bool:
        """Whether the instances have so much in common that a core is worth it."""
        return self.technique != "panes" and next(self._stretches(edges), None) is not None

    def _stretches(self, edges: Sequence[Edge]) -> Iterator[Edge]:
        """The stretches between edges that are worth a core."""
        block = self.state.header.bases[self.base].block
        before, *others = sorted(edges, key=lambda edge: edge.first)
        for edge in others:
            if has_core(before.last, edge.first, block):
                yield Edge(before.last, edge.first, before.length)
            if edge.last >= before.last:
                before = edge

    def _slices(self, since: int, before: int) -> list[pa.Table]:
        """The slices that begin in a stretch of time, one by one."""
        found = []
        for table in self.state.runs(self.base, since, before):
            start = longs(table, START)
            inside = (start >= since) & (start < before)
            found.append(table if inside.all() else table.filter(pa.array(inside)))
        return [table for table in found if table.num_rows]

    def _rung(self, level: int, number: int) -> Combined:
        """A block, or FAN_OUT rungs of the level below as one."""
        if level:
            length = FAN_OUT ** (level - 1)
            blocks = self._blocks(number * FAN_OUT * length, (number + 1) * FAN_OUT * length)
            below = dict.fromkeys(block // length for block in blocks)
            return self._combine(self._rung(level - 1, each) for each in below)
        token = self.state.header.bases[self.base].runs[number]
        return self._combine([Combined(token, self.state.run(self.base, number))])

    def _suffix(self, low: int, flip: int) -> Combined:
        """Blocks from one to the flip, each combined with all after it."""
        done = Combined("", None)
        for number in reversed(self._blocks(low, flip)):
            done = self._combine([self._rung(0, number), done])
        return done

    def _prefix(self, flip: int, high: int) -> Combined:
        """Blocks from the flip on, each combined with all before it."""
        done = Combined("", None)
        for number in self._blocks(flip, high):
            done = self._combine([done, self._rung(0, number)])
        return done

    def _blocks(self, low: int, high: int) -> list[int]:
        """The blocks from low to high - 1 that have a run."""
        known = sorted(self.state.header.bases[self.base].runs)
        return known[bisect_left(known, low) : bisect_left(known, high)]

    def _combine(self, parts: Iterable[Combined]) -> Combined:
        """One piece for each key, older parts first; remembered."""
        parts = list(parts)
        filled = [part.table for part in parts if part.table is not None]
        key = blake2b(" ".join(part.key for part in parts).encode(), digest_size=16).hexdigest()
        if not filled:
            return Combined(key, None)
        cache = self.state.cache
        if key not in cache:
            cache[key] = self._merge(filled)
        return Combined(key, cache[key])

    def _merge(self, tables: list[pa.Table]) -> pa.Table:
        table = pa.concat_tables(tables).combine_chunks()
        spec, group = self.state.spec, longs(table, GROUP)
        if spec.taken is not None:
            spec.taken(len(group))
        order = by_group(group)
        grouping = Grouping.sorted(order, [group[order]])
        rows = pa.array(grouping.rows)
        columns = {name: table.column(name).take(rows) for name in (GROUP, START)}
        for partial, column in zip(
            spec.partials, encode_pieces(table, spec.partials, spec.wraps), strict=True
        ):
            columns[partial.name] = column.decode(grouping.merged(column.arrays, column.monoid))
        return pa.table(columns)


def rungs(low: int, high: int, held: Sequence[int]) -> list[tuple[int, int]]:
    """The fewest rungs, as (level, number), that these blocks of low … high - 1 are made of.

    >>> rungs(15, 34, range(15, 34))
    [(0, 15), (1, 1), (0, 32), (0, 33)]
    """
    found: dict[tuple[int, int], None] = {}
    for block in held:
        level, length = 0, 1
        while (start := block // (length * FAN_OUT) * length * FAN_OUT) >= low:
            if start + length * FAN_OUT > high:
                break
            level, length = level + 1, length * FAN_OUT
        found[level, block // length] = None
    return list(found)
