"""An HTTP server that gives prepared answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Seen:
    method: str
    url: str
    headers: dict[str, str]
    body: str


Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class ScriptedServer:
    url: str
    requests: list[Seen] = field(default_factory=list)

    @property
    def lines(self) -> list[str]:
        return [f"{seen.method} {seen.url}" for seen in self.requests]


@contextmanager
def scripted(*answers: Answer) -> Iterator[ScriptedServer]:
    """Starts a server that gives these answers one after the other, and then repeats the last one."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            length = int(self.headers.get("content-length", 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            seen = Seen(self.command, self.path, headers, self.rfile.read(length).decode())
            server.requests.append(seen)
            answers[min(len(server.requests), len(answers)) - 1](self)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

        def log_message(self, format: str, *args: Any) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    http.block_on_close = False
    server = ScriptedServer(f"http://127.0.0.1:{http.server_port}")
    threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()


def answer_json(status: int, body: object, **headers: str) -> Answer:
    return answer_text(status, json.dumps(body), **headers)


def answer_text(status: int, text: str, **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("content-length", str(len(text.encode())))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(text.encode())

    return answer


def dropped(handler: BaseHTTPRequestHandler) -> None:
    """Closes the connection without an answer."""
    handler.close_connection = True


def truncated(handler: BaseHTTPRequestHandler) -> None:
    """Closes the connection in the middle of the body."""
    handler.send_response(200)
    handler.send_header("content-length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"id":')
    handler.close_connection = True


def silent(handler: BaseHTTPRequestHandler) -> None:
    """Never answers: waits until the client has gone."""
    handler.rfile.read(1)
