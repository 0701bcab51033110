"""Control of a running stream: commands, what becomes of them, and the windows of the moment."""

from muntin.control.command import Command, key_of, new_key, window_text
from muntin.control.control import Control
from muntin.control.decision import Decided, Terms, decide, refusal
from muntin.control.entry import Entry
from muntin.control.folder import Folder, Stream
from muntin.control.label import Label
from muntin.control.listing import Listed, Listing

__all__ = [
    "Command",
    "Control",
    "Decided",
    "Entry",
    "Folder",
    "Label",
    "Listed",
    "Listing",
    "Stream",
    "Terms",
    "decide",
    "key_of",
    "new_key",
    "refusal",
    "window_text",
]
