"""Ids for nodes that nobody asked for: plain words, never one of the user's."""

from __future__ import annotations

from collections.abc import Collection


def unused_id(id: str, taken: Collection[str]) -> str:
    """The id, with a prime for each time that it is taken.

    >>> unused_id("slices", ["an hour"]), unused_id("slices", ["slices", "slices′"])
    ('slices', 'slices′′')
    """
    while id in taken:
        id += "′"
    return id
