"""Streams: the state of a bucket of keys, and what each step of it emits, without any engine."""

from muntin.streams.bucket import Bucket, Step
from muntin.streams.controlled import Batch, Controlled, ControlledBucket, ControlledStep
from muntin.streams.spec import Spec
from muntin.streams.store import MemoryStore, Store, from_bytes, to_bytes

__all__ = [
    "Batch",
    "Bucket",
    "Controlled",
    "ControlledBucket",
    "ControlledStep",
    "MemoryStore",
    "Spec",
    "Step",
    "Store",
    "from_bytes",
    "to_bytes",
]
