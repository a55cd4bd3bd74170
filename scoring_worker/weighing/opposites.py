"""Names of fields that exclude each other: what is the buyer's is not the supplier's.

A reader that is asked for one field alone takes what is there ("Buyer: Merrow Ltd" for *Supplier*).
The label then says by itself that the value is of another field, if its word is the counterpart
of the field's: the other side of a contract, the other end of a journey or a period, net and
gross, who asks and who approves, what is ordered and what was offered. The table has words of
everyday forms, and none that may name both sides.
"""

from collections.abc import Sequence
from functools import cache
from typing import Final

from safepassage.passages.words import content_words
from safepassage.schemas import entity_type_name

_SETS: Final = (
    (
        "buyer purchaser customer client Käufer Besteller Auftraggeber Kunde acheteur "
        "comprador cliente acquirente koper klant",
        "seller vendor supplier contractor provider Verkäufer Lieferant Auftragnehmer vendeur "
        "fournisseur vendedor proveedor venditore fornitore verkoper leverancier",
    ),
    (
        "requester requested requisitioner applicant buyer purchaser Besteller Antragsteller "
        "demandeur solicitante richiedente aanvrager",
        "approver approved approves approval authorised authorized authorisation released "
        "countersigned Genehmigt Genehmigung Freigabe freigegeben approuvé aprobado approvato "
        "goedgekeurd",
    ),
    (
        "order ordered Bestellung Bestellnummer Auftrag commande pedido ordine bestelling",
        "quotation quote offer estimate proposal Angebot Angebotsnummer devis offre oferta "
        "presupuesto offerta preventivo offerte",
    ),
    (
        "Invoice_Address invoice billing bill Rechnungsadresse Rechnungsanschrift facturation "
        "facturación fatturazione factuuradres",
        "Delivery_Address delivery deliver shipping Lieferadresse Lieferanschrift livraison "
        "entrega consegna afleveradres",
    ),
    (
        "patient Patientin paciente paziente patiënt",
        "doctor physician surgeon GP Arzt Ärztin médecin médico medico arts",
    ),
    (
        "employer Arbeitgeber employeur empleador werkgever",
        "employee Arbeitnehmer salarié empleado dipendente werknemer",
    ),
    (
        "landlord lessor Vermieter bailleur arrendador locatore verhuurder",
        "tenant lessee Mieter locataire arrendatario inquilino conduttore huurder",
    ),
    (
        "lender creditor Gläubiger créancier acreedor creditore",
        "borrower debtor Schuldner débiteur deudor debitore",
    ),
    (
        "plaintiff claimant petitioner Kläger demandeur demandante",
        "defendant respondent Beklagter défendeur demandado",
    ),
    (
        "sender consignor shipper Absender expéditeur remitente mittente afzender",
        "recipient consignee receiver addressee Empfänger destinataire destinatario ontvanger",
    ),
    ("exporter", "importer"),
    ("insurer", "insured policyholder"),
    ("licensor", "licensee"),
    ("grantor", "grantee"),
    ("payer", "payee"),
    ("mother Mutter mère madre moeder", "father Vater père padre vader"),
    ("husband", "wife"),
    ("teacher", "pupil student"),
    (
        "net Netto Nettobetrag neto",
        "gross Brutto Bruttobetrag brut bruto lordo",
    ),
    ("total", "subtotal Zwischensumme subtotale"),
    ("including incl inclusive inkl", "excluding excl exclusive exkl zzgl"),
    ("debit", "credit"),
    (
        "departure Abfahrt Abflug départ salida partenza vertrek",
        "arrival Ankunft arrivée llegada arrivo aankomst",
    ),
    ("origin Herkunft", "destination Bestimmung"),
    ("loading embarkation", "discharge unloading disembarkation"),
    ("birth Geburt naissance nacimiento nascita", "death Tod décès muerte"),
    (
        "start beginning commencement Beginn début inicio inizio",
        "end expiry expiration Ende fin fine einde",
    ),
    ("minimum min", "maximum max"),
    ("systolic", "diastolic"),
    ("left links", "right rechts"),
    ("profit Gewinn", "loss Verlust"),
    ("home", "away"),
    (
        "sodium Natrium",
        "potassium Kalium",
        "chloride",
        "calcium",
        "magnesium",
        "phosphate",
    ),
)
"""Sides that exclude each other, with their words in several languages. The first is its name."""


def excludes(label: str, field: str, description: str = "", *, alone: bool = False) -> bool:
    """Whether a word of ``label`` is the counterpart of one of ``field``: neither has words of both
    sides, and the ``description`` has none of the label's. ``alone`` asks that the label has no
    words besides, but for those of the field ("quotation number" for *Order Number*)."""
    said, own = _stems(label), _stems(entity_type_name(field))
    described = _stems(description)
    for sides in _sides():
        of_label, of_field = _of(sides, said), _of(sides, own)
        if len(of_label) != 1 or len(of_field) != 1 or of_label == of_field:
            continue
        if said & of_label[0] & described or (alone and not said - own <= of_label[0]):
            continue
        return True
    return False


def counterparts(field: str, text: str) -> tuple[str, ...]:
    """The names of fields that ``field`` excludes and of which ``text`` speaks: *Quotation Number*
    for *Order Number*, where ``text`` has a word of quotations."""
    words, said = entity_type_name(field).split(), _stems(text)
    own = _stems(" ".join(words))
    found = []
    for sides in _sides():
        of_field = _of(sides, own)
        if len(of_field) != 1:
            continue
        own_side = of_field[0]
        for side in _of(sides, said):
            if side != own_side:
                found.append(_name(side, [word for word in words if not _stems(word) & own_side]))
    return tuple(found)


def _of(sides: Sequence[frozenset[str]], words: frozenset[str]) -> list[frozenset[str]]:
    """Those of ``sides`` that have any of ``words``."""
    return [side for side in sides if words & side]


def _name(side: frozenset[str], words: Sequence[str]) -> str:
    """The name of ``side`` in a field that has the other ``words``; a name of two has none."""
    first = next(one.split()[0] for sides in _SETS for one in sides if _stems(one) == side)
    return entity_type_name(first) if "_" in first else " ".join((entity_type_name(first), *words))


@cache
def _sides() -> list[list[frozenset[str]]]:
    return [[_stems(side) for side in sides] for sides in _SETS]


def _stems(text: str) -> frozenset[str]:
    return frozenset(content_words(text)) if text else frozenset()
