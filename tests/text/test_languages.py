"""The language of a text, as a warning names it."""

from __future__ import annotations

import pytest

from t5punct.text.languages import guess_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("so what do you think about the new one", "English"),
        ("wir gehen heute nicht in den park weil es regnet", "German"),
        ("minulý týden přijel bratr z hor a dlouho vyprávěl že tam ještě leží spousta sněhu", "Czech"),
        ("minulý týždeň prišiel brat z hôr a rozprával že je tam ešte veľa snehu", "Slovak"),
        ("prošle nedelje je došao brat sa mora i rekao da se vraća jer mu nije dobro", "Serbian or Croatian"),
        ("geçen hafta kardeşim dağdan döndü ve orada hâlâ kar olduğunu anlattı", "Turkish"),
        ("tuần trước anh trai tôi về và kể rằng trên núi vẫn còn nhiều tuyết", "Vietnamese"),
        ("minggu lalu kakak saya datang dari gunung dan bercerita tentang salju di sana", "Indonesian"),
        ("săptămâna trecută a venit fratele meu și ne-a povestit că e zăpadă", "Romanian"),
        ("你好", "Chinese characters"),
        ("на горе", "Cyrillic letters"),
        ("so", None),
        ("Dvořák Smetana Janáček", None),
        ("café naïve façade résumé", None),
        ("123 ... !", None),
    ],
)
def test_guess_language(text: str, language: str | None) -> None:
    assert guess_language(text.split()) == language
