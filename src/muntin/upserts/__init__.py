"""Upserts without an engine: key rules, types, SQL text, and how PostgreSQL and Delta are written.

The only package that imports psycopg and deltalake.
"""

from muntin.upserts.columns import Column
from muntin.upserts.keys import find_key

__all__ = ["Column", "find_key"]
