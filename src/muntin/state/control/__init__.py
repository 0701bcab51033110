"""Control of a running stream: commands, what becomes of them, and the windows of the moment."""

from muntin.state.control.command import Command, new_key, window_text
from muntin.state.control.control import Control
from muntin.state.control.decision import Decided, Terms, decide, refusal
from muntin.state.control.entry import Entry
from muntin.state.control.folder import COMMAND_FILE, Folder, Stream
from muntin.state.control.label import Label
from muntin.state.control.limits import MOST_BYTES, MOST_OVERLAP, MOST_WINDOWS
from muntin.state.control.listing import Listed, Listing
from muntin.state.control.parsing import Unreadable, read_command

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
