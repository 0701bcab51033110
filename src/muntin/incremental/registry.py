"""Techniques by name, and which of them can serve an aggregate."""

from __future__ import annotations

from collections.abc import Iterable

from muntin.aggregates import Aggregate
from muntin.errors import AggregateError, did_you_mean, is_one_of, shown
from muntin.incremental.protocol import TECHNIQUES, Monoid, Technique, monoid_of


def technique_named(name: str) -> type[Technique]:
    """The technique of that name, or an error with the closest known one.

    >>> technique_named("two-stacks").__name__
    'TwoStacks'
    """
    if not is_one_of(name, TECHNIQUES):
        raise AggregateError(f"unknown technique {shown(name)}: {did_you_mean(name, TECHNIQUES)}")
    return TECHNIQUES[name]


def techniques_for(
    aggregate: Aggregate | Monoid, ranges: Iterable[int] = ()
) -> list[type[Technique]]:
    """The techniques that can serve the aggregate over these ranges.

    >>> from muntin.aggregates import max
    >>> [t.name for t in techniques_for(max("v"), ranges=[4, 16])]
    ['b-int', 'flatfat', 'flatfit', 'panes', 'slick-deque']
    """
    monoid, asked = monoid_of(aggregate), tuple(ranges)
    return [t for _, t in sorted(TECHNIQUES.items()) if t.refusal(monoid, asked) is None]
