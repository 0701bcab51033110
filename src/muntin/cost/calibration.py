"""The constants of this machine: fitted to measured plans, kept in the user's config folder.

`muntin calibrate` writes the file; where there is none, the shipped constants are used. The
environment variable MUNTIN_CONSTANTS names another file, or is "shipped" to leave the file alone.

The fit is by least squares of relative errors:

    minimise  Σ ((c·w − t)/t)²  +  λ·Σ ((c_k − s·p_k)/(s·p_k))²      subject to c ≥ 0

over plans with work w and measured seconds t. What the plans do not tell apart stays near the prior
p, scaled by how much faster or slower this machine is (s, the median of t over its prediction). The
constants are found one at a time, each set to its best value given the others, until none moves:
the sum is convex, so this converges.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from muntin.cost.spark import KINDS, SHIPPED, Constants, Work
from muntin.errors import CalibrationError, is_between, shown

VERSION = 1
"""Of the file: a model that counts other things needs other constants."""
HEADER = "# What things cost on Spark here, in seconds, measured by `muntin calibrate`."
MOST_SECONDS = 1e9
WEIGHT = 0.1
"""λ: what holding to the prior weighs, against one plan."""
REMEDY = "run `muntin calibrate` again, or delete the file to use the shipped constants"


Floats = NDArray[np.float64]


def fit(works: Sequence[Work], seconds: Sequence[float], prior: Constants = SHIPPED) -> Constants:
    """The constants that predict these seconds best.

    >>> works = [Work(read=n, stage=s) for n in (1e6, 4e6) for s in (1, 5)]
    >>> slow = Constants(read=3e-7, stage=0.2)
    >>> found = fit(works, [slow.seconds(work) for work in works])
    >>> abs(found.seconds(works[0]) / slow.seconds(works[0]) - 1) < 0.1
    True
    """
    measured = np.array(seconds)
    counts = np.array([[getattr(work, kind) for kind in KINDS] for work in works])
    scale = float(np.median(measured / np.array([prior.seconds(work) for work in works])))
    start = np.array([getattr(prior, kind) for kind in KINDS]) * scale
    rows = np.vstack([counts / measured[:, None], np.diag(WEIGHT**0.5 / start)])
    aims = np.concatenate([np.ones(len(measured)), np.full(len(start), WEIGHT**0.5)])
    found = _not_negative(rows, aims, start)
    values = dict(zip(KINDS, map(float, found), strict=True))
    return Constants(**values, cores=prior.cores, origin=prior.origin)


def _not_negative(rows: Floats, aims: Floats, start: Floats) -> Floats:
    """Least squares with no negative value, by coordinate descent."""
    found, squares = start.copy(), (rows**2).sum(axis=0)
    left = aims - rows @ found
    for _ in range(20_000):
        before = found.copy()
        for k in range(len(found)):
            value = max(found[k] + float(rows[:, k] @ left) / squares[k], 0.0)
            left -= rows[:, k] * (value - found[k])
            found[k] = value
        if np.all(np.abs(found - before) <= 1e-9 * start):
            break
    return found


@dataclass(frozen=True, slots=True)
class Calibration:
    """Constants with when and where they were measured."""

    constants: Constants
    measured: str
    spark: str
    master: str

    def save(self, path: Path) -> None:
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
    raise CalibrationError(f"{path} already exists and holds no constants: give another name")


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


def _value(kind: str, given: object, path: Path) -> float:
    if isinstance(given, int | float) and is_between(given, 0, MOST_SECONDS):
        return float(given)
    raise CalibrationError(f"{path}: {kind} is {shown(given)}, not seconds: {REMEDY}")
