"""How a plan is found: strategies build trees, operators price them, the fastest pair is taken."""
