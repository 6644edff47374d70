"""What every part of one data folder stands on."""

from __future__ import annotations

from dataclasses import dataclass, field

from historian.baton import Baton
from historian.bell import Bell
from historian.clock import Clock
from historian.live import LiveOptions
from historian.pulse import Pulse
from historian.queue import Queue
from historian.steps import Steps
from historian.store_outage import StoreOutage
from historian.telemetry import Telemetry
from server.historian_parts import Stores
from server.models import Models
from server.reload import SettingsWatch
from server.settings import Settings


@dataclass(frozen=True, slots=True)
class Signals:
    """What the parts tell each other while they run."""

    outage: StoreOutage
    baton: Baton
    steps: Steps = field(default_factory=Steps)
    jobs_bell: Bell = field(default_factory=Bell)
    vectors_bell: Bell = field(default_factory=Bell)
    pulse: Pulse = field(default_factory=Pulse)


@dataclass(frozen=True, slots=True)
class Ground:
    """What everything else stands on."""

    settings: Settings
    clock: Clock
    live: LiveOptions
    models: Models
    telemetry: Telemetry
    queue: Queue
    stores: Stores
    watch: SettingsWatch
    signals: Signals
