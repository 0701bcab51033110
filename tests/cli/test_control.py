"""muntin control: commands in, tables out, refusals with the reason."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from muntin.cli.app import app
from muntin.errors import MuntinError
from muntin.model.windows import tumbling
from muntin.state.control import Folder, Stream, Terms

RUN = CliRunner()


@pytest.fixture
def place(tmp_path: Path) -> str:
    """A control whose stream has one window and keeps `total`."""
    folder = Folder.at(tmp_path).make()
    folder.write_stream(Stream((tumbling("1 minute", id="[first]"),), Terms(("total",), 1_000_000)))
    return str(tmp_path)


def test_windows_are_registered_suspended_and_listed(place: str) -> None:
    asked = ["register", "1 hour/5 minutes", "--id", "hourly", "--aggregate", "total"]
    done = RUN.invoke(app, ["control", place, *asked])
    assert done.exit_code == 0
    assert done.output == "hourly: waiting for the stream\n"
    done = RUN.invoke(app, ["control", place, "suspend", "[first]"])
    assert done.output == "[first]: suspension waiting for the stream\n"
    done = RUN.invoke(app, ["control", place, "list"], env={"COLUMNS": "120"})
    cells = [[c.strip() for c in line.split("│")[1:-1]] for line in done.output.splitlines()]
    assert ["hourly", "1 hour/5 minutes", "total", "waiting", "", ""] in cells
    first = ["[first]", "1 minute", "all", "running, suspension waiting", "the start", "the start"]
    assert first in cells


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["suspend", "first"], "there is no window 'first' to suspend: did you mean '[first]'?"),
        (["register", "1 hour", "--id", "[first]"], "the id '[first]' is taken"),
        (
            ["register", "1 hour", "--aggregate", "mean"],
            "keeps no partials of the aggregate 'mean'",
        ),
        (["register", "1 hour/70 milliseconds"], "does not fit the grain of this stream, 1 second"),
    ],
)
def test_refusals_have_the_reason(place: str, options: list[str], reason: str) -> None:
    done = RUN.invoke(app, ["control", place, *options])
    assert isinstance(done.exception, MuntinError)
    assert reason in str(done.exception)


def test_a_place_without_a_control_is_told(tmp_path: Path) -> None:
    done = RUN.invoke(app, ["control", str(tmp_path / "nowhere"), "list"])
    assert isinstance(done.exception, MuntinError)
    assert "there is no control at" in str(done.exception)
    assert not (tmp_path / "nowhere").exists()
