"""The part of omega on streams: it prints and writes every technique on every overlap."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from lab.multi_query import omega
from lab.registry import Options


@pytest.mark.long
def test_omega_prints_what_a_stream_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.multi_query.stream.OVERLAPS", (60, 300))
    console = Console(width=160, record=True, file=io.StringIO())
    assert omega.run(Options(tmp_path, parts=("stream",)), console) == []
    text = console.export_text()
    assert "two-stacks" in text
    assert "counted" in text
    assert len((tmp_path / "omega-stream.csv").read_text().splitlines()) == 1 + 2 * 3
