"""Job files: what is right is read, and every mistake says the file, the key and the remedy."""

import copy
import tomllib
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import muntin as mt
from muntin.api.job_features import explain_features
from muntin.api.optimize import plan_job
from muntin.jobs import JobError, options_of, read_job
from muntin.jobs.job import SECTIONS, reader_options, writer_options
from muntin.jobs.job_query import parse_as_of, parse_query
from muntin.jobs.reader import check_job
from muntin.model.as_of import as_of_query
from muntin.model.data_windows import DataWindow
from muntin_testing.reached import Reached

STREAM = """
[source]
format = "json"
path = "."
stream = true
schema = "ts TIMESTAMP, device STRING, t DOUBLE"

[query]
time = "ts"
keys = ["device"]
windows = ["10 minutes", "long = 1 hour/10 minutes"]
aggregates = ["min(t) as coldest", "count(t) filter (where t > 30) as hot"]
watermark = "10 minutes"

[sink]
format = "parquet"
path = "out"

[trigger]
available_now = true
checkpoint = "checkpoint"

[spark.conf]
spark.sql.shuffle.partitions = 2
"""


FEATURES: dict[str, Any] = {
    "query": None,
    "as_of": {
        "time": "ts",
        "keys": ["device"],
        "windows": ["1 hour", "day = 24 hours delayed by 5 minutes", "10 rows", "lifetime"],
        "aggregates": ["min(t) as coldest", "count(t) filter (where t > 30) as hot"],
        "watermark": "10 minutes",
    },
}
"""What takes the place of the query: what is asked as of each row."""


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "job.toml"
    file.write_text(text, encoding="utf-8")
    return file


def table(**changes: Any) -> dict[str, Any]:
    """The stream above with changes, as section__key=value; None takes the key away."""
    found = copy.deepcopy(tomllib.loads(STREAM))
    for place, value in changes.items():
        section, _, key = place.partition("__")
        if not key:
            found[section] = value
        elif value is None:
            found[section].pop(key, None)
        else:
            found.setdefault(section, {})[key] = value
    return {name: section for name, section in found.items() if section is not None}


def test_a_job_asks_as_of_each_row(tmp_path: Path) -> None:
    job = check_job(table(**FEATURES), tmp_path / "job.toml")
    windows: list[Any] = [
        "1 hour",
        mt.trailing("1 day", delay="5 minutes", id="day"),
        mt.trailing(rows=10),
        mt.lifetime(),
    ]
    own = [mt.min("t").alias("coldest"), mt.count("t").filter("t > 30").alias("hot")]
    asked = parse_as_of(job)
    assert asked == as_of_query("ts", windows, own, "device")
    assert [frame.id for frame in asked.frames] == ["1 hour", "day", "10 rows", "lifetime"]
    assert explain_features(job).splitlines()[:4] == [
        "as of ts: frames, on a stream of Spark",
        "",
        "rows wait until the watermark has passed them, then come out once; NumPy on each bucket "
        "of keys",
        "the state keeps the events of the last 1445 minutes, the last 10 events of each key, one "
        "partial of each key",
    ]
    apart = {**tomllib.loads(STREAM)["source"], "path": ".."}
    job = check_job(
        table(**copy.deepcopy(FEATURES), as_of__events_time="at", events=apart),
        tmp_path / "job.toml",
    )
    assert parse_as_of(job) == as_of_query(
        "ts", windows, own, "device", events_time="at", apart=True
    )
    assert reader_options(job, "events")["path"] == str(tmp_path / "..")
    assert "as of ts: frames, on two streams of Spark" in explain_features(job)
    assert not job.as_table().input("events").streaming


def test_a_job_is_its_query_and_what_spark_is_handed(tmp_path: Path) -> None:
    job = read_job(written(tmp_path, STREAM))
    assert parse_query(job) == mt.query(
        "ts",
        [mt.tumbling("10 minutes"), mt.hopping("1 hour", "10 minutes", id="long")],
        [mt.min("t").alias("coldest"), mt.count("t").filter("t > 30").alias("hot")],
        keys=["device"],
    )
    assert [w.id for w in parse_query(job).windows] == ["10 minutes", "long"]
    assert job.source.streaming
    assert job.spark.conf == {"spark.sql.shuffle.partitions": "2"}
    assert writer_options(job) == {
        "path": str(tmp_path / "out"),
        "checkpointLocation": str(tmp_path / "checkpoint"),
    }


def test_durations_may_be_short(tmp_path: Path) -> None:
    short = STREAM.replace("long = 1 hour/10 minutes", "long = 1h/10m").replace(
        "10 minutes", "10min"
    )
    (tmp_path / "short").mkdir()
    jobs = [read_job(written(tmp_path, STREAM)), read_job(written(tmp_path / "short", short))]
    assert short.count("10min") == 2
    assert parse_query(jobs[0]) == parse_query(jobs[1])


def test_an_interval_reaches_spark_in_its_own_words(tmp_path: Path) -> None:
    from muntin.engines.spark.job import start

    given = {"trigger__interval": "1m30s", "trigger__available_now": None}
    job = check_job(table(source__path=str(tmp_path), **given), tmp_path / "job.toml")
    results = MagicMock()
    writer = results.writeStream.outputMode.return_value
    for step in ("options", "queryName", "trigger", "format"):
        getattr(writer, step).return_value = writer
    start(results, job, lambda rows, title: None)
    writer.trigger.assert_called_once_with(processingTime="90 seconds")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"history": {"path": "past"}}, "history.until is missing"),
        ({"history": {"until": "2026-01-01T00:00:00Z"}}, "history.path is missing"),
        ({"history": {"path": "past", "until": "2026-01-01"}}, "instant with its zone"),
        ({"source__stream": False, "trigger": None}, "history.path is for streams"),
        (
            {"query__output": "complete", "sink": {"format": "console"}},
            "query.output is 'complete', which cannot start",
        ),
        ({"query__operator": "native"}, "query.operator is 'native', which cannot start"),
        ({"sink__path": "past"}, "sink.path is where the rows are read from"),
    ],
)
def test_history_needs(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    past = {"path": "past", "until": "2026-01-01T00:00:00+01:00"}
    given = {"source__path": str(tmp_path), "history": past}
    assert check_job(table(**given), tmp_path / "job.toml").history.given
    with pytest.raises(JobError, match=said):
        check_job(table(**given | changes), tmp_path / "job.toml")


def test_explain_says_what_a_job_reads_of_its_history(tmp_path: Path) -> None:
    """One tumbling window, which the stream would else leave to Spark's own aggregation."""
    past = {"path": "past", "until": "2026-01-02T01:30:00+01:00"}
    given: Any = {"source__path": str(tmp_path), "query__windows": ["1 hour"]}
    job = check_job(table(**given), tmp_path / "job.toml")
    assert plan_job(job).operator.name == "native"
    plan = plan_job(check_job(table(**given, history=past), tmp_path / "job.toml"))
    assert plan.operator.name == "bucketed"
    read = "one batch job groups the table's rows from 2026-01-02T00:00:00Z until"
    assert f"starts from history: {read} 2026-01-02T00:30:00Z into" in plan.explain()
    filled = {**given, "query__empty": "fill", "query__fill_for": "3 hours"}
    plan = plan_job(check_job(table(**filled, history=past), tmp_path / "job.toml"))
    assert "rows from 2026-01-01T21:00:00Z until 2026-01-02T00:30:00Z into" in plan.explain()
    features = check_job(table(**copy.deepcopy(FEATURES), history=past), tmp_path / "job.toml")
    said = explain_features(features)
    assert "starts from history: all events of the table until 2026-01-02T00:30:00Z" in said
    hour = {**copy.deepcopy(FEATURES), "as_of__windows": ["1 hour"], "history": past}
    said = explain_features(check_job(table(**hour), tmp_path / "job.toml"))
    assert "from 2026-01-01T23:30:00Z until 2026-01-02T00:30:00Z" in said


def test_a_control_goes_with_every_kind_of_windows(tmp_path: Path) -> None:
    given: dict[str, Any] = {"source__path": str(tmp_path), "query__control": "c"}
    for window, operator in (("1 hour", "controlled"), ("session 1 hour", "records")):
        job = check_job(table(**given, query__windows=[window]), tmp_path / "job.toml")
        assert plan_job(job).operator.name == operator
    features = {**copy.deepcopy(FEATURES), "as_of__control": "c", "source__path": str(tmp_path)}
    said = explain_features(check_job(table(**features), tmp_path / "job.toml"))
    assert "windows come and go by a control: one row for each row and window" in said
    sink = {"format": "postgres", "dsn": "env:X", "table": "t", "key": ["device", "ts"]}
    changed = table(**copy.deepcopy(features), sink=sink)
    with pytest.raises(mt.MuntinError, match=r"sink\.key lacks 'window_id': with a control"):
        check_job(changed, tmp_path / "job.toml")
    batch = table(**copy.deepcopy(features), source__stream=False)
    with pytest.raises(mt.MuntinError, match=r"as_of\.control is for streams"):
        check_job(batch, tmp_path / "job.toml")


def test_windows_that_the_data_decides_are_written_as_their_ids(tmp_path: Path) -> None:
    windows: list[DataWindow | mt.Window] = [
        mt.session("30 minutes", id="visit"),
        mt.session("1 hour", "4 hours"),
        mt.count_window(100, 10),
        mt.count_window(5),
        mt.hopping_by("km / 2", 2.5, 1),
        mt.snapshot(),
        mt.tumbling("1 hour"),
    ]
    texts = ["visit = session 30 minutes", *(window.id for window in windows[1:])]
    changes = {"query__windows": texts, "query__order_by": ["t"], "source__path": str(tmp_path)}
    job = check_job(table(**changes), tmp_path / "job.toml")
    found = parse_query(job)
    assert [*found.data_windows, *found.windows] == windows
    assert [w.id for w in found.data_windows] == [w.id for w in windows[:-1]]
    assert found.order_by == ("t",)
    plan = plan_job(job)
    assert (plan.strategy, plan.operator.name) == ("cutty", "records")
    assert "records wait until the watermark" in plan.explain()


def test_kafka_is_handed_what_it_needs() -> None:
    kafka = {"format": "kafka", "topic": "events", "servers": "broker:9092"}
    job = check_job(
        table(
            source={**kafka, "schema": "ts TIMESTAMP", "options": {"maxOffsetsPerTrigger": 1000}},
            sink={**kafka, "topic": "results"},
        ),
        Path("job.toml"),
    )
    assert reader_options(job) == {
        "kafka.bootstrap.servers": "broker:9092",
        "subscribe": "events",
        "startingOffsets": "earliest",
        "maxOffsetsPerTrigger": "1000",
    }
    assert writer_options(job) == {
        "kafka.bootstrap.servers": "broker:9092",
        "topic": "results",
        "checkpointLocation": "checkpoint",
    }


BATCH = {"source__stream": False, "trigger": None}
MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"sorce": {}}, "unknown section [sorce]: did you mean 'source'?"),
    ({"watermark": "1 hour"}, "watermark belongs into [query]"),
    ({"source": None}, "section [source] is missing: it needs format"),
    ({"source": "parquet"}, "source is a text: it must be a section, [source]"),
    ({"source__fromat": "csv"}, "unknown key source.fromat: did you mean 'format'?"),
    (
        {"source__watermark": "1 hour"},
        "unknown key source.watermark: watermark belongs into [query]",
    ),
    ({"source__format": "parqet"}, "source.format is unknown: did you mean 'parquet'?"),
    ({"source__format": 3}, "source.format is a number: it must be one of parquet, csv"),
    ({"source__path": None}, "source.path is missing: source.format = 'json' reads a file"),
    ({"source__path": "nowhere"}, "source.path leads to no file or folder, seen from ."),
    ({"source__stream": "yes"}, "source.stream is a text: it must be true or false"),
    ({"source": {"format": "kafka"}}, "source.topic is missing"),
    ({"source": {"format": "socket"}}, "source.port is missing"),
    ({"source": {"format": "rate", "path": "x"}}, "source.format = 'rate' reads no files"),
    ({"source": {"format": "rate", "rows_per_second": -1}}, "must be a whole number more than 0"),
    ({"source": {"format": "socket", "port": 9}}, "source.schema is missing"),
    ({"source": {"format": "socket", "port": 1.5}}, "source.port must be a whole number"),
    (
        {"source__port": 9},
        "source.port is given, but source.format = 'json' has none: leave it out",
    ),
    (
        {"source__path": __file__},
        "source.path is a file, and a stream reads a folder of files",
    ),
    ({"sink__path": "."}, "sink.path is where the rows are read from: give the results"),
    (
        {"sink": {"format": "console", "rows": 0.5}},
        "sink.rows must be a whole number more than 0, at most",
    ),
    ({"source__options": {"a": [1]}}, "source.options.a is a list: it must be a text, number"),
    ({"query__time": None}, "query.time is missing: the timestamp column"),
    ({"query__windows": ["10 parsecs"]}, "query.windows has, as entry 1, '10 parsecs': "),
    ({"query__windows": []}, "no windows"),
    ({"query__windows": [10]}, "query.windows has, as entry 1, a number: it must be a text"),
    (
        {"query__aggregates": ["mim(t)"]},
        "query.aggregates has, as entry 1, 'mim(t)': unknown aggregate 'mim': did you",
    ),
    ({"query__aggregates": ["min(t)", "min(t)"]}, "aggregate name 'min(t)' is given 2 times"),
    (
        {"query__windows": ["x = 5/9 records"]},
        "query.windows has, as entry 1, 'x = 5/9 records': slide 9 is longer than range 5",
    ),
    (
        {"query__windows": ["session 1 hour"], "query__output": "update"},
        "query.output is 'update', and which rows a window holds that the data decides",
    ),
    (
        {"query__windows": ["session 1 hour"], "query__control": "c", "query__grain": "1 second"},
        "query.grain is for periodic windows, whose rows are pre-aggregated",
    ),
    ({"query__watermark": None}, "query.watermark is missing: a stream that appends"),
    ({"query__grain": "1 second"}, "query.grain is for streams with a control: give query.con"),
    ({"query__control": "c", "query__grain": "soon"}, "query.grain is 'soon': "),
    ({"query__control": "c", "query__output": "complete"}, "query.control needs a watermark, and"),
    ({"query__watermark": "soon"}, "query.watermark is 'soon': "),
    ({"query__watermark": "-1 hour"}, "query.watermark must be more than zero"),
    (
        {"query__strategy": "weave-shar"},
        "query.strategy is 'weave-shar': did you mean 'weave-share'?",
    ),
    ({"query__layout": "wide"}, "query.layout is 'wide', which a stream does not have"),
    ({"query__fill_for": "1 hour"}, "query.fill_for is for empty = 'fill'"),
    (
        {"query__empty": "fill", "query__allowed_lateness": "1 hour"},
        "query.allowed_lateness cannot go with empty = 'fill'",
    ),
    ({"query__allowed_lateness": "0 seconds"}, "query.allowed_lateness must be more than zero"),
    ({"query__future": "soon"}, "query.future is 'soon': "),
    ({"sink__late_to": "out"}, "sink.late_to meets the folder of the results"),
    (
        {"sink": {"format": "memory", "name": "t", "late_to": "l"}},
        "sink.late_to cannot go with sink.format = 'memory'",
    ),
    ({"query__output": "update"}, "query.output is 'update', but files are never changed"),
    ({"query__rate": True}, "query.rate is a boolean: it must be a number"),
    ({"sink__format": "sqlite"}, "sink.format is unknown: known: console, parquet"),
    ({"sink__path": None}, "sink.path is missing: sink.format = 'parquet' writes a folder"),
    ({"sink": {"format": "memory"}}, "sink.name is missing"),
    ({"sink": {"format": "kafka", "topic": "x"}}, "sink.servers is missing"),
    ({"trigger__checkpoint": None}, "trigger.checkpoint is missing: a stream into parquet"),
    ({"trigger__interval": "10 seconds"}, "trigger.interval and trigger.available_now are both"),
    ({"source__stream": False}, "is for streams, and this source is read as a table"),
    (
        {"source": {"format": "rate"}, "query__time": "timestamp"},
        "trigger.available_now never ends with source.format = 'rate'",
    ),
    ({"spark": {"master": "local", "remote": "sc://x"}}, "spark.remote and spark.master are both"),
    ({"query": None}, "section [query] is missing: it needs time, windows, aggregates, or [as_of]"),
    ({"as_of": FEATURES["as_of"]}, "sections [query] and [as_of] are both given: keep one"),
    ({"events": {"format": "rate"}}, "events is a section for [as_of], and this job has [query]"),
    (
        {**FEATURES, "events": {"format": "json", "path": "."}},
        "events.stream makes events a table, and rows are a stream: read both as streams or",
    ),
    ({**FEATURES, "events": {"format": "json"}}, "events.path is missing: events.format = 'json'"),
    (
        {**FEATURES, "sink": {"format": "delta", "path": "out", "mode": "upsert"}},
        "sink.key is missing: rows with features have no key of their own",
    ),
    *(
        ({"query": None, "as_of": {**FEATURES["as_of"], **more}}, message)
        for more, message in (
            ({"time": 1}, "as_of.time is a number: it must be text"),
            ({"windows": ["1 parsec"]}, "as_of.windows has, as entry 1, '1 parsec': "),
            ({"windows": ["0 rows"]}, "as_of.windows has, as entry 1, '0 rows': rows 0 must be"),
            ({"windows": ["1 hour", "1h"]}, "as_of is not valid: windows '1 hour' and '1 h"),
            ({"aggregates": ["mim(t)"]}, "as_of.aggregates has, as entry 1, 'mim(t)': unknown"),
            ({"closed": "lft"}, "as_of.closed is unknown: did you mean 'left'?"),
            ({"output": "update"}, "as_of.output is unknown: known: append, arrival"),
            ({"events_time": "at"}, "as_of.events_time is given, but there is no section [events]"),
            ({"watermark": "soon"}, "as_of.watermark is 'soon': "),
            ({"strategy": "auto"}, "unknown key as_of.strategy: strategy belongs into [query]"),
        )
    ),
    (
        {"query": None, "as_of": {k: v for k, v in FEATURES["as_of"].items() if k != "watermark"}},
        "as_of.watermark is missing: a stream must know how late rows may be",
    ),
]


@pytest.mark.parametrize(("changes", "message"), MISTAKES, ids=[str(m[0]) for m in MISTAKES])
def test_a_mistake_is_told_with_file_key_and_remedy(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(JobError) as caught:
        check_job(table(**changes), Path("job.toml"))
    assert str(caught.value).startswith("job.toml: ")
    assert message in str(caught.value)


def test_no_value_of_a_wrong_type_gets_through_or_breaks_the_reader() -> None:
    """Any value in place of any option gives a job or a JobError that names the option."""
    reached = Reached()
    scalars = (
        st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.text(max_size=5)
    )
    right = st.sampled_from(
        ["card", "auto", "append", "parquet", "json", "10 seconds", True, 2, ["card"], ["1 hour"]]
    )
    wrong = scalars | st.lists(scalars, max_size=2) | st.dictionaries(st.text(max_size=3), scalars)
    values = st.one_of(right, right, wrong)  # what suits one option is wrong for most others
    places = [(section, option) for section in SECTIONS for option in options_of(SECTIONS[section])]

    @settings(max_examples=300)
    @given(st.sampled_from(places), values)
    def each(place: tuple[str, str], value: Any) -> None:
        section, option = place
        base = FEATURES if section in ("as_of", "events") else {}
        if section == "events":
            base = {**base, "events": tomllib.loads(STREAM)["source"]}
        given = table(**copy.deepcopy(base))
        if value is not None:
            given.setdefault(section, {})[option] = value
        try:
            job = check_job(given, Path("job.toml"))
        except JobError as error:
            said = str(error)
            assert f"{section}.{option}" in said or "is not valid" in said, said
            reached["refused"] += 1
            return
        kept = getattr(getattr(job, section), option)
        if value is not None:  # else the file has none, or that of the example
            asked = tuple(value) if isinstance(value, list) else value
            if isinstance(value, dict):  # values of a table become texts
                asked = {
                    k: str(v).lower() if isinstance(v, bool) else str(v) for k, v in value.items()
                }
            assert kept in (asked, (asked,)), place  # one text is a list of one
            reached["taken"] += 1

    each()
    reached.at_least(3, "refused", "taken")


def test_files_that_are_no_job(tmp_path: Path) -> None:
    with pytest.raises(JobError, match=r"nowhere\.toml cannot be read"):
        read_job(tmp_path / "nowhere.toml")
    with pytest.raises(JobError, match=r"is not TOML: .*line 1.*; texts stand in quotes"):
        read_job(written(tmp_path, "source = csv"))
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(JobError, match="is not text in UTF-8"):
        read_job(tmp_path / "bytes.toml")


def test_a_table_needs_no_watermark_and_may_be_wide(tmp_path: Path) -> None:
    job = check_job(
        table(**BATCH, query__watermark=None, query__layout="wide"), tmp_path / "job.toml"
    )
    assert not job.source.streaming
    assert job.query is not None
    assert job.query.layout == "wide"
