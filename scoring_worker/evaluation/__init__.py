"""Evaluation: how well a scorer finds unsupported facts, on labelled data of several kinds.

::

    file ─▶ rows ─▶ cases (aligned as in the pipeline) ─▶ scorer ─▶ outcomes ─▶ figures, plots
"""
