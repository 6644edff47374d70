"""How the memory is doing: counts, what is out of order, and a month in small charts."""

from __future__ import annotations

from collections.abc import Sequence

from historian.figures import DayFigures
from server.web.charts import Chart, chart
from server.web.page import Asked, Page

DAYS = 30


def show_status(asked: Asked) -> Page:
    """Return the status of the guest's scope."""
    days = asked.memory.look.days(DAYS)
    values = {
        "status": asked.memory.status(),
        "days": [day for day in reversed(days) if day.events or day.jobs],
        "charts": {"events": _events(days), "age": _age(days), "gate": _gate(days)},
    }
    return Page("status.html", values)


def _events(days: Sequence[DayFigures]) -> Chart:
    return chart([(day.day.isoformat(), float(day.events), str(day.events)) for day in days])


def _age(days: Sequence[DayFigures]) -> Chart:
    return chart([(day.day.isoformat(), day.longest_seconds, f"{day.longest_seconds:.1f} s") for day in days])


def _gate(days: Sequence[DayFigures]) -> Chart:
    shares = [(day, day.passed / day.events if day.events else None) for day in days]
    values = [(day.day.isoformat(), share, f"{share:.0%}" if share is not None else "") for day, share in shares]
    return chart(values, top=1.0, top_text="100%")
