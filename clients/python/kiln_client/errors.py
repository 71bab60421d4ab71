"""What goes wrong with Kiln."""

from __future__ import annotations

from typing import Any, List, Literal, Mapping, Optional, Union

from .models import FailureCode, RequestErrorCode, Task

KilnErrorCode = Union[
    RequestErrorCode,
    FailureCode,
    Literal["CANCELLED", "UNREACHABLE", "BAD_ANSWER", "BAD_SIGNATURE"],
]


class KilnError(Exception):
    """Whatever goes wrong with Kiln; `code` says what, and docs/errors.md what to do."""

    def __init__(
        self,
        code: KilnErrorCode,
        message: str,
        *,
        details: Optional[Mapping[str, Any]] = None,
        task: Optional[Task] = None,
    ) -> None:
        super().__init__(message)
        given = details or {}
        self.code: KilnErrorCode = code
        self.message = message
        #: The wrong input.
        self.field: Optional[str] = given.get("field")
        #: Every wrong input, where there are several.
        self.problems: List[Any] = list(given.get("problems") or [])
        #: Seconds after which the same request may succeed.
        self.retry_after: Optional[float] = given.get("retryAfter")
        #: What the operator finds the error by in the log.
        self.trace_id: Optional[str] = given.get("traceId")
        #: The task that ended without a result.
        self.task = task


def data_of(answer: Any) -> Mapping[str, Any]:
    """The data of an answer of GraphQL. Raises its first error."""
    if not isinstance(answer, dict):
        raise KilnError("BAD_ANSWER", "an answer without data")
    errors = answer.get("errors")
    if isinstance(errors, list) and errors and isinstance(errors[0], dict):
        details = errors[0].get("extensions") or {}
        raise KilnError(details.get("code", "INTERNAL"), str(errors[0].get("message")), details=details)
    if not answer.get("data"):
        raise KilnError("BAD_ANSWER", "an answer without data")
    return answer["data"]


def task_error(task: Task) -> KilnError:
    """The error of a task that ended without a result."""
    error = task["error"]
    if error is None:
        return KilnError("CANCELLED", "the task was cancelled", task=task)
    return KilnError(error["code"], error["message"], details={"field": error["field"]}, task=task)
