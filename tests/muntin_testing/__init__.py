"""What tests share: strategies for windows and values, brute force, and Spark as the judge.

`pythonpath` in pyproject.toml makes this package importable from every test file.
"""
