"""A table as TOML text, as far as job files need it."""

import json
from datetime import date
from typing import Any


def toml(table: dict[str, Any]) -> str:
    """The text that is read as this table again."""
    return "\n".join(f"{json.dumps(key)} = {_value(value)}" for key, value in table.items())


def _value(value: Any) -> str:
    match value:
        case dict():
            inner = ", ".join(f"{json.dumps(key)} = {_value(each)}" for key, each in value.items())
            return f"{{ {inner} }}"
        case list():
            return f"[{', '.join(map(_value, value))}]"
        case bool() | str():
            return json.dumps(value)
        case date():
            return value.isoformat()
        case _:
            return repr(value)
