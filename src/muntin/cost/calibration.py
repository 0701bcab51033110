"""The constants of this machine: a small readable file in the user's config folder.

`muntin calibrate` writes it; where there is none, the shipped constants are used. The environment
variable MUNTIN_CONSTANTS names another file, or is "shipped" to leave the file alone.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from muntin.cost.spark import KINDS, SHIPPED, Constants
from muntin.errors import CalibrationError, shown

VERSION = 1
"""Of the file: a model that counts other things needs other constants."""
HEADER = "# What things cost on Spark here, in seconds, measured by `muntin calibrate`."
MOST_SECONDS = 1e9
REMEDY = "run `muntin calibrate` again, or delete the file to use the shipped constants"


@dataclass(frozen=True, slots=True)
class Calibration:
    """Constants with when and where they were measured."""

    constants: Constants
    measured: str
    spark: str
    master: str

    def save(self, path: Path) -> None:
        """Write the file."""
        check_place(path)
        lines = [
            HEADER,
            "# Delete this file to use the constants that Muntin ships.",
            f"version = {VERSION}",
            f'measured = "{self.measured}"',
            f'spark = "{self.spark}"',
            f'master = "{self.master}"',
            f"cores = {self.constants.cores}",
            "",
            "[seconds]",
            *(f"{kind} = {getattr(self.constants, kind):.4g}" for kind in KINDS),
        ]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def constants_file() -> Path:
    """Where the constants of this machine are kept."""
    given = os.environ.get("MUNTIN_CONSTANTS")
    if given and given != "shipped":
        return Path(given)
    folder = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(folder) / "muntin" / "spark-constants.toml"


def current_constants() -> Constants:
    """The constants measured here, or else those shipped."""
    path = constants_file()
    if os.environ.get("MUNTIN_CONSTANTS") == "shipped" or not path.exists():
        return SHIPPED
    return load(path)


def check_place(path: Path) -> None:
    """Refuse to write over a file of another kind."""
    try:
        if not path.exists() or path.read_bytes().startswith(HEADER.encode()):
            return
    except OSError as error:
        raise CalibrationError(f"{path} cannot be written: {error.strerror}") from None
    raise CalibrationError(f"{path} is there already, and holds no constants: give another name")


def load(path: Path) -> Constants:
    """Read a file; one that is not as it should be is refused by what is wrong with it."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise CalibrationError(f"{path} cannot be read ({error}): {REMEDY}") from None
    if found.get("version") != VERSION:
        version = found.get("version")
        raise CalibrationError(f"{path} is of version {shown(version)}, not {VERSION}: {REMEDY}")
    seconds, cores = found.get("seconds"), found.get("cores")
    if not isinstance(seconds, Mapping) or not isinstance(cores, int) or not 0 < cores < 10**6:
        raise CalibrationError(f"{path} has no table [seconds] or no number of cores: {REMEDY}")
    values = {kind: _value(kind, seconds.get(kind), path) for kind in KINDS}
    return Constants(**values, cores=cores, origin=f"measured here, {found.get('measured')}")


def _value(kind: str, given: Any, path: Path) -> float:
    number = isinstance(given, int | float) and not isinstance(given, bool)
    if not number or not 0 <= given <= MOST_SECONDS:
        raise CalibrationError(f"{path}: {kind} is {shown(given)}, not seconds: {REMEDY}")
    return float(given)
