"""Experiments of the papers, one a file: each prints its tables and writes CSV and PNG."""
