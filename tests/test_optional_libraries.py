"""Without pyspark and duckdb Muntin plans and writes SQL; what needs them says what to install."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

HIDING = """
import sys

class Without:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        hidden = name.partition(".")[0] in ("pyspark", "duckdb", "psycopg", "deltalake")
        return None if hidden else self.finder.find_spec(name, path, target)

sys.meta_path[:] = map(Without, sys.meta_path)
"""
"""Makes the extras of Muntin look as if they were not installed."""

SETTING = """
import muntin as mt
import pyarrow as pa

query = mt.query("ts", [mt.tumbling("1 hour"), mt.hopping("1 day", "1 hour")], [mt.max("v")])
table = pa.table({"ts": pa.array([0], pa.timestamp("us")), "v": [1]})
"""


def run(script: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", HIDING + script]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_plans_and_sql_need_no_extra() -> None:
    found = run(
        SETTING + "plan = mt.optimize(query)\n"
        "print(plan.explain())\n"
        "print(plan.to_sql('spark', table='events'))\n"
        "print(plan.to_sql('duckdb', table='events'))\n"
    )
    assert found.returncode == 0, found.stderr
    assert "source" in found.stdout
    assert found.stdout.count("GROUP BY") >= 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            "mt.aggregate(table, query.time, query.windows, query.aggregates)",
            "a table in process needs the library duckdb, which is not installed: "
            "pip install 'muntin[duckdb]'",
        ),
        (
            "mt.as_of(table, 'ts', '1 hour', [mt.count()])",
            "a table in process needs the library duckdb, which is not installed: "
            "pip install 'muntin[duckdb]'",
        ),
        (
            "mt.progress(None)",
            "Spark needs the library pyspark, which is not installed: pip install 'muntin[spark]'",
        ),
        (
            "mt.sinks.postgres('dsn', 'table')",
            "PostgreSQL needs the library psycopg, which is not installed: "
            "pip install 'muntin[postgres]'",
        ),
        (
            "mt.sinks.delta('path')",
            "Delta needs the library deltalake, which is not installed: "
            "pip install 'muntin[delta]'",
        ),
    ],
)
def test_calls_say_what_to_install(call: str, message: str) -> None:
    found = run(SETTING + call)
    assert found.stderr.splitlines()[-1] == f"muntin.errors.LibraryError: {message}"


@pytest.mark.parametrize("command", ["demo", "calibrate"])
def test_commands_say_what_to_install(command: str) -> None:
    found = run(f"from muntin.cli import app\nsys.argv = ['muntin', '{command}']\napp()")
    assert found.returncode == 2
    said = "error: Spark needs the library pyspark, which is not installed"
    assert said in found.stderr
    assert "Traceback" not in found.stderr
