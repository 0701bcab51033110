"""python -m muntin: the command line."""

from muntin.cli import app

app()
