"""Which languages the judge reads. What it does not read is undetermined, never guessed at."""

from collections.abc import Collection

from safepassage.scoring_worker.encoders.batching import PairFailure
from safepassage.scoring_worker.scorer import Pair
from safepassage.scoring_worker.text.language import language_of, script_of

READ_LANGUAGES = frozenset(
    {
        "en", "de", "es", "pt", "fr", "it", "nl", "ro", "ru", "el", "tr", "vi", "ca", "gl", "zh",
        "ja", "ko", "ar", "hi", "sv", "no", "nb", "th", "fa", "he", "id",
    }
)  # fmt: skip
"""What `default` reads: trained, or where rows that taught nothing reach what German reaches where
it taught nothing (AUROC .78; docs/measured/general.txt). Catalan and Galician are read on the
strength of Spanish and Portuguese. Finnish (.71) and Croatian (.71) are not read."""
_SCRIPTS = {
    "ru": ("Cyrl",),
    "el": ("Grek",),
    "zh": ("Hani",),
    "ja": ("Jpan", "Hani"),
    "ko": ("Hang",),
    "ar": ("Arab",),
    "hi": ("Deva",),
    "th": ("Thai",),
    "fa": ("Arab",),
    "he": ("Hebr",),
}
"""Of the languages that are not written in Latin letters."""
SURE = 0.98
"""How sure the identification has to be before a language of a read script counts as unread."""
LONG_ENOUGH = 60
"""Characters below which no language is identified: names and figures belong to none."""


def unread_language(pair: Pair, languages: Collection[str] = READ_LANGUAGES) -> PairFailure | None:
    """Why ``pair`` cannot be read, if so: its passage or its type is in a script or a language
    that nobody measured the judge in, which reads ``languages``."""
    scripts = {"Zyyy"}.union(*(_SCRIPTS.get(language, ("Latn",)) for language in languages))
    for what, text, also in (("passage", pair.premise, ""), ("type", pair.entity_type, "Latn")):
        script = script_of(text)
        if script not in scripts and script != also:
            return PairFailure("language_not_covered", f"the {what} is written in {script}")
    if len(pair.premise) >= LONG_ENOUGH:
        language, sure = language_of(pair.premise)
        if language is not None and language not in languages and sure >= SURE:
            return PairFailure("language_not_covered", f"the passage is in {language!r}")
    return None
