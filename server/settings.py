"""Settings: flags > environment (`SHIGUAN_QUERY__AUTO_TOP_K`) > `shiguan.toml` in the data folder > defaults."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)
from typing_extensions import override

from historian.errors import InvalidInputError, about
from historian.options import (
    ContextOptions,
    GroupOptions,
    GuardOptions,
    HistorianOptions,
    Options,
    ProfileOptions,
    QueryOptions,
    QueueOptions,
    RecallOptions,
)
from server.bare import CONFIG_NAME, BareSettings, read_bare_settings, read_config
from server.model_settings import ChatSettings, EmbeddingSettings, RerankSettings
from server.server_settings import ServerSettings

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

NO_SUCH = ("extra_forbidden", "unexpected_keyword_argument")
REASONS = {"too_short": "name at least one", "tuple_type": 'write a list, such as ["one", "two"]'}
"""Ours, where the words of pydantic are about Python."""


class PromptSettings(BaseModel):
    """Texts for models. `dir`: same-named files in it replace the shipped prompts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dir: Path | None = None


class Settings(BaseSettings):
    """Everything an operator can set. Frozen; secrets never show in its text."""

    model_config = SettingsConfigDict(env_prefix="SHIGUAN_", env_nested_delimiter="__", frozen=True, extra="forbid")

    data_dir: Path
    user: str
    groups: Annotated[tuple[str, ...], NoDecode]
    timezone: str
    toolsets: Annotated[tuple[str, ...], NoDecode]
    name: str | None = None
    trust_host: bool = False
    enabled: bool = True
    embedding: EmbeddingSettings = EmbeddingSettings()
    chat: ChatSettings = ChatSettings()
    rerank: RerankSettings = RerankSettings()
    prompts: PromptSettings = PromptSettings()
    query: QueryOptions = QueryOptions()
    historian: HistorianOptions = HistorianOptions()
    profile: ProfileOptions = ProfileOptions()
    queue: QueueOptions = QueueOptions()
    context: ContextOptions = ContextOptions()
    guard: GuardOptions = GuardOptions()
    recall: RecallOptions = RecallOptions()
    group: GroupOptions = GroupOptions()
    server: ServerSettings = ServerSettings()

    @classmethod
    @override
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        bare: Any = init_settings()
        tables = InitSettingsSource(settings_cls, init_kwargs=bare.pop("tables", {}))
        return InitSettingsSource(settings_cls, init_kwargs=bare), env_settings, tables

    @property
    def options(self) -> Options:
        """The part that the memory itself reads."""
        return Options(
            enabled=self.enabled,
            query=self.query,
            historian=self.historian,
            queue=self.queue,
            profile=self.profile,
            context=self.context,
            guard=self.guard,
            recall=self.recall,
            group=self.group,
        )


def load_settings(flags: Mapping[str, Any], environment: Mapping[str, str]) -> Settings:
    """Return the settings; `flags` may hold None for what was not given. Tables come from the process environment.

    Raises:
        InvalidInputError: a setting has a wrong value, or the file is not TOML; the sentence names the setting.
    """
    bare = read_bare_settings(flags, environment)
    top = {name: getattr(bare, name) for name in BareSettings._fields}
    file = read_config(bare.data_dir)
    if "data_dir" in file:
        lies = InvalidInputError("data_dir cannot be set in the file; use --data-dir or SHIGUAN_DATA_DIR.")
        raise about(lies, bare.data_dir / CONFIG_NAME)
    tables = {name: value for name, value in file.items() if name not in top}
    try:
        return Settings(**top, tables=tables)  # type: ignore[call-arg]
    except ValidationError as error:
        parts = error.errors()[0]["loc"]
        wrong = InvalidInputError(_sentence(error.errors()[0]))
        raise (about(wrong, bare.data_dir / CONFIG_NAME) if _stands_in(file, parts) else wrong) from None
    except SettingsError as error:
        table = str(error).partition('"')[2].partition('"')[0]
        raise InvalidInputError(
            f"The setting {table} in the environment is wrong: send a JSON object, or SHIGUAN_{table.upper()}__NAME; "
            'a list is written as ["one", "two"].'
        ) from None


def _sentence(wrong: ErrorDetails) -> str:
    """Return what is wrong with a setting, and which one was probably meant by one that there is not."""
    name = ".".join(str(part) for part in wrong["loc"]) or "a setting"
    if wrong["type"] not in NO_SUCH:
        reason = REASONS.get(wrong["type"]) or wrong["msg"].removeprefix("Value error, ")
        return f"The setting {name} is wrong: {reason}."
    meant = _meant(name)
    return f"The setting {name} is wrong: there is no such setting{f'; did you mean {meant}?' if meant else '.'}"


def _meant(name: str) -> str | None:
    """Return a setting of the same table with a name that is near, or else one of the same name elsewhere."""
    table, _, own = name[:120].rpartition(".")
    known = [one.rpartition(".") for one in _names()]
    near = difflib.get_close_matches(own, [other for place, _, other in known if place == table], n=1)
    elsewhere = [f"{place}{dot}{other}" for place, dot, other in known if other == own]
    return next(iter([*(f"{table}.{one}".lstrip(".") for one in near), *elsewhere]), None)


def _names() -> Iterator[str]:
    """Yield the names of all settings that can stand in the file, and of the tables that they stand in."""
    for name, field in Settings.model_fields.items():
        if name == "data_dir":
            continue
        yield name
        table: Any = field.annotation
        inner: dict[str, Any] = getattr(table, "model_fields", {}) or getattr(table, "__dataclass_fields__", {})
        yield from (f"{name}.{one}" for one in inner)


def _stands_in(file: Mapping[str, Any], parts: Sequence[int | str]) -> bool:
    """Say whether a setting is one of the file that no variable of the environment takes the place of."""
    inner: Any = file
    for part in parts:
        if not isinstance(inner, dict) or part not in inner:
            return False
        inner = inner[part]
    return f"SHIGUAN_{'__'.join(map(str, parts))}".upper() not in os.environ


def reread(settings: Settings) -> Settings:
    """Return the settings as file and environment say now, but for those that a flag or a client may have brought.

    Raises:
        InvalidInputError, StoreError: as `load_settings`.
    """
    theirs = {name: getattr(settings, name) for name in BareSettings._fields}
    fresh = load_settings(theirs, {})
    place = {"host": settings.server.host, "port": settings.server.port}
    return fresh.model_copy(update={**theirs, "server": fresh.server.model_copy(update=place)})
