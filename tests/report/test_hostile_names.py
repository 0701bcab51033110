"""Names that hold anything: pictures stay XML, pages stay pages, terminals show what was typed."""

from io import StringIO
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

import muntin as mt
from muntin.cli.live import view
from muntin.cli.rows import table_of
from muntin.engines.spark.progress import Progress
from muntin.errors import MOST_SHOWN, printable
from muntin.nesting import WindowManager
from muntin.state.control.listing import Listed, Listing

NASTY = (
    "\x00", "\x1b[31mred\x1b[0m", "a\nb", "\r\x08\x7f", "\x85\u2028\u2029", "\u202eabc\u202c",
    "<script>alert(1)</script>", "&amp;\"'", "]]>", "[red]x[/red]", "[/]", "\ufffe\uffff", "\ud800",
    "x" * 900, "\U000e0001", "\u200b", "--*/;", "\\", "{0}", "%s", "a of b",
)  # fmt: skip
names = st.one_of(
    st.sampled_from(NASTY),
    st.text(st.characters(), min_size=1, max_size=12),
    st.tuples(st.sampled_from(NASTY), st.sampled_from(NASTY)).map("".join),
)
TAGS = {"div", "p", "b", "h4", "svg", "rect", "text", "path", "circle", "table", "tr", "th", "td"}


def asked(id: str, other: str, alias: str) -> mt.Query:
    windows = [
        mt.tumbling("10 minutes", id=f"1{id}"),
        mt.hopping("1 hour", "10 minutes", id=f"2{other}"),
    ]
    aggregates = [mt.sum("v").alias(f"a{alias}"), mt.median("v").alias(f"m{alias}")]
    return mt.query("ts", windows, aggregates, where=None)


def check_page(html: str) -> None:
    page = ElementTree.fromstring(f"<div>{html}</div>")
    assert {each.tag.rpartition("}")[2] for each in page.iter()} <= TAGS


def check_text(said: str) -> None:
    assert all(letter.isprintable() or letter == "\n" for letter in said)
    assert max(map(len, said.split("\n"))) < 5 * MOST_SHOWN + 200


@settings(max_examples=50)
@given(names, names, names)
def test_plans_are_shown_whatever_the_names(id: str, other: str, alias: str) -> None:
    plan = mt.optimize(asked(id, other, alias), "wcg")
    check_text(plan.explain())
    ElementTree.fromstring(plan.to_svg())
    check_page(plan._repr_html_())
    assert repr(plan.query.aggregates[0]).isprintable()


@settings(max_examples=30)
@given(names, names, names)
def test_plans_of_several_queries_too(id: str, other: str, alias: str) -> None:
    first, second = asked(id, other, alias), asked(other, id, alias)
    plans = mt.optimize(queries={f"q{id}": first, f"r{other}": second}, strategy="direct")
    check_text(plans.explain())
    check_page(plans._repr_html_())


@settings(max_examples=60)
@given(names, names)
def test_groups_and_lists_of_windows_too(id: str, other: str) -> None:
    windows = [
        mt.Window(4, 2, id=f"1{id}"),
        mt.Window(8, 4, id=f"2{other}"),
        mt.Window(8, 8, id="3"),
    ]
    manager = WindowManager(windows)
    ElementTree.fromstring(manager.to_svg())
    assert all(letter.isprintable() or letter == "\n" for letter in repr(manager))
    listed = Listing([Listed(f"1{id}", "10 minutes", "running", reason=other)])
    assert repr(listed).count("\n") == 1
    assert all(letter.isprintable() or letter == "\n" for letter in repr(listed))


def printed(shown: Any) -> str:
    out = StringIO()
    Console(file=out, width=30_000, color_system=None).print(shown)
    return out.getvalue()


@settings(max_examples=60)
@given(names, names)
def test_terminals_show_names_as_they_are(id: str, title: str) -> None:
    progress = Progress(1, 10, 5.0, 5.0, 0.5, {id: 1.0})
    for shown in (view(progress, title), table_of([f"c{id}", "window_id"], [(id, title)], title)):
        said = printed(shown)
        assert all(letter.isprintable() or letter == "\n" for letter in said)
        assert printable(title)[:40].strip() in said
        assert printable(id)[:40].strip() in said


@settings(max_examples=40)
@given(names, names)
def test_sql_text_stays_one_statement(id: str, other: str) -> None:
    """The comments hold nothing that ends them, and DuckDB gives the ids back as they are."""
    query = mt.query(
        "ts",
        [mt.tumbling("10 minutes", id=f"1{id}"), mt.tumbling("1 hour", id=f"2{other}")],
        [mt.count()],
    )
    plan = mt.optimize(query, "wcg", engine="sql")
    for dialect in ("spark", "duckdb"):
        comments = [line for line in plan.to_sql(dialect).split("\n") if line.startswith("-- ")]
        assert len(comments) == 2
        assert all(line.isprintable() and len(line) < 3 * MOST_SHOWN for line in comments)
    data = pa.table({"ts": pa.array([0], pa.timestamp("us"))})
    if any("\ud800" <= letter <= "\udfff" for letter in id + other):
        with pytest.raises(mt.MuntinError, match="half of a character"):
            plan.apply(data)
        return
    assert {row["window_id"] for row in plan.apply(data).to_pylist()} == {f"1{id}", f"2{other}"}


def test_a_column_of_half_a_name_is_refused() -> None:
    data = pa.table({"ts": pa.array([0], pa.timestamp("us")), "k\0x": [1]})
    hour = [mt.tumbling("1 hour")]
    for query in (
        mt.query("ts", hour, [mt.count().alias("a\0b")]),
        mt.query("ts", hour, [mt.count()], "k\0x"),
        mt.query("ts", hour, [mt.max("k\0x").alias("m")]),
    ):
        with pytest.raises(mt.MuntinError, match=r"\\x00.* holds a NUL"):
            mt.optimize(query).apply(data)
