"""Cutty: aggregate sharing for user-defined windows (section 7 and Table 1)."""
