"""Sentences around a value in the languages that the default scorer reads, written for this."""

from __future__ import annotations

FRAMES = {
    "en": ("The contract was signed on {v} in Leeds.", "The total comes to {v}."),
    "de": ("Der Vertrag wurde am {v} in Kassel unterschrieben.", "Die Summe beträgt {v}."),
    "es": ("El contrato se firmó el {v} en Cádiz.", "El importe total es de {v}."),
    "pt": ("O contrato foi assinado em {v} no Porto.", "O valor total é de {v}."),
    "fr": ("Le contrat a été signé le {v} à Nîmes.", "Le montant total est de {v}."),
    "it": ("Il contratto è stato firmato il {v} a Pavia.", "L'importo totale è di {v}."),
    "nl": ("Het contract werd op {v} in Breda getekend.", "Het totaalbedrag is {v}."),
    "ro": ("Contractul a fost semnat la {v} la Cluj.", "Suma totală este de {v}."),
    "ru": ("Договор подписан {v} в Твери.", "Общая сумма составляет {v}."),
    "el": ("Η σύμβαση υπογράφηκε στις {v} στην Πάτρα.", "Το συνολικό ποσό είναι {v}."),
    "tr": ("Sözleşme {v} tarihinde İzmir'de imzalandı.", "Toplam tutar {v}."),
    "vi": ("Hợp đồng được ký ngày {v} tại Huế.", "Tổng số tiền là {v}."),
    "ca": ("El contracte es va signar el {v} a Girona.", "L'import total és de {v}."),
    "gl": ("O contrato asinouse o {v} en Lugo.", "O importe total é de {v}."),
}
"""By language: a sentence for a date and one for an amount."""

OTHERS = ("ar", "bn", "cs", "fa", "he", "hi", "ja", "ko", "pl", "th", "zh")
"""Languages that only the comparators know."""
