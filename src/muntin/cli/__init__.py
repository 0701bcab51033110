"""The command line."""

from muntin.cli.app import app

__all__ = ["app"]
