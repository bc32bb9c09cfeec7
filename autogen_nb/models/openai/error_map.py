"""What the openai library raises, told as the package's own errors; the library itself is not imported."""

from collections.abc import Mapping
from typing import Any, Literal

from autogen_nb.models.openai.server_errors import ErrorContext, ServerFailed, by_cause, by_status

MAPPED: Mapping[str, Literal["status", "connection", "other"]] = {
    "APIStatusError": "status",
    "AuthenticationError": "status",
    "BadRequestError": "status",
    "ConflictError": "status",
    "InternalServerError": "status",
    "NotFoundError": "status",
    "OAuthError": "status",
    "PermissionDeniedError": "status",
    "RateLimitError": "status",
    "UnprocessableEntityError": "status",
    "APIConnectionError": "connection",
    "APITimeoutError": "connection",
    "APIError": "other",
    "APIRemovedInV1": "other",
    "APIResponseValidationError": "other",
    "ContentFilterFinishReasonError": "other",
    "LengthFinishReasonError": "other",
    "MutuallyExclusiveAuthError": "other",
    "OpenAIError": "other",
    "StreamAlreadyConsumed": "other",
    "SubjectTokenProviderError": "other",
    "WebSocketConnectionClosedError": "other",
    "WebSocketQueueFullError": "other",
    "_AmbiguousModuleClientUsageError": "other",
}
"""How each exception class of the openai library is told; a class that is not here is told as its base."""


def failed(error: Exception, server: ErrorContext) -> ServerFailed:
    """The failure that tells of an exception of the openai library."""
    kind = next(MAPPED[cls.__name__] for cls in type(error).__mro__ if cls.__name__ in MAPPED)
    if kind == "connection":
        return by_cause(server, error.__cause__ or error)
    body: object = getattr(error, "body", None)
    response: Any = getattr(error, "response", None)
    if kind == "status" and response is not None:
        return by_status(server, response.status_code, body, response.headers)
    return server.refused(f"could not be asked: {server.clean(str(error))}")
