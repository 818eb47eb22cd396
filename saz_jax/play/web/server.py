"""The server: files of the page, and a socket for each tab.  It answers before jax is imported."""

import asyncio
import contextlib
import json
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from saz_jax.play.web.guard import Guard
from saz_jax.play.web.house import House
from saz_jax.play.web.messages import MAX_MESSAGE
from saz_jax.play.web.table import Table

STATIC = Path(__file__).parent / "static"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
MAX_CONNECTIONS = 1000
SEND_SECONDS = 20.0
"""A client that takes nothing for so long is given up."""
LATEST = ("game", "thinking", "analysis", "insight")
"""Events of which only the newest one matters to a client that lags behind."""
MAX_OUTBOX = 256


class Outbox:
    """Events from a table's thread to its socket."""

    def __init__(self, loop: asyncio.AbstractEventLoop):
        self._loop, self._lock, self._news = loop, threading.Lock(), asyncio.Event()
        self._events: list[dict[str, Any]] = []

    def put(self, event: dict[str, Any]) -> None:
        """From any thread."""
        with self._lock:
            if event["is"] in LATEST:
                self._events = [old for old in self._events if old["is"] != event["is"]]
            if len(self._events) < MAX_OUTBOX:
                self._events.append(event)
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
            self._loop.call_soon_threadsafe(self._news.set)

    async def take(self) -> list[dict[str, Any]]:
        """All that is there, as soon as there is something."""
        await self._news.wait()
        self._news.clear()
        with self._lock:
            events, self._events = self._events, []
        return events


def make_app(house: House, host: str = "127.0.0.1", names: tuple[str, ...] = ()) -> Starlette:
    """The application; `names`: further host names under which it may be called."""
    files = {f"/{path.name}": path.read_bytes() for path in STATIC.iterdir() if path.suffix in TYPES}
    tasks: set[asyncio.Task[None]] = set()

    async def file(request: Request) -> Response:
        path = "/index.html" if request.url.path == "/" else request.url.path
        if path not in files:
            return Response("there is no such page\n", 404, media_type="text/plain")
        return Response(files[path], media_type=TYPES[Path(path).suffix])

    async def status(request: Request) -> Response:
        return JSONResponse({"ready": house.ready.is_set(), "tables": len(tasks)})

    async def talk(websocket: WebSocket) -> None:
        await websocket.accept()
        if not house.seats.acquire(blocking=False):
            with contextlib.suppress(WebSocketDisconnect, RuntimeError):
                full = {"is": "error", "text": "too many tabs are open; close one and reload"}
                await websocket.send_text(json.dumps(full))
                await websocket.close(1013)
            return
        outbox = Outbox(asyncio.get_running_loop())
        table = Table(house, outbox.put)
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        writer = asyncio.create_task(_write(websocket, outbox))
        try:
            table.start()
            await _read(websocket, table, writer)
        finally:
            table.close()
            writer.cancel()
            tasks.discard(task)
            house.seats.release()

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        house.load_aside()
        yield

    return Starlette(
        routes=[
            WebSocketRoute("/talk", talk),
            Route("/status", status),
            Route("/{path:path}", file),
        ],
        middleware=[Middleware(Guard, host=host, names=names)],
        lifespan=lifespan,
    )


async def _read(websocket: WebSocket, table: Table, writer: "asyncio.Task[None]") -> None:
    """Hands messages over until either side has gone."""
    while not writer.done():
        receive = asyncio.ensure_future(websocket.receive())
        await asyncio.wait({receive, writer}, return_when=asyncio.FIRST_COMPLETED)
        if not receive.done():
            receive.cancel()
            return
        message = receive.result()
        if message["type"] == "websocket.disconnect":
            return
        table.hear(message.get("text") or "")


async def _write(websocket: WebSocket, outbox: Outbox) -> None:
    """Sends events until the client has gone, or takes none for too long."""
    with contextlib.suppress(WebSocketDisconnect, RuntimeError, TimeoutError, OSError):
        while True:
            for event in await outbox.take():
                async with asyncio.timeout(SEND_SECONDS):
                    await websocket.send_text(json.dumps(event, allow_nan=False))


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; `OSError` in a sentence if that cannot be had."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM)[
            0
        ]
        made = socket.socket(family, kind, protocol)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(2048)
    except OSError as error:
        raise OSError(f"cannot listen on {host}:{port}: {error.strerror or error}; try --port 0") from error
    return made


def serve(
    house: House,
    listening: socket.socket,
    host: str = "127.0.0.1",
    names: tuple[str, ...] = (),
    started: Callable[[uvicorn.Server], None] = lambda server: None,
) -> None:
    """Answers until it is interrupted; `started` gets the server before it runs."""
    config = uvicorn.Config(
        make_app(house, host, names),
        log_level="warning",
        loop="asyncio",  # not uvloop where something else brings it: the same server for everybody
        ws="websockets-sansio",
        ws_max_size=MAX_MESSAGE,
        ws_ping_interval=10.0,
        ws_ping_timeout=20.0,
        ws_per_message_deflate=False,
        limit_concurrency=MAX_CONNECTIONS,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=2,
        server_header=False,
    )
    server = uvicorn.Server(config)
    started(server)
    with contextlib.suppress(KeyboardInterrupt):
        server.run(sockets=[listening])
    print("stopped", file=sys.stderr)
