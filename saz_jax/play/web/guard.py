"""Who may talk to the server: a page that it served itself, under a name that it was given.

A page elsewhere can make a browser send requests here; it cannot choose their Host and Origin.  Without the
first check it could point a name of its own at this machine, without the second open a socket to it.
"""

import ipaddress
import socket
from typing import Any
from urllib.parse import urlsplit

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cache-control": "no-cache",
}
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
EVERYWHERE = ("0.0.0.0", "::", "")


class Guard:
    """ASGI middleware: refuses other hosts, other origins and all methods but GET and HEAD; adds headers."""

    def __init__(self, app: Any, host: str = "127.0.0.1", names: tuple[str, ...] = ()):
        self.app = app
        own = {socket.gethostname().lower()} if host in EVERYWHERE else {host.lower()}
        self.names = LOOPBACK | own | {name.lower() for name in names}
        self.any_address = host in EVERYWHERE

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Passes on what is allowed."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        problem = self.problem(scope)
        if problem is None:
            await self.app(scope, receive, _with_headers(send))
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": problem[1]})
        else:
            code, reason = problem
            body = f"{reason}\n".encode()
            head = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", b"%d" % len(body))]
            send = _with_headers(send)
            await send({"type": "http.response.start", "status": code, "headers": head})
            await send({"type": "http.response.body", "body": body})

    def problem(self, scope: Any) -> tuple[int, str] | None:
        """Why a request is refused, with the status."""
        given: dict[str, list[str]] = {"host": [], "origin": []}
        for name, value in scope["headers"]:
            key = name.decode("latin-1").lower()
            if key in given:
                given[key].append(value.decode("latin-1"))
        if len(given["host"]) != 1 or not self.knows(given["host"][0]):
            return 421, "this host name is not served here"
        if len(given["origin"]) > 1 or any(not same_place(o, given["host"][0]) for o in given["origin"]):
            return 403, "pages of other origins may not use this server"
        if scope["type"] == "websocket":
            return None if given["origin"] else (403, "a socket needs an Origin")
        return None if scope["method"] in ("GET", "HEAD") else (405, "use GET")

    def knows(self, host: str) -> bool:
        """Whether that is a name or an address of ours."""
        try:
            name = (urlsplit(f"//{host}").hostname or "").lower()
        except ValueError:
            return False
        if name in self.names:
            return True
        if not self.any_address:
            return False
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True  # whoever can name our address needs no trick with names


def same_place(origin: str, host: str) -> bool:
    """Whether a page of `origin` came from `host`."""
    scheme, _, place = origin.partition("://")
    return scheme in ("http", "https") and place.lower() == host.lower()


def _with_headers(send: Any) -> Any:
    extra = [(name.encode(), value.encode()) for name, value in HEADERS.items()]

    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", []), *extra]}
        await send(message)

    return sending
