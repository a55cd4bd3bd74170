"""Sockets to listen on, and what to do where one is taken."""

import os
import socket

from safepassage.service.serving import listen

from .errors import OperatorError


def open_listener(what: str, host: str, port: int, prefix: str) -> socket.socket:
    """A listening socket for ``what``; port 0 takes a free one."""
    try:
        return listen(host, port)
    except OSError as error:
        raise OperatorError(
            f"{what} cannot listen on {host}:{port}: {os.strerror(error.errno or 0)}; "
            f"set {prefix}_HOST or {prefix}_PORT"
        ) from error
