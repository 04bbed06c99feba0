"""A server on loopback for one page, the states it follows, and the pushes it sends back.

It answers three requests, each under a secret path, and refuses everything else:

    GET  /TOKEN/        the page
    GET  /TOKEN/states  server-sent events: the newest state, 60 times a second at most
    POST /TOKEN/push    a point of the body that is held, and where it is pulled to

Other web sites cannot reach it: a request must name this server as its host (which a name that is
rebound to loopback does not), must come from its own page, and must know the token.  Threads of the
server only ever read the last state and write what is held; the simulation never waits for them.
"""

import json
import os
import secrets
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import hypot, inf, isfinite
from socketserver import TCPServer
from time import monotonic
from typing import Any, NamedTuple

HOST = "127.0.0.1"
PAGES, CONNECTIONS = 16, 64  # at once
FRAME, BEAT = 1 / 60, 1.0  # seconds between two states, and until a page is tried when none is new
TIMEOUT, DEADLINE = 5.0, 10.0  # seconds: of one read or write, and of a whole request
HELD = 2.0  # seconds until a page that holds the body must say so again
LARGEST, DRAINED = 1024, 65536  # bytes of a push, and of a larger one that are read to refuse it
FARTHEST = 1e30  # of any number of a push
POLL = 0.1  # seconds until the server notices that it is closed
STATE = struct.Struct("=17d")  # t, q, momentum, ω, x, v

POLICY = (
    "frame-ancestors http://localhost:* http://127.0.0.1:* https://localhost:* vscode-webview:"
    "; base-uri 'none'; form-action 'none'; object-src 'none'; connect-src 'self'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Connection": "close",
}


class Grab(NamedTuple):
    """A point of the body that a page holds, in body axes, and where it is pulled to."""

    point: tuple[float, ...]
    target: tuple[float, ...]
    until: float  # by the monotonic clock


class Channel:
    """What the simulation and the threads of the server share.

    ``latest`` is (bytes of a state, energy or None); it is replaced, never changed.  ``full`` is
    the last one with its energy, which is computed for pages only: ``wanted`` says that a page has
    taken the one before.
    """

    def __init__(self, reach: float):
        self.reach = reach
        self.latest: tuple[bytes, float | None] | None = None
        self.full: tuple[bytes, float | None] | None = None
        self.wanted = True
        self.grabs: dict[int, Grab] = {}
        self.pages: set[int] = set()
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._count = 0

    def enter(self) -> int | None:
        """Count a page in and return its number; None if there are too many."""
        with self._lock:
            if len(self.pages) >= PAGES:
                return None
            self._count += 1
            self.pages.add(self._count)
            return self._count

    def leave(self, page: int) -> None:
        with self._lock:
            self.pages.discard(page)
            self.grabs.pop(page, None)

    def hold(self, page: int, grab: Grab | None) -> bool:
        """Take what a page holds, or None for nothing; False if there is no such page."""
        with self._lock:
            if page not in self.pages:
                return False
            if grab is None:
                self.grabs.pop(page, None)
            else:
                self.grabs[page] = grab
            return True

    def held(self) -> list[Grab]:
        """Return what is held now, and forget what no page has confirmed in time."""
        now = monotonic()
        with self._lock:
            for page in [page for page, grab in self.grabs.items() if grab.until < now]:
                del self.grabs[page]
            return [self.grabs[page] for page in sorted(self.grabs)]


def event(latest: tuple[bytes, float | None]) -> bytes:
    """Return a state as an event: its 17 numbers, and the energy or null."""
    state, energy = latest
    known = energy if energy is not None and isfinite(energy) else None
    return b"data: " + json.dumps([*STATE.unpack(state), known]).encode() + b"\n\n"


def read_push(body: bytes, reach: float) -> tuple[int, Grab | None]:
    """Return the page and what it holds; ValueError if the body is not a push."""
    try:
        given = json.loads(body)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(given, dict) or set(given) not in ({"page"}, {"page", "point", "target"}):
        raise ValueError("names")
    page = given["page"]
    if type(page) is not int:
        raise ValueError("page")
    if len(given) == 1:
        return page, None
    point = _numbers(given["point"], 4 * reach)
    return page, Grab(point, _numbers(given["target"], FARTHEST), monotonic() + HELD)


def _numbers(given: Any, most: float) -> tuple[float, ...]:
    """Return three numbers, none of them larger than that."""
    if not (isinstance(given, list) and len(given) == 3):
        raise ValueError("three numbers")
    if not all(type(x) in (int, float) and -most <= x <= most for x in given):
        raise ValueError("size")  # also if one is NaN
    x, y, z = map(float, given)
    if hypot(x, y, z) > most:
        raise ValueError("size")
    return x, y, z


class Handler(BaseHTTPRequestHandler):
    """One request; the checks come first, in the order of ``_refusal``."""

    timeout = TIMEOUT
    server: "Server"

    def do_GET(self) -> None:
        self._answer("GET", {"": self._page, "states": self._states})

    def do_POST(self) -> None:
        self._answer("POST", {"push": self._push})

    def do_other(self) -> None:
        self._answer("", {})

    do_HEAD = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_TRACE = do_CONNECT = do_other

    def _answer(self, method: str, routes: dict[str, Callable[[], None]]) -> None:
        name = self.server.name_of(self.path)
        refused = self._refusal(name, routes)
        if refused is None and name is not None:
            routes[name]()
            return
        if method == "POST":
            self._drain()
        self._reply(refused or HTTPStatus.NOT_FOUND)

    def _refusal(self, name: str | None, routes: dict[str, Any]) -> HTTPStatus | None:
        """Return why the request is refused, if it is."""
        hosts, origins = (self.headers.get_all(field, []) for field in ("Host", "Origin"))
        if len(hosts) != 1 or hosts[0].lower() not in self.server.names:
            return HTTPStatus.FORBIDDEN
        if name is None:
            return HTTPStatus.NOT_FOUND
        if any(o not in {f"http://{own}" for own in self.server.names} for o in origins):
            return HTTPStatus.FORBIDDEN
        site = self.headers.get("Sec-Fetch-Site", "same-origin")
        if name and site != "same-origin":  # a notebook on another port may frame the page itself
            return HTTPStatus.FORBIDDEN
        return None if name in routes else HTTPStatus.METHOD_NOT_ALLOWED

    def _page(self) -> None:
        self._reply(HTTPStatus.OK, self.server.page, "text/html; charset=utf-8")

    # ---- states
    def _states(self) -> None:
        channel = self.server.channel
        page = channel.enter()
        if page is None:
            self._reply(HTTPStatus.SERVICE_UNAVAILABLE)
            return
        self.server.keep(self.request)
        try:
            self._begin(HTTPStatus.OK, "text/event-stream; charset=utf-8")
            hello = f'retry: 1000\nevent: hello\ndata: {{"page": {page}}}\n\n'
            self.wfile.write(hello.encode())
            self._follow(channel)
        finally:
            channel.leave(page)

    def _follow(self, channel: Channel) -> None:
        """Send the newest state again and again, and what is sent when all is over."""
        shown, whole, sent = None, channel.full, -inf
        channel.wanted = True
        while True:
            full, now = channel.full, monotonic()
            latest = full if full is not whole else channel.latest
            if latest is not None and latest is not shown:
                self.wfile.write(event(latest))
                shown, whole, sent, channel.wanted = latest, full, now, True
            elif now - sent > BEAT:
                self.wfile.write(b":\n\n")  # fails if the page is gone
                sent = now
            elif channel.closing.is_set():
                break
            channel.closing.wait(FRAME)
        self.wfile.write(b"event: end\ndata: {}\n\n")

    # ---- pushes
    def _push(self) -> None:
        body = self._body()
        if not isinstance(body, bytes):
            self._drain()
            self._reply(body)
            return
        try:
            page, grab = read_push(body, self.server.channel.reach)
        except ValueError:
            self._reply(HTTPStatus.BAD_REQUEST)
            return
        known = self.server.channel.hold(page, grab)
        self._reply(HTTPStatus.NO_CONTENT if known else HTTPStatus.CONFLICT)

    def _body(self) -> bytes | HTTPStatus:
        """Return what was posted, or why it is not taken."""
        if self.headers.get_content_type() != "application/json":
            return HTTPStatus.UNSUPPORTED_MEDIA_TYPE
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()) or "Transfer-Encoding" in self.headers:
            return HTTPStatus.LENGTH_REQUIRED
        if len(length) > 9 or int(length) > LARGEST:
            return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        body = self.rfile.read(int(length))
        return body if len(body) == int(length) else HTTPStatus.BAD_REQUEST

    def _drain(self) -> None:
        """Read a body that is refused: an answer is lost if the connection is closed before."""
        length = self.headers.get("Content-Length", "")
        if length.isascii() and length.isdigit() and len(length) <= 9:
            self.rfile.read(min(int(length), DRAINED))

    # ---- answers
    def _begin(self, status: HTTPStatus, kind: str, length: int | None = None) -> None:
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def _reply(self, status: HTTPStatus, body: bytes | None = None, kind: str = "") -> None:
        if body is None:
            body = b"" if status == HTTPStatus.NO_CONTENT else f"{status.phrase}\n".encode()
        self._begin(status, kind or "text/plain; charset=utf-8", len(body))
        if self.command != "HEAD":
            self.wfile.write(body)

    def send_error(self, code: int, message: Any = None, explain: Any = None) -> None:
        """Answer what is no request at all, without repeating any of it."""
        self.close_connection = True
        self.command, self.request_version = self.command or "", "HTTP/1.0"
        self._reply(HTTPStatus(code))

    def version_string(self) -> str:
        return "polhode"

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: stderr belongs to the user."""


class Server(ThreadingHTTPServer):
    """The server: it listens from the start, and answers after ``begin``."""

    daemon_threads = True
    allow_reuse_address = False
    request_queue_size = CONNECTIONS

    def __init__(self, page: bytes, channel: Channel):
        super().__init__((HOST, 0), Handler)
        self.page, self.channel, self.token = page, channel, secrets.token_urlsafe(24)
        self.names = frozenset(f"{host}:{self.server_port}" for host in (HOST, "localhost"))
        self.address = f"http://{HOST}:{self.server_port}/{self.token}/"
        self._open: dict[Any, float] = {}  # connections, with the times when they are cut
        self._lock, self._process = threading.Lock(), os.getpid()

    def server_bind(self) -> None:
        """Bind without asking for the name of the host, which may take seconds."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, int(self.server_address[1])

    def begin(self) -> None:
        serve = threading.Thread(target=self.serve_forever, args=(POLL,), daemon=True)
        serve.name = "polhode-live"
        serve.start()

    def close(self) -> None:
        """Tell all pages, and listen no longer."""
        self.channel.closing.set()
        if os.getpid() == self._process:  # the thread of the server is not in a forked process
            self.shutdown()
        self.server_close()

    def name_of(self, path: str) -> str | None:
        """Return what follows the token in a path; None if that is wrong."""
        _, token, *rest = path.split("/", 2) if path.startswith("/") else ("", "")
        known = secrets.compare_digest(token.encode("utf-8", "replace"), self.token.encode())
        return rest[0] if known and rest and rest[0] in ("", "states", "push") else None

    # ---- connections: few, and none for long that says nothing
    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            full = len(self._open) >= CONNECTIONS
            if not full:
                self._open[request] = monotonic() + DEADLINE
        if full:
            super().shutdown_request(request)
        else:
            super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def keep(self, request: Any) -> None:
        """Let a connection stay open: its writes still have a time limit."""
        with self._lock:
            self._open[request] = inf

    def service_actions(self) -> None:
        now = monotonic()
        with self._lock:
            late = [request for request, end in self._open.items() if end < now]
        for request in late:
            with suppress(OSError):
                request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a connection that breaks is no matter of the simulation."""
