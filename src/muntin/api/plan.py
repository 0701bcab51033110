"""A plan in the user's hands: look at it, turn it into SQL, run it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from muntin.api.engine import check_shape, engine_of
from muntin.api.stream_options import StreamOptions, check_names
from muntin.cost import Statistics, total
from muntin.cost.statistics import ROWS
from muntin.engines.engine import Engine
from muntin.errors import StrategyError, shortened, shown
from muntin.model.choices import Dialect, Empty, Layout, StreamOperator
from muntin.physical import PhysicalPlan, lower
from muntin.physical.operators.sql import SQL
from muntin.physical.operators.streamed import BATCH_ROWS
from muntin.plan import unshare
from muntin.planner.choice import Choice, choose, predict_unshared
from muntin.planner.found import Found
from muntin.planner.search import find_plan
from muntin.planner.tipping_points import find_tipping_point
from muntin.report import Explanation, html, number, svg, text, times

if TYPE_CHECKING:
    from typing import Unpack

WORTH = 1.1
"""Another plan is said to be better from this ratio on: predictions are not exact."""

Table = TypeVar("Table")
"""A Spark or pandas DataFrame, an Arrow table, a DuckDB relation: what goes in comes out."""


class Plan(Found):
    """The chosen plan of a query: look at it, turn it into SQL, run it.

    mt.optimize and mt.explain make it. `tree` says who is computed from whom, `strategy` and
    `operator` what found it and what runs it, `cost` and `seconds` what it is predicted to take,
    `alternatives` what else was tried. Print it, or show it in a notebook, where it is a picture.

    >>> import muntin as mt
    >>> asked = mt.query("ts", [mt.tumbling("1 minute"), mt.tumbling("1 hour")], [mt.sum("v")])
    >>> plan = mt.optimize(asked, strategy="wcg")
    >>> isinstance(plan, mt.Plan), plan.strategy, plan.query == asked
    (True, 'wcg', True)
    >>> [(node.id, node.parent) for node in plan.tree.nodes]
    [('1 minute', None), ('1 hour', '1 minute')]
    >>> plan.to_sql("duckdb", table="readings").split()[0]
    'WITH'
    """

    __slots__ = ()

    def explain(self) -> str:
        """The tree as it runs: what each node is made of, its share of the time, its operator.

        The headline is the seconds predicted, and how much faster that is than Spark's own
        window() queries; then follow the strategies that were tried. Under a paper's cost, that.
        """
        return text(self.explanation())

    def to_svg(self) -> str:
        """The tree as an SVG picture, as text: write it into a file."""
        return svg(self.explanation())

    def apply(
        self,
        data: Table,
        layout: Layout = "long",
        empty: Empty = "omit",
        *,
        operator: StreamOperator | None = None,
        **stream: Unpack[StreamOptions],
    ) -> Table:
        """Run the plan: on Spark for a Spark DataFrame, else in process on DuckDB.

        A DuckDB relation, an Arrow table or a pandas DataFrame gives the same kind back. With
        layout="wide" there is one row for each (keys, window_end), with a column
        `<aggregate>__<window_id>` for each pair; with empty="fill" there are rows with zeros and
        nulls between a key's first and last window. Both need Spark, and "wide" a batch; a stream
        fills until a key has been silent for its longest window, or for `fill_for`.

        A streaming DataFrame gives a streaming DataFrame; what only it is told is `StreamOptions`,
        and `operator` is "native" or "bucketed". On a batch these change nothing, and a control is
        refused.
        """
        engine = engine_of(data)
        check_shape(engine.name, layout, empty)
        bound, choice = self.bind(engine, data, operator, empty, **stream)
        result: Table = engine.run(choice, bound, layout, empty)
        return result

    def bind(
        self,
        engine: Engine,
        data: object,
        operator: StreamOperator | None = None,
        empty: Empty = "omit",
        **stream: Unpack[StreamOptions],
    ) -> tuple[Any, Choice]:
        """The query bound to the data, and this tree by an operator that can run it there."""
        check_names(stream, StreamOptions)
        bound = engine.bind(data, self.query, empty=empty, **stream)
        planned = self.options.operator if self.options.engine == engine.name else None
        forced = operator if engine.name == "stream" else None
        facts = engine.facts(bound, forced or planned)
        question = replace(self.options, engine=engine.name, facts=facts).question(self.query)
        return bound, choose(self.planned, question, engine.name, facts.forced, facts.refused)

    def replan(
        self, rate: float | None = None, keys: float | None = None, rows: float | None = None
    ) -> Replanned:
        """Whether another plan is better for other statistics, and by how much.

        What is not given stays as it was; with another rate and no rows, the span of time stays.
        """
        old = self.options.statistics
        rate = old.rate if rate is None else rate
        keys = old.keys if keys is None else keys
        asked = Statistics(old.rows if rows is None else rows, keys, rate)
        known = asked if rows is not None else replace(asked, rows=old.span * rate)
        options = replace(self.options, strategy="auto", operator=None, statistics=known)
        new = Plan.of(find_plan(self.query, options))
        if not options.by_seconds:
            now, then = (total(new.model, each.planned) for each in (self, new))
            return Replanned(new, self, now, then, new.model.unit)
        question = options.question(self.query)
        kept = choose(self.planned, question, options.engine, self.operator.name)
        return Replanned(new, self, kept.seconds, new.seconds, "s")

    def to_sql(
        self, dialect: Dialect, table: str = "events", types: Mapping[str, str] | None = None
    ) -> str:
        """The plan as one SQL statement for "spark" or "duckdb", over the `table` of that name.

        `types` are Spark types by column, `{"v": "int"}`: with them the types of results are
        Spark's own to the last digit. What has no SQL is refused: windows that the data decides,
        functions in Python, and what a dialect lacks.
        """
        if self.query.data_windows:
            raise StrategyError(
                f"{self.query.data_windows[0].id!r} is decided by the data and cannot be "
                "written as SQL: use plan.apply(df)"
            )
        if not isinstance(table, str) or not table:
            raise StrategyError(f"table {shown(table)} must be the name of a table, as text")
        if types is not None and not isinstance(types, Mapping):
            raise StrategyError(
                f"types {shown(types)} must be types by column, such as {{'v': 'int'}}"
            )
        from muntin.dialects import render

        return render(self.as_sql(), self.query, dialect, table, types)

    def as_sql(self) -> PhysicalPlan:
        """The plan that its SQL text runs."""
        return lower(SQL.rewrite(self.planned, self.options.question(self.query)))

    def explanation(self) -> Explanation:
        """All that there is to say about the plan."""
        question, judged = self.options.question(self.query), None
        direct, cost = None, self.cost
        if not self.options.by_seconds and not self.query.data_windows:
            judged, cost = self.model, total(self.model, self.tree)
            direct = total(self.model, unshare(self.planned))
        return Explanation(
            self.strategy,
            self.choice,
            question,
            self.alternatives,
            predict_unshared(question, self.options.engine),
            judged,
            cost,
            direct,
            (*self._basis(), *self._rewritten(), *self._in_order(), *self._direct()),
        )

    def _basis(self) -> list[str]:
        """What the operator does, and what the prediction rests on."""
        known, constants = self.options.statistics, self.options.prices.origin
        question = self.options.question(self.query)
        own = self.operator.notes(self.choice.physical, question)
        notes = [f"{self.operator.name}: {self.operator.card}", *own]
        if not self.options.by_seconds:
            return notes
        if self.options.engine == "stream":
            notes.append(f"predicted for {replace(known, rows=ROWS)} in batches of {BATCH_ROWS:,}")
        else:
            notes.append(f"predicted for {known}; constants {constants}")
        if self.choice.regret is not None:
            notes.append(self._unknown(self.choice.regret))
        if self.options.engine == "stream":
            point = find_tipping_point(self.planned, self.choice, question)
            notes += [] if point is None else [str(point)]
        if not self.query.data_windows:
            refused = self.choice.refusals.items()
            notes += [f"{name} cannot run it: {reason}" for name, reason in refused]
        return notes

    def _unknown(self, regret: float) -> str:
        """What is not known of the data, and what the choice risks by that."""
        words = {"rows": "rows=", "keys": "distinct_keys=", "rate": "rate="}
        names = [words[name] for name in self.options.statistics.unknown]
        return (
            f"unknown: {', '.join(names)}; chosen to be safe, at most {times(regret)} "
            "the best choice whatever they are"
        )

    def _rewritten(self) -> list[str]:
        """A note where the operator runs another tree than the strategy planned."""
        if self.tree == self.planned:
            return []
        own = f"{self.operator.name} runs the plan of {self.strategy} in its own form, as shown"
        if self.options.by_seconds or self.query.data_windows:
            return [own]
        return [f"{own}; as planned it costs {number(self.cost)} {self.model.unit}"]

    def _in_order(self) -> list[str]:
        """A note on the aggregates for which records are sorted."""
        names = ", ".join(a.name for a in self.query.aggregates if a.function.ordered)
        by = ", ".join((self.query.time, *self.query.order_by))
        return [f"records in the order of {by}: {names}"] if names else []

    def _direct(self) -> list[str]:
        """Notes on the aggregates that are not shared, or not by every Spark."""
        direct = ", ".join(shortened(a.name) for a in self.query.direct)
        late = [a for a in self.query.aggregates if a.function.since > (4, 0)]
        notes = [f"computed directly, beside the shared ones: {direct}"] if direct else []
        if len(self.query.direct) == len(self.query.aggregates):
            notes = ["none of the aggregates has partials: Spark computes every window by itself"]
        question = self.options.question(self.query)
        if self.operator.left_to_engine(question):
            expanded = ", ".join(shortened(a.name) for a in self.operator.left_to_engine(question))
            notes.append(f"shared by expand, beside the {self.operator.name}: {expanded}")
        return notes + [
            f"{shortened(a.name)} is shared from Spark {'.'.join(map(str, a.function.since))} on, "
            "and computed directly before"
            for a in late
        ]

    def __repr__(self) -> str:
        return self.explain()

    def _repr_html_(self) -> str:
        return html(self.explanation())


@dataclass(frozen=True, slots=True, repr=False)
class Replanned:
    """The plan that would be chosen now, and what both would cost now.

    A plan is chosen for a rate and a number of keys; as these change, another may win (the
    factor-windows paper leaves it as future work to keep track of the rates of events). Both plans
    are priced under the same new statistics, by one model.
    """

    plan: Plan
    before: Plan
    now: float
    then: float
    unit: str

    @property
    def ratio(self) -> float:
        """How many times more the present plan costs than the one that would be chosen now."""
        return self.now / self.then if self.then else 1.0

    @property
    def better(self) -> bool:
        """Whether changing the plan is worth it."""
        return self.ratio >= WORTH

    def __repr__(self) -> str:
        known = self.plan.options.statistics
        new, kept = (f"{p.strategy} by {p.operator.name}" for p in (self.plan, self.before))
        if not self.better:
            return f"keep {kept}: {number(self.now)} {self.unit} now, for {known}"
        return (
            f"change to {new}: {times(self.ratio)} better than {kept} "
            f"({number(self.then)} against {number(self.now)} {self.unit}) for {known}"
        )
