"""What is asked: durations, windows, queries, and the words that options take; frozen values."""
