"""The condition that a pair of rows must meet: one SQL text over the columns of both sides.

Columns are written `left.price` and `right.price`; where only one side has a column of that name,
its side may be left out, and a key may be written without one, too, since both sides are equal
there. The text is read as Spark SQL, every name is looked up, and what comes back has all of them
qualified, so that each engine finds the columns in the two rows of a pair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from muntin.dialects.expressions import parse_condition
from muntin.errors import ColumnError, QueryError, did_you_mean, shown

SIDES = ("left", "right")

Sides = Mapping[str, Sequence[str]]
"""The columns of each side, by its name."""


def pair_condition(text: str, sides: Sides, keys: Sequence[str] = ()) -> exp.Expr:
    """The condition, with every column found: as `left`.`name` or `right`.`name`.

    >>> sides = {"left": ["user", "price"], "right": ["user", "limit"]}
    >>> pair_condition("price > limit AND left.user <> 'me'", sides).sql("spark")
    "`left`.`price` > `right`.`limit` AND `left`.`user` <> 'me'"
    >>> pair_condition("left.prise > 3", sides)
    Traceback (most recent call last):
    muntin.errors.ColumnError: where 'left.prise > 3': the left side has no column 'prise': \
did you mean 'price'?
    """
    tree = parse_condition(text, "where")
    _refuse_several_rows(tree, text)

    def found(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column) or _is_bound(node):
            return node
        return _find([part.name for part in node.parts], sides, keys, text)

    return tree.transform(found)


def columns_of_side(tree: exp.Expr, side: str) -> list[str]:
    """The columns of one side that a condition reads, of those that were found."""
    found = (column.parts for column in tree.find_all(exp.Column))
    return list(dict.fromkeys(parts[1].name for parts in found if parts[0].name == side))


def _refuse_several_rows(tree: exp.Expr, text: str) -> None:
    """Refuse what is not decided by one pair alone."""
    if tree.find(exp.AggFunc, exp.Window, exp.Subquery, exp.Select, exp.Explode):
        raise QueryError(
            f"where {shown(text)} is decided for each pair of rows by itself, so it cannot hold an "
            "aggregate, a window function, a subquery or what makes several rows of one"
        )


def _is_bound(column: exp.Column) -> bool:
    """Whether a name is that of a lambda's argument."""
    around = column.find_ancestor(exp.Lambda)
    while around is not None:
        if column.parts[0].name in {each.name for each in around.expressions}:
            return True
        around = around.find_ancestor(exp.Lambda)
    return False


def _find(names: list[str], sides: Sides, keys: Sequence[str], text: str) -> exp.Expr:
    """A path of names as a column of one side; what follows are fields of it."""
    side, path = names[0].lower(), names[1:]
    if side not in SIDES or not path:
        side, path = _side_of(names[0], sides, keys, text), names
    name = _own_name(path[0], side, sides, text)
    found: exp.Expr = exp.column(name, table=side, quoted=True)
    fields = [exp.to_identifier(field, quoted=True) for field in path[1:]]
    return exp.Dot.build([found, *fields]) if fields else found


def _side_of(name: str, sides: Sides, keys: Sequence[str], text: str) -> str:
    """The side that has a column of this name, where it was not said."""
    having = [side for side in SIDES if name.lower() in map(str.lower, sides[side])]
    if len(having) == 2 and name.lower() not in map(str.lower, keys):
        raise ColumnError(
            f"where {shown(text)}: both sides have a column {shown(name)}: write left.{name} or "
            f"right.{name}"
        )
    if not having:
        hint = did_you_mean(name, [*sides["left"], *sides["right"], *SIDES])
        raise ColumnError(f"where {shown(text)}: neither side has a column {shown(name)}: {hint}")
    return having[0]


def _own_name(name: str, side: str, sides: Sides, text: str) -> str:
    """The column as the table spells it."""
    columns = list(sides[side])
    if columns.count(name) == 1:
        return name
    same = [column for column in columns if column.lower() == name.lower()]
    if len(same) == 1:
        return same[0]
    if same:
        raise ColumnError(
            f"where {shown(text)}: {shown(name)} is ambiguous: the {side} side has {same}; rename "
            "all but one of them"
        )
    raise ColumnError(
        f"where {shown(text)}: the {side} side has no column {shown(name)}: "
        f"{did_you_mean(name, columns)}"
    )
