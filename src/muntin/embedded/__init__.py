"""DuckDB, in process: no Java is started. The only package that imports duckdb."""

from muntin.embedded.engine import apply, apply_all, apply_own
from muntin.embedded.statistics import counted
from muntin.embedded.tables import connect, handles
from muntin.embedded.verify import Verification, compare, compare_own

__all__ = [
    "Verification",
    "apply",
    "apply_all",
    "apply_own",
    "compare",
    "compare_own",
    "connect",
    "counted",
    "handles",
]
