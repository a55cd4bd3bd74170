"""Labelled pairs without labellers: known facts of a document, and ways to get them wrong."""
