"""NumPy kernels: whole trees of windows over sorted slices, without a loop over rows."""

from muntin.kernels.monoids import Monoid, Scanned, Ufuncs
from muntin.kernels.sliding import sliding

__all__ = ["Monoid", "Scanned", "Ufuncs", "sliding"]
