"""The planning benchmark as a command."""

import pytest
from typer import Typer
from typer.testing import CliRunner

from muntin.cli.lab import bench


@pytest.mark.long
def test_planning_prints_seconds_and_steps() -> None:
    app = Typer()
    app.command()(bench)
    options = ["planning", "--rows", "20", "--repeat", "1", "--set", "giants"]
    result = CliRunner().invoke(app, options)
    assert result.exit_code == 0, result.output
    assert "giants" in result.output
    assert "left out or refused" in result.output
