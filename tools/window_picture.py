"""Draw docs/images/user_window.svg: the guide's window function over its records.

    PYTHONPATH=src python tools/window_picture.py

The records, the function and the windows are those of docs/data-windows.md; the page is read, so
that the picture cannot differ from it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PAGE, PICTURE = ROOT / "docs" / "data-windows.md", ROOT / "docs" / "images" / "user_window.svg"
LEFT, WIDTH, TOP, ROW = 120, 640, 30, 26
FONT = "font-family='ui-sans-serif, system-ui, sans-serif' font-size='12'"
FILL = {"Heating": "#d7ebff", "session": "#e3f6e5", "count": "#fff3d1"}
LINE = {"Heating": "#3178c6", "session": "#3a8f4a", "count": "#c98a00"}


def page_names() -> dict[str, Any]:
    """What the first two examples of the page define."""
    names: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    for block in blocks[:2]:
        exec(re.sub(r"^print.*$|^for row.*$|^    print.*$", "", block, flags=re.M), names)
    return names


def main() -> None:
    names = page_names()
    records, rows = names["records"], list(names["rows"])
    times: list[int] = [r["t"] for r in records]
    latest: int = max(row["end"] for row in rows)
    scale = WIDTH / (max(*times, latest) - min(times) + 2)

    def x(time: float) -> float:
        return LEFT + (time - min(times) + 1) * scale

    parts = []
    cuts = sorted({row["start"] for row in rows})
    height = TOP + 70 + ROW * len(rows) + 20
    for cut in cuts:
        parts.append(
            f"<line x1='{x(cut):.0f}' x2='{x(cut):.0f}' y1='{TOP + 8}' y2='{height - 10}' "
            "stroke='#8896a5' stroke-dasharray='3 3'/>"
        )
    for r in records:
        dot = "#c0392b" if r["heater"] else "#1f2933"
        parts.append(f"<circle cx='{x(r['t']):.0f}' cy='{TOP + 30}' r='5' fill='{dot}'/>")
        parts.append(
            f"<text x='{x(r['t']):.0f}' y='{TOP + 52}' text-anchor='middle' {FONT} "
            f"fill='#5b6875'>{r['degrees']}</text>"
        )
    parts.append(f"<text x='14' y='{TOP + 34}' {FONT}>records</text>")
    for i, row in enumerate(sorted(rows, key=lambda row: (row["window_id"], row["start"]))):
        y = TOP + 70 + ROW * i
        id = row["window_id"]
        wide = max(x(row["end"]) - x(row["start"]), 6)
        parts.append(
            f"<rect x='{x(row['start']):.0f}' y='{y}' width='{wide:.0f}' height='18' rx='4' "
            f"fill='{FILL[id]}' stroke='{LINE[id]}'/>"
        )
        parts.append(f"<text x='14' y='{y + 13}' {FONT}>{id}</text>")
        parts.append(
            f"<text x='{x(row['start']) + 5:.0f}' y='{y + 13}' {FONT} fill='#1f2933'>"
            f"{row['max(degrees)']}</text>"
        )
    parts.append(
        f"<text x='14' y='{TOP - 10}' {FONT} fill='#5b6875'>red: the heater is on; dashed: "
        "slices begin where windows begin; numbers: degrees, and the maximum of each window</text>"
    )
    svg = (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{LEFT + WIDTH + 20}' height='{height}' "
        f"role='img' aria-label='windows over records'><rect width='100%' height='100%' rx='10' "
        f"fill='#ffffff'/>{''.join(parts)}</svg>"
    )
    PICTURE.write_text(svg + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
