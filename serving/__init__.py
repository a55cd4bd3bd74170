"""An ASGI app on a port, as part of a process that has its own signals and logs."""
