"""A job for Flink's own Python: windows over a folder of csv files, as one streaming SQL job.

    FLINK_PYTHON flink_job.py FOLDER FEW_FOLDER ROUNDS RANGE:SLIDE…        (minutes)

It runs apart from Muntin, whose Python need not have Flink. All windows are one statement set, so
that Flink reads the source once, with a hopping or tumbling window function each; results go to a
black hole. Two tasks at a time, state in memory, times to the millisecond, as Flink's watermarks
want them. The folder of few events warms it up. The last line it prints is JSON: the version, and
the seconds of each round.
"""

import json
import sys
import time

# Flink's own Python has these, Muntin's need not.
from pyflink.table import EnvironmentSettings, TableEnvironment  # type: ignore[import-not-found]
from pyflink.version import __version__  # type: ignore[import-not-found]

SOURCE = """
CREATE TEMPORARY TABLE {name} (
  ts TIMESTAMP(3), device INT, `value` DOUBLE,
  WATERMARK FOR ts AS ts - INTERVAL '10' MINUTE
) WITH ('connector' = 'filesystem', 'path' = 'file://{folder}', 'format' = 'csv')
"""
SINK = """
CREATE TEMPORARY TABLE sink (
  range_minutes INT, window_start TIMESTAMP(3), window_end TIMESTAMP(3), device INT,
  low DOUBLE, high DOUBLE, mean DOUBLE
) WITH ('connector' = 'blackhole')
"""
INSERT = """
INSERT INTO sink
SELECT {length}, window_start, window_end, device, MIN(`value`), MAX(`value`), AVG(`value`)
FROM TABLE({window}) GROUP BY window_start, window_end, device
"""


def window(source: str, length: int, slide: int) -> str:
    """The window function: Flink refuses windows of more than 24 hours in minutes, so in hours."""
    if length == slide:
        return f"TUMBLE(TABLE {source}, DESCRIPTOR(ts), {interval(length)})"
    return f"HOP(TABLE {source}, DESCRIPTOR(ts), {interval(slide)}, {interval(length)})"


def interval(minutes: int) -> str:
    hours, rest = divmod(minutes, 60)
    return f"INTERVAL '{minutes}' MINUTE" if rest else f"INTERVAL '{hours}' HOUR"


def run(tables: TableEnvironment, source: str, windows: list[list[int]]) -> float:
    begun = time.perf_counter()
    statements = tables.create_statement_set()
    for length, slide in windows:
        statements.add_insert_sql(
            INSERT.format(length=length, window=window(source, length, slide))
        )
    statements.execute().wait()
    return time.perf_counter() - begun


def main() -> None:
    folder, few, rounds, *texts = sys.argv[1:]
    windows = [[int(part) for part in text.split(":")] for text in texts]
    tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    tables.get_config().set("parallelism.default", "2")
    tables.execute_sql(SINK)
    for name, place in (("few", few), ("events", folder)):
        tables.execute_sql(SOURCE.format(name=name, folder=place))
    run(tables, "few", windows)
    seconds = [run(tables, "events", windows) for _ in range(int(rounds))]
    print(json.dumps({"version": __version__, "seconds": seconds}))


if __name__ == "__main__":
    main()
