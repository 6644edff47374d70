"""Settings of the models that may be asked: embeddings, chat and reranking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr

from historian.chat import ROLES, Role
from historian.options import ChatOptions, RerankOptions


def _web_address(value: str) -> str:
    address = value.strip()
    if address and not address.lower().startswith(("http://", "https://")):
        raise ValueError("it must begin with http:// or https://")
    return address


def _key(value: SecretStr) -> SecretStr:
    key = value.get_secret_value().strip()
    if not (key.isascii() and (key.isprintable() or not key)):
        raise ValueError("a key consists of ASCII letters, digits and signs")
    return SecretStr(key)


WebAddress = Annotated[str, AfterValidator(_web_address)]
Key = Annotated[SecretStr, AfterValidator(_key)]
MaxTokens = Annotated[int, Field(ge=16, le=1_000_000)]
Seconds = Annotated[float, Field(ge=0.1, le=3600)]


class EmbeddingSettings(BaseModel):
    """Which model turns text into vectors; `builtin` needs no key, network or download."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    provider: Literal["builtin", "openai"] = "builtin"
    model: str = ""
    base_url: WebAddress = ""
    api_key: Key = SecretStr("")
    dimensions: int = Field(default=0, ge=0, le=8192)
    chunk_size: int = Field(default=300, ge=50, le=8000)
    timeout: float = Field(default=30.0, gt=0, le=600)


class ChatRoleSettings(BaseModel):
    """What one role has of its own; what is None is that of `[chat]`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    base_url: WebAddress | None = None
    api_key: Key | None = None
    model: str | None = None
    max_tokens: MaxTokens | None = None
    timeout: Seconds | None = None


class ChatSettings(BaseModel):
    """Which chat model does what; a role without a model is done by rules. An empty base_url is that of OpenAI."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    base_url: WebAddress = ""
    api_key: Key = SecretStr("")
    model: str = ""
    max_tokens: MaxTokens = 4096
    timeout: Seconds = 120.0
    rewrite: ChatRoleSettings = ChatRoleSettings()
    merge: ChatRoleSettings = ChatRoleSettings()
    capture: ChatRoleSettings = ChatRoleSettings()
    evolve: ChatRoleSettings = ChatRoleSettings()
    recall: ChatRoleSettings = ChatRoleSettings()

    @property
    def options(self) -> Mapping[Role, ChatOptions]:
        """The roles that have a model, with their endpoints."""
        return {role: found for role in ROLES if (found := self._of(role)).model}

    def _of(self, role: Role) -> ChatOptions:
        own: ChatRoleSettings = getattr(self, role)
        moved = own.base_url is not None and own.base_url != self.base_url
        # a key is for one place only: a role that is served elsewhere does not send it there
        key = own.api_key if own.api_key is not None else SecretStr("") if moved else self.api_key
        return ChatOptions(
            base_url=self.base_url if own.base_url is None else own.base_url,
            api_key=key.get_secret_value(),
            model=(self.model if own.model is None else own.model).strip(),
            max_tokens=own.max_tokens or self.max_tokens,
            timeout=own.timeout or self.timeout,
        )


class RerankSettings(BaseModel):
    """A reranker behind a Cohere- or Jina-style `/rerank`; without a base_url there is none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    base_url: WebAddress = ""
    api_key: Key = SecretStr("")
    model: str = ""
    timeout: Annotated[float, Field(ge=0.1, le=600)] = 10.0

    @property
    def options(self) -> RerankOptions:
        """The endpoint."""
        return RerankOptions(self.base_url, self.api_key.get_secret_value(), self.model.strip(), self.timeout)
