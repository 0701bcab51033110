"""DuckDB, in process: no Java is started. The only package that imports duckdb."""

from muntin.engines.duckdb.engine import ENGINE
from muntin.engines.duckdb.statistics import counted
from muntin.engines.duckdb.tables import connect, handles
from muntin.engines.duckdb.verify import Verification

__all__ = ["ENGINE", "Verification", "connect", "counted", "handles"]
