"""muntin explain: the plan for some windows or an SQL query, without starting Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from muntin.aggregates import parse_aggregate
from muntin.api import optimize
from muntin.api.job_features import explain_features
from muntin.api.optimize import plan_job
from muntin.errors import QueryError
from muntin.jobs import read_job, report_errors
from muntin.model.choices import Dialect, Strategy
from muntin.model.query import Query, query
from muntin.model.window_text import parse_any_window


def explain(
    window: Annotated[
        list[str] | None,
        typer.Option(
            "--window", "-w", help="'1 hour/5 minutes', 'session 1 hour', '100/10 records'."
        ),
    ] = None,
    aggregate: Annotated[
        list[str] | None,
        typer.Option("--aggregate", "-a", help="e.g. 'min(t)' or 'avg(t) as mean'."),
    ] = None,
    sql: Annotated[
        Path | None, typer.Option(help="A file with an Azure Stream Analytics query instead.")
    ] = None,
    job: Annotated[Path | None, typer.Option(help="A job file instead, see docs/jobs.md.")] = None,
    strategy: Annotated[str, typer.Option(help="A strategy's name, or auto.")] = "auto",
    rate: Annotated[float | None, typer.Option(help="Events per second over all keys.")] = None,
    keys: Annotated[float | None, typer.Option(help="How many distinct keys there are.")] = None,
    cost: Annotated[str, typer.Option(help="seconds, rate, paper or weave.")] = "seconds",
    engine: Annotated[
        str | None, typer.Option(help="spark (a batch), stream or sql; sql with --to-sql.")
    ] = None,
    operator: Annotated[
        str | None, typer.Option(help="Force how it runs: see docs/operators.md.")
    ] = None,
    to_sql: Annotated[
        str | None, typer.Option(help="Print the rewritten query, too: spark or duckdb.")
    ] = None,
    svg: Annotated[Path | None, typer.Option(help="Write the plan as a picture, too.")] = None,
) -> None:
    """Show who is computed from whom, at what cost, and every strategy tried."""
    if job is not None:
        if sql is not None or window or aggregate:
            raise QueryError("a job file has its own query: give --job alone")
        read, table = read_job(job), "events"
        if read.as_of is not None:
            if to_sql is not None or svg is not None:
                raise QueryError(f"{job}: features of [as_of] have no SQL text and no picture")
            with report_errors(read):
                typer.echo(explain_features(read))
            return
        with report_errors(read):
            plan = plan_job(read)
    else:
        asked, table = _read_query(window or [], aggregate or ["count"], sql)
        where = engine or ("spark" if to_sql is None else "sql")
        words: Any = (cost, operator, where)  # the user's: optimize checks them
        plan = optimize(asked, cast(Strategy, strategy), rate, keys, *words)
    typer.echo(plan.explain())
    if to_sql is not None:
        typer.echo(f"\n{plan.to_sql(cast(Dialect, to_sql), table)}")
    if svg is not None:
        _write_picture(svg, plan.to_svg())
        typer.echo(f"\npicture: {svg}")


def _write_picture(file: Path, svg: str) -> None:
    """Write a picture, in the place of another picture but of no other file."""
    try:
        if file.exists() and not file.read_bytes().lstrip().startswith(b"<svg"):
            raise QueryError(f"{file} already exists and is not a picture: give another name")
        file.write_text(svg, encoding="utf-8")
    except OSError as error:
        raise QueryError(f"{file} cannot be written: {error.strerror}") from None


def _read_query(windows: list[str], aggregates: list[str], sql: Path | None) -> tuple[Query, str]:
    """The query and the name of its table."""
    if sql is not None and windows:
        raise QueryError("give either --sql or --window, not both")
    if sql is None:
        if not windows:
            raise QueryError("no windows: give --window '1 hour/5 minutes', or --sql FILE")
        parsed = map(parse_any_window, windows), map(parse_aggregate, aggregates)
        return query("time", *parsed), "events"
    from muntin.dialects import parse_statement

    try:
        text = sql.read_text(encoding="utf-8")
    except OSError as error:
        raise QueryError(f"{sql} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise QueryError(f"{sql} is not text in UTF-8: give a file with a query") from None
    statement = parse_statement(text)
    return statement.query, statement.table
