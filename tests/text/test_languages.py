"""The language of a text, as a warning names it."""

import pytest

from t5punct.text.languages import guess_language


@pytest.mark.parametrize(("text", "language"), [
    ("so what do you think about the new one", "English"),
    ("wir gehen heute nicht in den park weil es regnet", "German"),
    ("hola buenos días cómo estás hoy me gustaría saber si puedes venir a la fiesta de mañana", "Spanish"),
    ("le matin je sors tôt et j'achète du pain puis je rentre", "French"),
    ("reggel korán elindulok és veszek kenyeret aztán hazamegyek mert nincs időm", "Hungarian"),
    ("ela ainda estava em casa quando eles chegaram", "Portuguese"),
    ("jeg hedder anna og jeg er fra danmark hvad hedder du", "Danish"),
    ("minulý týden přijel bratr z hor a dlouho vyprávěl že tam ještě leží spousta sněhu", "Czech"),
    ("gister het ek met my suster stad toe gegaan en ons het roomys geëet", "Afrikaans"),
    ("dje shkova në qytet me motrën time dhe hëngrëm akullore në park", "Albanian"),
    ("你好", "Chinese characters"), ("на горе", "Cyrillic letters"), ("so", None), ("Dvořák Smetana Janáček", None),
    ("café naïve façade résumé", None), ("123 ... !", None),
])  # fmt: skip
def test_guess_language(text: str, language: str | None) -> None:
    assert guess_language(text.split()) == language
