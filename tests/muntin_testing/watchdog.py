"""A time limit that guards against hanging: far above what is needed, so that it times nothing."""

import faulthandler
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class HangError(BaseException):
    """Not an Exception, so that nothing which is tested can swallow it."""


@contextmanager
def watchdog(seconds: float, what: str) -> Iterator[None]:
    """Fail if the block takes longer."""

    def bark(signum: int, frame: FrameType | None) -> None:
        raise HangError(f"{what} did not come back in {seconds:g} s")

    faulthandler.dump_traceback_later(3 * seconds, exit=True)  # C code does not hear the signal
    before = signal.signal(signal.SIGALRM, bark)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
