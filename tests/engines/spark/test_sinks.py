"""Upserts from Spark: the table is the batch result, whatever is repeated, restarted or wrong."""

import json
import math
from collections.abc import Iterable
from contextlib import redirect_stdout
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import muntin as mt
from muntin.engines.spark.late_rows import check_late, number_late
from muntin.engines.spark.sinks import Sink
from muntin.errors import SinkError
from muntin_testing import processes
from muntin_testing.kill_query import DSN
from muntin_testing.postgres_server import PASSWORD, PostgresServer
from muntin_testing.streams import written

pytestmark = pytest.mark.slow

START = datetime(2024, 1, 1)
SCHEMA = "ts timestamp, k string, v bigint"
WINDOWS = [mt.tumbling("1 minute"), mt.hopping("2 minutes", "1 minute")]
AGGREGATES = [mt.sum("v").alias("total"), mt.count().alias('n "%s" rows')]
COLUMNS = 'window_id, window_start, window_end, k, total, "n ""%s"" rows"'


@pytest.fixture
def server(postgres: PostgresServer) -> PostgresServer:
    """The server, empty."""
    postgres.query("DROP SCHEMA public CASCADE")
    postgres.query("CREATE SCHEMA public")
    return postgres


def rows(seed: int) -> list[tuple[Any, ...]]:
    """Of two minutes each, with null keys."""
    return [
        (START + timedelta(minutes=2 * seed, seconds=10 * i), ["a", None, "it's"][i % 3], i)
        for i in range(12)
    ]


def results(df: DataFrame, **options: Any) -> DataFrame:
    return mt.aggregate(df, "ts", WINDOWS, AGGREGATES, keys="k", **options)


def plain(row: Row) -> tuple[Any, ...]:
    """A row of the long layout as the sinks write it."""
    bounds = (row["window"]["start"], row["window"]["end"])
    return (row["window_id"], *(each.replace(tzinfo=UTC) for each in bounds), *row[2:])


def in_order(found: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(found, key=repr)


class Store:
    """A sink and how its table is read back, changed and forgotten."""

    def __init__(self, kind: str, server: PostgresServer, folder: Path) -> None:
        self.kind, self.server, self.path = kind, server, str(folder / "it's a table")

    def sink(self) -> Sink:
        if self.kind == "delta":
            return mt.sinks.delta(self.path)
        return mt.sinks.postgres(self.server.dsn, 'public."My ""%s"" rows"')

    def read(self) -> list[tuple[Any, ...]]:
        if self.kind == "delta":
            table = DeltaTable(self.path).to_pyarrow_table()
            return in_order(list(zip(*(c.to_pylist() for c in table.columns), strict=True)))
        return in_order(self.server.query(f'SELECT {COLUMNS} FROM "My ""%s"" rows"'))

    def spoil(self) -> None:
        """Change every total, so that rows which are written again can be seen."""
        if self.kind == "delta":
            DeltaTable(self.path).update({"total": "-1"})
        else:
            self.server.query('UPDATE "My ""%s"" rows" SET total = -1')

    def is_spoilt(self) -> bool:
        return {row[4] for row in self.read()} == {-1}


@pytest.fixture(params=["postgres", "delta"])
def store(request: pytest.FixtureRequest, server: PostgresServer, tmp_path: Path) -> Store:
    return Store(request.param, server, tmp_path)


def test_a_table_is_written_and_replaced_by_key(frugal: SparkSession, store: Store) -> None:
    first = frugal.createDataFrame(rows(0), SCHEMA).repartition(3)
    store.sink()(results(first))
    assert store.read() == in_order([plain(r) for r in results(first).collect()])
    both = first.union(frugal.createDataFrame(rows(0)[:5] + rows(1), SCHEMA))
    store.sink()(results(both))
    expected = in_order([plain(r) for r in results(both).collect()])
    assert store.read() == expected
    assert len(expected) > 12
    assert any(row[3] is None for row in expected)
    if store.kind == "postgres":
        assert store.server.query("SELECT 1 FROM pg_class WHERE relname LIKE 'muntin_stage%'") == []


def started(
    spark: SparkSession, folder: Path, checkpoint: str, call: Any, **options: Any
) -> StreamingQuery:
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    options = options or {"operator": "native"}
    stream = results(reader.parquet(str(folder / "files")), watermark="0 seconds", **options)
    query = (
        stream.writeStream.foreachBatch(call)
        .option("checkpointLocation", str(folder / checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return query


@pytest.mark.parametrize(
    "store", ["postgres", pytest.param("delta", marks=pytest.mark.slow)], indirect=True
)
def test_a_repeated_batch_changes_nothing_and_a_fresh_checkpoint_does(
    streams: SparkSession, store: Store, tmp_path: Path
) -> None:
    written(streams, [rows(0), rows(1), rows(2), rows(9)], SCHEMA, tmp_path / "files")
    sink, seen = store.sink(), []

    def dies(batch: DataFrame, number: int) -> None:
        sink(batch, number)
        seen.append(number)
        if number == 2:
            store.spoil()
            raise RuntimeError("after the write, before the checkpoint")

    with pytest.raises(StreamingQueryException, match="after the write"):
        started(streams, tmp_path, "one", dies)
    assert store.is_spoilt()

    def goes_on(batch: DataFrame, number: int) -> None:
        sink(batch, number)
        if number == 2:
            assert store.is_spoilt(), "the batch was written twice"
        seen.append(number)

    started(streams, tmp_path, "one", goes_on)
    assert seen[:4] == [0, 1, 2, 2]
    assert seen[-1] > 2, "the state went on after the batch that was only read"
    table = streams.read.schema(SCHEMA).parquet(str(tmp_path / "files"))
    ended = results(table).where("window.end <= '2024-01-01 00:19:50'")
    expected = [plain(r) for r in ended.collect()]
    assert {r[:4] for r in store.read()} == {r[:4] for r in expected}
    assert store.read() != in_order(expected), "what was spoilt stays, since nothing wrote it again"
    query = started(streams, tmp_path, "another", sink)
    assert store.read() == in_order(expected)
    assert query.recentProgress
    assert PASSWORD not in str([each.json for each in query.recentProgress])


def test_a_stream_without_its_server_says_so_and_no_secret(
    streams: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    written(streams, [rows(0)], SCHEMA, tmp_path / "files")
    sink = mt.sinks.postgres(f"postgresql://ada:{PASSWORD}@127.0.0.1:1/d", "t")
    with pytest.raises(StreamingQueryException, match=r"cannot connect to PostgreSQL") as error:
        started(streams, tmp_path, "one", sink)
    said = capfd.readouterr()
    assert PASSWORD not in f"{error.value!r} {error.value} {said.out} {said.err}"


def late_script() -> list[list[tuple[Any, ...]]]:
    """Of four batches the third has two rows of a key that are too late for all windows."""
    late = [(START + timedelta(seconds=s), "a", 100) for s in (5, 20)]
    ahead = [[(START + timedelta(minutes=m), "end", 0)] for m in (20, 40)]
    return [rows(0), ahead[0], late, ahead[1]]


@pytest.mark.parametrize(
    ("kind", "death"),
    [
        pytest.param("postgres", "between", marks=pytest.mark.slow),
        pytest.param("postgres", "after", marks=pytest.mark.long),
        pytest.param("delta", "between", marks=pytest.mark.long),
        pytest.param("delta", "after", marks=pytest.mark.slow),
    ],
)
def test_late_rows_are_written_aside_once(
    kind: str,
    death: str,
    streams: SparkSession,
    server: PostgresServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It dies between the two writes, or after them: results and late rows are all rows."""
    written(streams, late_script(), SCHEMA, tmp_path / "files")
    if kind == "delta":
        sink: Sink = mt.sinks.delta(tmp_path / "results", late_to=tmp_path / "late")
    else:
        sink = mt.sinks.postgres(server.dsn, "results", late_to="late")
    died = list[str]()

    def die(here: str) -> None:
        if here == death and not died:
            died.append(here)
            raise RuntimeError(here)

    def between(*given: Any) -> DataFrame:
        die("between")
        return number_late(*given)

    def call(batch: DataFrame, number: int) -> None:
        sink(batch, number)
        if number == 2:
            die("after")

    monkeypatch.setattr("muntin.engines.spark.sinks.number_late", between)
    keeps = "keep" if (kind, death) == ("delta", "after") else "records"
    with pytest.raises(StreamingQueryException, match=death):
        started(streams, tmp_path, "place", call, late_rows=keeps)
    started(streams, tmp_path, "place", call, late_rows=keeps)

    def read(table: str, columns: str) -> list[tuple[Any, ...]]:
        if kind == "delta":
            found = DeltaTable(str(tmp_path / table)).to_pyarrow_table().select(columns.split(", "))
            return list(zip(*(c.to_pylist() for c in found.columns), strict=True))
        return server.query(f"SELECT {columns} FROM {table}")

    late = read("late", "window_id, batch_id, k, total, missed, window_start, window_end")
    assert sorted((row[0], row[1], row[2], row[3], len(row[4])) for row in late) == [
        ("1 minute", 2, "a", 200, 1),
        ("2 minutes/1 minute", 2, "a", 200, 1),
    ]
    assert {(row[6] - row[5]).total_seconds() for row in late} == {60}
    if keeps == "records":
        for [texts] in read("late", "records"):
            assert [json.loads(text) for text in texts] == [
                {"ts": f"2024-01-01T00:00:{second}.000000Z", "k": "a", "v": 100}
                for second in ("05", "20")
            ]
    totals = {
        row[:4]: row[4] for row in read("results", "window_id, window_start, window_end, k, total")
    }
    table = streams.read.schema(SCHEMA).parquet(str(tmp_path / "files")).where("k <> 'end'")
    ended = START.replace(tzinfo=UTC) + timedelta(minutes=1)  # before the first watermark
    for row in map(plain, results(table).where("k = 'a'").collect()):
        missed = 200 if row[2] <= ended else 0
        assert totals[row[:4]] + missed == row[4]


def test_late_rows_need_a_stream_and_a_sink_that_know_of_them(
    streams: SparkSession, tmp_path: Path
) -> None:
    place = str(tmp_path / "t")
    with pytest.raises(SinkError, match="is the table of the results"):
        mt.sinks.delta(place, late_to=place)
    with pytest.raises(SinkError, match="is the table of the results"):
        mt.sinks.postgres("host=h", "t", late_to="t")
    stream = streams.readStream.format("rate").load()
    windows, asked = [mt.tumbling("1 minute")], {"watermark": "1 minute", "late_rows": "keep"}

    def counts(**options: Any) -> DataFrame:
        return mt.aggregate(stream, "timestamp", windows, [mt.count()], **options)

    assert counts(**asked).columns == ["window_id", "window", "count", "missed"]
    listed = counts(**asked | {"late_rows": "records"})
    assert listed.columns == ["window_id", "window", "count", "missed", "records"]
    for refused in (
        {"operator": "native"},
        {"control": mt.Control(tmp_path)},
        {"late_rows": "kep"},
    ):
        with pytest.raises(mt.MuntinError, match="late_rows"):
            counts(**(asked | refused))
    rows_of = counts(**asked)
    with pytest.raises(SinkError, match="nothing says where they go: give the sink late_to="):
        check_late(rows_of, None)
    assert not check_late(counts(watermark="1 minute"), place)


def test_every_layout_and_several_queries_know_their_keys(
    frugal: SparkSession, server: PostgresServer
) -> None:
    table = frugal.createDataFrame(rows(0), SCHEMA)
    count = [mt.count().alias("n")]
    asked = {
        "w": mt.aggregate(table, "ts", WINDOWS, count, keys="k", layout="wide"),
        "single": mt.aggregate(table, "ts", WINDOWS, count),
        "two": mt.aggregate(table, "ts", WINDOWS, count, keys=["k", "v"]),
    }
    for name, result in asked.items():
        mt.sinks.postgres(server.dsn, name)(result.where("true").select("*"))
    hour = mt.query("ts", [mt.tumbling("1h")], [mt.count().alias("n")], keys="k")
    queries = {"a": hour, "b": mt.query("ts", WINDOWS, [mt.sum("v").alias("n")])}
    mt.sinks.postgres(server.dsn, "several")(mt.aggregate(table, queries=queries))
    each = mt.aggregate(table, queries=queries, deliver="dict")["a"]
    mt.sinks.postgres(server.dsn, "own")(each.withColumnRenamed("k", "device"))
    found = dict(
        server.query(
            "SELECT i.indrelid::regclass::text, string_agg(a.attname, ',' ORDER BY k.n) "
            "FROM pg_index i, unnest(i.indkey) WITH ORDINALITY k(c, n), pg_attribute a "
            "WHERE a.attrelid = i.indrelid AND a.attnum = k.c AND i.indnullsnotdistinct GROUP BY 1"
        )
    )
    assert found == {
        "w": "k,window_end",
        "single": "window_id,window_start,window_end",
        "two": "window_id,window_start,window_end,k,v",
        "several": "query_id,window_id,window_start,window_end,k",
        "own": "window_id,window_start,window_end,device",
    }


VALUES: dict[str, tuple[str, str, list[Any]]] = {
    "k": ("string", "text", ["a", None, "x\ty\n\\N\\."]),
    "yes": ("boolean", "boolean", [True, None, False]),
    "tiny": ("tinyint", "smallint", [1, None, -128]),
    "large": ("bigint", "bigint", [2**63 - 1, None, -(2**63)]),
    "real": ("float", "real", [0.5, None, -0.25]),
    "odd": ("double", "double precision", [math.nan, math.inf, -math.inf]),
    "exact": ("decimal(38,10)", "numeric(38,10)", [Decimal("1.5"), None, Decimal(10) ** 27]),
    "raw": ("binary", "bytea", [b"\x00\xff", None, b""]),
    "day": ("date", "date", [date(1, 1, 1), None, date(9999, 12, 31)]),
    "zoned": (
        "timestamp",
        "timestamp with time zone",
        [datetime(1969, 12, 31, 23, 59, 59, 999999), None, datetime(2024, 3, 31, 2, 30)],
    ),
    "local": (
        "timestamp_ntz",
        "timestamp without time zone",
        [datetime(1900, 1, 1, 0, 0, 0, 1), None, datetime(2024, 3, 31, 2, 30)],
    ),
    "texts": ("array<string>", "text[]", [['a"b', None, "{,}"], None, []]),
    "numbers": ("array<double>", "double precision[]", [[1.5, math.inf], None, [None]]),
    "inner": ("struct<a:int,b:array<string>>", "jsonb", [{"a": 1, "b": ["x"]}, None, {"a": 2}]),
}
"""For each column Spark's type, PostgreSQL's, and values."""


def zoned(kind: str, values: list[Any]) -> list[Any]:
    return [v.replace(tzinfo=UTC) if kind == "timestamp" and v else v for v in values]


def in_utc(values: Iterable[Any]) -> list[Any]:
    """Instants with UTC in one and the same form."""
    return [v.astimezone(UTC) if getattr(v, "tzinfo", None) else v for v in values]


def test_values_of_every_type_arrive_as_they_are(
    frugal: SparkSession, server: PostgresServer
) -> None:
    schema = ", ".join(f"{name} {kind}" for name, (kind, *_) in VALUES.items())
    given = list(zip(*(values for *_, values in VALUES.values()), strict=True))
    table = frugal.createDataFrame(given, schema)
    frugal.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        mt.sinks.postgres(server.dsn, "types", key="k")(table)
    finally:
        frugal.conf.set("spark.sql.session.timeZone", "UTC")
    kinds = server.query(
        "SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute "
        "WHERE attrelid = 'types'::regclass AND attnum > 0"
    )
    assert dict(kinds) == {name: kind for name, (_, kind, _) in VALUES.items()}
    found = dict(zip(VALUES, zip(*server.query("SELECT * FROM types"), strict=True), strict=True))
    for name, (kind, _, values) in VALUES.items():
        if name != "exact":
            assert sorted(map(repr, in_utc(found[name]))) == sorted(map(repr, zoned(kind, values)))
    assert sorted(v for v in found["exact"] if v is not None) == [Decimal("1.5"), Decimal(10) ** 27]


def test_values_of_every_type_arrive_in_delta(frugal: SparkSession, tmp_path: Path) -> None:
    schema = ", ".join(f"{name} {kind}" for name, (kind, *_) in VALUES.items())
    given = list(zip(*(values for *_, values in VALUES.values()), strict=True))
    sink = mt.sinks.delta(tmp_path / "types", key=["k", "odd"])
    for _ in range(2):
        sink(frugal.createDataFrame(given, schema))
    found = DeltaTable(str(tmp_path / "types")).to_pyarrow_table().to_pydict()
    for name, (kind, _, values) in VALUES.items():
        if name in ("exact", "inner"):
            continue
        assert sorted(map(repr, in_utc(found[name]))) == sorted(map(repr, zoned(kind, values))), (
            name
        )
    assert sorted(v for v in found["exact"] if v is not None) == [Decimal("1.5"), Decimal(10) ** 27]
    assert {"a": 1, "b": ["x"]} in found["inner"]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (["1 AS k", "cast(null AS void) AS n"], "column 'n' is "),
        (["1 AS k", "interval 1 day AS n"], "column 'n' is "),
        (["1 AS k", "'x' AS v"], "'v' is .* and not "),
        (["1 AS k", "2L AS w"], "'v'|'w'"),
        (["id div 2 AS k", "id AS v"], "key"),
    ],
)
def test_what_does_not_fit_gets_a_sentence(
    frugal: SparkSession, store: Store, columns: list[str], words: str
) -> None:
    sink = mt.sinks.postgres(store.server.dsn, "t", "k")
    other: Sink = mt.sinks.delta(store.path, "k") if store.kind == "delta" else sink
    kind = "bigint" if "id" in columns[0] else "int"
    other(frugal.range(1).selectExpr(f"cast(9 AS {kind}) AS k", "9L AS v"))
    with pytest.raises(SinkError, match=words):
        other(frugal.range(2 if "id" in columns[0] else 1).selectExpr(*columns))


def test_what_is_no_result_gets_a_sentence(frugal: SparkSession, store: Store) -> None:
    table = frugal.createDataFrame(rows(0), SCHEMA)
    with pytest.raises(SinkError, match="name them, key="):
        store.sink()(table)
    past = results(table).select("k", "window.start")  # whose key is not that of its features
    as_of = mt.as_of(past, "start", ["1 hour"], [mt.count()], keys="k")
    with pytest.raises(SinkError, match="name them, key="):
        store.sink()(as_of)
    with pytest.raises(SinkError, match=r"foreachBatch\(sink\)"):
        store.sink()(frugal.readStream.format("rate").load())
    with pytest.raises(SinkError, match="a batch_id is given, and no stream calls"):
        store.sink()(results(table), 3)
    with pytest.raises(SinkError, match="checkpoint '/nowhere' cannot be read"):
        store.sink().for_checkpoint("/nowhere")(results(table), 3)
    with pytest.raises(mt.MuntinError, match="expected a Spark DataFrame, got list"):
        store.sink()([])  # type: ignore[arg-type]


def test_a_task_that_fails_says_why_and_no_secret(
    frugal: SparkSession, server: PostgresServer, capfd: pytest.CaptureFixture[str]
) -> None:
    table = frugal.sql("SELECT 'a' AS k, 'b\\0c' AS t")
    sink = mt.sinks.postgres(server.dsn, "t", "k")
    with pytest.raises(SinkError, match=r"^PostgreSQL refuses rows: .*NUL") as error:
        sink(table)
    assert server.query("SELECT relname FROM pg_class WHERE relname LIKE 'muntin_stage%'") == []
    assert server.query("SELECT * FROM t") == []
    with pytest.raises(SinkError, match=r"cannot connect to PostgreSQL at 127.0.0.1:1,"):
        mt.sinks.postgres(f"postgresql://a:{PASSWORD}@127.0.0.1:1/d", "t", "k")(table)
    said = capfd.readouterr()
    assert PASSWORD not in f"{error.value} {said.out} {said.err}"


def test_plans_and_marks_show_no_secret(frugal: SparkSession, server: PostgresServer) -> None:
    """The copy that tasks run has the password in its closure, which no plan prints."""
    from muntin.upserts.copying import ATTEMPT_ROWS, Copier
    from muntin.upserts.server import parse_dsn

    copier = Copier(parse_dsn(server.dsn), "COPY t FROM STDIN", (("k",),))
    table = results(frugal.createDataFrame(rows(0), SCHEMA)).select("k")
    plan = table.mapInArrow(copier.copy, ATTEMPT_ROWS)
    with redirect_stdout(StringIO()) as printed:
        plan.explain("extended")
    text = printed.getvalue()
    assert "MapInArrow" in text
    assert PASSWORD not in f"{text} {copier!r}"
    assert table.schema["k"].metadata == {"muntin.key": True}


@pytest.mark.long
def test_sinks_on_connect(
    server: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last micro-batch comes twice; a sink that knows no checkpoint says so."""
    monkeypatch.setenv(DSN, server.dsn)
    process = processes.started(Path(__file__).with_name("sink_run.py"), tmp_path)
    assert process.wait(processes.PATIENCE) == 0, (tmp_path / "log").read_text()[-3000:]
    said = (tmp_path / "log").read_text()
    assert "rows PostgresSink" in said
    assert "rows DeltaSink" in said
    assert "said True" in said
    assert PASSWORD not in said
    stream = server.query("SELECT window_id, window_start, k, total, most, rows FROM connected")
    whole = server.query("SELECT window_id, window_start, k, total, most, rows FROM whole")
    delta = DeltaTable(str(tmp_path / "delta")).to_pyarrow_table()
    assert len(stream) == delta.num_rows > 20
    assert set(stream) < set(whole), "the last windows are still open"
