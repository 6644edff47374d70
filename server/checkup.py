"""Putting the doctor of a data folder together."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from historian.biographer import Biographer
from historian.check_database import DatabaseCheck, WordsCheck
from historian.check_folder import DiskCheck, LeftoversCheck, QueueCheck
from historian.check_groups import GroupsCheck
from historian.check_permissions import PermissionsCheck
from historian.check_profiles import ProfilesCheck
from historian.check_vectors import VectorsCheck
from historian.clock import Clock
from historian.database import Database
from historian.doctor import Doctor
from historian.engine import Engine
from historian.errors import ShiguanError
from historian.finding import Finding
from historian.indexer import Indexer
from historian.job import STATES
from historian.profile_index import ProfileIndex
from historian.profiles import ProfileStore
from historian.queue import Queue
from historian.trial import Trial
from server.folder import QUEUES_NAME, VECTORS_NAME
from server.owner.address import has_unix_sockets, socket_path
from server.paths import whole_path
from server.server_settings import ServerSettings
from server.settings import Settings, reread


@dataclass(frozen=True, slots=True)
class Patient:
    """The open stores of one data folder."""

    database: Database
    engine: Engine
    indexer: Indexer
    biographer: Biographer
    queue: Queue


class SettingsCheck:
    """The settings as file and environment say now: an owner that runs keeps its former ones while they are wrong."""

    name = "settings"

    def __init__(self, read: Callable[[], object]) -> None:
        self._read = read

    def find(self, *, fix: bool) -> list[Finding]:
        """Return why they could not be read; what stands there is for a person to mend."""
        del fix
        try:
            self._read()
        except ShiguanError as error:
            return [Finding(self.name, "error", str(error))]
        return []

    def mend(self) -> None:
        """Do nothing."""


def make_doctor(settings: Settings, patient: Patient, clock: Clock, busy: threading.Lock) -> Doctor:
    """Return who examines the data folder and its open stores, while nobody else who has `busy` does."""
    folder = settings.data_dir
    queues, profiles = folder / QUEUES_NAME, folder / "profiles"
    written = (folder, *(queues / state for state in STATES), profiles / "users", profiles / "groups")
    return Doctor(
        [
            SettingsCheck(partial(reread, settings)),
            DatabaseCheck(patient.database),
            WordsCheck(patient.database),
            GroupsCheck(patient.database),
            ProfilesCheck(ProfileStore(folder, clock=clock), ProfileIndex(patient.database), patient.biographer),
            QueueCheck(patient.queue),
            VectorsCheck(patient.engine, patient.indexer, Trial(folder / VECTORS_NAME, clock)),
            DiskCheck(folder),
            PermissionsCheck(folder, (profiles, queues), _secrets(settings.server)),
            LeftoversCheck(written, lambda: _socket_folders(folder)),
        ],
        busy,
    )


def _secrets(server: ServerSettings) -> dict[str, Path]:
    """Return the files that open the memory, by the setting that names them; a key that only verifies is no secret."""
    is_shared = any(name.startswith("HS") for name in server.jwt_algorithms)
    named = {"server.token_file": server.token_file, "server.jwt_key_file": server.jwt_key_file if is_shared else ""}
    return {setting: whole_path(path) for setting, path in named.items() if path}


def _socket_folders(folder: Path) -> Sequence[Path]:
    return (folder, socket_path(folder).parent) if has_unix_sockets() else ()
