"""Commands to a stream as a streaming DataFrame of one column, each the JSON of a command as bytes.

From a control's directory they are its files, each one command. A DataFrame of the user's has
either one column of text, JSON as in the files (muntin.state.control.command), or these columns:

    action       string          register or suspend
    id           string          the window's id; register: its range and slide if null
    window       string          register: 10 minutes, 1 hour/5 minutes, 1 hour/5 minutes@2 minutes
    aggregates   array<string>   may be missing; null for all
    time         timestamp       may be missing; commands of one micro-batch are obeyed in its order

They stay bytes until the buckets read them: Spark can hand only UTF-8 to Python as text.
Nothing else in the directory stops the stream: folders are not taken for partitions, and files that
are unreadable, empty, too large, or gone when a micro-batch is repeated are passed over.
"""

from __future__ import annotations

import re

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from muntin.engines.spark.stream_source import DELAY
from muntin.errors import ControlError
from muntin.state.control import COMMAND_FILE, MOST_BYTES, Control, Folder

NEEDED = {"action": "string", "id": "string", "window": "string"}
OPTIONAL = {"aggregates": "array<string>", "time": "timestamp"}
FILES = "path string, modificationTime timestamp, length bigint, content binary"
"""What Spark's source of whole files gives."""
AS_THEY_ARE = {
    "maxFileAge": "36500d",  # or files of a week before the newest would be forgotten
    "pathGlobFilter": "*.json",
    "recursiveFileLookup": "true",
    "ignoreMissingFiles": "true",
    "ignoreCorruptFiles": "true",
}
"""Options of that source: one file that cannot be read is no reason to stop."""


def commands_of(spark: SparkSession, control: Control) -> DataFrame:
    """The commands of a control, in a column `command`."""
    if control.commands is not None:
        return _from_rows(control.commands)
    assert control.folder is not None, "a control has a directory or a DataFrame"
    return _from_files(spark, control.folder)


def _from_files(spark: SparkSession, folder: Folder) -> DataFrame:
    reader = spark.readStream.format("binaryFile").schema(FILES).options(**AS_THEY_ARE)
    # Spark takes the path as it is, not as a URI, and then for a pattern
    files = reader.load("file:" + re.sub(r"([\\*?{}\[\]])", r"\\\1", str(folder.commands)))
    small = F.col("length").between(1, MOST_BYTES)  # Spark opens no other files
    named = F.col("path").rlike(f"/{folder.commands.name}/{COMMAND_FILE}$")
    return files.where(small & named).select(F.col("content").alias("command"))


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
    types = dict(given.dtypes)
    if list(types.values()) == ["string"]:
        return given.toDF("command").select(F.col("command").cast("binary"))
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
    command = F.to_json(F.struct(key.alias("key"), *columns)).cast("binary")
    return given.select(command.alias("command"))
