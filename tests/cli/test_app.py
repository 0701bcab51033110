"""The command line: plans without Spark, readable mistakes, and help for everything."""

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from muntin.cli import app
from muntin.errors import MuntinError

RUN = CliRunner()


def test_explain_shows_the_plan_its_cost_and_all_alternatives() -> None:
    windows = [f"--window={n} minutes" for n in (10, 20, 30, 40)]
    asked = ["explain", *windows, "--aggregate", "min(t)"]
    done = RUN.invoke(app, [*asked, "--strategy", "wcg", "--cost", "rate"])
    assert done.exit_code == 0, done.output
    assert "└─ 10 minutes" in done.output
    assert "2 pieces of 20 minutes" in done.output
    assert "below direct" in done.output
    done = RUN.invoke(app, asked)
    assert done.exit_code == 0, done.output
    assert "faster than Spark's own" in done.output
    assert all(name in done.output for name in ("direct", "shared-pairs", "wcg-fw", "steiner"))


def test_explain_reads_sql_and_writes_sql_and_a_picture(tmp_path: Path) -> None:
    text = tmp_path / "query.sql"
    text.write_text(
        "SELECT k, avg(v) AS mean FROM Input TIMESTAMP BY ts "
        "GROUP BY k, HoppingWindow(minute, 10, 5)"
    )
    picture = tmp_path / "plan.svg"
    options = ["--sql", str(text), "--to-sql", "spark", "--svg", str(picture)]
    done = RUN.invoke(app, ["explain", *options])
    assert done.exit_code == 0, done.output
    assert "FROM `Input`" in done.output
    assert picture.read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-w", "10 parsecs"], "unknown unit 'parsecs'"),
        (["-w", "1 hour/2 hours"], "slide '2 hours' is longer than range '1 hour'"),
        (["-w", "1 hour", "-a", "mim(t)"], "unknown aggregate 'mim': did you mean 'min'?"),
        (["-w", "1 hour", "--strategy", "wgc"], "did you mean 'wcg'?"),
        (["-w", "1 hour", "--operator", "kernal"], "did you mean 'kernel'?"),
        (["-w", "1 hour", "--cost", "papers"], "did you mean 'paper'?"),
        (["-w", "1 hour", "--sql", "x.sql"], "either --sql or --window"),
        (["--sql", "nowhere.sql"], "nowhere.sql cannot be read"),
        ([], "no windows"),
    ],
)
def test_mistakes_are_named_with_a_remedy(options: list[str], message: str) -> None:
    done = RUN.invoke(app, ["explain", *options])
    assert isinstance(done.exception, MuntinError)
    assert message in str(done.exception)


def test_a_mistake_is_one_line_without_a_stack_trace() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "muntin", "explain", "-w", "1 month"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stderr.startswith("error: range '1 month' uses month, whose length varies")


@pytest.mark.parametrize(
    "command", ["demo", "explain", "control", "bench", "experiment", "calibrate"]
)
def test_every_command_has_help(command: str) -> None:
    done = RUN.invoke(app, [command, "--help"])
    assert done.exit_code == 0
    assert "Usage" in done.output


def test_planning_loads_neither_spark_nor_arrow_nor_sqlglot() -> None:
    code = (
        "import sys, muntin as mt\n"
        "mt.optimize(mt.query('t', [mt.hopping('1 hour', '5 minutes')], [mt.avg('v')])).explain()\n"
        "heavy = {'pyspark', 'pyarrow', 'pandas', 'duckdb', 'sqlglot', 'matplotlib', 'scipy'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_calibrate_shows_what_is_in_use_and_refuses_what_cannot_be(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown = RUN.invoke(app, ["calibrate", "--show"])
    assert shown.exit_code == 0
    assert "constants shipped" in shown.output
    for wrong, message in (
        (["--master", "spark://x:1"], "give --data"),
        (["--master", "spark://x:1", "--remote", "sc://x"], "not both"),
    ):
        with pytest.raises(SystemExit):
            app(["calibrate", *wrong])
        assert message in capsys.readouterr().err
