"""Where a bucket keeps its state: a few named entries of bytes, tables among them in Arrow IPC.

Streaming engines read and write whole entries, each call at a price, so a bucket has few of them:
its header, its keys, and a run of consecutive slices for each stretch of time. Nothing is pickled:
whoever reads an old state runs no code of it.
"""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa

_PACKED = pa.ipc.IpcWriteOptions(compression="lz4")
_PLAIN = pa.ipc.IpcWriteOptions()


class Store(Protocol):
    """Entries by name, kept from step to step by whoever runs the bucket."""

    def read(self, name: str) -> bytes | None:
        """The entry, or None where there is none."""

    def write(self, name: str, entry: bytes) -> None:
        """Put the entry in the place of any before."""

    def remove(self, name: str) -> None:
        """Leave no entry of this name."""


class MemoryStore(dict[str, bytes]):
    """A store in this process.

    >>> store = MemoryStore()
    >>> store.write("header", b"{}")
    >>> store.read("header"), store.read("keys")
    (b'{}', None)
    """

    def read(self, name: str) -> bytes | None:
        return self.get(name)

    def write(self, name: str, entry: bytes) -> None:
        self[name] = entry

    def remove(self, name: str) -> None:
        self.pop(name, None)


def to_bytes(table: pa.Table, compressed: bool = True) -> bytes:
    """A table as an Arrow IPC stream; what is read again at once need not be compressed."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=_PACKED if compressed else _PLAIN) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def from_bytes(entry: bytes) -> pa.Table:
    """The table of an Arrow IPC stream.

    >>> from_bytes(to_bytes(pa.table({"start": [1, 2]}))).to_pydict()
    {'start': [1, 2]}
    """
    return pa.ipc.open_stream(pa.py_buffer(entry)).read_all()
