"""How far costs and plans are from what is counted, measured and optimal; in no paper."""
