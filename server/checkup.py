"""Putting the doctor of a data folder together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from historian.biographer import Biographer
from historian.check_database import DatabaseCheck, WordsCheck
from historian.check_folder import DiskCheck, LeftoversCheck, PermissionsCheck, QueueCheck
from historian.check_groups import GroupsCheck
from historian.check_profiles import ProfilesCheck
from historian.check_vectors import VectorsCheck
from historian.clock import Clock
from historian.database import Database
from historian.doctor import Doctor
from historian.engine import Engine
from historian.indexer import Indexer
from historian.job import STATES
from historian.profile_index import ProfileIndex
from historian.profiles import ProfileStore
from historian.queue import Queue
from historian.trial import Trial
from server.folder import QUEUES_NAME, VECTORS_NAME
from server.owner.address import has_unix_sockets, socket_path


@dataclass(frozen=True, slots=True)
class Patient:
    """The open stores of one data folder."""

    database: Database
    engine: Engine
    indexer: Indexer
    biographer: Biographer
    queue: Queue


def make_doctor(folder: Path, patient: Patient, clock: Clock) -> Doctor:
    """Return who examines the folder and its open stores."""
    queues, profiles = folder / QUEUES_NAME, folder / "profiles"
    written = (folder, *(queues / state for state in STATES), profiles / "users", profiles / "groups")
    return Doctor(
        [
            DatabaseCheck(patient.database),
            WordsCheck(patient.database),
            GroupsCheck(patient.database),
            ProfilesCheck(ProfileStore(folder, clock=clock), ProfileIndex(patient.database), patient.biographer),
            QueueCheck(patient.queue),
            VectorsCheck(patient.engine, patient.indexer, Trial(folder / VECTORS_NAME, clock)),
            DiskCheck(folder),
            PermissionsCheck(folder),
            LeftoversCheck(written, lambda: _socket_folders(folder)),
        ]
    )


def _socket_folders(folder: Path) -> Sequence[Path]:
    return (folder, socket_path(folder).parent) if has_unix_sockets() else ()
