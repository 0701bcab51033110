"""One key of very many slices through the kernel, under a limit on the worker's memory."""

import subprocess
import sys

import pytest

WORKER = """
import resource, sys
import numpy as np, pyarrow as pa
from muntin.aggregates.columns import PartialColumn
from muntin.kernels.tree import Branch
from muntin.engines.spark.kernel_stage import Kernel
from muntin.model.windows import Window

slices, minute = int(sys.argv[1]), 60_000_000
limit = 700 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
pa.set_cpu_count(1); pa.set_io_thread_count(1)

def batches():
    for begin in range(0, slices, 10_000):
        start = np.arange(begin, min(begin + 10_000, slices), dtype=np.int64)
        columns = [np.zeros(len(start), dtype=np.int32), start * minute, start % 7]
        yield pa.record_batch([pa.array(c) for c in columns], ["node", "start", "p0"])

windows = (Branch(1, Window(1440 * minute, minute), True), Branch(2, Window(minute, minute), True))
partials = (PartialColumn("p0", "", "", "sum"),)
kernel = Kernel((), partials, {0: windows}, frozenset({1, 2}), None, False)
rows = total = 0
for batch in kernel(batches()):
    rows += len(batch.column("start").flatten())
    if batch.column("node")[0].as_py() == 2:
        total += int(batch.column("p0").flatten().to_numpy().sum())
assert rows == 2 * slices + 1439, rows
assert total == sum(i % 7 for i in range(slices)), total
# the high-water mark of this program; getrusage would also count the process that started it
[peak] = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(int(peak) // 1024)
"""


@pytest.mark.parametrize("millions", [10, pytest.param(40, marks=pytest.mark.long)])
def test_millions_of_slices_of_one_key_fit_into_a_small_worker(millions: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WORKER, f"{millions}000000"],
        capture_output=True,
        text=True,
        env={
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "ARROW_DEFAULT_MEMORY_POOL": "system",
        },
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 400, "megabytes"
