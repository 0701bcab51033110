"""What the race of streams says of `auto`: how near to the best it is, and to Spark's own."""

from io import StringIO

from rich.console import Console

from lab.benchmarks.stream_choice import OWN, STREAMS, Raced, _table, plans_of, summary

NEAR = Raced({"a": 10.0, "b": 9.0, OWN: None}, auto="a", told="b")
FAR = Raced({"a": 10.0, "b": 5.0, OWN: 9.0}, auto="a", told="a")
TOLD_WORSE = Raced({"a": 10.0, "b": None, OWN: 15.0}, auto="a", told="b")


def test_the_promises_are_counted() -> None:
    assert summary([NEAR, FAR, TOLD_WORSE]) == (
        "auto is within 15% of the best in 2 of 3; told the truth it is slower in 1; "
        "it is slower than Spark's own by more than 10% in 1"
    )


def test_a_side_that_was_stopped_is_a_bound() -> None:
    page = StringIO()
    Console(width=120, file=page).print(_table({"one": NEAR}))
    assert "> 20" in page.getvalue()
    assert "> 2.00×" in page.getvalue()


def test_every_stream_has_a_plan_for_each_named_operator() -> None:
    for stream in STREAMS.values():
        plans = plans_of(stream)
        assert {name: plans[name].operator.name for name in ("native", "bucketed")} == {
            "native": "native",
            "bucketed": "bucketed",
        }
