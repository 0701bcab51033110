"""Names that do not exist: a hint, still an AttributeError; and the aliases that do exist."""

import re
import subprocess
import sys

import pytest

import muntin as mt
from muntin.aggregates import ALIASES, parse_aggregate
from muntin.api.hints import ELSEWHERE


@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_name_of_another_library_is_told_what_there_is(name: str) -> None:
    with pytest.raises(AttributeError, match=re.escape(ELSEWHERE[name])) as error:
        getattr(mt, name)
    assert isinstance(error.value, mt.MuntinError)
    assert name not in mt.__all__, "no hint is needed any more"
    named = re.findall(r"mt\.(\w+)", ELSEWHERE[name])
    assert set(named) <= set(mt.__all__)


def test_every_hint_names_something_that_exists_or_how_to_write_it() -> None:
    assert all("mt." in hint for hint in ELSEWHERE.values())


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("tumblin", "did you mean 'tumbling'?"),
        ("agregate", "did you mean 'aggregate'?"),
        ("stdev", "did you mean 'stddev'?"),
        ("zzzz", "dir(muntin) lists what there is"),
    ],
)
def test_a_typo_gets_the_nearest_name(name: str, hint: str) -> None:
    with pytest.raises(AttributeError, match=re.escape(f"muntin has no '{name}': {hint}")):
        getattr(mt, name)
    assert not hasattr(mt, name)
    assert getattr(mt, name, None) is None


def test_imports_of_names_and_of_modules_stay_as_they_are() -> None:
    with pytest.raises(ImportError, match="cannot import name 'tumblin' from 'muntin'"):
        exec("from muntin import tumblin")
    code = "from muntin import incremental, nesting; incremental.TwoStacks, nesting.WindowManager"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(("alias", "name"), ALIASES.items())
def test_an_alias_is_its_function_under_the_name_that_was_written(alias: str, name: str) -> None:
    one, other = getattr(mt, alias)("v"), getattr(mt, name)("v")
    assert one.function == other.function
    assert (one.name, other.name) == (f"{alias}(v)", f"{name}(v)")
    assert one.filter("v > 1").name == f"{alias}(v) filter (v > 1)"
    assert parse_aggregate(f"{alias}(v) as x") == one.alias("x")
    text = "SELECT {}(v) AS x FROM e TIMESTAMP BY t GROUP BY TumblingWindow(hour, 1)"
    assert mt.parse_sql(text.format(alias)) == mt.parse_sql(text.format(name))


def test_queries_share_an_aggregate_under_both_its_names() -> None:
    hour = [mt.tumbling("1h")]
    queries = {"a": mt.query("t", hour, [mt.avg("v")]), "b": mt.query("t", hour, [mt.mean("v")])}
    (both,) = mt.optimize(queries=queries).sets
    assert [a.name for a in both.query.aggregates] == ["avg(v)"]
    assert dict(both.members[1].results) == {"mean(v)": "avg(v)"}
