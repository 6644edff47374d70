"""The profile files: one Markdown file per person and per group, their history, and the guard of hand edits.

    profiles/users/{name}.md              what is true now; a human may edit it at any time
    profiles/groups/{name}.md
    profiles/history/users/{name}/{UTC stamp}.md             versions before each change
    profiles/history/users/{name}/{UTC stamp}.unreadable.md  broken hand edits, never dropped
    profiles/history/users/{name}/last.md                    what the store wrote or took up last

Calls for one entity are made under that entity's lock, which the caller holds; different entities need none.
"""

from __future__ import annotations

import stat
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias, get_args

from historian.clock import Clock
from historian.durable import DiskErrors, FolderSync, write_durably
from historian.errors import ConflictError, InvalidInputError, StoreError
from historian.ids import MAX_ID_LENGTH, safe_name
from historian.model import EntityType, Owner
from historian.profile import Profile
from historian.profile_text import MAX_FILE_BYTES, digest_of, entity_id_of, format_file, parse
from historian.revisions import Revision, Revisions, make_folder

_KINDS: tuple[EntityType, ...] = get_args(EntityType)
_HEAD_LINES = 8
Clean: TypeAlias = Callable[[bytes], bytes | None]
PARSED_KEPT = 256
"""Files whose content is remembered, as read: one change of a profile reads its file more than once."""


@dataclass(frozen=True, slots=True)
class _Files:
    path: Path
    revisions: Revisions

    def read(self) -> bytes | None:
        with DiskErrors():
            try:
                if not stat.S_ISREG(self.path.stat().st_mode):  # reading a pipe would wait for ever
                    raise StoreError(f"{self.path.name} is no file; put a profile, or nothing, in its place.")
                return self.path.read_bytes()
            except FileNotFoundError:
                return None


class ProfileStore:
    """Reads and writes profile files below `root`/profiles, keeping `revision_keep` earlier versions of each.

    Raises:
        InvalidInputError: `revision_keep` is less than 1, or an id can be no file's (empty, too long, broken Unicode).
        StoreError: a file cannot be read or written now.
    """

    def __init__(self, root: Path, *, clock: Clock, revision_keep: int = 5) -> None:
        if revision_keep < 1:
            raise InvalidInputError("Keep at least 1 revision of each profile.")
        self._root = root / "profiles"
        self._clock = clock
        self._keep = revision_keep
        self._lock = threading.Lock()
        self._parsed: OrderedDict[tuple[Owner, str], Profile] = OrderedDict()
        self._taken_up: dict[Owner, str] = {}  # the digest of what is known to be kept as the last good version
        folders = (self._root / f"{kind}s" for kind in _KINDS)
        self._syncs = {folder: FolderSync(folder) for folder in folders}  # those who write at once flush it once

    def read(self, entity: Owner) -> Profile | None:
        """Return the profile, with hand edits taken in, or None where there is no file.

        Raises:
            StoreError: its file cannot be read as UTF-8 and YAML, or names another entity. The text is left as it is.
        """
        data = self._files(entity).read()
        return None if data is None else self._parse(data, entity)

    def read_or_recover(self, entity: Owner) -> tuple[Profile | None, str | None]:
        """Return the profile and None; or, where its file is broken, the last good version and a warning.

        A good file is kept as the last good version, whoever wrote it. A broken text is kept aside in the history
        before anything else. The digest of a recovered profile is that of the broken file, so that writing it replaces
        exactly that text.
        """
        files = self._files(entity)
        data = files.read()
        if data is None:
            return None, None
        try:
            profile = self._parse(data, entity)
        except StoreError as error:
            self._keep_version(files, data, entity)
            good = self._last_good(files, entity)
            used = "the last good version is used" if good is not None else "there is no earlier version"
            warning = f"{error} The broken text is kept in the history and {used}."
            return (None if good is None else replace(good, digest=digest_of(data))), warning
        self._take_up(files, data, profile)
        return profile, None

    def digest(self, entity: Owner) -> str | None:
        """Return the SHA-256 of the file as it stands, in hex, or None where there is none."""
        data = self._files(entity).read()
        return None if data is None else digest_of(data)

    def write(self, profile: Profile, *, expected: str | None) -> str:
        """Write the profile durably after keeping the version before it, and return the new digest.

        `expected` is the digest of the file the profile was made from, None where there was none. A profile that says
        what the file says already is not written again. Between the check and the rename a few microseconds remain in
        which an editor's save can be overwritten.

        Raises:
            ConflictError: the file was changed meanwhile; read it again and merge again.
        """
        files = self._files(profile.entity)
        current = files.read()
        if (None if current is None else digest_of(current)) != expected:
            raise ConflictError(
                f"The profile of {profile.entity.key} was changed meanwhile; read it again and merge again."
            )
        if current is not None and self._says_already(profile, current):
            return digest_of(current)
        written = replace(profile, updated_at=self._clock.now())
        data = format_file(written)
        if current is not None:
            self._keep_version(files, current, profile.entity)
        with DiskErrors():
            self._replace(files, data)
        digest = digest_of(data)
        if _is_plain(written):
            self._remember(replace(written, digest=digest), digest)  # reading it would give exactly that
        return digest

    def list(self) -> tuple[Owner, ...]:
        """Return the entities that have a file, users first, by id."""
        return _in_order(self._entities(history=False))

    def strangers(self) -> tuple[str, ...]:
        """Return the names of the files that no entity has: their name is a digest, and they do not say of whom."""
        found: list[str] = []
        for kind in _KINDS:
            with DiskErrors():
                names = sorted(path.stem for path in (self._root / f"{kind}s").glob("*.md"))
            found += [name for name in names if self._id_behind(kind, name) is None]
        return tuple(found)

    def changed_by_hand(self) -> tuple[Owner, ...]:
        """Return the entities whose file is not what the store wrote or took up last: edited, copied or deleted.

        It compares with a copy kept beside the history, so it needs no memory of earlier runs. Whether a vector is up
        to date is another question: compare the digest it was made from with `digest`.
        """
        found = {*self._entities(history=False), *self._entities(history=True)}
        changed = [e for e in found if (files := self._files(e)).read() != files.revisions.last_written()]
        return _in_order(changed)

    def history(self, entity: Owner) -> tuple[Revision, ...]:
        """Return the kept earlier versions, newest first; broken hand edits are among them, marked unreadable."""
        with DiskErrors():
            return self._files(entity).revisions.list()

    def read_revision(self, entity: Owner, revision: str) -> Profile:
        """Return an earlier version.

        Raises:
            NotFoundError: no such version is kept.
            StoreError: it is one of the unreadable ones.
        """
        with DiskErrors():
            data = self._files(entity).revisions.read(revision)
        return parse(data, entity)

    def raw(self, entity: Owner) -> str | None:
        """Return the text of the file as it stands, or None where there is none; what is no UTF-8 is replaced."""
        data = self._files(entity).read()
        return None if data is None else data.decode("utf-8", "replace")

    def raw_revision(self, entity: Owner, revision: str) -> str:
        """Return the text of a kept version. Raises NotFoundError."""
        with DiskErrors():
            return self._files(entity).revisions.read(revision).decode("utf-8", "replace")

    def put_back(self, entity: Owner, data: bytes, history: Iterable[tuple[str, str]]) -> bool:
        """Write a file and its earlier versions as they stood elsewhere; say whether the file is new.

        Raises:
            ConflictError: there is another profile of this entity already, which is left as it is.
            InvalidInputError: the file is too large, or the name of a version is wrong.
        """
        files = self._files(entity)
        current = files.read()
        if current is not None and current != data:
            raise ConflictError("There is a profile already; import into an empty folder, or merge the two by hand.")
        if len(data) > MAX_FILE_BYTES:
            raise InvalidInputError("The profile is larger than 8 MiB; shorten it by hand.")
        with DiskErrors():
            for name, text in history:
                files.revisions.put(name, text.encode())
            if current is None:
                self._replace(files, data)
        return current is None

    def purge(self, entity: Owner, clean: Clean, clean_version: Clean) -> tuple[bool, int]:
        """Have the file and every kept version say what these make of them; what they make None of is removed.

        Return whether the file changed, and how many versions did. No version is kept of what was.
        """
        files = self._files(entity)
        with DiskErrors():
            current = files.read()
            cleaned = None if current is None else clean(current)
            versions = files.revisions.purge(clean_version)
            if cleaned == current:
                return False, versions
            if cleaned is None:
                files.path.unlink(missing_ok=True)
            else:
                self._replace(files, cleaned)
        return True, versions

    def data(self, entity: Owner) -> bytes | None:
        """Return the bytes of the file as it stands, or None where there is none."""
        return self._files(entity).read()

    def count_files(self, entity: Owner) -> int:
        """Return how many files `remove` would remove."""
        files = self._files(entity)
        with DiskErrors():
            return files.path.exists() + len(files.revisions.files())

    def remove(self, entity: Owner) -> int:
        """Remove the file and every version of it; return how many files that were."""
        files = self._files(entity)
        with DiskErrors():
            known = files.path.exists()
            files.path.unlink(missing_ok=True)
            return known + files.revisions.remove()

    def known(self) -> tuple[Owner, ...]:
        """Return the entities that have a file or earlier versions of one."""
        return _in_order({*self._entities(history=False), *self._entities(history=True)})

    def restore(self, entity: Owner, revision: str) -> Profile:
        """Make an earlier version the present one, the present one becoming a revision, and return it as written.

        Events that only the present one has seen are retired, so that repeating a job does not undo the restoring.

        Raises:
            NotFoundError, StoreError: as for `read_revision`.
        """
        earlier = self.read_revision(entity, revision)
        present, _ = self.read_or_recover(entity)
        seen = present.events if present is not None else frozenset[str]()
        undone = sorted(seen - earlier.events)
        restored = replace(earlier, retired=(*earlier.retired, *undone))
        self.write(restored, expected=self.digest(entity))
        written = self.read(entity)
        return restored if written is None else written

    def _files(self, entity: Owner) -> _Files:
        _check_id(entity.id)
        folder, name = f"{entity.kind}s", safe_name(entity.id)
        revisions = Revisions(self._root / "history" / folder / name, keep=self._keep)
        return _Files(self._root / folder / f"{name}.md", revisions)

    def _parse(self, data: bytes, entity: Owner) -> Profile:
        """Return the profile of these bytes; those read lately are known. Raises StoreError as `parse`."""
        digest = digest_of(data)
        with self._lock:
            known = self._parsed.get((entity, digest))
        return self._remember(parse(data, entity) if known is None else known, digest)

    def _remember(self, profile: Profile, digest: str) -> Profile:
        key = (profile.entity, digest)
        with self._lock:
            self._parsed[key] = profile
            self._parsed.move_to_end(key)
            while len(self._parsed) > PARSED_KEPT:
                self._parsed.popitem(last=False)
        return profile

    def _take_up(self, files: _Files, data: bytes, profile: Profile) -> None:
        """Keep a good file as what is gone back to if the next edit of it is broken."""
        if profile.digest is None or self._taken_up.get(profile.entity) == profile.digest:
            return
        with suppress(OSError):  # a disk that takes nothing keeps nobody from reading
            if files.revisions.last_written() != data:
                files.revisions.note_written(data)
            self._taken_up[profile.entity] = profile.digest

    def _replace(self, files: _Files, data: bytes) -> None:
        files.revisions.note_written(data)
        make_folder(files.path.parent)
        write_durably(files.path, data, sync=self._syncs[files.path.parent])

    def _says_already(self, profile: Profile, current: bytes) -> bool:
        """Whether writing the profile would change no byte. Where its lines are others it is not even formatted."""
        with self._lock:
            known = self._parsed.get((profile.entity, digest_of(current)))
        return (known is None or known.lines == profile.lines) and current == format_file(profile)

    def _keep_version(self, files: _Files, data: bytes, entity: Owner) -> None:
        try:
            self._parse(data, entity)
            readable = True
        except StoreError:
            readable = False
        with DiskErrors():
            files.revisions.add(data, now=self._clock.now(), readable=readable)

    def _last_good(self, files: _Files, entity: Owner) -> Profile | None:
        with DiskErrors():
            versions = [files.revisions.last_written()]
            versions += [files.revisions.read(r.name) for r in files.revisions.list() if r.readable]
        for data in versions:
            try:
                if data is not None:
                    return parse(data, entity)
            except StoreError:
                continue
        return None

    def _entities(self, *, history: bool) -> Iterator[Owner]:
        """Yield whom the files are about: by their frontmatter, or by their history where that is broken."""
        for kind in _KINDS:
            folder = self._root / "history" / f"{kind}s" if history else self._root / f"{kind}s"
            with DiskErrors():
                paths = sorted(folder.iterdir()) if folder.is_dir() else []
            for path in paths:
                if history or path.suffix == ".md":
                    name = path.name.removesuffix(".md")
                    found = self._id_behind(kind, name)
                    yield from () if found is None else (Owner(kind, found),)

    def _id_behind(self, kind: EntityType, name: str) -> str | None:
        """Return the id that a file name was made from: itself where it is plain, else one that the files name."""
        if safe_name(name) == name:
            return name
        folder = f"{kind}s"
        copies = (self._root / folder / f"{name}.md", self._root / "history" / folder / name / "last.md")
        return next((found for path in copies if (found := _id_in(path, name)) is not None), None)


def _is_plain(profile: Profile) -> bool:
    """Whether a human wrote nothing into it, and each of its lines stands there once and rests on something."""
    lines = profile.lines
    is_machine_made = len(lines) == len(profile.parts) and all(line.events for line in lines) and not profile.extra
    return is_machine_made and len({line.key for line in lines}) == len(lines)


def _in_order(entities: Iterable[Owner]) -> tuple[Owner, ...]:
    return tuple(sorted(entities, key=lambda entity: (_KINDS.index(entity.kind), entity.id)))


def _check_id(identifier: str) -> None:
    broken = any("\ud800" <= character <= "\udfff" for character in identifier)
    if not identifier or len(identifier) > MAX_ID_LENGTH or broken:
        raise InvalidInputError(f"An entity id is 1 to {MAX_ID_LENGTH} characters of whole Unicode.")


def _id_in(path: Path, name: str) -> str | None:
    """Return the id that a file names in its frontmatter, where it is the one that the file name was made from."""
    if not path.is_file():
        return None
    with DiskErrors():
        text = path.read_bytes()[:MAX_FILE_BYTES].decode("utf-8-sig", "replace").replace("\r\n", "\n")
    head = text.removeprefix("---\n").partition("\n---")[0]
    lines = [line for line in head.split("\n", _HEAD_LINES)[:_HEAD_LINES] if line.startswith("entity_id:")]
    ids = (entity_id_of(piece) for piece in (*lines, head))
    return next((found for found in ids if found is not None and safe_name(found) == name), None)
