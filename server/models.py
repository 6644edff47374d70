"""From settings to the models that the memory asks, and the texts for them. Nothing is loaded or asked yet."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from historian.calibration import CalibrationFile
from historian.chat import Chat, ChatCall
from historian.chat_client import OpenAIChat
from historian.clock import Clock
from historian.embed import BuiltinEmbedder, Embedder
from historian.embed_openai import Endpoint, OpenAIEmbedder
from historian.errors import InvalidInputError, NotConfiguredError
from historian.rerank import HttpReranker, Reranker
from prompts import PromptError, PromptLibrary
from server.folder import CALIBRATION_NAME
from server.settings import Settings


@dataclass(frozen=True, slots=True)
class Models:
    """What is asked of models, and the texts for them."""

    embedder: Embedder
    chat: Chat
    prompts: PromptLibrary
    reranker: Reranker | None = None


def make_models(
    settings: Settings,
    clock: Clock,
    counted: Callable[[ChatCall], object],
    waiting: Callable[[], AbstractContextManager[None]] = nullcontext,
    *,
    embedder: Embedder | None = None,
    chat: Chat | None = None,
) -> Models:
    """Return the models that the settings name; `embedder` and `chat` take their place. `counted` hears of calls,
    and the chat model is waited for within `waiting`.

    Raises:
        NotConfiguredError: the embedder, the chat model or the reranker lacks a setting.
        InvalidInputError: a replaced prompt is wrong.
    """
    return Models(
        embedder=embedder or make_embedder(settings),
        chat=chat or make_chat(settings, clock, counted, waiting),
        prompts=make_prompts(settings),
        reranker=make_reranker(settings, clock),
    )


def make_embedder(settings: Settings) -> Embedder:
    """Return the configured embedder, not loaded yet.

    Raises:
        NotConfiguredError: the provider needs a model that is not set, or it is said neither where that is served nor
            with which key: every text would go to OpenAI.
    """
    chosen = settings.embedding
    if chosen.provider == "builtin":
        return BuiltinEmbedder()
    if not chosen.model:
        raise NotConfiguredError("embedding.provider is openai, so embedding.model must be set too.")
    if not (chosen.base_url or chosen.api_key):
        raise NotConfiguredError(
            "embedding.model is set, and neither where it is served nor a key: set embedding.base_url, or "
            "embedding.api_key for OpenAI."
        )
    endpoint = Endpoint(
        base_url=chosen.base_url,
        api_key=chosen.api_key.get_secret_value(),
        model=chosen.model,
        dimensions=chosen.dimensions or None,
        timeout=chosen.timeout,
    )
    return OpenAIEmbedder(endpoint, calibrations=CalibrationFile(settings.data_dir / CALIBRATION_NAME))


def make_chat(
    settings: Settings,
    clock: Clock,
    counted: Callable[[ChatCall], object],
    waiting: Callable[[], AbstractContextManager[None]],
) -> Chat:
    """Return the configured chat model; one that no role has is asked for nothing.

    Raises:
        NotConfiguredError: it is said which model, and neither where it is served nor with which key: what people say
            would go to OpenAI, which answers nobody without a key.
    """
    roles = settings.chat.options
    for role, chosen in roles.items():
        if not (chosen.base_url or chosen.api_key):
            raise NotConfiguredError(
                f"A chat model is set for {role}, and neither where it is served nor a key: set chat.base_url, or "
                "chat.api_key for OpenAI."
            )
    return OpenAIChat(roles, clock, counted, waiting)


def make_reranker(settings: Settings, clock: Clock) -> Reranker | None:
    """Return the configured reranker, or None.

    Raises:
        NotConfiguredError: its model is set, but not where it is served.
    """
    chosen = settings.rerank.options
    if chosen.model and not chosen.base_url:
        raise NotConfiguredError("rerank.model is set, so rerank.base_url must be set too.")
    return HttpReranker(chosen, clock) if chosen.base_url else None


def asks_endpoints(settings: Settings) -> bool:
    """Say whether a search asks a model that is served somewhere."""
    return settings.embedding.provider != "builtin" or bool(settings.rerank.base_url)


def make_prompts(settings: Settings) -> PromptLibrary:
    """Return the texts for models.

    Raises:
        InvalidInputError: a file in the folder of prompts is wrong.
    """
    library = PromptLibrary(settings.prompts.dir)
    try:
        library.check()
    except PromptError as error:
        raise InvalidInputError(str(error)) from None
    return library
