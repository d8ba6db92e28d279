"""A server from its start to its end: sockets, encryption, and a stop that loses nothing."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path

from discreet.errors import MissingExtra, ParameterError
from discreet.records import dataclass
from discreet.server.keys import KeyFile, keys_beside
from discreet.server.owning.owner_options import OwnerOptions
from discreet.server.pool import Pool
from discreet.server.request_log import RequestLog
from discreet.server.service_limits import ServiceLimits

__all__ = ["Address", "serve"]

_STOPPING_SECONDS = 30
_BACKLOG = 512
_TALKATIVE = ("asyncio", "uvicorn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a server listens, and how it is encrypted.

    Attributes
    ----------
    host : str
        A name or an address of this machine; the loopback, unless stated.
    port : int
        0 for any that is free.
    certificate, private_key : Path or None
        The files of TLS. Required unless only this machine can connect.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    certificate: Path | None = None
    private_key: Path | None = None

    def __post_init__(self) -> None:
        if (self.certificate is None) != (self.private_key is None):
            raise ParameterError(
                "certificate", "and private key are not both given", "both files, or neither"
            )
        if self.certificate is None and not _is_loopback(self.host):
            raise ParameterError(
                "host",
                "is reached from other machines, and keys and answers would travel in the clear",
                "127.0.0.1, or --certificate FILE and --private-key FILE",
            )
        if not 0 <= self.port < 1 << 16:
            raise ParameterError("port", "is not a port", "0 to 65535")
        for file in (self.certificate, self.private_key):
            if file is not None:
                file.open("rb").close()

    @property
    def is_encrypted(self) -> bool:
        """Whether the server speaks TLS."""
        return self.certificate is not None

    def bound(self) -> socket.socket:
        """Return a socket that listens there."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        return socket.create_server((self.host, self.port), family=family, backlog=_BACKLOG)

    def url(self, port: int) -> str:
        """Return what a client on this machine connects to."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http{'s' if self.is_encrypted else ''}://{host}:{port}"


def serve(
    file: Path,
    address: Address,
    limits: ServiceLimits,
    *,
    log: RequestLog | None = None,
    said: Callable[[str], object] = print,
    check_only: bool = False,
    options: OwnerOptions | None = None,
) -> None:
    """Open what a file declares, and answer until a signal says to stop.

    Parameters
    ----------
    file : Path
        The declaration; its keys are in the file beside it.
    address : Address
        Where to listen.
    limits : ServiceLimits
        What questions may take.
    log : RequestLog, optional
        Gets a line for each request; by default lines of text on the error stream.
    said : callable
        Gets the address, once questions are answered there.
    check_only : bool
        Open everything, say so, and stop.
    options : OwnerOptions, optional
        What owners may do over the network, besides asking and keys; by default nothing.

    Raises
    ------
    DiscreetError, OSError
        If the declaration, its tables, its ledger or the address cannot be opened.
    """
    try:
        import fastapi  # noqa: F401
        import jinja2  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise MissingExtra("fastapi, jinja2 and uvicorn", "serve") from None
    log = RequestLog(sys.stderr) if log is None else log
    for name in _TALKATIVE:  # the error stream has one line for each request, of known fields, and no others
        logging.getLogger(name).addHandler(logging.NullHandler())
        logging.getLogger(name).propagate = False
    with _quiet_signals():
        asyncio.run(
            _serve(
                file,
                address,
                limits,
                log,
                said,
                check_only=check_only,
                options=OwnerOptions(declaration=str(file.absolute())) if options is None else options,
            )
        )


async def _serve(
    file: Path,
    address: Address,
    limits: ServiceLimits,
    log: RequestLog,
    said: Callable[[str], object],
    *,
    check_only: bool,
    options: OwnerOptions,
) -> None:
    import uvicorn

    from discreet.server.application import application
    from discreet.server.connections import MOST_CONNECTIONS, BoundedConnection

    pool, keys = Pool(file, limits), KeyFile(keys_beside(file))
    keys.all()
    with address.bound() as listening:
        try:
            await pool.start()
            url = address.url(listening.getsockname()[1])
            if check_only:
                said(f"ready to serve {file.name} on {url}")
                return
            app = application(pool, keys, limits, log, is_encrypted=address.is_encrypted, options=options)
            config = uvicorn.Config(
                app,
                loop="asyncio",
                http=BoundedConnection,
                ws="none",
                lifespan="off",
                interface="asgi3",
                access_log=False,
                log_config=None,
                server_header=False,
                date_header=False,
                proxy_headers=False,
                limit_concurrency=MOST_CONNECTIONS + 1,
                timeout_graceful_shutdown=_STOPPING_SECONDS,
                ssl_certfile=address.certificate,
                ssl_keyfile=address.private_key,
            )
            said(f"serving {file.name} on {url}")
            await uvicorn.Server(config).serve(sockets=[listening])
        finally:
            await pool.stop()


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:  # another name
        return False


@contextmanager
def _quiet_signals() -> Iterator[None]:
    """Let the server end by itself when it was told to stop: it raises the signal again afterwards."""
    before = {one: signal.signal(one, _ignored) for one in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _ignored(number: int, frame: object) -> None:
    """Do nothing: the server noticed it."""
