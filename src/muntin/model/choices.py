"""The words that options take, as types: an editor completes them, mypy refuses `layout="wyde"`.

Public functions are typed with these. At run time the words are checked against what implements
them; tests/model/test_choices.py holds the two equal.
"""

from __future__ import annotations

from typing import Literal

Strategy = Literal[
    "auto",
    "direct",
    "unshared-panes",
    "unshared-pairs",
    "shared-panes",
    "shared-pairs",
    "cutty",
    "wcg",
    "wcg-fw",
    "steiner",
    "subsume",
    "weave-share",
    "tri-weave",
    "weave-plus",
    "no-share",
    "all-share",
    "insert-then-weave",
    "local-search",
    "random-merge",
    "pairing",
    "contiguous",
    "exhaustive",
]
"""How a plan is found."""

Cost = Literal["seconds", "rate", "paper", "weave"]
"""What strategies reduce."""

Technique = Literal[
    "panes", "flatfat", "flatfit", "slick-deque", "slick-deque-inv", "slick-deque-non-inv"
]
"""What answers windows under cost="weave"."""

DueTechnique = Literal["auto", "b-int", "two-stacks", "panes"]
"""What answers the windows of a stream when they are due."""

Slicing = Literal["panes", "pairs", "cutty"]
"""How the weaving strategies cut windows."""

Engine = Literal["spark", "stream", "sql", "duckdb"]
"""What a plan will run on: Spark, any engine as SQL text, or DuckDB and NumPy in process."""

BatchOperator = Literal["window", "expand", "kernel", "rows", "sessions", "runs", "cutty"]
StreamOperator = Literal["native", "bucketed", "controlled", "records"]
InProcessOperator = Literal["sql", "arrays", "cutty"]
Operator = BatchOperator | StreamOperator | InProcessOperator
"""How a plan runs: on a batch of Spark, on a stream, or in process."""

Layout = Literal["long", "wide"]
"""A row for each window, or a column."""

Empty = Literal["omit", "fill"]
"""Whether windows without rows get one."""

Output = Literal["append", "update", "complete"]
"""The mode that a streaming query is started with."""

LateRows = Literal["drop", "keep", "records"]
"""What becomes of rows of a stream that are too late: dropped, kept beside the results as their
aggregates, or these and the rows themselves."""

Deliver = Literal["one", "dict"]
"""One result for several queries, or one of each."""

Bounds = Literal["spark", "asa"]
"""[start, end) or (start, end]."""

Dialect = Literal["spark", "duckdb"]
"""The SQL that a plan is written in."""

Sampling = Literal["sample", "metadata"]
"""Where mt.statistics looks."""

NestedLayout = Literal["nested", "long"]
"""The rows of mt.distinct and mt.join: one for each item or pair, or one for each window too."""

Grouping = Literal["greedy", "minimum"]
"""How nested windows are grouped."""

Closed = Literal["left", "right", "both", "none"]
"""Which bounds belong to a trailing window: [t − d, t), (t − d, t], [t − d, t] or (t − d, t)."""

FrameOutput = Literal["append", "arrival"]
"""When a row of a stream has its features: once the watermark has passed it, or at once."""

FrameOperator = Literal["auto", "frames", "range"]
"""How Spark computes trailing windows: by our kernel, or by its own RANGE frames and joins."""
