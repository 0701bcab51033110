"""Every way to compute a question in process: one line each.

A runner takes a case (a question with one of its plans) and gives the rows of the long layout.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa

from conformance.cases import SPARK_TYPES, Case
from conformance.comparison import by_place
from conformance.oracle import Rows
from muntin.physical.question import in_engine
from muntin_testing.running import in_process, sql_text

Runner = Callable[[Case], Rows]


def _long(case: Case, rows: Iterable[Mapping[str, Any]]) -> Rows:
    return by_place(rows, case.query.keys, case.strategy)


def by_arrow(case: Case) -> Rows:
    """An Arrow table in, an Arrow table out, by one SQL statement."""
    return _long(case, in_process(case.plan, case.query, case.table, "sql").to_pylist())


def by_arrays(case: Case) -> Rows:
    """The same by NumPy, for aggregates that it merges."""
    operator = None if in_engine(case.query) else "arrays"
    return _long(case, in_process(case.plan, case.query, case.table, operator).to_pylist())


def by_pandas(case: Case) -> Rows:
    """A pandas DataFrame in, a pandas DataFrame out."""
    whole = {pa.int64(): pd.Int64Dtype(), pa.int32(): pd.Int32Dtype()}
    frame = case.table.to_pandas(types_mapper=whole.get)  # where some are null, NumPy has floats
    return _long(case, in_process(case.plan, case.query, frame).to_dict("records"))


def by_relation(case: Case) -> Rows:
    """A DuckDB relation in, a relation out."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        relation = in_process(case.plan, case.query, connection.from_arrow(case.table))
        return _long(case, relation.to_arrow_table().to_pylist())


def by_duckdb_text(case: Case) -> Rows:
    """The text of to_sql("duckdb"), which DuckDB runs by itself."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("events", case.table)
        text = sql_text(case.plan, case.query, "duckdb", "events", SPARK_TYPES)
        return _long(case, connection.sql(text).to_arrow_table().to_pylist())


IN_PROCESS: dict[str, Runner] = {
    "arrow": by_arrow,
    "arrays": by_arrays,
    "pandas": by_pandas,
    "relation": by_relation,
    "duckdb text": by_duckdb_text,
}
