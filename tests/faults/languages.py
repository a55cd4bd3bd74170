"""Loads the identifier of languages, which every worker loads once, into what workers fork from.

Its 70 MiB are no growth under a fault: the table would show them in every row.
"""

from safepassage.scoring_worker.text.language import language_of

language_of("The identifier is asked of this sentence, and so it is loaded.")
