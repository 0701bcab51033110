"""DuckDB's types by the names that Spark has for them."""

from __future__ import annotations

_NAMES = {
    **{"TINYINT": "tinyint", "SMALLINT": "smallint", "INTEGER": "int", "BIGINT": "bigint"},
    **{"UTINYINT": "smallint", "USMALLINT": "int", "UINTEGER": "bigint"},
    **{"FLOAT": "float", "DOUBLE": "double", "BOOLEAN": "boolean", "VARCHAR": "string"},
    **{"BLOB": "binary", "DATE": "date", "TIMESTAMP": "timestamp_ntz"},
    **{"TIMESTAMP_S": "timestamp_ntz", "TIMESTAMP_MS": "timestamp_ntz"},
    **{"TIMESTAMP_NS": "timestamp_ns", "TIMESTAMP WITH TIME ZONE": "timestamp"},
    **{"TIMESTAMPTZ_NS": "timestamp_tz_ns"},
}


def spark_type(name: str) -> str | None:
    """Spark's name of a type, or None where Spark has no such type.

    >>> spark_type("INTEGER"), spark_type("DECIMAL(10,2)"), spark_type("HUGEINT")
    ('int', 'decimal(10,2)', None)
    """
    if name.startswith("DECIMAL("):
        return name.lower().replace(" ", "")
    return _NAMES.get(name)
