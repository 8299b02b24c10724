"""The language of a text, as a warning names it."""

import pytest

from t5punct.text.languages import guess_language


@pytest.mark.parametrize(("text", "language"), [
    ("so what do you think about the new one", "English"),
    ("wir gehen heute nicht in den park weil es regnet", "German"),
    ("i said to my brother we do it on monday or you go to sleep", "English"),
    ("hola buenos días cómo estás hoy me gustaría saber si puedes venir a la fiesta de mañana", "Spanish"),
    ("la mattina esco presto e compro il pane poi torno e faccio colazione con mia sorella", "Italian"),
    ("le matin je sors tôt et j'achète du pain puis je rentre", "French"),
    ("de manhã eu saio cedo e compro pão depois volto para casa", "Portuguese"),
    ("reggel korán elindulok és veszek kenyeret aztán hazamegyek mert nincs időm", "Hungarian"),
    ("ela ainda estava em casa quando eles chegaram", "Portuguese"),
    ("nous avons encore beaucoup travail avant ce soir", "French"),
    ("hej hur mår du idag jag heter anna och jag kommer från sverige", "Swedish"),
    ("jeg hedder anna og jeg er fra danmark hvad hedder du", "Danish"),
    ("hei jeg heter anna og det er ikke så mye å gjøre her", "Norwegian"),
    ("minä olen anna ja asun täällä mutta en ole kotona nyt", "Finnish"),
    ("minulý týden přijel bratr z hor a dlouho vyprávěl že tam ještě leží spousta sněhu", "Czech"),
    ("minulý týždeň prišiel brat z hôr a rozprával že je tam ešte veľa snehu", "Slovak"),
    ("prošle nedelje je došao brat sa mora i rekao da se vraća jer mu nije dobro", "Serbian or Croatian"),
    ("geçen hafta kardeşim dağdan döndü ve orada hâlâ kar olduğunu anlattı", "Turkish"),
    ("tuần trước anh trai tôi về và kể rằng trên núi vẫn còn nhiều tuyết", "Vietnamese"),
    ("minggu lalu kakak saya datang dari gunung dan bercerita tentang salju di sana", "Indonesian"),
    ("gister het ek met my suster stad toe gegaan en ons het roomys geëet", "Afrikaans"),
    ("ahir vaig anar al mercat amb la meva germana i vam comprar fruita", "Catalan"),
    ("eile käisin ma oma õega linnas ja me sõime pargis jäätist", "Estonian"),
    ("vakar aš su seserimi buvau mieste ir mes valgėme ledus parke", "Lithuanian"),
    ("í gær fór ég í bæinn með systur minni og við borðuðum ís", "Icelandic"),
    ("dje shkova në qytet me motrën time dhe hëngrëm akullore në park", "Albanian"),
    ("gaur ez naiz etxean egongo baina bihar bai eta zer egin nahi dugu", "Basque"),
    ("jana nilienda mjini na dada yangu na tukala aiskrimu katika bustani", "Swahili"),
    ("kahapon pumunta ako sa bayan kasama ang kapatid ko at kumain kami", "Tagalog"),
    ("săptămâna trecută a venit fratele meu și ne-a povestit că e zăpadă", "Romanian"),
    ("你好", "Chinese characters"), ("на горе", "Cyrillic letters"), ("so", None), ("Dvořák Smetana Janáček", None),
    ("café naïve façade résumé", None), ("123 ... !", None),
])  # fmt: skip
def test_guess_language(text: str, language: str | None) -> None:
    assert guess_language(text.split()) == language
