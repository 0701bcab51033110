"""Write docs/aggregates.md from the code: every aggregate, its flags, partials and engines.

    .venv/bin/python tools/aggregates_page.py

A test checks that the page is current, another that the types on it are what Spark itself takes and
gives (tests/engines/spark/test_signatures.py).
"""

from __future__ import annotations

from pathlib import Path

import muntin
from muntin import Aggregate, MuntinError, Window, optimize, query
from muntin.aggregates import FUNCTIONS, Function
from muntin.aggregates.signatures import in_words
from muntin.dialects.duckdb_text import not_in_duckdb
from muntin.kernels.mergers import not_merged
from muntin.model.query import Query
from muntin.physical.operators.native import pre_aggregated

PAGE = Path(__file__).parent.parent / "docs" / "aggregates.md"

HEAD = """# Aggregates

<!-- Written by tools/aggregates_page.py: change the code, not this page. -->

Every aggregate takes `.alias(name)` and `.filter("sql predicate")`, and its arguments may be SQL
expressions. Types and values are Spark's own.

- **types**: which inputs it takes and what it gives of each; others are refused. Text is read as a
  number or a truth, as Spark does. `min_by` and `max_by` order by anything but maps and variants,
  and of two columns both are numbers.
- **exact**, or how far it may be off by default.
- **flags**: *invertible* can be taken out again exactly (over integers and decimals); *idempotent*
  allows pieces that overlap; *selective* returns one of its arguments; *holistic* has no partial,
  so each window is computed directly, beside the shared ones. All commute: the order of rows does
  not matter, but for which of several rows `min_by` and `max_by` take, as in Spark itself.
- **expand**, **kernel**: whether Spark's own merge and the NumPy kernel can share it;
  **streams**: the operators that can run it on a stream; where rows are not grouped before they
  reach the state, each is copied into its windows. **SQL**, **DuckDB**: whether
  `plan.to_sql("spark")` can write it, and DuckDB run it in process.

| name | what it is | types | exact | flags | partials | expand | kernel | streams | SQL | DuckDB |
|---|---|---|---|---|---|---|---|---|---|---|
"""

TAIL = """
`mt.mean` is another name of `avg`, `mt.std` and `mt.stddev` of `stddev_samp`, `mt.variance` of
`var_samp`, as in Spark; a result is named as it was written: `mean(v)`.

`mt.ratio(a, b)` divides two aggregates: null where the denominator is zero or null. It has the
partials of both, shared with all others, and the flags that both have.

## A function of your own

`mt.custom(name, lift=, combine=, lower=, identity=, ...)` makes a function, called with columns:

```python
path = mt.custom(
    "path",
    lift=lambda dest: [dest],
    combine=lambda older, newer: older + newer,
    lower=" > ".join,
    identity=[],
    result="string",
)
destinations = mt.aggregate(
    flights,
    time="departure",
    keys=["origin", "carrier"],
    windows=[mt.tumbling("1 hour"), mt.hopping("1 day", "1 hour")],
    aggregates=[path("dest")],
    order_by="dest",
)
```

It is lifted record by record in Python (or slice by slice with `fold=`) and runs on Spark batches,
by the kernel alone; sets and sketches in the same query are shared by expand beside it. It also
runs on streams of [windows that the data decides](data-windows.md#on-a-stream). Streams of periodic
windows alone, SQL text and DuckDB refuse it. `check_laws=[values]` checks on a sample the laws that
sharing needs.

**Order.** `combine(older, newer)` need not commute: the destinations of each carrier are joined in
the order of `time`, and among equal times of `order_by`. Among records that are equal in both the
order is not defined, though it never depends on how rows arrived (unless they hold maps or
variants).

If the order does not matter, as for a maximum, say `commutative=True`. Spark then need not sort the
records of every slice, and where the function is `idempotent` too, pieces may overlap. `check_laws`
finds out if it is not so.

`invert(whole, older)`, if given, takes the oldest records out: of `combine(older, newer)` and
`older` it gives `newer`. The structures of `muntin.incremental` use it, and all of them keep the
order of what they combine.

## What else to know

`collect_set` and `count_distinct` keep sets: their state grows with the distinct values of a
window, where `approx_count_distinct` stays small. On streams of
[windows that the data decides](data-windows.md#on-a-stream) all but holistic functions run, by the
operator `records`.

The `avg` of a decimal of more than 32 digits, or of more than 24 digits of which more than 24 stand
after the point, is computed directly, as holistic ones are; on a stream it must be cast first.
"""


def row(name: str) -> str:
    """One function as a row of the table."""
    function = FUNCTIONS[name]()
    summary = " ".join((getattr(muntin, name).__doc__ or "").split("\n\n")[0].split())
    partials = function.partials([None] * function.arity)
    cells = [
        f"`{name}`",
        summary,
        in_words(function.takes),
        function.error or "yes",
        flags(function),
        ", ".join(f"`{p.name}`" for p in partials) or "none",
        *engines(function),
    ]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def flags(function: Function) -> str:
    """The flags that are set; commuting is the rule."""
    names = ("invertible", "idempotent", "selective", "ordered", "holistic")
    return ", ".join(name for name in names if getattr(function, name)) or "–"


def engines(function: Function) -> list[str]:
    """Where it may be shared."""
    if function.holistic:
        return ["directly", "directly", "no", *in_sql(function)]
    partials = function.partials([None] * function.arity)
    since = ".".join(map(str, function.since))
    return [
        _but("yes" if function.since <= (4, 0) else f"from Spark {since}", function),
        _but("no" if not_merged(p.merger for p in partials) else "yes", function),
        on_streams(function),
        *in_sql(function),
    ]


def _but(shared: str, function: Function) -> str:
    """Whether it is shared, where types decide: of the widest decimals each window by itself."""
    return f"{shared}; directly of the widest decimals" if function.by_type else shared


def asked(function: Function) -> Query:
    """The function over columns, in two windows that share."""
    aggregate = Aggregate(function, tuple("abc"[: function.arity]))
    return query("t", [Window(10, 5), Window(20, 5)], [aggregate])


def on_streams(function: Function) -> str:
    """The operators that run it on a stream, and how native is given its rows."""
    one = asked(function)
    choice = optimize(one, "shared-pairs", engine="stream").choice
    able = [name for name in ("native", "bucketed") if name not in choice.refusals]
    grouped = pre_aggregated(one, None, one.windows)
    names = {"native": "native" if grouped else "native (row by row)"}
    since = ".".join(map(str, function.since))
    late = f" from Spark {since}" if function.since > (4, 0) else ""
    return ", ".join(names.get(name, name) for name in able) + late


def in_sql(function: Function) -> list[str]:
    """Whether Spark's SQL can be written, and DuckDB can run it."""
    one = asked(function)
    found = []
    for dialect in ("spark", "duckdb"):
        try:
            optimize(one, "shared-pairs").to_sql(dialect)
            found.append("yes")
        except MuntinError:
            reason = not_in_duckdb(function.partials([None] * function.arity))
            found.append(f"no: {reason}" if reason and dialect == "duckdb" else "no")
    return found


def page() -> str:
    """The whole page."""
    return HEAD + "".join(row(name) for name in sorted(FUNCTIONS)) + TAIL


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
