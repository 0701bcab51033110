"""ASA text in: the paper's query and its kin, and errors that say where and what."""

import pytest

import muntin as mt
from muntin.dialects import SqlError, parse_sql, parse_statement
from muntin.errors import QueryError

AS_PRINTED = """SELECT DeviceID,
       System.Window().Id,
       Min(temperature) AS MinTemp,
FROM Input TIMESTAMP BY EntryTime
GROUP BY DeviceID,
       Windows(
    Window('10 min', TumblingWindow(minute, 10),
    Window('20 min', TumblingWindow(minute, 20),
    Window('30 min', TumblingWindow(minute, 30),
    Window('40 min', TumblingWindow(minute, 40)
    )
"""
"""Figure 1(a): a comma too many and four parentheses too few."""

WITHOUT_COMMA = AS_PRINTED.replace("MinTemp,", "MinTemp")
CORRECTED = WITHOUT_COMMA.replace("0),\n", "0)),\n").replace("40)\n", "40))\n")


def test_the_papers_query() -> None:
    statement = parse_statement(CORRECTED)
    assert statement.table == "Input"
    assert statement.query == mt.query(
        "EntryTime",
        [mt.tumbling(f"{n} minutes", id=f"{n} min") for n in (10, 20, 30, 40)],
        [mt.min("temperature").alias("MinTemp")],
        keys=["DeviceID"],
    )
    assert [w.id for w in statement.query.windows] == ["10 min", "20 min", "30 min", "40 min"]


def test_the_papers_query_is_planned_as_the_paper_does() -> None:
    plan = mt.optimize(parse_sql(CORRECTED), "wcg")
    parents = {node.id: node.parent for node in plan.tree.nodes}
    assert parents == {"10 min": None, "20 min": "10 min", "30 min": "10 min", "40 min": "20 min"}


def test_as_printed_the_comma_is_found_first() -> None:
    with pytest.raises(SqlError, match="nothing follows the comma before 'FROM'") as caught:
        parse_sql(AS_PRINTED)
    assert (caught.value.line, caught.value.column) == (3, 35)
    assert caught.value.hint == "remove the comma"


def test_then_the_missing_parenthesis() -> None:
    with pytest.raises(
        SqlError, match="Window\\('10 min', …\\) is not closed before ','"
    ) as caught:
        parse_sql(WITHOUT_COMMA)
    assert (caught.value.line, caught.value.column) == (7, 48)
    assert caught.value.hint == "a ')' is missing here"
    assert caught.value.text == "    Window('10 min', TumblingWindow(minute, 10),"


def one(window: str) -> mt.Window:
    [found] = parse_sql(f"SELECT COUNT(*) AS n FROM e TIMESTAMP BY t GROUP BY {window}").windows
    return found


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("TumblingWindow(minute, 10)", mt.tumbling("10 minutes")),
        ("tumblingwindow(MINUTES, 10)", mt.tumbling("10 minutes")),
        ("TumblingWindow(mi, 10)", mt.tumbling("10 minutes")),
        ("TumblingWindow(ms, 10)", mt.tumbling("10 milliseconds")),
        ("TumblingWindow(Duration(hour, 1))", mt.tumbling("1 hour")),
        (
            "TumblingWindow(Duration(hour, 1), Offset(minute, -5))",
            mt.tumbling("1 hour", "-5 minutes"),
        ),
        ("TumblingWindow(hour, 1, Offset(second, 7))", mt.tumbling("1 hour", "7 seconds")),
        ("HoppingWindow(minute, 60, 5)", mt.hopping("1 hour", "5 minutes")),
        (
            "HoppingWindow(Duration(hour, 1), Hop(minute, 5), Offset(minute, 2))",
            mt.hopping("1 hour", "5 minutes", "2 minutes"),
        ),
        ("Windows(TumblingWindow(day, 1))", mt.tumbling("1 day")),
        (
            "Windows(Window('it''s', HoppingWindow(second, 10, 4)))",
            mt.hopping("10 seconds", "4 seconds"),
        ),
    ],
)
def test_forms_of_windows(text: str, window: mt.Window) -> None:
    assert one(text) == window


def test_ids() -> None:
    assert one("Windows(Window('it''s', TumblingWindow(day, 1)))").id == "it's"
    assert one("HoppingWindow(minute, 60, 5)").id == "1 hour/5 minutes"


def test_everything_at_once() -> None:
    statement = parse_statement("""
        SELECT i.DeviceID, [site id], System.Window().Id AS w, System.Timestamp() AS WindowEnd,
               COUNT(*) AS n, AVG(price * volume) AS mean, StDevP(x) AS spread, STDEV(x), VAR(x),
               VARP(x) AS v, SUM(CASE WHEN ok = 1 THEN 1 ELSE 0 END) AS good, MAX([odd name]) AS m
        INTO Output
        FROM Input AS i TIMESTAMP BY i.EntryTime
        WHERE LEN(name) > 2 AND i.[odd name] <> 'it''s'
        GROUP BY i.DeviceID, [site id], HoppingWindow(hour, 2, 1)""")
    query = statement.query
    assert query.keys == ("DeviceID", "site id")
    assert query.time == "EntryTime"
    assert [(a.function.name, a.arguments, a.name) for a in query.aggregates] == [
        ("count", (), "n"),
        ("avg", ("price * volume",), "mean"),
        ("stddev_pop", ("x",), "spread"),
        ("stddev_samp", ("x",), "stddev_samp(x)"),
        ("var_samp", ("x",), "var_samp(x)"),
        ("var_pop", ("x",), "v"),
        ("sum", ("CASE WHEN ok = 1 THEN 1 ELSE 0 END",), "good"),
        ("max", ("`odd name`",), "m"),
    ]
    assert query.where == "LENGTH(CAST(name AS STRING)) > 2 AND `odd name` <> 'it\\'s'"


FORM = "SELECT k, {} FROM e TIMESTAMP BY t GROUP BY k, TumblingWindow(minute, 1)"


@pytest.mark.parametrize(
    ("text", "column", "problem", "hint"),
    [
        (FORM.format("Foo(x)"), 11, "unknown aggregate 'foo'", "known: "),
        (FORM.format("Mim(x)"), 11, "unknown aggregate 'mim'", "did you mean 'min'?"),
        (FORM.format("x"), 11, "'x' is neither a key nor an aggregate", "add it to GROUP BY"),
        (FORM.format("MAX(x) - MIN(x) AS r"), 11, "computes with aggregates", "compute with"),
        (FORM.format("MIN(MAX(x))"), 11, "aggregate of an aggregate", "inner"),
        (FORM.format("MIN(x, y)"), 11, "min takes 1 argument, 2 given", "mt.min"),
        (FORM.format("*"), 11, "\\* has no meaning", "by name"),
        (FORM.replace("GROUP", "GROUPE"), 36, "unexpected text at 'GROUPE'", "GROUP BY"),
        (FORM.format("MIN(x)") + " HAVING MIN(x) > 1", 85, "HAVING is not part", "filter"),
        (
            "SELECT MIN(x) FROM e GROUP BY TumblingWindow(s, 1)",
            20,
            "time of an event",
            "TIMESTAMP BY",
        ),
        ("SELECT MIN(x) FROM e TIMESTAMP BY t GROUP BY k", 8, "no window", "Windows\\("),
        ("SELECT MIN(x) FROM e TIMESTAMP BY f(t) GROUP BY k", 35, "name of a column", "first"),
        (
            "SELECT MIN(x) FROM e TIMESTAMP BY t WHERE a = 'b GROUP BY k",
            47,
            "does not end",
            "close",
        ),
        ("SELECT MIN(x) FROM e TIMESTAMP BY t GROUP BY abs(k)", 46, "no column and no window", ""),
        ("DROP TABLE x", 1, "one SELECT", "SELECT"),
        ("", 1, "one SELECT", "SELECT"),
    ],
)
def test_mistakes(text: str, column: int, problem: str, hint: str) -> None:
    with pytest.raises(SqlError, match=problem) as caught:
        parse_sql(text)
    assert (caught.value.line, caught.value.column) == (1, column)
    assert hint.replace("\\", "") in caught.value.hint


@pytest.mark.parametrize(
    ("window", "column", "problem", "hint"),
    [
        ("SlidingWindow(minute, 10)", 1, "enters or leaves", "HoppingWindow"),
        ("SessionWindow(minute, 10)", 1, "not periodic", "mt.session"),
        ("TumblingWindow(minut, 10)", 16, "unknown unit 'minut'", "'minute'"),
        ("TumblingWindow(month, 10)", 16, "unknown unit 'month'", "day"),
        ("TumblingWindow(m, 10)", 16, "unknown unit 'm'", "minute"),  # a month in T-SQL
        (f"TumblingWindow(s, {'9' * 5000})", 19, "is too long", "1000 years"),
        ("TumblingWindow(week, 99999999)", 1, "longer than 1000 years", "numbers"),
        ("TumblingWindow(10, minute)", 16, "begins with a unit", "(minute, 10)"),
        ("TumblingWindow(minute, 1.5)", 24, "whole number", "TumblingWindow(minute, 10)"),
        ("TumblingWindow(minute, 0)", 1, "must be positive", "numbers"),
        ("HoppingWindow(minute, 10)", 25, "needs another number", "unit, size, hop"),
        ("HoppingWindow(minute, 10, 20)", 1, "'20 minutes' is longer than range", "numbers"),
        ("HoppingWindow(Duration(hour, 1), Offset(hour, 1))", 34, "expected Hop", "Hop(minute, 5)"),
        ("Windows(Window('a', TumblingWindow(s, 1)), k)", 44, "only windows", "Window('id'"),
        ("Windows(Window(a, TumblingWindow(s, 1)))", 16, "quoted text", "Window('10 min'"),
        ("Windows()", 9, "is empty", "Window('id'"),
        ("Windows(TumblingWindow(s, 1), )", 29, "nothing follows the comma", "remove"),
    ],
)
def test_mistakes_in_windows(window: str, column: int, problem: str, hint: str) -> None:
    head = "SELECT COUNT(*) AS n FROM e TIMESTAMP BY t\nGROUP BY "
    with pytest.raises(SqlError, match=problem) as caught:
        parse_sql(head + window)
    assert (caught.value.line, caught.value.column) == (2, column + len("GROUP BY "))
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("unit", "whole"),
    [("mi", "minute"), ("min", "minute"), ("hh", "hour"), ("h", "hour"), ("sec", "second")],
)
def test_units_may_be_short(unit: str, whole: str) -> None:
    head = "SELECT COUNT(*) AS n FROM e TIMESTAMP BY t GROUP BY "
    windows = [parse_sql(f"{head}TumblingWindow({word}, 5)").windows for word in (unit, whole)]
    assert windows[0] == windows[1]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT " + "(" * 20_000,
        "SELECT MIN(" + "(" * 5000 + "x" + ")" * 5000 + ") FROM e TIMESTAMP BY t",
        "SELECT MIN(x) FROM e TIMESTAMP BY t WHERE " + "NOT " * 5000 + "a",
    ],
)
def test_a_text_nested_too_deeply_gets_a_short_sentence(text: str) -> None:
    with pytest.raises(SqlError, match="nested too deeply") as caught:
        parse_sql(text)
    assert len(str(caught.value)) < 400


def test_the_input_is_found_by_name() -> None:
    statement = parse_statement(CORRECTED)
    assert statement.input_of({"input": 1}) == 1
    assert statement.input_of({"other": 0, "Input": 2}) == 2
    with pytest.raises(
        QueryError, match="reads 'Input', which is not given: did you mean 'Inputs'"
    ):
        statement.input_of({"Inputs": 1})


def test_no_text() -> None:
    with pytest.raises(QueryError, match="not a int"):
        parse_sql(7)  # type: ignore[arg-type]
