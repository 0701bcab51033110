"""Which ways of merging the kernel has; apart from how, so that planning loads no Arrow."""

from __future__ import annotations

from collections.abc import Iterable

MERGERS = frozenset(
    {
        "sum",
        "lost",
        "min",
        "max",
        "min_by",
        "max_by",
        "bool_and",
        "bool_or",
        "bit_and",
        "bit_or",
        "bit_xor",
        "product",
        "moments",
        "four_moments",
        "comoments",
        "custom",
    }
)


def not_merged(mergers: Iterable[str]) -> str | None:
    """The first of these that the kernel cannot merge, or None.

    >>> not_merged(["sum", "weave"]), not_merged(["min"])
    ('weave', None)
    """
    return next((m or "an aggregate without array form" for m in mergers if m not in MERGERS), None)
