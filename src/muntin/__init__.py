"""Muntin: many window aggregates over one stream, computed together, in one pass, on Spark."""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.2.0"

if TYPE_CHECKING:
    from muntin.api import *  # noqa: F403  (it lists them)
    from muntin.api import __all__ as __all__
else:

    def __getattr__(name: str) -> object:
        """A public name; the first use of one loads all of them (`muntin.api`)."""
        names = import_module("muntin.api")
        globals().update({each: getattr(names, each) for each in ("__all__", *names.__all__)})
        if name not in globals():
            raise import_module("muntin.api.hints").missing_name(name, names.__all__)
        return globals()[name]

    def __dir__() -> list[str]:
        """The public names, too."""
        return sorted({*globals(), *__getattr__("__all__")})
