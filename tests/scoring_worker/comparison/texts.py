"""Sentences in many scripts, written for these tests, and names of CLDR in as many languages."""

from __future__ import annotations

from babel import Locale

SENTENCES = {
    "en": "The lease of the old mill was signed by both parties on a rainy morning in Leeds.",
    "de": "Der Mietvertrag über die alte Mühle wurde an einem verregneten Morgen unterschrieben.",
    "fr": "Le bail de l'ancien moulin a été signé par les deux parties un matin d'été à Nîmes.",
    "es": "El señor Peña firmó el contrato del molino viejo una mañana de niebla en Cádiz.",
    "pl": "Umowę najmu starego młyna podpisano w deszczowy poranek w Łodzi, przy świadkach.",
    "cs": "Smlouvu o nájmu starého mlýna podepsali oba účastníci za deštivého rána v Brně.",
    "tr": "Eski değirmenin kira sözleşmesi yağmurlu bir sabah İzmir'de iki tarafça imzalandı.",
    "vi": "Hợp đồng thuê cối xay cũ được hai bên ký vào một buổi sáng mưa ở Huế.",
    "fi": "Vanhan myllyn vuokrasopimus allekirjoitettiin sateisena aamuna Jyväskylässä.",
    "ru": "Договор аренды старой мельницы подписали обе стороны дождливым утром в Твери.",
    "uk": "Договір оренди старого млина підписали обидві сторони дощового ранку у Львові.",
    "el": "Το μισθωτήριο του παλιού μύλου υπογράφηκε ένα βροχερό πρωί στην Πάτρα.",
    "ar": "وقع الطرفان عقد إيجار المطحنة القديمة في صباح ممطر في مدينة الإسكندرية.",
    "he": "חוזה השכירות של הטחנה הישנה נחתם בבוקר גשום בעיר חיפה על ידי שני הצדדים.",
    "fa": "قرارداد اجارهٔ آسیاب قدیمی در صبحی بارانی در شیراز امضا می‌شود.",
    "hi": "पुरानी चक्की का किरायानामा एक बरसाती सुबह लखनऊ में दोनों पक्षों ने हस्ताक्षरित किया।",
    "bn": "পুরোনো কলের ভাড়ার চুক্তি এক বৃষ্টির সকালে ঢাকায় দুই পক্ষ সই করেছিল।",
    "ta": "பழைய ஆலையின் குத்தகை ஒப்பந்தம் ஒரு மழைக் காலையில் மதுரையில் கையெழுத்தானது.",
    "te": "పాత మిల్లు అద్దె ఒప్పందంపై ఒక వర్షపు ఉదయం ఇరు పక్షాలు సంతకం చేశాయి.",
    "th": "สัญญาเช่าโรงสีเก่าลงนามกันในเช้าวันฝนตกที่เชียงใหม่",
    "lo": "ສັນຍາເຊົ່າໂຮງສີເກົ່າໄດ້ລົງນາມໃນຕອນເຊົ້າທີ່ມີຝົນ",
    "km": "កិច្ចសន្យាជួលម៉ាស៊ីនកិនស្រូវចាស់ត្រូវបានចុះហត្ថលេខានៅព្រឹកមួយ",
    "my": "စက်ရုံဟောင်းငှားရမ်းမှုစာချုပ်ကို မိုးရွာသောနံနက်တွင် လက်မှတ်ထိုးခဲ့သည်",
    "zh": "双方在一个下雨的早晨于杭州签订了旧磨坊的租约，租期三年。",
    "ja": "古い水車小屋の賃貸契約は雨の朝に京都のホテルで締結された。",
    "ko": "오래된 방앗간의 임대 계약은 비 오는 아침 부산에서 체결되었다.",
    "ka": "ძველი წისქვილის იჯარის ხელშეკრულება წვიმიან დილას ქუთაისში გაფორმდა.",
    "hy": "Հին ջրաղացի վարձակալության պայմանագիրը ստորագրվեց անձրևոտ առավոտյան Գյումրիում։",
    "am": "የድሮው ወፍጮ የኪራይ ውል በዝናባማ ጠዋት በጎንደር ተፈረመ።",
}
LOCALES = (
    *("en", "de", "fr", "es", "pt", "it", "nl", "pl", "cs", "hu", "fi", "sv", "tr", "vi", "ro"),
    *("ru", "uk", "bg", "sr", "el", "ar", "he", "fa", "hi", "bn", "ta", "te", "th", "lo", "km"),
    *("my", "zh", "ja", "ko", "ka", "hy", "am"),
)


def cldr_names() -> dict[str, list[str]]:
    """The names of countries and of languages in each locale, as CLDR has them."""
    found: dict[str, list[str]] = {}
    for code in LOCALES:
        locale = Locale.parse(code)
        territories = [name for key, name in locale.territories.items() if len(key) == 2]
        found[code] = sorted({*territories, *locale.languages.values()})
    return found
