"""Settings: flags > environment (`SHIGUAN_QUERY__AUTO_TOP_K`) > `shiguan.toml` in the data folder > defaults."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

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

from historian.errors import InvalidInputError
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
from server.bare import BareSettings, read_bare_settings, read_config
from server.model_settings import ChatSettings, EmbeddingSettings, RerankSettings
from server.server_settings import ServerSettings

REASONS = {
    "extra_forbidden": "there is no such setting",
    "unexpected_keyword_argument": "there is no such setting",
    "too_short": "name at least one",
    "tuple_type": 'write a list, such as ["one", "two"]',
}
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
    tables = {name: value for name, value in read_config(bare.data_dir).items() if name not in top}
    try:
        return Settings(**top, tables=tables)  # type: ignore[call-arg]
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "a setting"
        reason = REASONS.get(first["type"]) or first["msg"].removeprefix("Value error, ")
        raise InvalidInputError(f"The setting {where} is wrong: {reason}.") from None
    except SettingsError as error:
        table = str(error).partition('"')[2].partition('"')[0]
        raise InvalidInputError(
            f"The setting {table} in the environment is wrong: send a JSON object, or SHIGUAN_{table.upper()}__NAME; "
            'a list is written as ["one", "two"].'
        ) from None


def reread(settings: Settings) -> Settings:
    """Return the settings as file and environment say now, but for those that a flag or a client may have brought.

    Raises:
        InvalidInputError, StoreError: as `load_settings`.
    """
    theirs = {name: getattr(settings, name) for name in BareSettings._fields}
    fresh = load_settings(theirs, {})
    place = {"host": settings.server.host, "port": settings.server.port}
    return fresh.model_copy(update={**theirs, "server": fresh.server.model_copy(update=place)})
