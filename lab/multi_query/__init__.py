"""Multi-query incremental evaluation: techniques, their Ω, WeaveShare and TriWeave."""
