"""Window subsumption: windows that nest share the state of the widest (section 5)."""
