"""Find the lab: experiments and benchmarks live beside the source, not in the wheel."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import muntin
from muntin.errors import LabError


def lab_module(name: str) -> ModuleType:
    """A module of the lab of this checkout."""
    checkout = Path(muntin.__file__).parents[2]
    if not (checkout / "lab" / "__init__.py").exists():
        raise LabError(
            "experiments and benchmarks are not part of the installed package: clone the "
            "repository, and run `make setup` and then `.venv/bin/muntin` there"
        )
    if str(checkout) not in sys.path:
        sys.path.append(str(checkout))
    return import_module(f"lab.{name}")
