"""Verdicts over HTTP: `app` the routes, `guard` who may ask and how much, `serving` the process."""
