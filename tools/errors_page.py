"""Write docs/errors.md from the code: every kind of error, and the builtin that it also is.

    .venv/bin/python tools/errors_page.py

A test checks that the page is current.
"""

from __future__ import annotations

import builtins
from inspect import cleandoc
from pathlib import Path

from muntin import errors
from muntin.errors import MuntinError

PAGE = Path(__file__).parent.parent / "docs" / "errors.md"

HEAD = """# Errors

<!-- Written by tools/errors_page.py: change the code, not this page. -->

Every error that Muntin raises on purpose is a `mt.MuntinError`, and also the builtin error that you
would expect: `except ValueError` catches a wrong window. The message names the value that is wrong
and what to do about it. The classes are in `muntin.errors`.

| error | also a | when |
|---|---|---|
"""


def page() -> str:
    """The whole page."""
    found = [each for each in vars(errors).values() if _is_error(each)]
    return HEAD + "".join(
        f"| `{each.__name__}` | `{_builtin(each)}` | {_summary(each)} |\n" for each in found
    )


def _summary(error: type) -> str:
    """The first paragraph of its docstring."""
    return cleandoc(error.__doc__ or "").partition("\n\n")[0]


def _is_error(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, MuntinError)


def _builtin(error: type) -> str:
    """The nearest builtin among its bases; Exception stands behind all of them."""
    names = (base.__name__ for base in error.__mro__ if hasattr(builtins, base.__name__))
    return next(name for name in names if name != "Exception" or error is MuntinError)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"written: {PAGE}")
