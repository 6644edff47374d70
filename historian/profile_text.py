"""The text of a profile file: YAML frontmatter with the provenance, Markdown with the statements.

Reading trusts the Markdown for what is said and the frontmatter for why: a hand edit of the Markdown alone is a whole
edit. All YAML scalars are read as text, so that a name `no`, an id `007` or a date 2026-02-30 is nothing special.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

from historian.bullets import one_line, split_bullets
from historian.errors import StoreError
from historian.model import Owner
from historian.profile import Part, Profile, ProfileLine, Prose, home_of, title
from historian.provenance import attach

MAX_FILE_BYTES = 8 * 1024 * 1024
"""A larger file is not read as a profile; it is never overwritten either."""

_KEYS = ("entity_type", "entity_id", "name", "known_as", "tags", "updated_at", "source_event_id")
_FOLDED = frozenset("\x85\u2028\u2029")
_LISTS = ("provenance", "retired")


def digest_of(data: bytes) -> str:
    """Return the SHA-256 of a file's bytes, in hex."""
    return hashlib.sha256(data).hexdigest()


def parse(data: bytes, entity: Owner) -> Profile:
    """Return the profile of `entity` that these bytes of a file hold.

    Raises:
        StoreError: they are no UTF-8, no YAML frontmatter, or the profile of somebody else.
    """
    text = _decode(data, entity)
    head, body = _split(text, entity)
    meta = _mapping(head, entity)
    if _is_of_another(meta, entity):
        raise StoreError(
            f"The profile file for {entity.key} names another entity in its frontmatter; put its own back."
        )
    known = [_entry(entry, entity) for entry in _list(meta, "provenance", entity)]
    pieces = _pieces(body, entity, _text(meta, "name"))
    lines, gone = attach([(source, said) for source, said in pieces if said is not None], known, home_of(entity))
    retired = [*_texts(meta.get("retired")), *(event for line in gone for event in line.events)]
    return Profile(
        entity_type=entity.kind,
        entity_id=entity.id,
        name=_text(meta, "name"),
        tags=_texts(meta.get("tags")),
        updated_at=_instant(meta.get("updated_at")),
        source_event_id=_text(meta, "source_event_id"),
        parts=_parts(pieces, lines),
        known_as=_pairs(meta.get("known_as")),
        retired=tuple(dict.fromkeys(retired)),
        extra=_extra(head, meta),
        digest=digest_of(data),
    )


def format_file(profile: Profile) -> bytes:
    """Return the bytes of the file that holds `profile`, with LF line ends."""
    home = home_of(profile.entity)
    entries = [_provenance(line) for line in profile.lines if line.events or line.shown_in != home or line.confirmed]
    provenance = "provenance:\n" + "\n".join(entries) if entries else "provenance: []"
    besides = _besides(profile)
    head = "\n".join([_yaml_of(_about(profile)), provenance, *([_yaml_of(besides)] if besides else [])])
    return f"---\n{head}\n---\n\n{profile.render()}\n".encode("utf-8", "replace")


def names_another(text: str, entity: Owner) -> bool:
    """Say whether the frontmatter of a file is not that of `entity`; what cannot be read names nobody."""
    try:
        meta = _mapping(_split(_decode(text.encode(), entity), entity)[0], entity)
    except StoreError:
        return False
    return _is_of_another(meta, entity)


def entity_id_of(head: str) -> str | None:
    """Return the id that frontmatter, or its one line `entity_id: …`, names, or None. The caller checks the claim."""
    yaml = _yaml()

    try:
        value: object = yaml.load(head, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    found = value.get("entity_id") if isinstance(value, dict) else None
    return found if isinstance(found, str) else None


def _yaml() -> Any:
    """Return PyYAML, which python-frontmatter brings; it has no type stubs."""
    return importlib.import_module("yaml")


@functools.cache
def _dumper() -> Any:
    """Return a dumper that quotes what is lost otherwise: outer blanks of any kind, and U+0085, U+2028, U+2029."""
    yaml = _yaml()

    def text(dumper: Any, value: str) -> Any:
        style = '"' if _FOLDED.intersection(value) or value != value.strip() else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # five times as fast, where libyaml is there
    dumper: Any = type("ProfileDumper", (base,), {})
    dumper.add_representer(str, text)
    return dumper


def _decode(data: bytes, entity: Owner) -> str:
    if len(data) > MAX_FILE_BYTES:
        raise StoreError(f"The profile file for {entity.key} is larger than 8 MiB; shorten it by hand.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise StoreError(f"The profile file for {entity.key} is not UTF-8 text; save it again as UTF-8.") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _split(text: str, entity: Owner) -> tuple[str, str]:
    from frontmatter.default_handlers import YAMLHandler

    handler = YAMLHandler()
    text = text.lstrip()
    try:
        # Without a first boundary, the handler would silently drop all text before the first rule (`---`) of the body.
        return handler.split(text) if handler.detect(text) else _no_head(entity)
    except ValueError:
        return _no_head(entity)


def _no_head(entity: Owner) -> tuple[str, str]:
    raise StoreError(_unreadable(entity))


def _unreadable(entity: Owner) -> str:
    return (
        f"The profile file for {entity.key} cannot be read as YAML; correct its frontmatter by hand, its text is kept."
    )


def _mapping(head: str, entity: Owner) -> dict[str, Any]:
    yaml = _yaml()

    try:
        value: object = yaml.load(head, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise StoreError(_unreadable(entity)) from error
    if not isinstance(value, dict):
        raise StoreError(_unreadable(entity))
    return {str(key): item for key, item in value.items()}


def _is_of_another(meta: Mapping[str, Any], entity: Owner) -> bool:
    return (meta.get("entity_type"), meta.get("entity_id")) != (entity.kind, entity.id)


def _list(meta: Mapping[str, Any], key: str, entity: Owner) -> Sequence[Any]:
    value = meta.get(key) or []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise StoreError(_unreadable(entity))
    return value


def _entry(entry: Mapping[str, Any], entity: Owner) -> ProfileLine:
    shown_in = _text(entry, "shown_in") or home_of(entity)
    events = _texts(entry.get("events"))
    count = _text(entry, "confirmed") or ""
    return ProfileLine(
        text=_text(entry, "line") or "",
        events=events,
        shown_in=shown_in,
        confirmed=int(count) if count.isascii() and count.isdigit() and len(count) < 10 else len(events),
        first_seen=_instant(entry.get("first_seen")),
        last_seen=_instant(entry.get("last_seen")),
        hand_written=_text(entry, "hand_written") == "true",
    )


def _pieces(body: str, entity: Owner, name: str | None) -> list[tuple[str, str | None]]:
    """Return the pieces of the Markdown, without the title where it is the one that the file was given."""
    body = body.strip("\n")
    first, _, rest = body.partition("\n")
    body = rest.strip("\n") if first == title(entity, name) else body
    return split_bullets(body) if body else []


def _parts(pieces: Sequence[tuple[str, str | None]], lines: Sequence[ProfileLine]) -> tuple[Part, ...]:
    parts: list[Part] = []
    prose: list[str] = []
    following = iter(lines)
    for source, said in pieces:
        if said is None:
            prose.append(source)
            continue
        if prose:
            parts.append(Prose("\n".join(prose)))
            prose = []
        parts.append(next(following))
    return (*parts, Prose("\n".join(prose))) if prose else tuple(parts)


def _text(meta: Mapping[str, Any], key: str) -> str | None:
    value = meta.get(key)
    return value if isinstance(value, str) and value else None


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,) if value else ()
    return tuple(item for item in value if isinstance(item, str) and item) if isinstance(value, list) else ()


def _pairs(value: object) -> tuple[tuple[str, str], ...]:
    pairs = value.items() if isinstance(value, dict) else ()
    return tuple((place, name) for place, name in pairs if isinstance(place, str) and isinstance(name, str) and name)


def _instant(value: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found is not None and found.tzinfo is None else found


def _extra(head: str, meta: Mapping[str, Any]) -> Mapping[str, object]:
    """Return a human's own keys with the types YAML gives them, as text where YAML cannot."""
    yaml = _yaml()

    own = {key: value for key, value in meta.items() if key not in (*_KEYS, *_LISTS)}
    if not own:
        return {}
    try:
        typed: Mapping[object, object] = yaml.load(head, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError):
        return own
    return {key: typed.get(key, value) for key, value in own.items()}


def _yaml_of(value: object) -> str:
    from frontmatter.default_handlers import YAMLHandler

    # python-frontmatter takes any value, though it says that it wants a mapping
    return YAMLHandler().export(cast("dict[str, object]", value), Dumper=_dumper(), sort_keys=False, width=10**9)


def _about(profile: Profile) -> dict[str, object]:
    return {
        "entity_type": profile.entity_type,
        "entity_id": profile.entity_id,
        "name": one_line(profile.name or ""),
        "tags": _whole(profile.tags),
        "updated_at": _plain(profile.updated_at) or "",
        "source_event_id": "".join(_whole([profile.source_event_id or ""])),
        **profile.extra,
    }


def _besides(profile: Profile) -> dict[str, object]:
    meta: dict[str, object] = {}
    if profile.known_as:
        meta["known_as"] = {place: one_line(name) for place, name in profile.known_as}
    if profile.retired:
        meta["retired"] = _whole(profile.retired)
    return meta


@functools.lru_cache(maxsize=4096)
def _provenance(line: ProfileLine) -> str:
    """Return the entry of a line, as YAML: writing a profile again, most are what they were."""
    entry: dict[str, object] = {
        "line": line.text,
        "events": _whole(line.events),
        "shown_in": line.shown_in,
        "confirmed": line.confirmed,
    }
    if line.first_seen is not None:
        entry["first_seen"] = _plain(line.first_seen)
    if line.last_seen is not None:
        entry["last_seen"] = _plain(line.last_seen)
    return _yaml_of([{**entry, "hand_written": True} if line.hand_written else entry])


def _whole(texts: Iterable[str]) -> list[str]:
    """Return the texts without half surrogates, which YAML writes and then refuses to read."""
    return [text.encode("utf-8", "replace").decode("utf-8") for text in texts]


def _plain(instant: datetime | None) -> datetime | None:
    """Return a copy: YAML writes the same object seen twice as an anchor, which nobody wants to read."""
    return None if instant is None else instant.astimezone(UTC).replace()
