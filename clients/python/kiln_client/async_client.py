"""The client of asyncio programs: the same words as Kiln, to be awaited."""

from __future__ import annotations

import asyncio
from typing import IO, Any, AsyncIterator, Callable, Dict, List, Mapping, Optional, Tuple

import httpx

from . import requests
from .client import Key, is_ended
from .errors import KilnError, task_error
from .models import ChatChunk, ChatInput, Kind, Media, Task, TaskFilter, TaskProgress


class AsyncKiln:
    """A Kiln. Every call raises KilnError. `key`: a service key or access token, or a function that is asked for it before each request."""

    def __init__(self, url: str, key: Key = None, *, retries: int = 8, timeout: float = 60.0) -> None:
        self._url = f"{url.rstrip('/')}/graphql"
        self._key = key
        self._retries = retries
        self._http = httpx.AsyncClient(timeout=timeout)

    async def __aenter__(self) -> AsyncKiln:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes its connections."""
        await self._http.aclose()

    async def generate(
        self,
        kind: Kind,
        input: Mapping[str, Any],
        *,
        idempotency_key: Optional[str] = None,
        callback_url: Optional[str] = None,
    ) -> Task:
        """Starts work and answers its task, which is stored by then. The same key and input are one task, whoever asks again."""
        query, variables = requests.start(kind, input, idempotency_key, callback_url)
        return requests.first_of(await self._send(query, variables, True))

    def follow(self, id: str, *, after_seq: Optional[int] = None) -> AsyncIterator[TaskProgress]:
        """The events of a task, each once and in order, to its end. A connection that breaks goes on where it was."""
        variables = {"id": id, "afterSeq": after_seq}
        return self._subscribe(requests.FOLLOW, variables, lambda event: {"afterSeq": event["seq"]})

    def follow_all(self, *, after: Optional[str] = None, since: Optional[str] = None) -> AsyncIterator[TaskProgress]:
        """The events of all tasks of the caller, of later ones as well, without an end."""
        variables = {"after": after, "since": since}
        return self._subscribe(requests.FOLLOW_ALL, variables, lambda event: {"after": event["cursor"]})

    async def result(self, id: str) -> Task:
        """Waits for the end of a task. Raises the code of its failure, or CANCELLED, when it has no result."""
        task = await self.task(id)
        if not is_ended(task):
            async for event in self.follow(id, after_seq=task["lastSeq"]):
                task = event["task"]
            if not is_ended(task):
                task = await self.task(id)
        if task["state"] != "SUCCEEDED":
            raise task_error(task)
        return task

    async def task(self, id: str) -> Task:
        """A task as it is now. Raises NOT_FOUND."""
        found = requests.first_of(await self._send(requests.TASK, {"id": id}, True))
        if found is None:
            raise KilnError("NOT_FOUND", f"no task {id}")
        return found

    async def tasks(
        self, *, filter: Optional[TaskFilter] = None, first: int = 50, after: Optional[str] = None
    ) -> Tuple[List[Task], Optional[str]]:
        """A page of the caller's tasks, the newest first, and `after` of the next one."""
        page = requests.first_of(await self._send(requests.LIST, {"filter": filter, "first": first, "after": after}, True))
        info = page["pageInfo"]
        return [edge["node"] for edge in page["edges"]], info["endCursor"] if info["hasNextPage"] else None

    async def cancel(self, id: str) -> Task:
        """Asks for the end of a task. Raises TOO_LATE when its result is being stored."""
        return requests.first_of(await self._send(requests.CANCEL, {"id": id}, True))

    async def upload(
        self,
        file: IO[bytes],
        *,
        name: str = "file",
        content_type: str = "application/octet-stream",
        listed: bool = True,
        temporary: bool = False,
        on_progress: Optional[Callable[[float], None]] = None,
    ) -> Media:
        """Stores a file, to be named in inputs as `{"fileId": file["id"]}`. `on_progress` is called with the share that is sent, 0 to 1. Never sent twice."""
        headers = {**self._headers(), "apollo-require-preflight": "true"}
        form = requests.upload_form(temporary, listed)
        counted = file if on_progress is None else requests.CountedFile(file, on_progress)
        files: Any = {"0": (name, counted, content_type)}
        try:
            async with self._http.stream("POST", self._url, headers=headers, data=form, files=files) as response:
                return requests.first_of(await self._read(response))
        except httpx.HTTPError as error:
            raise requests.unreachable(error, self._url) from error

    def chat(self, input: ChatInput, *, idempotency_key: Optional[str] = None) -> AsyncIterator[ChatChunk]:
        """The pieces of a language model's answer; the last one has the whole `reply`, or `error`."""
        variables = requests.chat_variables(input, idempotency_key)
        return self._subscribe(requests.CHAT, variables, lambda piece: {"afterSeq": piece["seq"]})

    async def request(self, query: str, variables: Optional[Mapping[str, Any]] = None) -> Mapping[str, Any]:
        """Any other query or mutation of the graph."""
        return await self._send(query, dict(variables or {}), "mutation" not in query)

    def _headers(self) -> Dict[str, str]:
        key = self._key() if callable(self._key) else self._key
        return {"authorization": f"Bearer {key}"} if key else {}

    async def _read(self, response: httpx.Response) -> Mapping[str, Any]:
        answer = requests.Answer(response)
        async for piece in response.aiter_bytes():
            answer.add(piece)
        return answer.data()

    async def _send(self, query: str, variables: Mapping[str, Any], is_safe: bool) -> Mapping[str, Any]:
        attempt = 0
        while True:
            try:
                try:
                    body = {"query": query, "variables": variables}
                    async with self._http.stream("POST", self._url, headers=self._headers(), json=body) as response:
                        return await self._read(response)
                except httpx.HTTPError as error:
                    raise requests.unreachable(error, self._url) from error
            except KilnError as error:
                passing = requests.LOST if is_safe else ()
                await asyncio.sleep(requests.pause_after(error, attempt, self._retries, passing))
                attempt += 1

    async def _subscribe(
        self, query: str, variables: Dict[str, Any], go_on: Callable[[Any], Dict[str, Any]]
    ) -> AsyncIterator[Any]:
        attempt = 0
        while True:
            try:
                async for event in self._events(query, variables):
                    attempt = 0
                    variables = {**variables, **go_on(event)}
                    yield event
                return
            except KilnError as error:
                await asyncio.sleep(requests.pause_after(error, attempt, self._retries, requests.ENDED))
                attempt += 1

    async def _events(self, query: str, variables: Mapping[str, Any]) -> AsyncIterator[Any]:
        headers = {**self._headers(), "accept": "text/event-stream"}
        body = {"query": query, "variables": variables}
        reader = requests.EventReader()
        try:
            async with self._http.stream("POST", self._url, headers=headers, json=body) as response:
                if not response.headers.get("content-type", "").startswith("text/event-stream"):
                    await self._read(response)
                async for line in response.aiter_lines():
                    for event in reader.read(line):
                        yield event
                    if reader.is_complete:
                        return
        except httpx.HTTPError as error:
            raise requests.unreachable(error, self._url) from error
        raise KilnError("UNREACHABLE", "the stream broke off")
