"""Names, types and DSNs: what PostgreSQL is told, and what nobody is."""

import re
import subprocess
import sys

import pytest

import muntin as mt
from muntin.errors import SinkError
from muntin.upserts.columns import Column
from muntin.upserts.postgres_text import parse_table, quoted
from muntin.upserts.postgres_types import postgres_type
from muntin.upserts.server import parse_dsn


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Results", (None, "results")),
        ("a.b", ("a", "b")),
        ('"A".b', ("A", "b")),
        ('"a.b"', (None, "a.b")),
        ('s."it""s; drop"', ("s", 'it"s; drop')),
    ],
)
def test_names_of_tables(text: str, parts: tuple[str | None, str]) -> None:
    assert parse_table(text) == parts


@pytest.mark.parametrize("text", ["", "a b", "a.b.c", "a.", ".a", 'x"y"', '"', "a; drop", '""', 3])
def test_what_is_no_name(text: str) -> None:
    with pytest.raises(SinkError, match="is not a table name"):
        parse_table(text)


def test_quotes_are_doubled() -> None:
    assert quoted('a"b') == '"a""b"'


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("timestamp", "timestamp with time zone"),
        ("timestamp_ntz", "timestamp without time zone"),
        ("decimal(38,18)", "numeric(38,18)"),
        ("varchar(10)", "text"),
        ("array<decimal(3,1)>", "numeric[]"),
        ("array<array<int>>", "jsonb"),
        ("struct<a:int>", "jsonb"),
        ("array<struct<a:int>>", "jsonb"),
    ],
)
def test_types(kind: str, expected: str) -> None:
    assert postgres_type(Column("c", kind, ("c",))) == expected


@pytest.mark.parametrize("kind", ["void", "interval day to second", "variant", "array<interval>"])
def test_types_that_are_refused(kind: str) -> None:
    with pytest.raises(SinkError, match=f"column 'c' is {kind}.*cast it"):
        postgres_type(Column("c", kind, ("c",)))


def test_a_name_that_postgres_would_cut_is_refused() -> None:
    assert postgres_type(Column("x" * 63, "int", ("c",))) == "integer"
    with pytest.raises(SinkError, match="64 bytes in its name"):
        postgres_type(Column("ä" * 32, "int", ("c",)))


@pytest.mark.parametrize(
    "dsn",
    [
        "s3cret-Word",
        "postgresql://u:s3cret-Word@[::1",
        "host=x passwort=s3cret-Word",
        "host='s3cret",
    ],
)
def test_a_dsn_that_cannot_be_read_is_not_repeated(dsn: str) -> None:
    with pytest.raises(SinkError, match="dsn cannot be read") as error:
        parse_dsn(dsn)
    assert "s3cret" not in str(error.value)
    assert error.value.__cause__ is None
    assert error.value.__context__ is None


def test_what_is_said_of_a_server_is_no_secret() -> None:
    server = parse_dsn("postgresql://ada:s3cret-Word@h:1/d")
    assert "s3cret" not in f"{server} {server!r}"
    assert server.hide("password s3cret-Word is wrong") == "password … is wrong"


def test_a_dsn_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", "postgresql://h:1/d")
    assert str(parse_dsn("env:MINE")) == "PostgreSQL at h:1, database d"
    with pytest.raises(SinkError, match="no environment variable 'YOURS'"):
        parse_dsn("env:YOURS")


@pytest.mark.parametrize(
    ("module", "call", "extra"),
    [
        ("psycopg", "mt.sinks.postgres('host=h', 't')", "muntin[postgres]"),
        ("deltalake", "mt.sinks.delta('t')", "muntin[delta]"),
    ],
)
def test_without_the_library_a_sentence_says_what_to_install(
    module: str, call: str, extra: str
) -> None:
    code = f"""
import sys
from importlib.abc import MetaPathFinder
class Missing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ({module!r}, "pyspark"):
            raise ModuleNotFoundError(name)
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *a: None if name == {module!r} else find(name, *a)
sys.meta_path.insert(0, Missing())
import muntin as mt
assert "pyspark" not in sys.modules
try:
    {call}
except mt.MuntinError as error:
    assert isinstance(error, ModuleNotFoundError)
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert re.search(re.escape(f"pip install '{extra}'"), done.stdout), done.stdout


def test_wrong_arguments_get_a_sentence() -> None:
    with pytest.raises(mt.MuntinError, match="is not a table name"):
        mt.sinks.postgres("host=h", "a b")
    with pytest.raises(mt.MuntinError, match="dsn must be text"):
        mt.sinks.postgres(3, "t")  # type: ignore[arg-type]
    with pytest.raises(mt.MuntinError, match="give the folder of a Delta table"):
        mt.sinks.delta("")
    assert "s3cret" not in repr(mt.sinks.postgres("postgresql://a:s3cret@h/d", "t"))
