"""Control of a running stream: commands, what becomes of them, and the windows of the moment."""

from muntin.state.control.command import (
    MOST_BYTES,
    MOST_OVERLAP,
    MOST_WINDOWS,
    Command,
    Unreadable,
    new_key,
    read_command,
)
from muntin.state.control.control import Control
from muntin.state.control.decision import Label, Terms, decide, refusal
from muntin.state.control.folder import COMMAND_FILE, Folder
from muntin.state.control.listing import Listing
from muntin.state.control.log import Entry, Stream

__all__ = [
    "COMMAND_FILE",
    "MOST_BYTES",
    "MOST_OVERLAP",
    "MOST_WINDOWS",
    "Command",
    "Control",
    "Entry",
    "Folder",
    "Label",
    "Listing",
    "Stream",
    "Terms",
    "Unreadable",
    "decide",
    "new_key",
    "read_command",
    "refusal",
]
