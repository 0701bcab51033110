"""Partials that are Python objects, each in a box, so that NumPy does not look inside."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from muntin.kernels.monoids import Array, Arrays, Scanned


@dataclass(frozen=True, slots=True)
class Box:
    """One partial."""

    held: Any


def box_all(partials: Iterable[Any]) -> Array:
    """An array of boxes, one for each partial.

    >>> [box.held for box in box_all([(1, 2), ()])]
    [(1, 2), ()]
    """
    boxes = [Box(each) for each in partials]
    array = np.empty(len(boxes), dtype=object)
    array[:] = boxes
    return array


def unbox(boxes: Array) -> list[Any]:
    """The partials of an array of boxes of any shape."""
    return [box.held for box in boxes.ravel()]


def boxed(combine: Callable[[Any, Any], Any], identity: Any) -> Scanned:
    """The monoid of boxes that this combine merges, pair by pair.

    >>> union = boxed(lambda a, b: a | b, frozenset())
    >>> row = box_all([frozenset("a"), frozenset("b"), frozenset("a")])
    >>> [merged] = union.reduce((row[None],))
    >>> sorted(merged[0].held)
    ['a', 'b']
    """
    merge = np.frompyfunc(lambda a, b: Box(combine(a.held, b.held)), 2, 1)

    def combine_all(older: Arrays, newer: Arrays) -> Arrays:
        return (np.asarray(merge(older[0], newer[0]), dtype=object),)

    return Scanned(combine_all, (Box(identity),))
