"""Skills over MCP: as resources, through the extension (`skills/list`, `skills/get`), and as the prompt `recall`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from mcp.server.context import ServerRequestContext
from mcp.server.extension import Extension, MethodBinding, ResourceBinding
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.resources import TextResource
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CacheableResult, PaginatedRequestParams, RequestParams
from pydantic import Field
from typing_extensions import override

from historian.errors import InvalidInputError
from historian.evidence_reading import MAX_QUERY
from historian.quoting import quoted
from prompts.skills import Skill
from prompts.skills.checking import front_matter
from prompts.skills.shipped import MAIN

EXTENSION = "io.modelcontextprotocol/skills"
FRESH_MS = 300_000
"""How long a listing may be held; the digests tell what changed."""


class ListSkillsResult(CacheableResult):
    """Every skill, each with the digests of its files."""

    skills: list[dict[str, Any]]


class GetSkillParams(RequestParams):
    """Which skill is asked for: the address of its SKILL.md."""

    uri: str


class GetSkillResult(CacheableResult):
    """One skill."""

    skill: dict[str, Any]


class Skills(Extension):
    """The shipped skills."""

    identifier = EXTENSION

    def __init__(self, skills: Sequence[Skill]) -> None:
        self._skills = {address(skill): skill for skill in skills}

    @override
    def resources(self) -> Sequence[ResourceBinding]:
        return [
            ResourceBinding(
                TextResource(
                    uri=address(skill, path),
                    name=skill.name if path == MAIN else f"{skill.name}/{path}",
                    description=skill.description if path == MAIN else f"Belongs to the skill {skill.name}.",
                    mime_type="text/markdown",
                    text=content.decode(),
                )
            )
            for skill in self._skills.values()
            for path, content in skill.files.items()
        ]

    @override
    def methods(self) -> Sequence[MethodBinding]:
        return [
            MethodBinding("skills/list", PaginatedRequestParams, self._list),
            MethodBinding("skills/get", GetSkillParams, self._get),
        ]

    async def _list(self, _: ServerRequestContext[Any, Any], params: PaginatedRequestParams) -> ListSkillsResult:
        if params.cursor:
            raise MCPError(code=INVALID_PARAMS, message="There is one page of skills; leave cursor out.")
        skills = [entry(skill) for skill in self._skills.values()]
        return ListSkillsResult(skills=skills, ttl_ms=FRESH_MS, cache_scope="public")

    async def _get(self, _: ServerRequestContext[Any, Any], params: GetSkillParams) -> GetSkillResult:
        skill = self._skills.get(params.uri)
        if skill is None:
            raise MCPError(code=INVALID_PARAMS, message="There is no such skill; skills/list shows them.")
        return GetSkillResult(skill=entry(skill), ttl_ms=FRESH_MS, cache_scope="public")


def address(skill: Skill, path: str = MAIN) -> str:
    """Return the address of a file of a skill."""
    return f"skill://{skill.name}/{path}"


def entry(skill: Skill) -> dict[str, Any]:
    """Return a skill as the extension describes it: front matter, and each file with digest and size in bytes."""
    return {
        "uri": address(skill),
        "frontmatter": dict(front_matter(skill.text)),
        "resources": [
            {"uri": address(skill, path), "digest": skill.digest(path), "size": len(content)}
            for path, content in skill.files.items()
        ],
    }


def publish_recall_prompt(app: MCPServer[Any], skill: Skill) -> None:
    """Register the prompt `recall(question)`: the skill, and what it is to be applied to."""

    @app.prompt(name="recall", title="Recall with evidence")
    def recall(question: Annotated[str, Field(description="What is to be remembered", max_length=MAX_QUERY)]) -> str:
        """Answer a question about the past from the raw messages, each point proven by messages."""
        if not question.strip():
            raise InvalidInputError("recall needs a question; say what is to be remembered.")
        return f"{skill.body}\n\n---\n\nApply this to the question {quoted(question)}"


def recall_skill(skills: Sequence[Skill]) -> Skill:
    """Return the recall skill among those that are shipped."""
    return next(skill for skill in skills if skill.name == "recall")
