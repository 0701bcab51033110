"""A control's directory: files that are none of ours survive, and none of them stops a reader."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import muntin as mt
from muntin.state.control import MOST_BYTES, Entry, Folder, Stream, Terms
from muntin_testing.poison import POISON
from muntin_testing.watchdog import watchdog

STREAM = Stream((mt.tumbling("1 minute", id="always"),), Terms(("total",)), ("k",))
ENTRY = Entry("1", "suspend", "x", "refused", 3, reason="there is no window 'x' to suspend")

FOREIGN = {
    "notes.txt": b"remember the milk",
    "1700000000.json": b'{"written": "by a service that names its logs by seconds"}',
    "0000000007.json": b"[1, 2, 3]",
    "0000000008.json": b"\xff\xfe\x00",
    "0000000009.json": ENTRY.to_json().encode(),  # of another order than its name says
    "0000000003.json.bak": ENTRY.to_json().encode(),
    "00000003.json": ENTRY.to_json().encode(),
    ".0000000003.json.half": b"{",
    "_hidden.json": b"{}",
    "deep/inside/0000000003.json": ENTRY.to_json().encode(),
}
"""Files of a folder log/ that no stream wrote, though some look as if."""


def fill(folder: Path) -> dict[str, bytes]:
    for name, content in FOREIGN.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return dict(FOREIGN)


def content(folder: Path) -> dict[str, bytes]:
    files = [file for file in folder.rglob("*") if file.is_file()]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def test_a_stream_that_begins_anew_removes_only_what_streams_wrote(tmp_path: Path) -> None:
    folder = Folder.at(tmp_path).make()
    kept = fill(tmp_path / "log")
    (tmp_path / "log" / "outside.json").symlink_to(tmp_path / "elsewhere.json")
    (tmp_path / "elsewhere.json").write_text(ENTRY.to_json())
    for order in (0, 3, 7, 8, 12345678901):
        folder.write_entry(Entry("1", "suspend", "x", "refused", order, reason="none"))
    half = tmp_path / "log" / f".0000000004.json.{'a' * 32}"
    half.write_text("{")
    assert len(folder.read_log()) == 5
    folder.forget()
    assert folder.read_log() == []
    assert content(tmp_path / "log") == kept | {"outside.json": ENTRY.to_json().encode()}
    assert (tmp_path / "elsewhere.json").exists()
    folder.forget()
    assert (tmp_path / "log").is_dir(), "the log goes on where it was"


def test_an_entry_never_takes_the_place_of_another_file(tmp_path: Path) -> None:
    folder = Folder.at(tmp_path).make()
    kept = fill(tmp_path / "log")
    (tmp_path / "log/0000000001.json").mkdir()
    entries = [Entry("1", "suspend", "x", "refused", order, reason="none") for order in range(10)]
    for entry in entries * 2:  # a micro-batch is repeated
        folder.write_entry(entry)
    assert folder.read_log() == entries
    assert content(tmp_path / "log").items() >= kept.items()


@pytest.mark.parametrize(
    "text", ["", "mine", '{"windows": []}', "[" * 50_000, json.dumps({"windows": [["a", "b"]]})]
)
def test_another_stream_json_is_neither_overwritten_nor_a_stack_trace(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "stream.json").write_text(text)
    for call in (
        lambda: Folder.at(tmp_path).make().write_stream(STREAM),
        lambda: mt.Control(tmp_path).list(),
        lambda: mt.Control(tmp_path).register("1 minute"),
    ):
        with pytest.raises(mt.MuntinError, match=r"is not what a stream wrote there: move it away"):
            call()
    assert (tmp_path / "stream.json").read_text() == text


def test_the_list_reads_past_whatever_lies_in_the_directory(tmp_path: Path) -> None:
    folder, control = Folder.at(tmp_path).make(), mt.Control(tmp_path)
    folder.write_stream(STREAM)
    folder.write_entry(ENTRY)
    fill(tmp_path / "log")
    for place in (folder.commands, tmp_path / "log"):
        for i, raw in enumerate(POISON.values()):
            (place / f"{i:010}.json").write_bytes(raw)
        (place / "empty.json").touch()
        (place / "huge.json").write_bytes(b" " * (MOST_BYTES + 1))
        (place / "folder.json").mkdir()
        (place / "loop.json").symlink_to("loop.json")
        (place / "month=1").mkdir()
        os.mkfifo(place / "pipe.json")
    wrong_types = json.loads(ENTRY.to_json()) | {"order": 40, "effective": "soon"}
    (tmp_path / "log/0000000040.json").write_text(json.dumps(wrong_types))
    folder.write_entry(Entry("\ud800", "x\n", "\x1b[0m", "running", 41, "w", effective=2**70))
    same = '{"key": "1", "action": "register", "id": "twin", "window": "%s"}'
    for minutes in (1, 2):
        (folder.commands / f"twin-{minutes}.json").write_text(same % f"{minutes} minutes")
    with watchdog(30, "reading the folder"):
        listed = control.list()
        assert control.register("7 minutes") == "7 minutes"
    assert "\x1b" not in repr(listed)
    repr(listed).encode()
    never = [row.reason for row in listed if row.reason and "cannot be read as a com" in row.reason]
    assert len(never) == 5, "empty, huge, a folder, a loop and a pipe: no stream will log them"
    assert [row.state for row in listed if row.id == "twin"] == ["waiting", "waiting"]


@pytest.mark.parametrize("path", [5, "a\0b", b"bytes"])
def test_a_path_that_is_none_is_a_sentence(path: object) -> None:
    with pytest.raises(mt.MuntinError, match=r"a control (needs a path|at 'a.*NUL)"):
        mt.Control(path)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda c: c.register("100000000000000000000000 weeks"), "longer than 1000 years"),
        (lambda c: c.register("9" * 5000 + " weeks"), "has 5006 characters: write at most 200"),
        (lambda c: c.register("1 hour/1 microsecond"), "slide of at least 36 milliseconds"),
        (lambda c: c.register("1 hour", "\ud800"), "holds a control character"),
        (lambda c: c.register("1 hour", "x" * 201), "has 201 characters: give at most 200"),
        (lambda c: c.register("1 hour", ""), "window id is empty"),
        (lambda c: c.register("1 hour", 5), "window id 5 must be a text"),
        (lambda c: c.register("1 hour", aggregates=["\ud800"]), "holds a control character"),
        (lambda c: c.register("1 hour", aggregates=[[1]]), "must be names of the stream's"),
        (lambda c: c.register("1 hour", aggregates=5), "must be names of the stream's"),
        (lambda c: c.register("1 hour", aggregates=map(str, range(10**4))), "at most 65,536 byt"),
        (lambda c: c.register({"range": "1 hour"}), "a dict cannot join a running stream"),
        (lambda c: c.suspend("\ud800" * 500), "there is no window '.*' to suspend: none is run"),
        (lambda c: mt.Control(c.folder.path, grain=f"{10**20} weeks"), "grain .*1000 years"),
    ],
)
def test_what_no_stream_could_do_is_refused_at_the_call(
    tmp_path: Path, call: Callable[[mt.Control], object], reason: str
) -> None:
    control = mt.Control(tmp_path / "control")
    with pytest.raises(mt.MuntinError, match=reason) as caught:
        call(control)
    assert len(str(caught.value)) < 400
    assert not (tmp_path / "control").exists(), "nothing was written"
