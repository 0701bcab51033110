"""docs/architecture.md is true: paths, names, packages, layers, operators, walks, pictures."""

import importlib.util
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType, ModuleType

import pytest
from pyspark.sql import DataFrame, SparkSession

import muntin as mt
from muntin.physical import OPERATORS

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "muntin"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PATH = re.compile(r"[\w./<>-]*/[\w./<>-]*|[\w<>-]+\.(?:py|md|toml|yml)")
ENTRY_OF_STATE = re.compile(r"\d+/\d+")
OPTIMIZED = 0x1
"""The flag of code that is a function's, not a module's or a class's."""


def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "architecture_pictures", ROOT / "tools" / "architecture_pictures.py"
    )
    assert spec
    assert spec.loader
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


TOOL = tool()


def section(title: str) -> str:
    """The text below a heading."""
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def codes(text: str) -> list[str]:
    """What stands in backticks."""
    return re.findall(r"`([^`\n]+)`", text)


def is_path(code: str) -> bool:
    return bool(PATH.fullmatch(code)) and not ENTRY_OF_STATE.fullmatch(code)


def places(path: str) -> list[Path]:
    """The files and folders of a path; <name> stands for any."""
    pattern = re.sub(r"<\w+>", "*", path)
    return [*SOURCE.glob(pattern), *ROOT.glob(pattern)]


def rows(text: str) -> list[list[str]]:
    """The cells of all tables, without their heads."""
    lines = re.findall(r"^\| (.*) \|$", text, re.MULTILINE)
    cells = [line.split(" | ") for line in lines]
    return [row for row in cells if row[0] not in ("file", "package", "to add", "operator")]


def test_every_path_exists() -> None:
    paths = {code for code in codes(PAGE) if is_path(code)}
    assert len(paths) > 100
    assert sorted(path for path in paths if not places(path)) == []


def test_every_public_name_exists() -> None:
    names = set(re.findall(r"\bmt\.(\w+)", PAGE))
    assert len(names) >= 5
    assert names <= set(mt.__all__)


def test_names_beside_a_file_are_in_it() -> None:
    checked, wrong = 0, []
    for row in rows(section("To add something")):
        for part in "<br>".join(row[1:]).split("<br>"):
            files = [f for code in codes(part) if is_path(code) for f in places(code)]
            texts = [f.read_text(encoding="utf-8") for f in files if f.is_file()]
            names = [code for code in codes(part) if re.fullmatch(r"[\w-]+", code)]
            if texts and not part.startswith("as a batch operator"):
                checked += len(names)
                wrong += [(n, part) for n in names if not any(n in text for text in texts)]
    assert checked > 25
    assert wrong == []


def test_every_package_is_in_the_table() -> None:
    named = [codes(row[0])[0] for row in rows(section("Packages"))]
    packages = {p.parent.relative_to(SOURCE) for p in SOURCE.rglob("__init__.py")} - {Path()}
    assert set(named) == {str(p) for p in packages} | {"lab", "demo", "errors.py"}
    assert len(named) == len(set(named))


def test_packages_are_in_the_order_of_the_layers() -> None:
    named = [codes(row[0])[0].removesuffix(".py") for row in rows(section("Packages"))]
    layers = [name for row in TOOL.layers() for name in row]
    assert [name for name in named if "/" not in name and name != "demo"] == layers


def test_packages_import_what_the_table_allows() -> None:
    layers = [name for row in TOOL.layers() for name in row]
    checked = 0
    for row in rows(section("Packages")):
        package, allowed = codes(row[0])[0], codes(row[2])
        if package in layers and allowed:
            below = set(layers[layers.index(allowed[-1]) + 1 :]) if "below" in row[2] else set()
            assert TOOL.imports_of(package)[0] <= {*allowed, *below}, package
            checked += 1
    assert checked > 10


def test_every_operator_is_named() -> None:
    named = section("Packages").split("The operators, each in")[1].split(". [")[0]
    known = {operator.name for own in OPERATORS.values() for operator in own}
    assert {code for code in codes(named) if not is_path(code)} == known | {"sql"}


@pytest.mark.parametrize("name", TOOL.PICTURES)
def test_pictures_are_current(name: str) -> None:
    drawn = (ROOT / "docs" / "images" / name).read_text(encoding="utf-8")
    assert drawn == TOOL.PICTURES[name](), "run .venv/bin/python tools/architecture_pictures.py"


def files_called(call: Callable[[], object]) -> list[str]:
    """The files whose functions a call runs in this process, in the order of the first run."""
    found: dict[str, None] = {}
    known: dict[CodeType, None] = {}

    def look(frame: FrameType, event: str, arg: object) -> None:
        code = frame.f_code
        if event == "call" and code not in known:
            known[code] = None
            if code.co_flags & OPTIMIZED and code.co_filename.startswith(str(SOURCE)):
                found[str(Path(code.co_filename).relative_to(SOURCE))] = None

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(before)
    return list(found)


def check_walk(title: str, call: Callable[[], object]) -> None:
    """The first table of a walk has files of the call in their order, its text their number."""
    text = section(title)
    driver = [codes(row[0])[0] for row in rows(text.split("Python workers")[0])]
    called = files_called(call)
    assert set(driver) <= set(called), set(driver) - set(called)
    assert driver == [file for file in called if file in driver]
    stated = re.search(r"(\d+) in the driver", text)
    assert stated
    assert abs(len(called) - int(stated[1])) <= 10, len(called)


WINDOWS = [mt.hopping("10 minutes", "1 minute"), mt.hopping("1 hour", "5 minutes")]
AGGREGATES = [mt.sum("value"), mt.avg("value"), mt.max("value")]


def test_the_walk_of_a_batch(spark: SparkSession) -> None:
    df = spark.range(3).selectExpr("timestamp_seconds(id) AS ts", "id AS value")

    def call() -> DataFrame:
        return mt.aggregate(
            df, "ts", WINDOWS, AGGREGATES, strategy="shared-pairs", operator="kernel"
        )

    call()  # loads what is loaded on first use
    check_walk("One query, batch", call)


def test_the_walk_of_a_stream(streams: SparkSession) -> None:
    stream = streams.readStream.format("rate").load()

    def call() -> DataFrame:
        return mt.aggregate(
            stream,
            "timestamp",
            WINDOWS,
            AGGREGATES,
            strategy="shared-pairs",
            operator="bucketed",
            watermark="1 minute",
        )

    call()
    check_walk("One query, stream", call)
