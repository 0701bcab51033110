"""A control's directory: what is written, listed and refused, also by several controllers."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import muntin as mt
from muntin.state.control import Command, Entry, Folder, Stream, Terms, read_command

MINUTE = 60_000_000
WINDOWS = (mt.tumbling("1 minute", id="always"), mt.tumbling("2 minutes", id="first"))


@pytest.fixture
def control(tmp_path: Path) -> mt.Control:
    """A control whose stream keeps total and rows, in whole seconds."""
    folder = Folder.at(tmp_path / "control").make()
    folder.write_stream(Stream(WINDOWS, Terms(("total", "rows"), 1_000_000), ("k",)))
    return mt.Control(tmp_path / "control")


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda c: c.suspend("alwys"), "no window 'alwys' to suspend: did you mean 'always'"),
        (lambda c: c.register("5 minutes", "first"), "the id 'first' is taken: suspend that"),
        (lambda c: c.register("5 minutes", aggregates=["totl"]), "keeps no partials of.*'total'"),
        (lambda c: c.register("1500 milliseconds"), "does not fit the grain of this stream, 1 sec"),
        (
            lambda c: c.register(mt.session("5 minutes")),
            "cannot join this stream, whose windows are periodic",
        ),
        (lambda c: c.register("5 parsecs"), "unknown unit 'parsecs'"),
        (lambda c: c.register("5 minutes", aggregates=[]), "at least one"),
    ],
)
def test_what_cannot_be_obeyed_is_refused_at_once(
    control: mt.Control, call: Callable[[mt.Control], object], reason: str
) -> None:
    with pytest.raises(mt.MuntinError, match=reason):
        call(control)
    assert control.folder is not None
    assert control.folder.read_commands() == [], "nothing was written"


def test_a_control_needs_a_place_and_a_grain() -> None:
    with pytest.raises(mt.MuntinError, match="needs the path of its directory, or commands="):
        mt.Control()
    with pytest.raises(mt.MuntinError, match="grain '0 seconds' must be positive"):
        mt.Control("here", grain="0 seconds")
    with pytest.raises(mt.MuntinError, match=r"'s3://bucket/x' cannot be written to as files"):
        mt.Control("s3://bucket/x")
    with pytest.raises(mt.MuntinError, match="takes commands from a DataFrame"):
        mt.Control("here", commands=object()).register("1 minute")
    with pytest.raises(mt.MuntinError, match="to list windows, a control needs a directory"):
        mt.Control(commands=object()).list()


def test_a_file_in_the_place_of_the_directory_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "control").write_text("")
    with pytest.raises(mt.MuntinError, match="a control cannot be made at"):
        mt.Control(tmp_path / "control").register("1 minute")


def test_the_list_follows_the_log(control: mt.Control) -> None:
    folder = control.folder
    assert folder is not None
    assert control.register("5 minutes/1 minute", "x", [mt.sum("n").alias("total")]) == "x"
    control.suspend("first")
    assert {row.id: row.state for row in control.list()} == {
        "always": "running",
        "first": "running, suspension waiting",
        "x": "waiting",
    }
    with pytest.raises(mt.MuntinError, match="the id 'x' is taken"):
        control.register("1 minute", "x")
    register, suspend = folder.read_commands()
    window = "5 minutes/1 minute"
    for entry in (
        Entry(suspend.key, "suspend", "first", "suspended", 1, effective=7 * MINUTE),
        Entry(
            register.key, "register", "x", "running", 0, window, ("total",), 7 * MINUTE, 8 * MINUTE
        ),
        Entry("2", "register", "x", "refused", 2, window, reason="the id 'x' is taken"),
    ):
        folder.write_entry(entry)
    lines = [re.split("  +", line) for line in repr(control.list()).splitlines()]
    begin, after = "1970-01-01 00:07:00", "1970-01-01 00:08:00"
    assert lines == [
        ["id", "window", "aggregates", "state", "effective", "complete from", "until", "reason"],
        ["always", "1 minute", "all", "running", "the start", "the start"],
        ["first", "2 minutes", "all", "suspended", "the start", "the start", begin],
        ["x", window, "total", "running", begin, after],
        ["x", window, "all", "register refused", "the id 'x' is taken"],
    ]
    assert control.register("2 minutes", "first") == "first", "the id is free again"


def test_a_window_suspended_before_any_row_never_ran(control: mt.Control) -> None:
    assert control.folder is not None
    control.folder.write_entry(Entry("1", "suspend", "first", "suspended"))
    suspended = ("suspended", "the start", "", "the start", "the start")
    assert control.list()[1].cells[3:8] == suspended


def test_files_that_are_no_commands_do_no_harm(control: mt.Control) -> None:
    folder = control.folder
    assert folder is not None
    (folder.commands / "broken.json").write_text('{"action": "regi')
    (folder.commands / ".half.json.1").write_text('{"acti')
    control.register("5 minutes")
    assert [row.id for row in control.list()] == ["always", "first", "5 minutes"]


REGISTRATIONS = """
import sys
import muntin as mt
control = mt.Control(sys.argv[1])
for i in range(20):
    control.register("1 minute", f"{sys.argv[2]}/{i}")
"""


def test_two_controllers_at_once_lose_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", REGISTRATIONS, str(tmp_path)]
    both = [subprocess.Popen([*command, str(who)]) for who in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    commands = Folder.at(tmp_path).read_commands()
    assert {c.id for c in commands} == {f"{who}/{i}" for who in range(2) for i in range(20)}
    assert len({c.key for c in commands}) == 40
    assert len(mt.Control(tmp_path).list()) == 40


def test_a_command_is_its_json() -> None:
    command = Command("1", "register", "x", mt.Window(7, 3, 1, "x"), ("a", "b"))
    assert read_command(command.to_json()) == command
    assert read_command('{"action": "register", "window": "1 hour"}').id == "1 hour"
