# mypy: disable-error-code="arg-type"
# What must be refused is of a wrong type on purpose.
"""Bad functions get a sentence that names the function, the record and the remedy."""

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pytest

import muntin as mt
from muntin.data_windows import LastRecords, Marks, Policy, RecordWindows, WindowFunction, evaluate
from muntin.data_windows.array_windows import runs_of
from muntin.data_windows.elements import Batch
from muntin.data_windows.protocol import Columns, Numbers, Record
from muntin.errors import ColumnError, MuntinError, UserWindowError, WindowError

RECORDS = [{"t": t, "v": 1} for t in range(10)]


class Saying(WindowFunction):
    """Says the same of every record."""

    answer: Marks | tuple[int, int] = (1, 0)

    def mark(self, time: int, record: Record) -> Marks | tuple[int, int]:
        return self.answer


def function(answer: Any) -> type[Saying]:
    return type("Odd", (Saying,), {"answer": answer})


class Raising(Saying):
    def mark(self, time: int, record: Record) -> tuple[int, int]:
        return (0, 1 // (3 - time))


class Shrinking(Saying):
    def mark(self, time: int, record: Record) -> Marks:
        return Marks(0, 1, ((time, 100 - time),))


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (
            function((1, 0)),
            r"'Odd' ends 1 windows at time 0, .* but 0 are open: an end needs",
        ),
        (function((0, -1)), r"said \(0, -1\).*such as \(0, 1\)"),
        (function(7), "said 7"),
        (function(Marks(0, 2, ((0, 1),))), "declared bounds of 1"),
        (Raising, r"'Raising' raised ZeroDivisionError.* at time 3, record \{'t': 3, 'v': 1\}"),
        (Shrinking, r"declares \[1, 99\] after \[0, 100\].*first in, first out"),
        (lambda: 3, "is a int: derive it from"),
        (lambda: 1 / 0, "cannot be made: ZeroDivisionError"),
    ],
)
def test_a_bad_function_is_named_with_its_record(made: Callable[[], object], message: str) -> None:
    window = mt.user_window(made, id=getattr(made, "__name__", None))
    with pytest.raises(UserWindowError, match=message):
        list(evaluate(RECORDS, "t", [window], [mt.count()]))


def test_the_limit_of_open_windows_can_be_set() -> None:
    opening = function((0, 1))
    with pytest.raises(UserWindowError, match=r"has 6 open windows at time 5, .* limit of 5"):
        list(evaluate(RECORDS, "t", [mt.user_window(opening, limit=5)], [mt.count()]))
    window = mt.user_window(opening, limit=10, incomplete=True)
    assert len(list(evaluate(RECORDS, "t", [window], [mt.count()]))) == 10


def test_records_must_come_in_order_and_a_measure_must_not_fall() -> None:
    with pytest.raises(UserWindowError, match="sort the records"):
        list(evaluate(RECORDS[::-1], "t", [mt.session("5 microseconds")], [mt.count()]))
    falling = [{"t": t, "km": -t} for t in range(3)]
    with pytest.raises(UserWindowError, match="km falls from 0 to -1 at time 1"):
        list(evaluate(falling, "t", [mt.hopping_by("km", 5)], [mt.count()]))


def test_a_missing_field_and_a_filter_are_refused() -> None:
    with pytest.raises(ColumnError, match="an aggregate needs 'w', which the record"):
        list(evaluate(RECORDS, "t", [mt.session("5 microseconds")], [mt.sum("w")]))
    with pytest.raises(MuntinError, match="a filter is SQL"):
        list(evaluate(RECORDS, "t", [mt.session("5 microseconds")], [mt.sum("v").filter("v > 1")]))


class Greedy(Policy):
    """Evicts more than there is, or never."""

    def __init__(self, gone: int) -> None:
        self.gone = gone

    def trigger(self, time: int, record: Record) -> int:
        return 0

    def evict(self, time: int, record: Record) -> int:
        return self.gone


def test_policies_keep_what_one_of_them_needs_and_are_limited() -> None:
    with pytest.raises(UserWindowError, match="evicts 3 records at time 0, but has 1"):
        RecordWindows(mt.sum("v"), [Greedy(3)]).record(0, 1, {})
    both = RecordWindows(mt.sum("v"), [LastRecords(2, 5), LastRecords(4, 5)])
    for t in range(20):
        both.record(t, t, {})
    assert both.kept == 4
    hoarding = RecordWindows(mt.sum("v"), [LastRecords(2, 5), Greedy(0)], limit=8)
    for t in range(8):
        hoarding.record(t, t, {})
    with pytest.raises(UserWindowError, match=r"'Greedy' keeps 9 records, above the limit of 8"):
        hoarding.record(8, 8, {})


def test_the_limit_of_a_policys_records_can_be_set() -> None:
    window = mt.user_window(lambda: Greedy(0), id="greedy", limit=5)
    with pytest.raises(UserWindowError, match="'greedy' keeps 6 records, above the limit of 5"):
        list(evaluate(RECORDS, "t", [window], [mt.count()]))


class EveryThird(Policy):
    """A deterministic policy: windows of three records, told by trigger and eviction."""

    deterministic = True

    def __init__(self) -> None:
        self.seen = 0

    def trigger(self, time: int, record: Record) -> int:
        return int(self.seen > 0 and self.seen % 3 == 0)

    def evict(self, time: int, record: Record) -> int:
        self.seen += 1
        return int(self.seen % 3 == 1)


def test_a_deterministic_policy_is_a_window_function() -> None:
    aggregates = [mt.count(), mt.sum("t")]
    policy, function = (
        [list(row.values())[1:] for row in evaluate(RECORDS, "t", [window], aggregates)]
        for window in (mt.user_window(EveryThird), mt.count_window(3))
    )
    assert policy == function
    assert len(policy) == 3


class InBatches(WindowFunction):
    """A window for every three records, from arrays."""

    def mark(self, time: int, record: Record) -> NoReturn:
        raise AssertionError("asked for batches only")

    def marks(self, times: Numbers, columns: Columns) -> tuple[Numbers, Numbers]:
        begins = np.arange(len(times)) % 3 == 0
        ends = begins & (np.arange(len(times)) > 0)
        return ends, begins


def batch(times: list[int]) -> Batch:
    return Batch.of_records(
        np.zeros(len(times), dtype=int), np.array(times), lambda name: pa.array(times)
    )


def test_a_function_of_batches_gives_marks_as_arrays() -> None:
    runs = runs_of(mt.user_window(InBatches, incomplete=True), batch(list(range(7))))
    assert (runs.first.tolist(), runs.stop.tolist()) == ([0, 3, 6], [3, 6, 7])
    runs = runs_of(mt.user_window(InBatches), batch(list(range(7))))
    assert runs.end.tolist() == [3, 6]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            lambda n: (np.ones(n), np.zeros(n)),
            "ends 1 windows at time 4, of which too few",
        ),
        (lambda n: (np.zeros(n - 1), np.zeros(n)), "give one number each"),
        (lambda n: 1 / 0, "raised ZeroDivisionError.* for the 3 records from time 4 to 6"),
        (lambda n: (np.zeros(n), np.full(n, 60)), "has 60 open windows at time 4, above its limit"),
    ],
)
def test_bad_batches_are_named(answer: Callable[[int], object], message: str) -> None:
    bad = type("Bad", (InBatches,), {"marks": lambda self, times, columns: answer(len(times))})
    with pytest.raises(UserWindowError, match=message):
        runs_of(mt.user_window(bad, limit=50), batch([4, 5, 6]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mt.session("0 seconds"), "gap 0 must be positive"),
        (lambda: mt.session("1 minute", maximum="-1us"), "maximum -1 must be positive"),
        (lambda: mt.count_window(5, 6), "slide 6 is longer than range 5"),
        (lambda: mt.count_window(2.5), "range 2.5 must be a whole number of records"),
        (lambda: mt.hopping_by("km", 5, 0), "slide 0 must be positive"),
        (lambda: mt.hopping_by("", 5), "measure '' must be a column"),
        (lambda: mt.punctuation(None), "predicate None must be"),
        (lambda: mt.threshold("price", float("nan")), "by nan must be positive"),
        (lambda: mt.user_window(3), "takes a class or a function"),
        (lambda: mt.user_window(Saying, limit=0), "limit 0 must be"),
        (lambda: mt.landmark("go", length="-1 second"), "length -1000000 must be positive"),
    ],
)
def test_windows_that_cannot_be_are_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(WindowError, match=message):
        make()


def test_windows_are_equal_by_what_they_mean_and_named_by_it() -> None:
    assert mt.session("30 minutes", id="visit") == mt.session("30 minutes")
    assert mt.session("1 hour", maximum="1 day").id == "session 1 hour up to 1 day"
    assert mt.threshold("price", 2).id == "price moved by 2"
    assert mt.landmark("go", "stop", "1 hour").id == "since go until stop for 1 hour"
    assert mt.user_window(InBatches).id == "InBatches"
