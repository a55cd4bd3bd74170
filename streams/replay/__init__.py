"""Judging again what was judged before: another scorer, threshold or aligner on old topics.

A replay reads outside every consumer group and writes only to two topics of its own, so nothing
live can tell that it runs. It goes through the same steps as the live roles, which is why the
same scorer gives byte-equal verdicts (promise P7).
"""
