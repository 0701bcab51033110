"""Tables of a state by name, each under a token that no other content ever had.

A reader may hand in a cache that outlives it: what is found there under a token is right, even
after a rollback of the store.
"""

from __future__ import annotations

from uuid import uuid4

import pyarrow as pa

from muntin.state.state import Cache
from muntin.state.store import Store, from_bytes, to_bytes


class Tables:
    """
    >>> from muntin.state.store import MemoryStore
    >>> store, tokens = MemoryStore(), {}
    >>> Tables(store, {}, tokens).put("open", pa.table({"group": [3]}))
    >>> Tables(store, {}, tokens).get("open").to_pydict(), Tables(store, {}, tokens).get("keys")
    ({'group': [3]}, None)
    """

    def __init__(self, store: Store, cache: Cache, tokens: dict[str, str]) -> None:
        self._store, self._cache, self.tokens = store, cache, tokens

    def get(self, name: str) -> pa.Table | None:
        """The table, or None where there is none."""
        token = self.tokens.get(name)
        if token is None:
            return None
        if token not in self._cache:
            entry = self._store.read(name)
            assert entry is not None, "tokens name the tables that there are"
            self._cache[token] = from_bytes(entry)
        return self._cache[token]

    def put(self, name: str, table: pa.Table) -> None:
        """Put a table in the place of any before."""
        self._cache.pop(self.tokens.get(name, ""), None)
        self.tokens[name] = token = uuid4().hex
        self._cache[token] = table
        self._store.write(name, to_bytes(table))

    def drop(self, name: str) -> None:
        """Leave no table of this name."""
        self._cache.pop(self.tokens.pop(name), None)
        self._store.remove(name)
