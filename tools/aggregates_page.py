"""Write docs/aggregates.md from the code: every aggregate, its flags, partials and engines.

    .venv/bin/python tools/aggregates_page.py

A test checks that the page is current. Partials of text such as counts are shown as they are
declared; result types are tested against Spark's own (tests/spark/test_types.py).
"""

from __future__ import annotations

from pathlib import Path

from muntin.aggregates import FUNCTIONS, Function
from muntin.kernels.mergers import not_merged
from muntin.sql.duckdb_aggregates import not_in_duckdb

PAGE = Path(__file__).parent.parent / "docs" / "aggregates.md"

RESULTS = {
    "avg": "double; decimal(p+4, s+4) of a decimal",
    "sum": "bigint of whole numbers, double of floats, decimal(p+10, s) of a decimal",
    "count": "bigint",
    "count_if": "bigint",
    "count_distinct": "bigint",
    "approx_count_distinct": "bigint",
    "collect_set": "array of the input's type",
    "bool_and": "boolean",
    "bool_or": "boolean",
}
"""Result types where they are neither double nor the type of the first input."""

OF_INPUT = ("min", "max", "min_by", "max_by", "bit_and", "bit_or", "bit_xor", "approx_percentile")

HEAD = """# Aggregates

<!-- Written by tools/aggregates_page.py: change the code, not this page. -->

Every aggregate takes `.alias(name)` and `.filter("sql predicate")`, and its arguments may be SQL
expressions. Result types and values are Spark's own.

- **flags**: *invertible* can be taken out again exactly (over integers and decimals); *idempotent*
  allows pieces that overlap; *selective* returns one of its arguments; *ordered* does not commute;
  *holistic* has no partial, so each window is computed directly, beside the shared ones.
- **expand**, **kernel**: whether Spark's own merge and the NumPy kernel can share it;
  **SQL**, **DuckDB**: whether `plan.to_sql("spark")` can write it, and DuckDB run it in process.
- **exact**, or right within the error that its module states.

| aggregate | what it is | result | exact | flags | partials | expand | kernel | SQL | DuckDB |
|---|---|---|---|---|---|---|---|---|---|
"""

TAIL = """
`mt.ratio(a, b)` divides two aggregates: null where the denominator is zero or null. It has the
partials of both, shared with all others, and the flags that both have.

`mt.custom(name, lift=, combine=, lower=, identity=, ...)` makes a function of your own, called with
columns: `longest("word")`. It is lifted record by record in Python (or slice by slice with `fold=`)
and runs by the kernel alone; sets and sketches in the same query are shared by expand beside it.
`check_laws=[values]` checks on a sample the laws that sharing needs.

`collect_set` and `count_distinct` keep sets: their state grows with the distinct values of a
window, where `approx_count_distinct` stays small.

The `avg` of a decimal of more than 32 digits, or of more than 24 digits of which more than 24 stand
after the point, is computed directly, as holistic ones are; on a stream it must be cast first.
"""


def row(name: str) -> str:
    """One function as a row of the table."""
    function = FUNCTIONS[name]()
    summary = " ".join((type(function).__doc__ or "").split("\n\n")[0].split())
    partials = function.partials([None] * function.arity)
    cells = [
        f"`{name}`",
        summary,
        result(name),
        "no" if function.approximate else "yes",
        flags(function),
        ", ".join(f"`{p.name}`" for p in partials) or "none",
        *engines(function),
    ]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def result(name: str) -> str:
    """The type of the result."""
    return "the input's" if name in OF_INPUT else RESULTS.get(name, "double")


def flags(function: Function) -> str:
    """The flags that are set; commuting is the rule."""
    names = ("invertible", "idempotent", "selective", "holistic")
    found = [name for name in names if getattr(function, name)]
    return ", ".join(found + ([] if function.commutative else ["ordered"])) or "–"


def engines(function: Function) -> list[str]:
    """Where it may be shared."""
    if function.holistic:
        return ["directly", "directly", "no", "no"]
    partials = function.partials([None] * function.arity)
    since = ".".join(map(str, function.since))
    return [
        "yes" if function.since <= (4, 0) else f"from Spark {since}",
        "no" if not_merged(p.merger for p in partials) else "yes",
        "yes",
        f"no: {reason}" if (reason := not_in_duckdb(partials)) else "yes",
    ]


def page() -> str:
    """The whole page."""
    return HEAD + "".join(row(name) for name in sorted(FUNCTIONS)) + TAIL


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
