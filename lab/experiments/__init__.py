"""Experiments of the papers, one a file: each prints its tables and writes CSV and PNG."""

from lab.experiments.options import Options
from lab.experiments.registry import EXPERIMENTS, experiment_named

__all__ = ["EXPERIMENTS", "Options", "experiment_named"]
