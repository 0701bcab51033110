"""Constants in SQL text: one small literal instead of an expression for each of many values."""

from __future__ import annotations

import json


def constant(value: object, kind: str) -> str:
    """SQL for a constant of this type, which Spark folds when it plans.

    >>> constant([1, 2], "ARRAY<BIGINT>")
    "from_json('[1, 2]', 'ARRAY<BIGINT>')"
    """
    text = json.dumps(value).replace("\\", "\\\\").replace("'", "\\'")
    return f"from_json('{text}', '{kind}')"
