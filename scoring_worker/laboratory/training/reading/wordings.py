"""Wordings the generators put around values, in this project's own words, by language.

``{v}`` is the value in question, ``{w}`` another value of the same slot, ``{t}`` the name of the
slot. Each wording says what the passage then gives: see the field's comment.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wordings:
    """One language's wordings."""

    replaced: tuple[str, ...]
    """Stand where the value stood: w is given, v is not."""
    joined: tuple[str, ...]
    """Stand where the value stood: both are given, whatever negation there seems to be."""
    denied: tuple[str, ...]
    """Whole sentences: v is not given as t, and nothing else is."""
    supposed: tuple[str, ...]
    """Whole sentences: v is only supposed, asked, planned or a condition."""
    stated: tuple[str, ...]
    """Whole sentences: v is given as t, some in spite of a word of negation."""
    conditional: tuple[str, ...]
    """v holds for {a}, w for {b}."""
    asked_for: tuple[str, ...]
    """How a slot under a condition {c} is named."""
    conditions: tuple[str, ...]


ENGLISH = Wordings(
    replaced=(
        "not {v} but {w}",
        "{w}, not {v}",
        "{w} rather than {v}",
        "{w} instead of {v}",
        "{w} (formerly {v})",
        "{w}, previously {v}",
        "{w} and never {v}",
        "{w} (it is no longer {v})",
        "{w}, replacing {v}",
        "{w} (corrected from {v})",
        "{w} in place of {v}",
        "{w}, as opposed to {v}",
        "neither {v} nor anything else except {w}",
        "{w} (the earlier entry, {v}, is void)",
        "{w} although {v} had been announced",
        "{w} (not to be confused with {v})",
    ),
    joined=(
        "not only {v} but also {w}",
        "both {v} and {w}",
        "{v} as well as {w}",
        "{v}, and not least {w}",
        "{v} and, no doubt, {w}",
        "{v} along with {w}",
        "{v} / {w}",
        "{v}; {w}",
    ),
    denied=(
        "The {t} is not {v}.",
        "The {t} was never {v}.",
        "No {v} was found as {t}.",
        "There is no evidence that the {t} is {v}.",
        "{t}: not {v}",
        "{t}: no {v}",
        "{v} was ruled out as {t}.",
        "{v} has been excluded; the {t} remains open.",
        "They denied that the {t} was {v}.",
        "It is not true that the {t} is {v}.",
        "{t}: {v} (withdrawn)",
        "{t}: {v} - cancelled",
        "{t}: negative for {v}",
        "Without {v}. {t}: not stated.",
        "The {t} is anything but {v}.",
        "We no longer list {v} as {t}.",
        "{v} was removed, so there is no {t} at present.",
        "The {t} could not have been {v}.",
        "Nobody gave {v} as the {t}.",
        "The report lacks any mention of {v} as {t}.",
        "{v} is mentioned only to say that it is not the {t}.",
        "Denies {v}. {t}: none.",
        "{t} ({v} discontinued): none at present",
        "{v} does not count as {t}.",
    ),
    supposed=(
        "If the {t} were {v}, nothing would change.",
        "The {t} may be {v}, but this is not confirmed.",
        "Is the {t} {v}? We do not know yet.",
        "The {t} would have been {v} had the plan gone ahead.",
        "{v} was considered as {t}; no decision was made.",
        "It is unclear whether the {t} is {v}.",
        "{t}: {v}?",
        "{t}: possibly {v}, to be confirmed",
        "Should the {t} ever become {v}, please tell us.",
        "{v} is a plus as {t} but not required.",
        "Someone suggested {v} as {t}, without any proof.",
    ),
    stated=(
        "The {t} is {v}.",
        "{t}: {v}",
        "{t} - {v}",
        "The {t} was given as {v}.",
        "We confirm {v} as the {t}.",
        "There is no doubt that the {t} is {v}.",
        "The {t} is none other than {v}.",
        "The {t} is still {v}.",
        "Nothing has changed: the {t} is {v}.",
        "It cannot be denied that the {t} is {v}.",
        "The {t} did not change and remains {v}.",
        "As {t} the record names {v}.",
        "{v} is the {t}.",
        "{v} ({t})",
        "The {t}, which was not easy to find, is {v}.",
        "No other {t} than {v} is known.",
        "Not before time, the {t} became {v}.",
    ),
    conditional=(
        "{t}: {v} for {a}, {w} for {b}",
        "The {t} is {v} in the case of {a} and {w} in the case of {b}.",
        "For {a} the {t} is {v}; for {b} it is {w}.",
        "{t} ({a}): {v}. {t} ({b}): {w}.",
        "{t} {a}: {v}\n{t} {b}: {w}",
        "The {t} of {b} was {w}, that of {a} {v}.",
        "{a}: {t} {v}; {b}: {t} {w}",
        "| | {a} | {b} |\n| {t} | {v} | {w} |",
        "{t}: {v} ({a}), {w} ({b})",
        "The {t} amounts to {v} and {w} for {a} and {b}, respectively.",
    ),
    asked_for=("{t} for {c}", "{t} ({c})", "{c} {t}", "{t}, {c}", "{t} of {c}"),
    conditions=(
        "2017", "2018", "2019", "2020", "2021", "2022", "2023", "adults", "children",
        "new customers", "returning customers", "the first year", "the second year", "weekdays",
        "weekends", "summer", "winter", "members", "guests", "the north site", "the south site",
        "phase I", "phase II", "the buyer", "the seller", "employees", "contractors",
        "the sender", "the recipient", "Berlin", "Lyon", "Nairobi", "Osaka", "hypertension",
        "heart failure", "asthma", "pain", "day one", "day two", "before treatment",
        "after treatment", "Q1", "Q2", "Q3", "Q4", "the group", "the parent company", "mother",
        "father", "the applicant", "the spouse", "budget", "actual", "this month", "last month",
        "domestic orders", "export orders",
    ),
)  # fmt: skip

GERMAN = Wordings(
    replaced=("nicht {v}, sondern {w}", "{w} statt {v}", "{w} (früher {v})", "{w}, nicht {v}",
              "{w} (ehemals {v})", "{w} anstelle von {v}"),
    joined=("nicht nur {v}, sondern auch {w}", "sowohl {v} als auch {w}", "{v} sowie {w}"),
    denied=("{t}: nicht {v}", "{t} ist nicht {v}.", "{v} wurde als {t} ausgeschlossen.",
            "Kein Hinweis auf {v}. {t}: keine Angabe.", "Ohne {v}. {t}: offen",
            "Es gibt keinen {t}, insbesondere nicht {v}.", "{t}: {v} (abgesetzt)"),
    supposed=("Falls {t} {v} wäre, änderte sich nichts.",
              "{t} ist möglicherweise {v}, unbestätigt.",
              "{t}: Verdacht auf {v}", "{t}: {v}?"),
    stated=("{t}: {v}", "{t} ist {v}.", "Zweifellos ist {t} {v}.", "{t} bleibt unverändert {v}.",
            "Als {t} wird {v} angegeben."),
    conditional=("{t}: {v} für {a}, {w} für {b}", "{t} ({a}): {v}; {t} ({b}): {w}"),
    asked_for=("{t} für {c}", "{t} ({c})", "{t} {c}"),
    conditions=("2019", "2020", "2021", "Erwachsene", "Kinder", "Mutter", "Vater", "Käufer",
                "Verkäufer", "den Konzern", "Januar", "Februar"),
)  # fmt: skip
FRENCH = Wordings(
    replaced=("non pas {v} mais {w}", "{w} au lieu de {v}", "{w} (anciennement {v})",
              "{w} et non {v}", "{w} plutôt que {v}"),
    joined=("non seulement {v} mais aussi {w}", "{v} ainsi que {w}", "à la fois {v} et {w}"),
    denied=("{t} : pas {v}", "{t} n'est pas {v}.", "{v} a été exclu comme {t}.",
            "Aucune trace de {v}. {t} : non précisé",
            "Sans {v}. {t} : néant", "{t} : {v} (annulé)"),
    supposed=("Si {t} était {v}, rien ne changerait.", "{t} : peut-être {v}, à confirmer",
              "{t} : {v} ?", "On ignore si {t} est {v}."),
    stated=("{t} : {v}", "{t} est {v}.", "Il n'y a aucun doute : {t} est {v}.",
            "{t} reste inchangé : {v}", "{v} figure comme {t}."),
    conditional=("{t} : {v} pour {a}, {w} pour {b}", "{t} ({a}) : {v} ; {t} ({b}) : {w}"),
    asked_for=("{t} pour {c}", "{t} ({c})"),
    conditions=("2019", "2020", "2021", "adultes", "enfants", "la mère", "le père", "l'acheteur",
                "le vendeur", "le groupe", "janvier", "février"),
)  # fmt: skip
SPANISH = Wordings(
    replaced=("no {v}, sino {w}", "{w} en lugar de {v}", "{w} (antes {v})", "{w} y no {v}",
              "{w} en vez de {v}"),
    joined=("no solo {v}, sino también {w}", "tanto {v} como {w}", "{v} así como {w}"),
    denied=("{t}: no {v}", "{t} no es {v}.", "Se descartó {v} como {t}.",
            "Sin {v}. {t}: no consta", "No hay indicios de {v}. {t}: ninguno",
            "{t}: {v} (anulado)"),
    supposed=("Si {t} fuera {v}, nada cambiaría.", "{t}: posiblemente {v}, por confirmar",
              "¿{t}: {v}?", "Se desconoce si {t} es {v}."),
    stated=("{t}: {v}", "{t} es {v}.", "No cabe duda de que {t} es {v}.", "{t} sigue siendo {v}.",
            "Como {t} figura {v}."),
    conditional=("{t}: {v} para {a}, {w} para {b}", "{t} ({a}): {v}; {t} ({b}): {w}"),
    asked_for=("{t} para {c}", "{t} ({c})"),
    conditions=("2019", "2020", "2021", "adultos", "niños", "la madre", "el padre", "el comprador",
                "el vendedor", "el grupo", "enero", "febrero"),
)  # fmt: skip
PORTUGUESE = Wordings(
    replaced=("não {v}, mas {w}", "{w} em vez de {v}", "{w} (antes {v})", "{w} e não {v}"),
    joined=("não só {v}, mas também {w}", "tanto {v} como {w}", "{v} bem como {w}"),
    denied=("{t}: não {v}", "{t} não é {v}.", "{v} foi descartado como {t}.",
            "Sem {v}. {t}: não informado", "Não há indícios de {v}. {t}: nenhum",
            "{t}: {v} (cancelado)"),
    supposed=("Se {t} fosse {v}, nada mudaria.", "{t}: possivelmente {v}, a confirmar", "{t}: {v}?",
              "Não se sabe se {t} é {v}."),
    stated=("{t}: {v}", "{t} é {v}.", "Não há dúvida de que {t} é {v}.", "{t} continua a ser {v}.",
            "Como {t} consta {v}."),
    conditional=("{t}: {v} para {a}, {w} para {b}", "{t} ({a}): {v}; {t} ({b}): {w}"),
    asked_for=("{t} para {c}", "{t} ({c})"),
    conditions=("2019", "2020", "2021", "adultos", "crianças", "a mãe", "o pai", "o comprador",
                "o vendedor", "o grupo", "janeiro", "fevereiro"),
)  # fmt: skip
ITALIAN = Wordings(
    replaced=("non {v} ma {w}", "{w} anziché {v}", "{w} (già {v})", "{w} e non {v}",
              "{w} invece di {v}"),
    joined=("non solo {v} ma anche {w}", "sia {v} sia {w}", "{v} nonché {w}"),
    denied=("{t}: non {v}", "{t} non è {v}.", "{v} è stato escluso come {t}.",
            "Senza {v}. {t}: non indicato", "{t}: {v} (annullato)"),
    supposed=("Se {t} fosse {v}, nulla cambierebbe.", "{t}: forse {v}, da confermare", "{t}: {v}?"),
    stated=("{t}: {v}", "{t} è {v}.", "Non c'è dubbio che {t} è {v}.", "{t} resta {v}."),
    conditional=("{t}: {v} per {a}, {w} per {b}", "{t} ({a}): {v}; {t} ({b}): {w}"),
    asked_for=("{t} per {c}", "{t} ({c})"),
    conditions=("2019", "2020", "2021", "adulti", "bambini", "la madre", "il padre", "il gruppo",
                "gennaio", "febbraio"),
)  # fmt: skip
DUTCH = Wordings(
    replaced=("niet {v} maar {w}", "{w} in plaats van {v}", "{w} (voorheen {v})", "{w}, niet {v}"),
    joined=("niet alleen {v} maar ook {w}", "zowel {v} als {w}", "{v} evenals {w}"),
    denied=("{t}: niet {v}", "{t} is niet {v}.", "{v} is uitgesloten als {t}.",
            "Zonder {v}. {t}: niet vermeld", "{t}: {v} (vervallen)"),
    supposed=("Als {t} {v} zou zijn, veranderde er niets.", "{t}: mogelijk {v}, onbevestigd",
              "{t}: {v}?"),
    stated=("{t}: {v}", "{t} is {v}.", "Zonder twijfel is {t} {v}.", "{t} blijft {v}."),
    conditional=("{t}: {v} voor {a}, {w} voor {b}", "{t} ({a}): {v}; {t} ({b}): {w}"),
    asked_for=("{t} voor {c}", "{t} ({c})"),
    conditions=("2019", "2020", "2021", "volwassenen", "kinderen", "moeder", "vader", "de groep",
                "januari", "februari"),
)  # fmt: skip

BY_LANGUAGE = {
    "en": ENGLISH,
    "de": GERMAN,
    "fr": FRENCH,
    "es": SPANISH,
    "pt": PORTUGUESE,
    "it": ITALIAN,
    "nl": DUTCH,
}
