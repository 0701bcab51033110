"""DuckDB, in process: no Java is started. The only package that imports duckdb."""

from muntin.engines.duckdb.engine import ENGINE
from muntin.engines.duckdb.tables import connect, handles

__all__ = ["ENGINE", "connect", "handles"]
