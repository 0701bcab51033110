"""The names of `muntin` come when one is used, and workers do without them."""

import subprocess
import sys

import pytest

import muntin as mt

LOADED = "import sys, {module}; print('muntin.api' in sys.modules)"
STAGES = ["kernel_stage", "rows_stage", "preaggregate", "processor", "settled_worker"]


@pytest.mark.parametrize("stage", STAGES)
def test_what_workers_run_loads_no_public_names(stage: str) -> None:
    code = LOADED.format(module=f"muntin.engines.spark.{stage}")
    assert printed(code) == "False"


def test_the_first_use_loads_all_of_them() -> None:
    assert printed("import sys, muntin as mt; print(mt.tumbling('1 hour').id)") == "1 hour"
    assert printed("from muntin import *; print(hopping('2 hours', '1 hour').id)") == (
        "2 hours/1 hour"
    )
    assert printed("import muntin; print('aggregate' in dir(muntin))") == "True"


def test_every_public_name_is_there() -> None:
    assert len(mt.__all__) == len(set(mt.__all__))
    assert all(hasattr(mt, name) for name in mt.__all__)
    assert set(mt.__all__) <= set(dir(mt))


def printed(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()
