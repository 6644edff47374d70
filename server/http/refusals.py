"""What is answered to a request that is not served: a client of the protocol shows the sentence of an error only."""

from __future__ import annotations

from typing import Any

from mcp_types import INTERNAL_ERROR, INVALID_REQUEST
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send
from typing_extensions import override

from server.server_settings import PATH


class Refusal(JSONResponse):
    """A short JSON object; a JSON-RPC error where a message was sent to the endpoint.

    Clients throw away the body of a refusal that is none, and see no header: `data` names the reason, and the seconds
    to wait. Its `id` is null, for the message was not read.
    """

    def __init__(self, status: int, error: str, sentence: str, headers: dict[str, str]) -> None:
        super().__init__({"error": error, "error_description": sentence}, status_code=status, headers=headers)
        data: dict[str, Any] = {"error": error}
        if "Retry-After" in headers:
            data["retry_after"] = int(headers["Retry-After"])
        told = {"code": INTERNAL_ERROR if status >= 500 else INVALID_REQUEST, "message": sentence, "data": data}
        message = {"jsonrpc": "2.0", "id": None, "error": told}
        self._to_a_message = JSONResponse(message, status_code=status, headers=headers)

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["method"] == "POST" and scope["path"] == PATH:
            await self._to_a_message(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


def refusal(status: int, error: str, sentence: str, headers: dict[str, str] | None = None) -> Response:
    """Return a refusal. The connection is closed: a body that was not read may still be on its way."""
    return Refusal(status, error, sentence, {"Connection": "close", **(headers or {})})
