"""Every public function, constructor and method, with its options, found by introspection."""

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from inspect import Parameter
from typing import Any, ForwardRef, get_overloads, is_typeddict

import muntin as mt
from muntin.incremental import TECHNIQUES


@dataclass(frozen=True)
class Call:
    """A callable, how a typed snippet writes it, and its options by name.

    What has overloads is here once for each of them, and what only a stream is told is among the
    options.
    """

    function: Callable[..., Any]
    typed: str
    options: dict[str, Parameter]


def public_calls() -> Iterator[Call]:
    """What `muntin` exports, the methods of plans and controls, and the techniques."""
    for name in mt.__all__:
        thing = getattr(mt, name)
        if callable(thing) and not _is_no_call(thing):
            yield from _calls(thing, f"mt.{name}")
    for owner, typed in ((mt.Plan, "plan"), (mt.Plans, "plans"), (mt.Control, "mt.Control(any)")):
        for name, method in vars(owner).items():
            if inspect.isfunction(method) and not name.startswith("_"):
                yield from _calls(method, f"{typed}.{name}")
    for technique in TECHNIQUES.values():
        yield from _calls(technique.__init__, f"mt.incremental.{technique.__name__}")


def _is_no_call(thing: Any) -> bool:
    return is_typeddict(thing) or (isinstance(thing, type) and issubclass(thing, Exception))


def _calls(function: Callable[..., Any], typed: str) -> Iterator[Call]:
    for each in get_overloads(function) or [function]:
        yield Call(each, typed, dict(_options(each)))


def _options(function: Callable[..., Any]) -> Iterator[tuple[str, Parameter]]:
    for name, each in inspect.signature(function).parameters.items():
        known = re.search("(Stream|Plan)Options", str(each.annotation))
        if each.kind is Parameter.VAR_KEYWORD and known:
            for option, kind in getattr(mt, known[0]).__annotations__.items():
                written = kind.__forward_arg__ if isinstance(kind, ForwardRef) else kind
                own = Parameter(option, Parameter.KEYWORD_ONLY, default=None, annotation=written)
                yield option, own
        elif name != "self":
            yield name, each
