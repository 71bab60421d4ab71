"""What is sent, and how what comes back is read: the same for both clients, without any I/O."""

from __future__ import annotations

import json
import uuid
from typing import IO, Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple

import httpx

from . import models
from .errors import KilnError, data_of

#: Nothing was started: such requests may always be sent again.
REFUSED = ("RATE_LIMITED", "QUEUE_FULL")
#: It is not known what became of it: sent again only where that changes nothing.
LOST = ("UNREACHABLE", "UNAVAILABLE", "BAD_ANSWER")
#: After these a subscription is opened again: a stopping server may end a stream with INTERNAL, a reloaded graph with the last one.
ENDED = (*LOST, "INTERNAL", "SUBSCRIPTION_SCHEMA_RELOAD")
#: Longest pause that a server may ask for.
MOST_PAUSE = 60.0
#: Most characters of an event, or of an answer.
MOST_LENGTH = 32 * 1024 * 1024

Request = Tuple[str, Dict[str, Any]]


def start(kind: str, given: Mapping[str, Any], key: Optional[str], callback_url: Optional[str]) -> Request:
    """The mutation that starts a kind of work."""
    field, *types = models.STARTS[kind].split(" ")
    is_whole = len(types) == 1 and ":" not in types[0]
    own = [f"input:{types[0]}"] if is_whole else types
    declared = [*own, "callbackUrl:String", "idempotencyKey:String"]
    names = [one.split(":")[0] for one in declared]
    query = (
        f"mutation({','.join('$' + one for one in declared)})"
        f"{{{field}({','.join(f'{name}:${name}' for name in names)}){{{models.TASK_FIELDS}}}}}"
    )
    variables = {"input": given} if is_whole else dict(given)
    return query, {**variables, "callbackUrl": callback_url, "idempotencyKey": key or str(uuid.uuid4())}


TASK = f"query($id:ID!){{task(id:$id){{{models.TASK_FIELDS}}}}}"
CANCEL = f"mutation($id:ID!){{cancelTask(id:$id){{{models.TASK_FIELDS}}}}}"
FOLLOW = f"subscription($id:ID!,$afterSeq:Int){{taskProgress(id:$id,afterSeq:$afterSeq){{{models.TASK_PROGRESS_FIELDS}}}}}"
FOLLOW_ALL = f"subscription($after:String,$since:DateTime){{tasksProgress(after:$after,since:$since){{{models.TASK_PROGRESS_FIELDS}}}}}"
CHAT = f"subscription($input:ChatInput!,$idempotencyKey:String!,$afterSeq:Int){{chatStream(input:$input,idempotencyKey:$idempotencyKey,afterSeq:$afterSeq){{{models.CHAT_CHUNK_FIELDS}}}}}"
LIST = f"query($filter:TaskFilter,$first:Int!,$after:String){{tasks(filter:$filter,first:$first,after:$after){{edges{{node{{{models.TASK_FIELDS}}}}}pageInfo{{hasNextPage endCursor}}}}}}"
UPLOAD = f"mutation($file:Upload!,$temporary:Boolean!,$listed:Boolean!){{uploadFile(file:$file,temporary:$temporary,listed:$listed){{{models.MEDIA_FIELDS}}}}}"


def upload_form(temporary: bool, listed: bool) -> Dict[str, str]:
    """The fields of an upload in front of its file."""
    variables = {"file": None, "temporary": temporary, "listed": listed}
    return {
        "operations": json.dumps({"query": UPLOAD, "variables": variables}),
        "map": json.dumps({"0": ["variables.file"]}),
    }


def chat_variables(given: Mapping[str, Any], key: Optional[str]) -> Dict[str, Any]:
    """The variables of a chat."""
    return {"input": given, "idempotencyKey": key or str(uuid.uuid4())}


def first_of(data: Mapping[str, Any]) -> Any:
    """The one field of an answer."""
    return next(iter(data.values()))


class Answer:
    """An answer that is read in pieces, up to a bound."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self._pieces: List[bytes] = []
        self._length = 0

    def add(self, piece: bytes) -> None:
        """Takes a piece of the body."""
        self._length += len(piece)
        if self._length > MOST_LENGTH:
            raise KilnError("BAD_ANSWER", "an answer that is too long")
        self._pieces.append(piece)

    def data(self) -> Mapping[str, Any]:
        """Its data. Raises its first error, and BAD_ANSWER for what is not GraphQL's, as a proxy's page."""
        try:
            answer = json.loads(b"".join(self._pieces))
        except ValueError as error:
            status = self._response.status_code
            raise KilnError("BAD_ANSWER", f"HTTP {status} without an answer of GraphQL") from error
        return data_of(answer)


class CountedFile:
    """A file that tells how much of it was read, as httpx reads it."""

    def __init__(self, file: IO[bytes], on_progress: Callable[[float], None]) -> None:
        self._file = file
        self._on_progress = on_progress
        self._size = file.seek(0, 2)
        file.seek(0)

    def read(self, size: int = -1) -> bytes:
        """Reads on, and tells the share that was read, 0 to 1."""
        piece = self._file.read(size)
        self._on_progress(self._file.tell() / self._size if self._size else 1.0)
        return piece

    def seek(self, offset: int, whence: int = 0) -> int:
        """Moves the place to read from."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """The place to read from."""
        return self._file.tell()


def unreachable(error: Exception, url: str) -> KilnError:
    """What a failure of the line is to a caller."""
    failure = KilnError("UNREACHABLE", f"no answer from {url}: {type(error).__name__}")
    failure.__cause__ = error
    return failure


def pause_after(error: KilnError, attempt: int, retries: int, passing: Tuple[str, ...]) -> float:
    """Seconds until the next try, for a refusal before any work or a code in `passing`. Raises the error when there is no next try."""
    is_passing = error.code in REFUSED or error.code in passing
    seconds = min(0.5 * 2**attempt, 10.0) if error.retry_after is None else float(error.retry_after)
    if attempt >= retries or not is_passing or seconds > MOST_PAUSE:
        raise error
    return seconds


class EventReader:
    """Reads the lines of an event stream. `is_complete` when the subscription has ended, and not only its connection."""

    def __init__(self) -> None:
        self.is_complete = False
        self._event = ""
        self._data: List[str] = []

    def read(self, line: str) -> Iterator[Mapping[str, Any]]:
        """What an event says, when this line ends one."""
        if line.startswith("event:"):
            self._event = line[6:].strip()
        elif line.startswith("data:"):
            self._data.append(line[5:].strip())
        if len(line) > MOST_LENGTH:
            raise KilnError("BAD_ANSWER", "an event that is too long")
        if line != "":
            return
        event, data = self._event, "\n".join(self._data)
        self._event, self._data = "", []
        if event == "complete":
            self.is_complete = True
        elif event == "next":
            yield first_of(data_of(json.loads(data)))
