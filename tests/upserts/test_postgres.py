"""Staging, merging and checking on a real server, without Spark."""

from collections.abc import Iterator
from threading import Thread

import pyarrow as pa
import pytest

from muntin.errors import SinkError
from muntin.upserts.batch import Batch
from muntin.upserts.columns import Column
from muntin.upserts.copying import Copier
from muntin.upserts.postgres import Session, open_session
from muntin.upserts.postgres_text import STAGE
from muntin.upserts.server import Server, parse_dsn
from muntin_testing.postgres_server import PostgresServer

COLUMNS = (Column("k", "string", ("k",)), Column("v", "bigint", ("v",)))
PATHS = (("k",), ("v",))


@pytest.fixture
def server(postgres: PostgresServer) -> Iterator[Server]:
    """The server, with a schema of the test's own."""
    postgres.query("DROP SCHEMA IF EXISTS own CASCADE")
    postgres.query("CREATE SCHEMA own")
    yield parse_dsn(postgres.dsn)
    postgres.query("DROP SCHEMA IF EXISTS own CASCADE")


def copied(session: Session, stage: str, rows: dict[str, list[object]]) -> str:
    """The attempt under which rows were staged."""
    batch = pa.RecordBatch.from_pydict(
        {"k": pa.array(rows["k"], pa.string()), "v": pa.array(rows["v"], pa.int64())}
    )
    (said,) = Copier(session.server, session.target.copy(stage), PATHS).copy(iter([batch]))
    assert said["rows"].to_pylist() == [len(rows["k"])]
    attempt: str = said["attempt"][0].as_py()
    return attempt


def stages(postgres: PostgresServer) -> list[str]:
    found = postgres.query(f"SELECT relname::text FROM pg_class WHERE relname LIKE '{STAGE}%'")
    return [name for (name,) in found]


def test_only_the_attempts_that_counted_are_merged(
    server: Server, postgres: PostgresServer
) -> None:
    with open_session(server, "own.t", COLUMNS, ("k",)) as session:
        with session.stage() as stage:
            copied(session, stage, {"k": ["a", None], "v": [1, 2]})  # lost, and done again
            again = copied(session, stage, {"k": ["a", None], "v": [3, 4]})
            assert session.merge(stage, [again], None)
        with session.stage() as stage:
            more = copied(session, stage, {"k": [None, "b"], "v": [5, 6]})
            assert session.merge(stage, [more], None)
    found = postgres.query("SELECT k, v FROM own.t ORDER BY v")
    assert found == [("a", 3), (None, 5), ("b", 6)]
    assert stages(postgres) == []


def test_a_batch_is_merged_once_and_an_older_one_never(
    server: Server, postgres: PostgresServer
) -> None:
    outcomes = []
    with open_session(server, "own.t", COLUMNS, ("k",)) as session:
        for value, name in enumerate(["q0", "q0", "q1", "q0", "r0"], start=1):
            batch = Batch(name[0], int(name[1]))
            before = session.is_written(batch)
            with session.stage() as stage:
                attempt = copied(session, stage, {"k": ["a"], "v": [value]})
                merged = session.merge(stage, [attempt], batch)
            assert merged is not before
            outcomes.append((merged, postgres.query("SELECT v FROM own.t")[0][0]))
    assert outcomes == [(True, 1), (False, 1), (True, 3), (False, 3), (True, 5)]


def test_two_rows_of_one_key_are_refused_and_nothing_is_written(
    server: Server, postgres: PostgresServer
) -> None:
    with open_session(server, "own.t", COLUMNS, ("k",)) as session:
        with session.stage() as stage:
            attempt = copied(session, stage, {"k": [None, None], "v": [1, 2]})
            with pytest.raises(SinkError, match="the same key: the key must tell all rows"):
                session.merge(stage, [attempt], Batch("q", 0))
        assert not session.is_written(Batch("q", 0))
    assert postgres.query("SELECT * FROM own.t") == []
    assert stages(postgres) == []


def test_stages_of_the_dead_are_dropped_and_those_of_the_living_kept(
    server: Server, postgres: PostgresServer
) -> None:
    postgres.query(f"CREATE TABLE own.{STAGE}0123456789abcdef (a int)")
    postgres.query(f"CREATE TABLE own.{STAGE}mine (a int)")
    with (
        open_session(server, "own.t", COLUMNS, ("k",)) as one,
        one.stage() as living,
        open_session(server, "own.t", COLUMNS, ("k",)) as other,
        other.stage() as own,
    ):
        assert sorted(stages(postgres)) == sorted([living, own, f"{STAGE}mine"])
    assert stages(postgres) == [f"{STAGE}mine"]


def test_a_writer_that_waits_for_another_sees_its_batch(
    server: Server, postgres: PostgresServer
) -> None:
    """Two processes with one micro-batch: the second waits, and writes nothing."""
    outcomes: list[bool] = []

    def second() -> None:
        with open_session(server, "own.t", COLUMNS, ("k",)) as session, session.stage() as stage:
            attempt = copied(session, stage, {"k": ["a"], "v": [2]})
            outcomes.append(session.merge(stage, [attempt], Batch("q", 0)))

    with open_session(server, "own.t", COLUMNS, ("k",)) as session, session.stage() as stage:
        attempt = copied(session, stage, {"k": ["a"], "v": [1]})
        with session.connection.transaction():
            assert session.merge(stage, [attempt], Batch("q", 0))
            thread = Thread(target=second)
            thread.start()
            thread.join(1.5)
            assert thread.is_alive(), "it did not wait"
    thread.join(30)
    assert outcomes == [False]
    assert postgres.query("SELECT v FROM own.t") == [(1,)]


@pytest.mark.parametrize(
    ("ddl", "words"),
    [
        ("k text", "'v' \\(bigint\\) is missing"),
        ("k text, v int", "'v' is integer and not bigint"),
        ("k text, v bigint, w int NOT NULL", "'w' must not be null and is not in the result"),
        ("k text, v bigint", "no unique index on exactly its key"),
        ("k text UNIQUE, v bigint", "NULLS NOT DISTINCT"),
        ("k text, v bigint, UNIQUE NULLS NOT DISTINCT (k, v)", "no unique index on exactly"),
    ],
)
def test_a_table_of_another_shape_is_refused(
    server: Server, postgres: PostgresServer, ddl: str, words: str
) -> None:
    postgres.query(f"CREATE TABLE own.t ({ddl})")
    with (
        pytest.raises(SinkError, match=words),
        open_session(server, "own.t", COLUMNS, ("k",)),
    ):
        pass


@pytest.mark.parametrize(
    "ddl",
    [
        "v bigint, k text PRIMARY KEY",
        "k text, v bigint, at timestamptz NOT NULL DEFAULT now(), UNIQUE NULLS NOT DISTINCT (k)",
    ],
)
def test_a_table_of_yours_that_fits_is_taken(
    server: Server, postgres: PostgresServer, ddl: str
) -> None:
    postgres.query(f"CREATE TABLE own.t ({ddl})")
    with open_session(server, "own.t", COLUMNS, ("k",)) as session, session.stage() as stage:
        session.merge(stage, [copied(session, stage, {"k": ["a"], "v": [1]})], None)
    assert postgres.query("SELECT k, v FROM own.t") == [("a", 1)]


def test_the_sql_in_the_sentence_makes_the_index(server: Server, postgres: PostgresServer) -> None:
    postgres.query("CREATE TABLE own.t (k text, v bigint)")
    with pytest.raises(SinkError) as error, open_session(server, "own.t", COLUMNS, ("k",)):
        pass
    postgres.query(str(error.value).partition("create one with ")[2])
    with open_session(server, "own.t", COLUMNS, ("k",)):
        pass


def test_schemas_that_are_not_there(server: Server) -> None:
    with (
        pytest.raises(SinkError, match="there is no schema 'nowhere'"),
        open_session(server, "nowhere.t", COLUMNS, ("k",)),
    ):
        pass


def test_wrong_passwords_and_servers_that_are_down(postgres: PostgresServer) -> None:
    wrong = postgres.dsn.replace("s3cret-Word", "Wr0ng-one")
    with pytest.raises(SinkError, match="password authentication failed") as error:
        parse_dsn(wrong).connect()
    assert "Wr0ng" not in f"{error.value!r} {error.value.__context__!r}"
    down = parse_dsn("postgresql://ada:s3cret-Word@127.0.0.1:1/postgres")
    with pytest.raises(SinkError, match=r"127.0.0.1:1, database postgres.*server runs") as error:
        down.connect()
    assert "s3cret" not in str(error.value)


def test_an_old_server_is_told(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """As far as it can be told without one: what the connection says of the release."""
    from muntin.upserts import postgres as module

    monkeypatch.setattr(module, "OLDEST", 99)
    with (
        pytest.raises(SinkError, match=r"this server is PostgreSQL 1.*need 99 or newer"),
        open_session(parse_dsn(postgres.dsn), "t", COLUMNS, ("k",)),
    ):
        pass


def test_an_empty_partition_opens_no_connection() -> None:
    nowhere = parse_dsn("postgresql://127.0.0.1:1/none")
    (said,) = Copier(nowhere, "COPY nothing FROM STDIN", PATHS).copy(iter([]))
    assert said["rows"].to_pylist() == [0]
