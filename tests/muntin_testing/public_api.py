"""Every public function, constructor and method, with its options, found by introspection."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from inspect import Parameter
from typing import Any

import muntin as mt
from muntin.incremental import TECHNIQUES


@dataclass(frozen=True)
class Call:
    """A callable, how a typed snippet writes it, and its options by name."""

    function: Callable[..., Any]
    typed: str
    options: dict[str, Parameter]


def public_calls() -> Iterator[Call]:
    """What `muntin` exports, the methods of plans and controls, and the techniques."""
    for name in mt.__all__:
        thing = getattr(mt, name)
        if callable(thing) and not (isinstance(thing, type) and issubclass(thing, Exception)):
            yield _call(thing, f"mt.{name}")
    for owner, typed in ((mt.Plan, "plan"), (mt.Plans, "plans"), (mt.Control, "mt.Control(any)")):
        for name, method in vars(owner).items():
            if inspect.isfunction(method) and not name.startswith("_"):
                yield _call(method, f"{typed}.{name}")
    for technique in TECHNIQUES.values():
        yield _call(technique.__init__, f"mt.incremental.{technique.__name__}")


def _call(function: Callable[..., Any], typed: str) -> Call:
    signature = inspect.signature(function)
    options = {name: each for name, each in signature.parameters.items() if name != "self"}
    return Call(function, typed, options)
