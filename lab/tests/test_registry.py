"""Experiments and benchmarks are found by name, and each has something to run."""

import pytest

from lab.registry import KNOWN, Options, find
from muntin.errors import StrategyError


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in KNOWN for name in KNOWN[kind]])
def test_every_name_has_something_to_run(kind: str, name: str) -> None:
    assert callable(find(kind, name))


def test_unknown_names_are_refused_with_the_closest() -> None:
    with pytest.raises(StrategyError, match="unknown experiment 'optimalty': did you mean"):
        find("experiment", "optimalty")
    with pytest.raises(StrategyError, match="unknown benchmark 'duckbd': did you mean 'duckdb'"):
        find("benchmark", "duckbd")
    with pytest.raises(StrategyError, match="unknown set 'mixd': did you mean 'mixed'"):
        Options(parts=("mixd",)).choose(["mixed", "overlap"], "set")


def test_all_parts_run_unless_some_are_named() -> None:
    assert Options().choose(["a", "b"]) == ("a", "b")
    assert Options(parts=("b", "a")).choose(["a", "b", "c"]) == ("b", "a")
