"""docs/sql.md shows what really comes out."""

import re
from pathlib import Path

import pytest

from muntin.dialects import SqlError, parse_sql
from muntin_testing.running import sql_text
from muntin_testing.two_engines import planned

DOCS = (Path(__file__).parents[2] / "docs" / "sql.md").read_text(encoding="utf-8")
[QUERY] = re.findall(r'parse_sql\("""(.*?)"""', DOCS, re.DOTALL)[:1]


def block(language: str) -> str:
    [first, *_] = re.findall(rf"```{language}\n(.*?)\n```", DOCS, re.DOTALL)
    return str(first)


def test_the_rewritten_query_is_the_one_shown() -> None:
    query = parse_sql(QUERY)
    assert block("sql") == sql_text(planned(query, "wcg"), query, "duckdb", "Input")


def test_the_error_is_the_one_shown() -> None:
    lines = [
        *["SELECT DeviceID,", "  System.Window().Id,", "  Min(temperature) AS MinTemp"],
        *["FROM Input TIMESTAMP BY EntryTime", "GROUP BY DeviceID,", "  Windows("],
        "    Window('10 min', TumblingWindow(minute, 10),",
    ]
    with pytest.raises(SqlError) as caught:
        parse_sql("\n".join(lines))
    assert str(caught.value) == block("text")
