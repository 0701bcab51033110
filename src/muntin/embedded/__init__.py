"""DuckDB, in process: no Java is started. The only package that imports duckdb."""

from muntin.embedded.engine import apply, connect
from muntin.embedded.tables import handles
from muntin.embedded.verify import Verification, compare

__all__ = ["Verification", "apply", "compare", "connect", "handles"]
