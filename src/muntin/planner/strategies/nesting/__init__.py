"""Strategies by subsumption: windows nest in groups."""
