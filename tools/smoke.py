"""What must work right after `pip install muntin[duckdb]`: plans, SQL, tables in process."""

import subprocess
import sys
from datetime import datetime
from importlib.metadata import version

import pyarrow as pa

import muntin as mt

assert version("muntin") == mt.__version__, (version("muntin"), mt.__version__)

events = pa.table(
    {
        "ts": [datetime(2026, 1, 1, 0, minute) for minute in (0, 4, 7, 31)],
        "card": ["a", "a", "b", "a"],
        "amount": [1.0, 2.0, 3.0, 4.0],
    }
)
windows = [mt.tumbling("5 minutes"), mt.hopping("1 hour", "30 minutes")]
sums = mt.aggregate(events, "ts", windows, [mt.sum("amount").alias("paid")], ["card"])
first = [row for row in sums.to_pylist() if row["window"]["start"] == datetime(2026, 1, 1)]
paid = {(row["window_id"], row["card"]): row["paid"] for row in first}
assert paid == {
    ("5 minutes", "a"): 3.0,
    ("1 hour/30 minutes", "a"): 7.0,
    ("1 hour/30 minutes", "b"): 3.0,
}, paid

known = mt.as_of(events, "ts", "10 minutes", [mt.count()], ["card"])
assert known["count__10_minutes"].to_pylist() == [0, 1, 0, 0], known.to_pylist()

query = mt.query("ts", windows, [mt.sum("amount")], ["card"])
assert "GROUP BY" in mt.optimize(query).to_sql("spark", table="events")

demo = [sys.executable, "-m", "muntin", "demo"]
said = subprocess.run(demo, capture_output=True, text=True, check=False).stderr
assert "pip install 'muntin[spark]'" in said, said
