"""What no message about a job says: the values of its options, since some of them are secrets.

Messages of ours name keys and types. What Spark or another library says may quote a value: it is
taken out of such a text before anyone sees it, in whatever case. Of what is handed on as it is, and
of URLs, in which there may be a password, every longer word is taken out too. The query is no
secret: `muntin explain` prints it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from muntin.jobs.fields import options_of
from muntin.jobs.job import SECTIONS, Job

SAID = ("query", "as_of")
"""Sections whose values messages may show."""

SHORTEST, LONG, WORD = 3, 8, 6
"""Letters of a value worth hiding; of one hidden also within a word; of a part hidden by itself."""

HIDDEN = "…"


def hide(text: str, job: Job, *more: str | None) -> str:
    """A text without the values of a job's options, and without some more.

    >>> from pathlib import Path
    >>> from muntin.jobs.job import Input, Output, Question
    >>> options = {"password": "s3cret-word", "header": "true"}
    >>> source = Input("csv", "cards.csv", options=options)
    >>> asked = Question("ts", ("1 hour",), ("count",))
    >>> job = Job(Path("job.toml"), source, asked, Output("console"))
    >>> hide("true: cards.csv cannot be opened with S3CRET-word", job)
    'true: … cannot be opened with …'
    """
    values = [*_values(job), *((each, True) for each in more if each)]
    secrets = {value for value, _ in values if len(value) >= SHORTEST and not _is_plain(value)}
    for value, by_word in values:
        words = re.split(r"[^\w.-]+", value) if by_word else []
        secrets.update(word for word in words if len(word) >= WORD)
    for secret in sorted(secrets, key=len, reverse=True):
        form = re.escape(secret)
        whole = form if len(secret) >= LONG else rf"(?<!\w){form}(?!\w)"
        text = re.sub(whole, HIDDEN, text, flags=re.IGNORECASE)
    return text


def _values(job: Job) -> Iterator[tuple[str, bool]]:
    """All texts of a job that were given, but those of the query and our own words.

    With each, whether its words are hidden too.
    """
    for name, kind in SECTIONS.items():
        if name in SAID:
            continue
        section = getattr(job, name)
        for option in options_of(kind).values() if section is not None else ():
            value = getattr(section, option.name)
            if isinstance(value, Mapping):
                yield from ((each, True) for each in value.values())
            elif isinstance(value, tuple):
                yield from ((each, False) for each in value)
            elif isinstance(value, str) and not option.choices and value != option.default:
                yield value, "://" in value or option.name == "dsn"


def _is_plain(text: str) -> bool:
    """Whether it says nothing: a truth or a small number."""
    return text.lower() in ("true", "false") or (text.isdigit() and len(text) < SHORTEST + 1)
