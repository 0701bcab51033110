"""help() is enough: every public name says what it takes, and shows it at work."""

import doctest
import inspect
import re
from collections.abc import Iterator
from types import ModuleType

import pytest

import muntin as mt


def documented(name: str) -> Iterator[object]:
    """What a public name stands for; of a module, its functions."""
    public: object = getattr(mt, name)
    if isinstance(public, ModuleType):
        yield from (getattr(public, each) for each in public.__all__)
    else:
        yield public


def lines_run(public: object) -> list[str]:
    """The lines of a docstring that the doctests of the default run execute."""
    text = inspect.getdoc(public) or ""
    examples = doctest.DocTestParser().get_examples(text)
    return [e.source for e in examples if not e.options.get(doctest.SKIP)]


def not_named(public: object) -> list[str]:
    """The arguments of a function of which its docstring does not speak."""
    text = inspect.getdoc(public) or ""
    assert callable(public)
    names = inspect.signature(public).parameters
    return [name for name in names if not re.search(rf"\b{name}\b", text)]


@pytest.mark.parametrize("name", mt.__all__)
def test_every_public_name_has_an_example_that_the_tests_run(name: str) -> None:
    public: object = getattr(mt, name)
    assert lines_run(public), f"help(mt.{name}) shows no example: add a doctest"
    assert any(name.lower() in line.lower() for line in lines_run(public)), (
        "the example shows something else"
    )


@pytest.mark.parametrize("name", mt.__all__)
def test_every_argument_is_explained(name: str) -> None:
    for public in documented(name):
        if inspect.isfunction(public):
            assert not_named(public) == [], f"help(mt.{name}) says nothing of these"


def test_an_argument_without_a_word_is_found() -> None:
    def mute(told: int, untold: int) -> int:
        """Speaks of `told` alone."""
        return told + untold

    assert not_named(mute) == ["untold"]
    assert lines_run(mute) == []


@pytest.mark.parametrize("options", [mt.StreamOptions, mt.PlanOptions])
def test_every_option_is_explained(options: type) -> None:
    source = inspect.getsource(options)
    own = re.findall(r"^    (\w+): .*\n    \"\"\"", source, re.MULTILINE)
    assert set(own) == set(options.__annotations__) - inherited(options)


def inherited(options: type) -> set[str]:
    """The options that a TypedDict takes over from another; Python forgets which."""
    return set(mt.StreamOptions.__annotations__) if options is mt.PlanOptions else set()
