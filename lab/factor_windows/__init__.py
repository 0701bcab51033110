"""Factor windows for sharing aggregates over windows: Figures 11 to 15 (sections 5.2 and 5.3)."""
