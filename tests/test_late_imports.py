"""A function imports a module of Muntin only to keep a library out of `import muntin`.

Read from the text of the modules: what a late import loads in the end, through all imports at the
top of what it loads, must hold a library that `import muntin` does not load. Any other belongs at
the top of its file.
"""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
TREES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): ast.parse(
        path.read_text(encoding="utf-8")
    )
    for path in SOURCE.glob("muntin/**/*.py")
}
"""Every module of Muntin by its name."""

Import = ast.Import | ast.ImportFrom


def for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imports(node: ast.AST, late: bool, within: bool = False) -> Iterator[Import]:
    """Those inside functions, or those outside."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Import) and late == within:
            yield child
        elif not for_types(child):
            yield from imports(child, late, within or isinstance(child, ast.FunctionDef))


def modules(statement: Import) -> Iterator[str]:
    """What an import loads itself."""
    for name in statement.names:
        if isinstance(statement, ast.Import):
            yield name.name
        else:
            assert statement.module, "imports are absolute"
            yield home(statement.module, name.name)


def home(module: str, name: str) -> str:
    """The module that a name comes from: some packages load their names when they are asked for."""
    if f"{module}.{name}" in TREES:
        return f"{module}.{name}"
    body = TREES[module].body if module in TREES else []
    if any(isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in body):
        for node in filter(for_types, body):
            for statement in imports(node, late=False):
                if name in {each.name for each in statement.names}:
                    return next(modules(statement))
    return module


@cache
def at_the_top(module: str) -> list[str]:
    return [each for one in imports(TREES[module], late=False) for each in modules(one)]


def loaded(module: str) -> set[str]:
    """The modules of Muntin and the libraries that a module loads in the end."""
    found, waiting = set(), [module]
    while waiting:
        name = waiting.pop()
        if name not in TREES:
            found.add(name.partition(".")[0])
        elif name not in found:
            found.add(name)
            waiting += [*at_the_top(name), name.rpartition(".")[0] or name]
    return found


def test_late_imports_keep_a_library_out() -> None:
    light = loaded("muntin") | set(sys.stdlib_module_names) | set(TREES)
    late = [
        (f"{importer}, line {statement.lineno}", module)
        for importer, tree in TREES.items()
        for statement in imports(tree, late=True)
        for module in modules(statement)
        if module in TREES
    ]
    assert len(late) > 10
    needless = [f"{place}: {module}" for place, module in late if loaded(module) <= light]
    assert needless == []
