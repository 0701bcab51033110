"""A stream that starts from history in a process of its own, made to be killed.

python history_run.py FOLDER
"""

import sys
from pathlib import Path

from muntin_testing.history_query import run
from muntin_testing.small_session import session

if __name__ == "__main__":
    spark = session()
    run(spark, Path(sys.argv[1]))
    spark.stop()
