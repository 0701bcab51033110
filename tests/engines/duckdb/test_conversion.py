"""Random frames of every type in, exact values with exact types out: against plain Python.

A kind of column has Python values, a way into pandas or Arrow, and the dtype that its greatest
value must come back with. What the windows hold is found by going through the rows.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import muntin as mt

EPOCH = datetime(1970, 1, 1)
HOUR = 3_600_000_000
BERLIN = "Europe/Berlin"
WINDOWS = {
    "tumbling": mt.tumbling("1 hour", id="tumbling"),
    "hops": mt.hopping("1 hour", "20 minutes", id="hops"),
}
SLIDES = {"tumbling": HOUR, "hops": HOUR // 3}


@dataclass(frozen=True)
class Kind:
    """A column: a random value, the Arrow type, and the dtype in pandas ("" for objects)."""

    value: Callable[[random.Random], Any]
    arrow: pa.DataType
    dtype: str = ""
    nulls: bool = True
    sums: bool = False


def decimals(whole: int, scale: int) -> Callable[[random.Random], Decimal]:
    return lambda r: Decimal(r.randint(-(10**whole), 10**whole)).scaleb(-scale)


def instants(step: int, zone: Any = None) -> Callable[[random.Random], datetime]:
    origin = EPOCH.replace(tzinfo=zone)
    return lambda r: origin + timedelta(microseconds=r.randint(-(10**9), 10**9) * step)


def big(r: random.Random) -> int:
    return r.choice([2**53 + 1, -(2**53) - 1, 2**57 + 3, 5, 0]) + r.randint(0, 3)


def eighths(r: random.Random) -> float:
    return r.randint(-(2**20), 2**20) / 8


KINDS = {
    "int64": Kind(big, pa.int64(), "int64", nulls=False, sums=True),
    "Int64": Kind(big, pa.int64(), "Int64", sums=True),
    "int32": Kind(lambda r: r.randint(-9, 9), pa.int32(), "int32", nulls=False, sums=True),
    "UInt8": Kind(lambda r: r.randint(0, 255), pa.uint8(), "UInt8", sums=True),
    "uint64": Kind(lambda r: 2**63 + r.randint(0, 9), pa.uint64(), "uint64", nulls=False),
    "whole objects": Kind(big, pa.int64(), sums=True),
    "float64": Kind(eighths, pa.float64(), "float64", sums=True),
    "Float64": Kind(eighths, pa.float64(), "Float64", sums=True),
    "bool": Kind(lambda r: r.random() < 0.5, pa.bool_(), "bool", nulls=False),
    "boolean": Kind(lambda r: r.random() < 0.5, pa.bool_(), "boolean"),
    "truth objects": Kind(lambda r: r.random() < 0.5, pa.bool_()),
    "decimal": Kind(decimals(19, 2), pa.decimal128(22, 2), sums=True),
    "long decimal": Kind(decimals(27, 9), pa.decimal128(28, 9), sums=True),
    "text": Kind(lambda r: r.choice(["", "a", "é", "z\x00", "NaN", "None"]), pa.string()),
    "string": Kind(lambda r: r.choice("abc"), pa.string(), "string"),
    "category": Kind(lambda r: r.choice("abc"), pa.dictionary(pa.int8(), pa.string()), "category"),
    "dates": Kind(lambda r: date(1960 + r.randint(0, 99), 1, 31), pa.date32()),
    "bytes": Kind(lambda r: r.choice([b"", b"\x00", b"ab"]), pa.binary()),
    "ns": Kind(instants(1), pa.timestamp("ns"), "datetime64[ns]"),
    "us": Kind(instants(1), pa.timestamp("us"), "datetime64[us]"),
    "s": Kind(instants(1_000_000), pa.timestamp("s"), "datetime64[s]"),
    "zoned": Kind(instants(1, UTC), pa.timestamp("ns", BERLIN), f"datetime64[ns, {BERLIN}]"),
    "zoned us": Kind(instants(1, UTC), pa.timestamp("us", BERLIN), f"datetime64[us, {BERLIN}]"),
    "length": Kind(
        lambda r: timedelta(microseconds=r.randint(-9, 10**14)),
        pa.duration("ns"),
        "timedelta64[ns]",
    ),
}
TIMES = ("ns", "us", "zoned", "zoned us")


def series(kind: Kind, values: list[Any], arrow: bool) -> Any:
    if arrow:
        return pd.Series(column(kind, values), dtype=pd.ArrowDtype(kind.arrow))
    if kind.dtype.startswith("datetime64"):
        made: Any = pd.to_datetime(pd.Series(values, dtype=object), utc=", " in kind.dtype)
        return made.astype(kind.dtype)
    return pd.Series(values, dtype=kind.dtype or object)


def expected_windows(rows: list[dict[str, Any]]) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    """The rows of every window of every key."""
    found = defaultdict(list)
    for row in rows:
        micros = moment(row["ts"])
        for id, slide in SLIDES.items():
            start = micros - micros % slide
            while start > micros - HOUR:
                found[id, start, row["k"]].append(row)
                start -= slide
    return found


def answer(function: str, values: list[Any], kind: Kind) -> Any:
    there = [v for v in values if v is not None]
    match function:
        case "count":
            return len(there)
        case "max" | "min":
            return (max if function == "max" else min)(there, default=None)
        case "sum":
            return sum(there) if there else None
        case "avg" if there and pa.types.is_decimal(kind.arrow):
            digit = Decimal(1).scaleb(-kind.arrow.scale - 4)
            return (sum(there) / len(there)).quantize(digit, ROUND_HALF_UP)
        case "avg":
            return sum(there) / len(there) if there else None
        case "bool_and":
            return all(there) if there else None
    raise AssertionError(function)


def functions(kind: Kind) -> list[str]:
    found = ["max", "min", "count"]
    if kind.sums:
        found.append("sum")
    if pa.types.is_decimal(kind.arrow) or pa.types.is_floating(kind.arrow):
        found.append("avg")
    if pa.types.is_boolean(kind.arrow):
        found = ["bool_and", "count"]
    return found


@dataclass(frozen=True)
class Case:
    rows: list[dict[str, Any]]
    kinds: dict[str, Kind]
    arrow: frozenset[str]

    def frame(self, r: random.Random) -> pd.DataFrame:
        columns = {
            name: series(kind, [row[name] for row in self.rows], name in self.arrow)
            for name, kind in self.kinds.items()
        }
        frame = pd.DataFrame(columns)
        frame.index = r.sample(range(999), len(frame))
        return frame

    def table(self) -> pa.Table:
        return pa.table(
            {
                name: column(kind, [row[name] for row in self.rows])
                for name, kind in self.kinds.items()
            }
        )


def column(kind: Kind, values: list[Any]) -> pa.Array:
    if pa.types.is_dictionary(kind.arrow):
        return pa.array(values, pa.string()).dictionary_encode().cast(kind.arrow)
    return pa.array(values, kind.arrow)


def drawn(r: random.Random) -> Case:
    time, key = r.choice(TIMES), r.choice([k for k in KINDS if k != "length"])
    values = {"ts": KINDS[time], "k": KINDS[key]}
    values |= {f"v{i}": KINDS[kind] for i, kind in enumerate(r.sample(sorted(KINDS), 4))}
    zone = UTC if "zoned" in time else None
    pool = [values["k"].value(r) for _ in range(3)] + [None] * values["k"].nulls
    rows = []
    for _ in range(r.choice([0, 1, 30, 30, 30])):
        row: dict[str, Any] = {
            name: None if kind.nulls and r.random() < 0.4 else kind.value(r)
            for name, kind in values.items()
        }
        row["ts"] = EPOCH.replace(tzinfo=zone) + timedelta(
            microseconds=r.randint(-3 * HOUR, 3 * HOUR)
        )
        row["k"] = r.choice(pool)
        rows.append(row)
    arrow = (
        frozenset(name for name in values if r.random() < 0.3) if r.random() < 0.4 else frozenset()
    )
    return Case(rows, values, arrow)


def plain(value: Any) -> Any:
    """A value of pandas or Arrow as Python has it."""
    if isinstance(value, pd.Timestamp | pd.Timedelta):
        return value.to_pydatetime() if isinstance(value, pd.Timestamp) else value.to_pytimedelta()
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or value is pd.NA or value is pd.NaT or value != value:
        return None
    return value


def check_rows(found: list[dict[str, Any]], case: Case, asked: list[mt.Aggregate]) -> None:
    expected = expected_windows(case.rows)
    assert len(found) == len(expected)
    for row in found:
        start, end = (moment(row["window"][edge]) for edge in ("start", "end"))
        assert end - start == HOUR
        members = expected[row["window_id"], start, plain(row["k"])]
        for aggregate in asked:
            [name] = aggregate.arguments
            wanted = answer(aggregate.function.name, [m[name] for m in members], case.kinds[name])
            got = plain(row[aggregate.name])
            assert got == wanted, (aggregate, got, wanted)
            assert (type(got) is type(wanted)) or (wanted is None), (aggregate, got, wanted)


def moment(instant: Any) -> int:
    """Microseconds since 1970."""
    found = plain(instant)
    utc = found if found.tzinfo is None else found.astimezone(UTC).replace(tzinfo=None)
    micros: int = (utc - EPOCH) // timedelta(microseconds=1)
    return micros


def wanted_dtype(function: str, kind: Kind, nulls: bool) -> str:
    given = kind.arrow.value_type if pa.types.is_dictionary(kind.arrow) else kind.arrow
    if function == "count":
        return "int64"
    if pa.types.is_decimal(given) or pa.types.is_date(given) or pa.types.is_binary(given):
        return "object"
    if pa.types.is_string(given):
        return "object"
    if pa.types.is_boolean(given):
        return "boolean" if nulls else "bool"
    if pa.types.is_floating(given):
        return "float64"
    if pa.types.is_integer(given):
        name = "int64" if function == "sum" else str(given)
        return (
            name.replace("uint", "UInt").replace("int", "Int").replace("UInt", "UInt")
            if nulls
            else name
        )
    return kind.dtype


def asked_of(case: Case, r: random.Random) -> list[mt.Aggregate]:
    names = [name for name in case.kinds if name.startswith("v")]
    calls = [(f, name) for name in names for f in functions(case.kinds[name])]
    return [mt.aggregates.aggregate_named(f, name) for f, name in r.sample(calls, 6)]


@pytest.fixture(autouse=True)
def enough_digits() -> Iterator[None]:
    with localcontext(prec=60):
        yield


@pytest.mark.parametrize("seed", range(4))
def test_frames_come_back_exact(seed: int) -> None:
    reached: Counter[str] = Counter()
    for number in range(8):
        r = random.Random(f"{seed} {number}")
        case = drawn(r)
        asked = asked_of(case, r)
        query = mt.query("ts", list(WINDOWS.values()), asked, "k")
        plan = mt.optimize(query, r.choice(["direct", "shared-pairs"]))
        frame = case.frame(r)
        found = plan.apply(frame)
        check_rows(found.to_dict("records"), case, asked)  # type: ignore[arg-type]
        assert found["k"].dtype == frame["k"].dtype, case.kinds["k"]
        for aggregate in asked:
            kind, column = case.kinds[aggregate.arguments[0]], found[aggregate.name]
            reached[kind.dtype or str(kind.arrow)] += 1
            read = {"ts", "k", *(a.arguments[0] for a in asked)} & case.arrow
            values = [row[aggregate.arguments[0]] for row in case.rows]
            if kind.dtype in ("", "category") and not any(value is not None for value in values):
                continue  # objects of which none tells the type
            if read:
                assert isinstance(column.dtype, pd.ArrowDtype)
            else:
                nulls = bool(column.isna().any())
                wanted = wanted_dtype(aggregate.function.name, kind, nulls)
                assert str(column.dtype) == wanted, (aggregate, kind)
                reached["nulls"] += nulls
        table = case.table()
        result = plan.apply(table)
        check_rows(result.to_pylist(), case, asked)
        assert result.schema.field("k").type == table.schema.field("k").type
    assert len(reached) >= 12, reached
    assert reached["nulls"] >= 3, reached
