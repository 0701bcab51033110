"""A stream in a process of its own, made to be killed: files in, results out, a checkpoint beside.

    python stream_run.py FOLDER OPERATOR-SINK…

Ends when all files are read.
"""

import sys
from pathlib import Path

from muntin_testing.kill_query import run
from muntin_testing.small_session import session

if __name__ == "__main__":
    spark = session()
    run(spark, Path(sys.argv[1]), sys.argv[2:])
    spark.stop()
