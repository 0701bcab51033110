"""Control of a running stream: commands, what becomes of them, and the windows of the moment."""

from muntin.control.command import Command, new_key, window_text
from muntin.control.control import Control
from muntin.control.decision import Decided, Terms, decide, refusal
from muntin.control.entry import Entry
from muntin.control.folder import COMMAND_FILE, Folder, Stream
from muntin.control.label import Label
from muntin.control.limits import MOST_BYTES, MOST_OVERLAP, MOST_WINDOWS
from muntin.control.listing import Listed, Listing
from muntin.control.reading import Unreadable, read_command

__all__ = [
    "COMMAND_FILE",
    "MOST_BYTES",
    "MOST_OVERLAP",
    "MOST_WINDOWS",
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
    "Unreadable",
    "decide",
    "new_key",
    "read_command",
    "refusal",
    "window_text",
]
