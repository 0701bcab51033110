"""The libraries that sinks need, each an extra of the package."""

from __future__ import annotations

from importlib.util import find_spec

from muntin.errors import LibraryError


def check_library(module: str, extra: str, what: str) -> None:
    """Refuse to go on without a library, and say how to install it."""
    if find_spec(module) is None:
        raise LibraryError(
            f"{what} needs the library {module}, which is not installed: install muntin with its "
            f"extra, pip install 'muntin[{extra}]'"
        )
