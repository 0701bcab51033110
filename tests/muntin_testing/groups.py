"""What holds of groups, whatever made them."""

from muntin.nesting import Group, subsumable


def is_sequence(group: Group) -> bool:
    """Ranges grow, each level nests in the next, and piggybacked windows fire with their level."""
    pairs = list(zip(group.levels, group.levels[1:], strict=False))
    return (
        all(below.window.range < above.window.range for below, above in pairs)
        and all(subsumable(below.window, above.window) for below, above in pairs)
        and all(
            rider.range == level.window.range and subsumable(level.window, rider)
            for level in group.levels
            for rider in level.piggybacked.values()
        )
    )
