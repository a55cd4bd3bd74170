"""Builds where nothing stays: setuptools would leave a copy of the weights beside them."""

from tempfile import TemporaryDirectory

from setuptools import setup

with TemporaryDirectory() as folder:
    setup(options={"build": {"build_base": folder}})
