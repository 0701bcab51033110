"""What every comparison of rows says: how many differ, and so whether all are equal."""

from __future__ import annotations

from typing import TYPE_CHECKING


class Outcome:
    """True where nothing differs; a subclass has `different`, as a field or a property."""

    __slots__ = ()

    if TYPE_CHECKING:  # a property here would be the default of a dataclass's field

        @property
        def different(self) -> int: ...

    @property
    def equal(self) -> bool:
        """Whether all rows are equal."""
        return self.different == 0

    def __bool__(self) -> bool:
        return self.equal
