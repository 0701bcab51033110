"""What users call: optimize, aggregate, verify, and the plan they get."""

from muntin.api.aggregate import aggregate
from muntin.api.optimize import optimize
from muntin.api.plan import Plan
from muntin.api.verify import verify

__all__ = ["Plan", "aggregate", "optimize", "verify"]
