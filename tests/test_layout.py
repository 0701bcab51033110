"""Tests lie in folders that mirror the packages; the exceptions are these, each with its reason."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

FOLDERS = {
    "connectors": "runs jobs on a real Kafka, Delta and Iceberg",
    "conformance": "asks every engine and operator the same questions",
    "laws": "checks the algebra of every aggregate at once",
    "muntin_testing": "holds what tests share",
}
"""Folders of tests that mirror no package."""

FILES = {
    "test_architecture": "holds docs/architecture.md true",
    "test_blocks": "reads the code of pages that nothing runs",
    "test_late_imports": "reads the imports of every module",
    "test_layout": "looks at all folders",
    "test_notebooks": "runs the notebooks of the examples",
    "test_optional_libraries": "takes the extras away",
    "test_pages": "checks pages of docs",
    "test_public_names": "asks fresh interpreters for names",
    "test_readme": "runs the README and the guides",
    "test_site": "builds the site of docs",
}
"""Test files beside the folders that mirror no module."""


def folders(root: Path) -> set[Path]:
    """Those below the root that hold Python, relative to it."""
    return {file.parent.relative_to(root) for file in root.rglob("*.py")} - {Path()}


def packages(root: Path) -> set[Path]:
    """Those below the root, relative to it."""
    return {file.parent.relative_to(root) for file in root.rglob("__init__.py")} - {Path()}


@pytest.mark.parametrize(("tests", "source"), [("tests", "src/muntin"), ("lab/tests", "lab")])
def test_every_folder_mirrors_a_package(tests: str, source: str) -> None:
    found = {path for path in folders(ROOT / tests) if path.parts[0] not in FOLDERS}
    assert len(found) > 1
    assert found <= packages(ROOT / source), found - packages(ROOT / source)


def test_every_package_at_the_top_has_a_folder() -> None:
    tops = {path.parts[0] for path in folders(ROOT / "tests")}
    assert {path.parts[0] for path in packages(ROOT / "src/muntin")} == tops - set(FOLDERS)
    assert set(FOLDERS) <= tops, "an exception is gone"


def test_every_file_beside_the_folders_mirrors_a_module() -> None:
    modules = {f"test_{file.stem}" for file in (ROOT / "src/muntin").glob("*.py")}
    assert {file.stem for file in (ROOT / "tests").glob("*.py")} - modules == set(FILES)
    modules = {f"test_{file.stem}" for file in (ROOT / "lab").glob("*.py")}
    assert {file.stem for file in (ROOT / "lab/tests").glob("*.py")} <= modules
