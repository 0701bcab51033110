"""Plans as text, pictures and HTML."""

from muntin.report.explanation import Explanation, number, times
from muntin.report.html import html
from muntin.report.outcome import Outcome
from muntin.report.svg import svg
from muntin.report.text import text

__all__ = ["Explanation", "Outcome", "html", "number", "svg", "text", "times"]
