"""Where turns are handed in: those that come while others are being written are written together, right after them."""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio
import anyio.to_thread

from historian.bell import Bell
from historian.closing import Closing, TurnCloser
from historian.errors import ShiguanError, StoreError
from historian.foreground import Foreground
from historian.turn import Receipt

AT_ONCE = 2
"""So many threads write: who comes while one waits for the disk need not wait until it is done."""


@dataclass(slots=True, eq=False)
class _Slip:
    """One turn at the desk; `moved` is set when it is its turn, or done."""

    closing: Closing
    moved: anyio.Event = field(default_factory=anyio.Event)
    is_taken: bool = False
    outcome: Receipt | ShiguanError | None = None


class Desk:
    """Closes turns and wakes the historian. `close` is for any thread, `hand_in` for the event loop."""

    def __init__(self, closer: TurnCloser, bell: Bell, foreground: Foreground) -> None:
        self._closer = closer
        self._bell = bell
        self.foreground = foreground
        self._waiting: list[_Slip] = []
        self._writers = 0
        self._threads = anyio.CapacityLimiter(AT_ONCE)

    def close(self, closing: Closing) -> Receipt:
        """Close a turn in this thread and return its receipt.

        Raises:
            InvalidInputError, NotFoundError, StoreError: as `TurnCloser.close` has them.
        """
        with self.foreground.call():
            outcome = self._closer.close([closing])[0]
        self._bell.ring()
        return _receipt(outcome)

    async def hand_in(self, closing: Closing) -> Receipt:
        """Close a turn and return its receipt. Raises as `close`.

        Of the turns that wait, the first one writes for all of them.
        """
        slip = _Slip(closing)
        self._waiting.append(slip)
        with self.foreground.call():
            try:
                while slip.outcome is None:
                    if not slip.is_taken and self._writers < AT_ONCE:
                        await self._write()
                    else:
                        await slip.moved.wait()
                        slip.moved = anyio.Event()
            finally:
                if not slip.is_taken:
                    self._waiting.remove(slip)
                    self._call_next()
        return _receipt(slip.outcome)

    async def _write(self) -> None:
        """Write for everybody who waits, then call the next one who has come meanwhile."""
        taken, self._waiting = self._waiting, []
        for slip in taken:
            slip.is_taken = True
        self._writers += 1
        outcomes: list[Receipt | ShiguanError] = []
        try:
            with anyio.CancelScope(shield=True):  # a client that gives up must not take the others along
                outcomes += await anyio.to_thread.run_sync(
                    self._closer.close, [slip.closing for slip in taken], limiter=self._threads
                )
        finally:
            self._writers -= 1
            unknown = StoreError("It is not known whether this turn was noted; send it again, which does no harm.")
            for place, slip in enumerate(taken):
                slip.outcome = outcomes[place] if outcomes else unknown
                slip.moved.set()
            self._call_next()
            self._bell.ring_here()

    def _call_next(self) -> None:
        if self._waiting and self._writers < AT_ONCE:
            self._waiting[0].moved.set()


def _receipt(outcome: Receipt | ShiguanError) -> Receipt:
    if isinstance(outcome, ShiguanError):
        raise outcome
    return outcome
