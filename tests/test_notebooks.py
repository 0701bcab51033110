"""The notebook on late flights runs, and prints what is stored in it.

To renew the stored output after a change: MUNTIN_RENEW=1 make test ARGS=tests/test_notebooks.py
"""

import json
import os
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).parent.parent / "examples" / "flights" / "late.ipynb"


def test_the_notebook_prints_what_it_shows() -> None:
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    for number, cell in enumerate(c for c in notebook["cells"] if c["cell_type"] == "code"):
        with redirect_stdout(StringIO()) as printed:
            exec("".join(cell["source"]), names)
        text = printed.getvalue().splitlines(keepends=True)
        stored = [{"name": "stdout", "output_type": "stream", "text": text}]
        if os.environ.get("MUNTIN_RENEW"):
            cell["outputs"], cell["execution_count"] = stored, number + 1
        assert cell["outputs"] == stored
    if os.environ.get("MUNTIN_RENEW"):
        whole = json.dumps(notebook, indent=1, ensure_ascii=False)
        NOTEBOOK.write_text(f"{whole}\n", encoding="utf-8")
    shown = {name: tuple(int(each.rstrip("%")) for each in found) for name, *found in names["rows"]}
    honest, planned, itself = shown.values()
    assert honest[0] == honest[1], "what was known is what is known in use"
    assert itself[0] > planned[0] > honest[0], "the worse the leak, the better it looks"
    assert itself[1] < planned[1] < honest[1], "and the worse it is"
