"""Whose turn it is: the order of jobs in lanes, kept so that one decision costs logarithmic time."""

from __future__ import annotations

from heapq import heappop, heappush

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection


class Lanes:
    """What is known of pending and running jobs. Within a lane jobs run in the order of their ids, one at a time.

    Entries of the two heaps may be out of date; each is checked against `pending` and `running` when it is looked at.
    """

    def __init__(self) -> None:
        self.pending: dict[str, tuple[str, float | None]] = {}
        self.running: dict[str, str] = {}
        self._busy: dict[str, int] = {}
        self._members: dict[str, list[str]] = {}
        self._ready: list[tuple[str, str]] = []
        self._waiting: list[tuple[float, str, str]] = []

    def put_pending(self, job_id: str, lane: str, not_before: float | None) -> None:
        """Note that the job waits in `lane`, at the earliest until `not_before` (epoch seconds)."""
        if self.pending.get(job_id) == (lane, not_before):
            return
        self.drop(job_id)
        self.pending[job_id] = (lane, not_before)
        members = self._members.setdefault(lane, [])
        heappush(members, job_id)
        if members[0] == job_id:
            self._settle(lane)

    def put_running(self, job_id: str, lane: str) -> None:
        """Note that somebody works on the job; its lane is busy."""
        if self.running.get(job_id) == lane:
            return
        self.drop(job_id)
        self.running[job_id] = lane
        self._busy[lane] = self._busy.get(lane, 0) + 1

    def drop(self, job_id: str) -> None:
        """Forget the job."""
        waiting = self.pending.pop(job_id, None)
        if waiting is not None:
            self._settle(waiting[0])
        lane = self.running.pop(job_id, None)
        if lane is not None:
            self._busy[lane] -= 1
            if not self._busy[lane]:
                del self._busy[lane]
                self._settle(lane)

    def of(self, lane: str) -> list[str]:
        """Return the ids of the lane's jobs in their order, waiting or running."""
        waiting = {job_id for job_id in self._members.get(lane, ()) if self.pending.get(job_id, ("", None))[0] == lane}
        return sorted(waiting.union(job_id for job_id, busy in self.running.items() if busy == lane))

    def next(self, now: float, busy_lanes: Collection[str]) -> str | None:
        """Return the id of the first job that may run at `now` (epoch seconds), or None."""
        while self._waiting and self._waiting[0][0] <= now:
            _, job_id, lane = heappop(self._waiting)
            heappush(self._ready, (job_id, lane))
        passed_over: set[tuple[str, str]] = set()
        found: str | None = None
        while self._ready and found is None:
            job_id, lane = self._ready[0]
            if not self._is_turn(job_id, lane):
                heappop(self._ready)
                continue
            not_before = self.pending[job_id][1]
            if not_before is not None and not_before > now:
                heappush(self._waiting, (not_before, *heappop(self._ready)))
            elif lane in busy_lanes:
                passed_over.add(heappop(self._ready))
            else:
                found = job_id
        for entry in passed_over:
            heappush(self._ready, entry)
        return found

    def next_due(self) -> float | None:
        """Return the epoch seconds at which the next job that waits for its time may run, or None."""
        while self._waiting:
            not_before, job_id, lane = self._waiting[0]
            if self._is_turn(job_id, lane) and self.pending[job_id][1] == not_before:
                return not_before
            heappop(self._waiting)
        return None

    def _is_turn(self, job_id: str, lane: str) -> bool:
        members = self._members.get(lane)
        return members is not None and members[:1] == [job_id] and job_id in self.pending and lane not in self._busy

    def _settle(self, lane: str) -> None:
        """Line up the first job of a lane that has just changed its head or become free."""
        members = self._members.get(lane, [])
        while members and self.pending.get(members[0], ("", None))[0] != lane:
            heappop(members)
        if not members:
            self._members.pop(lane, None)
        elif lane not in self._busy:
            not_before = self.pending[members[0]][1]
            if not_before is None:
                heappush(self._ready, (members[0], lane))
            else:
                heappush(self._waiting, (not_before, members[0], lane))
