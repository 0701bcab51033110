"""What users call: optimize, aggregate, verify, and the plan they get."""

from muntin.api import sinks
from muntin.api.aggregate import aggregate, explain
from muntin.api.as_of import as_of
from muntin.api.history import History
from muntin.api.nested import distinct, join
from muntin.api.optimize import optimize
from muntin.api.plan import Plan
from muntin.api.plans import Plans
from muntin.api.spark import demo_flights, progress
from muntin.api.sql import parse_sql, sql
from muntin.api.statistics import statistics
from muntin.api.stream_options import PlanOptions, StreamOptions
from muntin.api.verify import verify

__all__ = [
    "History",
    "Plan",
    "PlanOptions",
    "Plans",
    "StreamOptions",
    "aggregate",
    "as_of",
    "demo_flights",
    "distinct",
    "explain",
    "join",
    "optimize",
    "parse_sql",
    "progress",
    "sinks",
    "sql",
    "statistics",
    "verify",
]
