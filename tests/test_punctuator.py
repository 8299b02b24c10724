"""The promises of the whole way, on a model that knows nothing: garbage marks, but never a changed word."""

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from chance import PunctuatorByChance
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strategies import spaced_texts, texts

from t5punct.batch.work import punctuate_files
from t5punct.decoding.inputs import DecodingConfig
from t5punct.errors import ConfigError, InputError
from t5punct.model import Model, save
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.text.marks import Alphabet, Case, case_of
from t5punct.text.render import Alternative, Decision, RenderConfig, render_word
from t5punct.text.words import Word, split
from t5punct.windows.combine import METHODS, CombineConfig
from t5punct.windows.plan import View, WindowConfig, views_of
from t5punct.windows.votes import Vote

TEXT = spaced_texts()


@st.composite
def windows(draw: st.DrawFn) -> WindowConfig:
    window = draw(st.integers(1, 9))
    left = draw(st.integers(0, window - 1))
    right = draw(st.integers(0, window - 1 - left))
    return WindowConfig(window, mask_left=left, mask_right=right, overlap=draw(st.integers(1, window - left - right)))


def _words(text: str) -> list[str]:
    return [word.text for word in split(text).words]


def test_a_text_that_is_a_file_of_another_format_is_named(tiny_model: Model, caplog: pytest.LogCaptureFixture) -> None:
    """One of many texts stops no others."""
    Punctuator(tiny_model).punctuate_many(["so", "1\n00:00:01,000 --> 00:00:02,000\nso\n", '{"text": "so"}'])
    named = [record.getMessage().partition(" holds ")[2].partition(";")[0] for record in caplog.records]
    assert [kind for kind in named if kind] == ["srt", "json"]


@settings(max_examples=20)
@given(TEXT, windows(), st.sampled_from(METHODS), st.sampled_from(["slots", "tagger", "generate"]), st.booleans())
def test_words_and_spaces_are_never_changed_and_letters_only_where_case_is_asked_for(
    tagged_model: Model, text: str, plan: WindowConfig, method: str, decoder: str, has_case: bool
) -> None:
    decoding = DecodingConfig(decoder, batch_tokens=60)
    config = PunctuatorConfig(plan, CombineConfig(method), decoding, RenderConfig(case=has_case))
    output = Punctuator(tagged_model, config).punctuate(text)
    letters = str.lower if has_case else str
    assert [letters(word) for word in _words(output)] == [letters(word) for word in _words(text)]
    assert [word.space for word in split(output).words] == [word.space for word in split(text).words]


@settings(max_examples=12)
@example("[x] ")
@given(TEXT)
def test_kept_marks_stay_as_they_were_written_and_after_ends_of_sentences_there_are_capitals(
    lively_model: Model, text: str
) -> None:
    known = lively_model.task.alphabet  # other marks are spelling
    text = f"so. {text} we! and"
    keeping = Punctuator(lively_model, PunctuatorConfig(render=RenderConfig(keep_marks=True)))
    words, output = split(text, known).words, split(keeping.punctuate(text), known).words
    assert all(new.marks == word.marks for new, word in zip(output, words, strict=True) if word.given)
    before = "?"
    for word in output:
        if set(before) & set(".?!") and word.core.isascii() and word.core.isalpha() and len(word.core) < 60:
            is_direction = word.text[0] in "[("  # which stays
            assert word.core[0].isupper() or is_direction or case_of(word.core).value == "verbatim"
        before = word.given if word.has_slot else ""


@pytest.mark.parametrize("decoder", ["slots", "tagger", "generate"])
def test_a_whole_text_is_sentences_and_a_fragment_need_not(tagged_model: Model, decoder: str) -> None:
    plan = WindowConfig(8, mask_left=2, mask_right=1, overlap=2)
    text = "well we know that right " * 4 + "so"
    config = PunctuatorConfig(plan, decoding=DecodingConfig(decoder))
    annotated = Punctuator(tagged_model, config).annotate(text)
    assert annotated[0].text[0] == "W"
    assert set(annotated[-1].marks) & set(".?!")
    before_quote, quote = Punctuator(tagged_model, config).annotate(f"« {text} »")[-2:]
    assert set(before_quote.marks) & set(".?!") and quote.text == "»"
    fragment = Punctuator(tagged_model, replace(config, fragment=True)).annotate(text)
    assert [word.marks for word in fragment[:-1]] == [word.marks for word in annotated[:-1]]
    assert [word.case for word in fragment[1:]] == [word.case for word in annotated[1:]]
    in_text, in_fragment = [
        Punctuator(tagged_model, each).annotate(f"« {text} » ?") for each in (config, replace(config, fragment=True))
    ]
    assert in_text[-3].marks == in_fragment[-3].marks, "the mark behind the quote ends the text"
    assert fragment != annotated, "this model begins and ends no sentence by itself"


@pytest.mark.parametrize("decoder", ["slots", "tagger"])
@pytest.mark.parametrize("keep_marks", [False, True])
def test_marks_that_a_model_does_not_know_are_not_doubled(tagged_model: Model, decoder: str, keep_marks: bool) -> None:
    words = ["你好。", "再见？", "是的！”"] * 4
    render = RenderConfig(keep_marks=keep_marks)
    config = PunctuatorConfig(decoding=DecodingConfig(decoder), render=render)
    assert Punctuator(tagged_model, config).punctuate(" ".join(words)) == " ".join(words)
    assert Punctuator(tagged_model, config).punctuate("我们 我们") != "我们 我们", "this model writes marks"


def test_a_sober_style_writes_one_mark_unless_told(tiny_model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_model.with_task(style_max_marks={"talk": 1})
    monkeypatch.setattr("t5punct.decoding.generate.generate_texts", lambda *_: ["Well... What?! Stop it..."])

    def longest(decoder: str, style: str, max_marks: int | None = None) -> int:
        config = PunctuatorConfig(decoding=DecodingConfig(decoder, style=style, max_marks=max_marks))
        return max(len(word.marks) for word in Punctuator(model, config).annotate("well what stop it"))

    for decoder in ("slots", "generate"):
        assert longest(decoder, "talk") == 1
        assert longest(decoder, "chat") > 1 and longest(decoder, "talk", 3) > 1


def test_generation_reports_what_it_did_to_the_words_of_one_text_or_many(
    tiny_model: Model, lively_model: Model
) -> None:
    punctuator = Punctuator(tiny_model, PunctuatorConfig(decoding=DecodingConfig("generate")))
    punctuator.punctuate("we know that right")
    alignment = punctuator.alignment
    assert alignment is not None
    assert alignment.words == 4
    assert alignment.dropped + alignment.changed > 0, "a random model cannot copy"
    config = PunctuatorConfig(PLAN, decoding=DecodingConfig("generate"))
    together, alone = Punctuator(lively_model, config), Punctuator(lively_model, replace(config))
    together.punctuate_many(SHORT)
    for text in SHORT:
        alone.punctuate(text)
    assert together.alignment == alone.alignment


def test_masked_slots_on_the_right_are_not_written(lively_model: Model) -> None:
    plan = WindowConfig(8, mask_left=2, mask_right=3)
    punctuator = Punctuator(lively_model, PunctuatorConfig(plan))
    views = views_of([Word(f"w{number}") for number in range(20)], plan)
    for view, votes in zip(views, punctuator.window_votes(views), strict=True):
        assert len(votes) == view.window.keep_stop - view.window.start
        assert len(votes) == len(view.words) - (0 if view.is_last else 3)


@pytest.mark.parametrize(("precision", "dtype"), [("bf16", torch.bfloat16), ("fp32", torch.float32)])
def test_precision_and_device_count_for_a_given_model(tiny_model: Model, precision: str, dtype: torch.dtype) -> None:
    config = PunctuatorConfig(decoding=DecodingConfig(precision=precision, device="cpu"))
    punctuator = Punctuator(tiny_model, config)
    assert punctuator.model.precision == precision
    assert next(punctuator.model.network.parameters()).dtype is dtype
    assert next(tiny_model.network.parameters()).dtype is torch.float32, "the given model stays as it is"
    same = punctuator.with_config(fragment=True).with_config(decoding=DecodingConfig())
    assert same.model is punctuator.model, "without a precision a model is taken as it is"
    with pytest.raises(ConfigError, match="device 'tpu9'"):
        Punctuator(tiny_model, PunctuatorConfig(decoding=DecodingConfig(device="tpu9")))


@pytest.mark.parametrize("decoding", [DecodingConfig(), DecodingConfig("generate"), DecodingConfig(precision="int8")])
@pytest.mark.filterwarnings("ignore:TypedStorage")
def test_a_punctuator_can_be_pickled(lively_model: Model, decoding: DecodingConfig) -> None:
    text = "we know what this is don't we"
    punctuator = Punctuator(lively_model, PunctuatorConfig(decoding=decoding, fragment=True))
    written = punctuator.punctuate(text)  # so that it holds what a used one does
    copied = pickle.loads(pickle.dumps(punctuator))  # noqa: S301
    assert copied.config == punctuator.config
    assert copied.punctuate(text) == written


@pytest.mark.parametrize("text", [None, ["we", "know"], b"we know", 5, "we \ud800 know"])
def test_what_is_no_text_is_refused(tiny_model: Model, text: object) -> None:
    punctuator = Punctuator(tiny_model)
    for method in (punctuator.punctuate, punctuator.annotate):
        with pytest.raises(InputError, match="expected"):
            method(text)  # type: ignore[arg-type]


def test_from_pretrained_takes_a_config_and_what_is_named_beside_it(tiny_model: Model, tmp_path: Path) -> None:
    save(tiny_model, tmp_path)
    config = PunctuatorConfig(WindowConfig(7), decoding=DecodingConfig("generate", style="prose", device="cpu"))
    punctuator = Punctuator.from_pretrained(tmp_path, config, style="chat", precision="bf16")
    decoding = DecodingConfig("generate", style="chat", precision="bf16", device="cpu")
    assert punctuator.config == replace(config, decoding=decoding)
    assert punctuator.model.precision == "bf16"
    assert Punctuator.from_pretrained(tmp_path, config).config == config
    for wrong in ({"style": "poem"}, {"precision": "fp8"}, {"device": "tpu9"}):
        with pytest.raises(ConfigError, match=next(iter(wrong.values()))):
            Punctuator.from_pretrained(tmp_path, config, **wrong)  # type: ignore[arg-type]


SENTENCES = "we know that - is this right? yes it is and we know the U.S. too"


@pytest.mark.parametrize("decoder", ["slots", "tagger", "generate"])
def test_alternatives_change_nothing_else(tagged_model: Model, decoder: str) -> None:
    config = PunctuatorConfig(decoding=DecodingConfig(decoder))
    without = Punctuator(tagged_model, config).annotate(SENTENCES)
    annotated = Punctuator(tagged_model, replace(config, render=RenderConfig(alternatives=2))).annotate(SENTENCES)
    assert tuple(replace(word, alternatives=()) for word in annotated) == without
    assert all(len(word.alternatives) <= 2 for word in annotated)
    if decoder != "generate":  # a single text votes for one label each time
        assert any(len(word.alternatives) == 2 for word in annotated)
    for word in annotated:
        chances = [word.confidence, *(alternative.probability for alternative in word.alternatives)]
        assert sum(chances) <= 1 + 1e-6
        assert word.marks not in [alternative.marks for alternative in word.alternatives] or word.text == "-"


@pytest.mark.parametrize(("text", "config", "named"), [
    ("know", RenderConfig(), [".", ","]), ("know", RenderConfig(keep_marks=True), [".", ","]),
    ("know;", RenderConfig(), [".", ","]), ("know;", RenderConfig(keep_marks=True), []), (":)", RenderConfig(), []),
    ("U.S", RenderConfig(), [","]),  # U.S. would be another word
])  # fmt: skip
def test_only_what_can_be_written_is_named(text: str, config: RenderConfig, named: list[str]) -> None:
    decision = Decision("", Case.LOWER, 0.5, 1.0, alternatives=(Alternative(".", 0.3), Alternative(",", 0.2)))
    word = render_word(split(text).words[0], decision, config, Alphabet())
    assert [alternative.marks for alternative in word.alternatives] == named


# -- many texts: each is as it would be alone, and windows of several are decoded together, some batches at a time


PLAN = WindowConfig(6, mask_left=2, mask_right=1)
DECODERS = ["slots", "tagger", "generate"]
SHORT = ["we know that", "", "how are you", "  ", "so it goes", "and then"]


@settings(max_examples=10)
@given(st.lists(texts, max_size=5), st.sampled_from([1, 60, 4096]), st.booleans(), st.sampled_from(DECODERS))
def test_each_text_is_punctuated_as_if_it_were_alone_whatever_a_batch_holds(
    tagged_model: Model, several: list[str], batch_tokens: int, fragment: bool, decoder: str
) -> None:
    config = PunctuatorConfig(PLAN, decoding=DecodingConfig(decoder, batch_tokens=batch_tokens), fragment=fragment)
    alone = Punctuator(tagged_model, replace(config, decoding=DecodingConfig(decoder)))
    assert Punctuator(tagged_model, config).punctuate_many(several) == [alone.punctuate(text) for text in several]


def test_a_single_text_is_no_row_of_texts(tagged_model: Model, tmp_path: Path) -> None:
    punctuator = Punctuator(tagged_model)
    with pytest.raises(InputError, match="one text; expected several"):
        punctuator.punctuate_many("we know")
    told = r"a (list|tuple) of texts; expected one text; use punctuate_many\(texts\)"
    for several in (["we know"], ("we", "know")):
        with pytest.raises(InputError, match=told):
            punctuator.punctuate(several)  # type: ignore[arg-type]
    many = punctuator.iter_punctuate(["we know", None])  # type: ignore[list-item]
    with pytest.raises(InputError, match="a text of type NoneType; expected a str"):
        list(many)
    with pytest.raises(InputError, match="one input, talks; expected several"):
        punctuate_files(punctuator, "talks", tmp_path / "out")
    with pytest.raises(InputError, match="one str of terms; expected several lines"):
        punctuate_files(punctuator, ["talks"], tmp_path / "out", terms="PyTorch")


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many windows were given to the decoder at each call."""
    seen: list[int] = []
    votes = Punctuator.window_votes

    def counted(self: Punctuator, views: Sequence[View[Word]]) -> list[tuple[Vote, ...]]:
        seen.append(len(views))
        return votes(self, views)

    monkeypatch.setattr(Punctuator, "window_votes", counted)
    return seen


def test_texts_are_read_as_they_are_needed(lively_model: Model, calls: list[int]) -> None:
    """Some batches ahead, whatever the number of texts: memory is bounded."""
    n_read, config = 0, PunctuatorConfig(decoding=DecodingConfig(batch_tokens=30))

    def endless() -> Iterator[str]:
        nonlocal n_read
        while True:
            n_read += 1
            yield "we know that this is right"

    many = Punctuator(lively_model, config).iter_punctuate(endless())
    assert n_read == 0
    first = next(many)
    assert n_read == 2, "a sixteenth of four batches of thirty tokens, so that the first comes soon"
    assert next(many) == first
    assert n_read == 2
    next(many)
    assert n_read == 5
    assert [next(many) for _ in range(50)] == [first] * 50
    assert calls == [2, 3, 5, 10, 20, 20], "each group is twice the one before, up to four batches"


class NamesByHalves(PunctuatorByChance):
    """Of `city hall` the first word may well have a capital, and the second one more so."""

    def vote_on(self, place: int) -> Vote:
        capital = {1: 0.45, 2: 0.7, 4: 0.1, 5: 0.7}.get(place, 0.0)
        return Vote({"": 1.0}, {Case.LOWER.value: 1.0 - capital, Case.CAPITALISED.value: capital})


def test_two_words_side_by_side_whose_case_is_unsure_are_one_name_or_none() -> None:
    text = "the city hall is large england"
    assert NamesByHalves(PunctuatorConfig(), 0).punctuate(text) == "The city hall is large England."


def test_a_name_in_the_place_of_a_config_is_refused(tagged_model: Model) -> None:
    with pytest.raises(ConfigError, match="a config that is 'talk'; expected a PunctuatorConfig; name settings"):
        Punctuator(tagged_model, "talk")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"writer 'text'; expected a WriterConfig\(\"text\"\); import it"):
        Punctuator(tagged_model).punctuate_file("talk.txt", writer="text")  # type: ignore[arg-type]


def test_a_dash_between_two_numbers_stays_and_none_is_written_there() -> None:
    written = "".join(PunctuatorByChance(PunctuatorConfig(), seed).punctuate("5 - 10 20 mg ") for seed in range(99))
    said = written.replace("¿", "").replace("¡", "").lower()
    assert (said.count("5 - 10"), said.count("- 20")) == (99, 0)
    assert "20 - mg" in said
