"""Write docs/jobs.md from the code: every section and key of a job file.

    .venv/bin/python tools/job_page.py

A test checks that the page is current.
"""

from __future__ import annotations

import re
from dataclasses import MISSING
from pathlib import Path

from muntin.jobs import options_of
from muntin.jobs.job import SECTIONS

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "jobs.md"
EXAMPLE = ROOT / "examples" / "flights" / "flights.toml"

HEAD = """# Jobs: a pipeline in a file

<!-- Written by tools/job_page.py: change the code, not this page. -->

```sh
muntin run JOB.toml            # run it: a table to the end, a stream until Ctrl-C
muntin verify JOB.toml         # compare every row with Spark's own window() queries or frames
muntin explain --job JOB.toml  # show its plan, without Spark
```

A job is a TOML file with the sections below; `[trigger]`, `[history]` and `[spark]` may be left
out, and of `[query]` and `[as_of]` there is one. It is checked before Spark starts: a mistake is
told with the file, the key and what may be there. Values of options, which may be secrets, are in
no message; the query is, as `explain` prints it. Paths without a scheme are taken from the file's
own folder. `--master` and `--remote` run the same file on a cluster. A folder that `mode =
"overwrite"` empties must hold results and nothing else.

A source of files is a table, or with `stream = true` a stream of the files that arrive. While a
stream runs there is a live view: input rate, results per second of each window, the watermark and
its lag, state, late rows; without a terminal there is a line for each micro-batch. Ctrl-C stops
the query; a restart goes on from its checkpoint. A program has the same numbers from
`mt.progress(query)`.

Kafka, Delta and Iceberg need Spark's connector for them, which Spark does not bring along: put its
jars on the class path, with `spark.jars` in `[spark.conf]`. [Production](production.md#connectors)
says which.

For example, `examples/flights/flights.toml`:

```toml
"""

INTRODUCTIONS = {
    "source": "Where the rows come from.",
    "query": "What is asked of them: one row a window.",
    "as_of": "What is asked instead as of each row: [features](as-of.md) over its own trailing "
    "windows. For example, `examples/cards/as_of.toml`.",
    "events": "With `[as_of]`: where events come from, if they are not the rows themselves. The "
    "keys are those of `[source]`.",
    "sink": "Where the results go.",
    "trigger": "When a stream works, and where it keeps its place. Only for streams.",
    "history": "Earlier rows that a stream starts from: [History](history.md). Only for streams.",
    "spark": "Which Spark to run on.",
}


def page() -> str:
    """The page as it should be."""
    parts = [HEAD + EXAMPLE.read_text(encoding="utf-8") + "```\n"]
    for name, section in SECTIONS.items():
        parts.append(f"\n## [{name}]\n\n{INTRODUCTIONS[name]}\n\n")
        if name == "events":
            continue
        parts.append("| key | what it is | allowed | if left out |\n|---|---|---|---|\n")
        for option in options_of(section).values():
            parts.append(
                f"| `{option.name}` | {_prose(option.meaning)} | {option.allowed} | "
                f"{_default(option.default)} |\n"
            )
    return "".join(parts)


def _prose(meaning: str) -> str:
    """The text of the command line as Markdown: no brackets that look like links, real links."""
    return re.sub(r"docs/([\w-]+)\.md", r"[\1](\1.md)", meaning.replace("[", r"\["))


def _default(value: object) -> str:
    if value is MISSING:
        return "**needed**"
    if value is None or value in ((), {}):
        return "none"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"written: {PAGE}")
