"""Commands to a stream as a streaming DataFrame of one column, each the JSON of a command.

From a control's directory they are the lines of its files. A DataFrame of the user's has either one
column of text, JSON as in the files (muntin.control.command), or these columns:

    action       string          register or suspend
    id           string          the window's id; register: its range and slide if null
    window       string          register: 10 minutes, 1 hour/5 minutes, 1 hour/5 minutes@2 minutes
    aggregates   array<string>   may be missing; null for all
    time         timestamp       may be missing; commands of one micro-batch are obeyed in its order
"""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from muntin.control import Control, Folder
from muntin.errors import ControlError
from muntin.spark.stream_source import DELAY

NEEDED = {"action": "string", "id": "string", "window": "string"}
OPTIONAL = {"aggregates": "array<string>", "time": "timestamp"}
FOREVER = "36500d"
"""Spark's file source forgets files of a week before the newest; a command may be older."""


def commands_of(spark: SparkSession, control: Control) -> DataFrame:
    """The commands of a control, in a column `command`."""
    if control.commands is not None:
        return _from_rows(control.commands)
    assert control.folder is not None, "a control has a directory or a DataFrame"
    return _from_files(spark, control.folder)


def _from_files(spark: SparkSession, folder: Folder) -> DataFrame:
    reader = spark.readStream.format("text").option("maxFileAge", FOREVER)
    lines = reader.option("pathGlobFilter", "*.json").load(folder.commands.as_uri())
    return lines.select(F.col("value").alias("command")).where("trim(command) <> ''")


def _from_rows(given: DataFrame) -> DataFrame:
    if not getattr(given, "isStreaming", False):
        raise ControlError(
            "commands must be a streaming DataFrame, read with spark.readStream; fixed windows "
            "are given as windows=[...]"
        )
    if any(DELAY in (field.metadata or {}) for field in given.schema):
        raise ControlError(
            "commands have a watermark, which would hold back that of the rows: leave it out"
        )
    types = {field.name: field.dataType.simpleString() for field in given.schema}
    if list(types.values()) == ["string"]:
        return given.toDF("command")
    wrong = [
        f"{name} {kind}"
        for name, kind in {**NEEDED, **OPTIONAL}.items()
        if types.get(name, kind if name in OPTIONAL else None) != kind
    ]
    if wrong:
        raise ControlError(
            f"commands have the columns {', '.join(f'{n} {t}' for n, t in types.items())}, and "
            f"need {', '.join(wrong)}; or one column of JSON text"
        )
    columns = [F.col(name) for name in (*NEEDED, "aggregates") if name in types]
    content = F.to_json(F.struct(*columns))
    when = F.unix_micros("time") * 1000 if "time" in types else F.lit(0)
    order = F.lpad(F.coalesce(when, F.lit(0)).cast("string"), 20, "0")
    key = F.concat(order, F.lit("-"), F.md5(content))
    return given.select(F.to_json(F.struct(key.alias("key"), *columns)).alias("command"))
