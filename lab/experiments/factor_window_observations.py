"""What the factor-windows paper says of its Figures 11 to 15 (section 5.3), and what ours show."""

from __future__ import annotations

from lab.experiments.factor_window_rows import Costs, Panel

Observation = tuple[str, str]
"""The paper's sentence, and our figures."""


def observations(costs: Costs) -> list[Observation]:
    """All of section 5.3, then what is not in the paper."""
    above = costs.ratios(costs.panels, "UP", "BL")
    ours = costs.ratios(costs.panels, "steiner", "WCG-FW")
    overall = (
        "BL performs the worst overall, but is sometimes comparable to UP and WCG.",
        f"BL is dearer than UP for {sum(r < 1 for r in above)} of {len(above)} sets; where it is "
        f"not, UP is at most {max(above):.3g} times as dear",
    )
    beyond = (
        "(not in the paper)",
        f"{_ratio(costs, costs.panels, 'steiner', 'WCG-FW')}, "
        f"{_ratio(costs, costs.panels, 'steiner', 'SP')}; steiner against WCG-FW from "
        f"{min(ours):.3g} to {max(ours):.3g}",
    )
    return [overall, *_random_sets(costs), *_related_sets(costs), beyond]


def _random_sets(costs: Costs) -> list[Observation]:
    """Figures 11 and 12."""
    general = _panels(costs, "RandomGen", "general")
    tumbling = _panels(costs, "RandomGen", "tumbling")
    both = [*general, *tumbling]
    most = max(costs.ratios(both, "UP", "SP"))

    def each(over: str, under: str) -> str:
        found = _ratio(costs, general, over, under), _ratio(costs, tumbling, over, under)
        return f"{found[0]} general, {found[1]} tumbling"

    return [
        (
            "RandomGen: UP significantly outperforms BL on general windows; on tumbling windows it "
            "is the same or worse.",
            each("UP", "BL"),
        ),
        (
            "RandomGen: SP can improve over UP by more than 10×.",
            f"{_ratio(costs, both, 'UP', 'SP')}, at most {most:.3g}: "
            f"with five windows UP reads the events five times, SP once",
        ),
        (
            "RandomGen: WCG improves over BL in a couple of cases on general windows, and on "
            "tumbling windows outperforms both BL and UP dramatically.",
            each("WCG", "BL"),
        ),
        (
            "RandomGen: WCG-FW improves over WCG significantly and is similar to SP.",
            f"{each('WCG-FW', 'WCG')}; {_ratio(costs, both, 'WCG-FW', 'SP')}",
        ),
    ]


def _related_sets(costs: Costs) -> list[Observation]:
    """Figures 13 to 15."""
    general = _panels(costs, "ChainGen StarGen", "general")
    tumbling = _panels(costs, "ChainGen StarGen", "tumbling")
    graphs = _panels(costs, "RandomGraphGen", "general tumbling")

    def several(panels: list[Panel], *pairs: str) -> str:
        return ", ".join(_ratio(costs, panels, *pair.split("/")) for pair in pairs)

    return [
        (
            "ChainGen, StarGen, general: WCG is between UP and BL, WCG-FW at the level of SP.",
            several(general, "WCG/BL", "WCG/UP", "WCG-FW/SP"),
        ),
        (
            "ChainGen, StarGen, tumbling: WCG almost the same as WCG-FW and SP.",
            several(tumbling, "WCG/WCG-FW", "WCG/SP"),
        ),
        (
            "RandomGraphGen: BL and UP are the worst; WCG-FW is no worse than WCG and sometimes "
            "the same as SP.",
            several(graphs, "BL/SP", "UP/SP", "WCG-FW/WCG", "WCG-FW/SP"),
        ),
    ]


def _panels(costs: Costs, generators: str, shapes: str) -> list[Panel]:
    known = [p for p in costs.panels if p.generator in generators.split()]
    return [p for p in known if p.shape in shapes.split()]


def _ratio(costs: Costs, panels: list[Panel], over: str, under: str) -> str:
    return f"{over}/{under} {costs.mean(panels, over, under):.3g}"
