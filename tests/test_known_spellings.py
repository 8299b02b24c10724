"""What the bundled models know by heart: `I` and names with inner capitals, in every output."""

from dataclasses import replace
from pathlib import Path

import pytest

from t5punct import model as models
from t5punct.decoding.inputs import DecodingConfig
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.streaming import StreamConfig, StreamingPunctuator
from t5punct.text.render import RenderConfig
from t5punct.text.spelling_table import SpellingTable, read_table

NAMES = "mcdonald's iphone macbook ebay youtube github phd ios whatsapp coca-cola jean-paul"
WRITTEN = "McDonald's iPhone MacBook eBay YouTube GitHub PhD iOS WhatsApp Coca-Cola Jean-Paul"
FIRST_PERSON = "no i never saw it and i'm sure that i’ve been here mother and i said i'd go if i could"
SPELLED = "I I'm I’ve I I'd I".split()


def bare(text: str) -> list[str]:
    return [word.strip(",.?!;:-") for word in text.split() if word.strip(",.?!;:-")]


def first_persons(text: str) -> list[str]:
    return [word for word in bare(text) if word[:1] in "iI" and word[1:2] in ("", "'", "’")]


@pytest.fixture(scope="module")
def small() -> Punctuator:
    return Punctuator("small")


@pytest.mark.parametrize("name", ["large", "base", "small"])
def test_the_english_models_know_names_with_inner_capitals(name: str) -> None:
    table = read_table(models.bundled_folder(name))
    assert " ".join(map(table.spell, NAMES.replace("jean", "Jean").split())) == WRITTEN, "`jean` is a cloth, too"
    known = "I I'll it us may sage will Maria Chicago Monday mayo fjord Netflix mark".split()
    assert [table.spell(word.lower()) for word in known] == known
    assert [table.spell(word) for word in ("Jean-luc", "jean-luc", "Jean-clad", "Jean-like", "Anti-war")] == [
        *("Jean-Luc", "jean-luc", "Jean-Clad", "Jean-like", "Anti-war")
    ], "what follows `Jean-` is a name, unless it is known in small letters; `jean` is a cloth"
    words = "turn over let's what maria health".split()
    assert [word for word in words if table.has_small(word)] == words[:4]


def test_names_are_written_so_wherever_they_stand_if_there_is_a_table(small: Punctuator) -> None:
    text = f"iphone sales are up so see {NAMES.replace(' ', ' and ')}"
    written = bare(small.punctuate(text))
    assert written[0] == "iPhone" and {*WRITTEN.split()} <= {*written}
    assert [word.lower() for word in written] == text.split()
    # a recogniser writes `O'neil`; capitals elsewhere in a word are meant
    with_name = Punctuator(replace(small.model, spellings=SpellingTable(("O'Neil",))))
    assert bare(with_name.punctuate("we saw O'neil and oNeil and o'NEIL"))[2::2] == ["O'Neil", "oNeil", "o'NEIL"]
    bare_model = Punctuator(replace(small.model, spellings=SpellingTable()))
    assert "iphone" in bare(bare_model.punctuate("we have an iphone here"))


def test_letters_of_an_abbreviation_apart_have_capitals_and_no_marks_between_them(small: Punctuator) -> None:
    def letters_of(punctuator: Punctuator, text: str) -> str:
        words = punctuator.punctuate(text).split()
        return " ".join(word for word in words if len(word.strip(",.")) == 1)

    assert letters_of(small, "we use s q l and h t m l at five p m here").replace(",", "") == "S Q L H T M L p m"
    assert letters_of(small, "we met at nine a m and left").replace(",", "") == "a m"
    assert letters_of(small, "A m. We left") == "A m"
    assert letters_of(small, "so i bought a d v d here") == "I a D V D"
    for config in (RenderConfig(), RenderConfig(keep_marks=True)):
        again = small.with_config(render=config)
        letters = letters_of(again, "I live in the U S A, and we left at five p m. Yes.")
        assert letters.translate({ord(","): None, ord("."): None}) == "I U S A p m"
    assert letters_of(small, "plan b i think is good") in ("B I", "B, I")
    in_chat = small.with_config(decoding=DecodingConfig(style="chat"))
    assert letters_of(in_chat, "so u r great") == "u r"


def test_i_has_a_capital_in_texts_streams_and_files_but_not_where_case_is_kept(
    small: Punctuator, tmp_path: Path
) -> None:
    by_slots = Punctuator(small.model, PunctuatorConfig(decoding=DecodingConfig("slots")))
    stream = StreamingPunctuator(small, StreamConfig("delay", lookahead=1))
    committed = [*stream.push(FIRST_PERSON.split()), *stream.finish()]
    for text in (by_slots.punctuate(FIRST_PERSON), " ".join(word.text for word in committed)):
        assert first_persons(text) == SPELLED
    file = tmp_path / "talk.json"
    file.write_text('{"segments": [{"start": 0, "end": 9, "text": "no i never saw an iphone"}]}')
    assert '"No, I never saw an iPhone."' in small.punctuate_file(file)
    as_it_is = Punctuator(small.model, PunctuatorConfig(render=RenderConfig(case=False)))
    assert first_persons(as_it_is.punctuate(FIRST_PERSON)) == [word.lower() for word in SPELLED]
    assert as_it_is.punctuate("my iphone").startswith("my iphone")


def test_multi_knows_elided_names_and_leaves_other_languages_i_alone() -> None:
    multi = Punctuator("multi")
    italian, french, polish, dutch, english, other = multi.punctuate_many([
        "il governo dell'ungheria e quello dell'italia aspettano i risultati e i dati",
        "nous venons d'allemagne et l'italie est belle mais l'eau est froide",
        "mama i tata byli w domu a potem i ja przyszedłem",
        "'t is mooi weer hier en 's avonds regent het 5 km verder",
        "well i'm sure that i've seen it on whatsapp and youtube",
        "goedemorgen dames en heren welkom bij deze vergadering",
    ])  # fmt: skip
    assert {"dell'Ungheria", "dell'Italia", "i"} <= {*bare(italian)} and "I" not in bare(italian)
    assert {"d'Allemagne", "l'Italie", "l'eau"} <= {*bare(french)}
    assert bare(polish).count("i") == 2
    assert bare(dutch)[:2] == ["'t", "Is"] and {"'s", "km"} <= {*bare(dutch)}
    assert {"I'm", "I've", "WhatsApp", "YouTube"} <= {*bare(english)}
    assert "Goedemorgen, dames en heren" in other, "behind a comma"
