"""DuckDB, in process: no Java is started. The only package that imports duckdb."""

from muntin.embedded.engine import ENGINE
from muntin.embedded.statistics import counted
from muntin.embedded.tables import connect, handles
from muntin.embedded.verify import Verification

__all__ = ["ENGINE", "Verification", "connect", "counted", "handles"]
