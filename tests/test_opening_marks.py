"""Opening marks, `¿¡`: read off the word that they stand before, written before it, counted beside; words stay."""

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from chance import PunctuatorByChance, decided
from copier import with_opening_tokens
from fit_tagger import fit_tagger
from from_encoder import ENCODER_TASK, from_encoder
from hypothesis import given
from hypothesis import strategies as st
from stepwise import assert_same_votes, decode_stepwise
from tiny import tiny_text
from tiny_encoders import save_tiny_encoder

from t5punct import model as models
from t5punct.decoding.align import align
from t5punct.decoding.align import votes as votes_of_alignment
from t5punct.decoding.inputs import DecodingConfig, WindowInput
from t5punct.decoding.slots import SlotDecoder
from t5punct.errors import ConfigError
from t5punct.evaluation.counts import compare
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.streaming import StreamConfig, StreamingPunctuator
from t5punct.t5.tagger import Tagger
from t5punct.t5.task import TaskConfig
from t5punct.text.marks import OPENING, Case
from t5punct.text.render import Decision
from t5punct.text.words import split
from t5punct.training.config import DataConfig, LossConfig, OptimConfig, TrainConfig
from t5punct.training.data.chunks import ChunkConfig, chunk_of
from t5punct.training.data.corpora import CorpusConfig
from t5punct.training.data.prepare import PrepareConfig, prepare
from t5punct.training.examples.batches import load_split
from t5punct.training.examples.disfluencies import ChunkWord, NoiseConfig, add_noise
from t5punct.training.examples.example import ChunkExamples
from t5punct.training.loop.train import train
from t5punct.training.starting_model import make_starting_model
from t5punct.transcripts.formats import transcript_of
from t5punct.windows.plan import WindowConfig
from t5punct.windows.votes import Vote, most_probable

SPANISH = replace(ENCODER_TASK, opening="".join(OPENING))


# -- in files and texts; that words stay whatever opening marks come by chance: tests/fuzz/


@pytest.mark.parametrize(("raw", "opening", "written"), [
    ("&quot;qu<i>é", "¿", "&quot;¿Qu<i>é,"), ("&quot;¿qu<i>é", "", "&quot;Qu<i>é,"),
    ("¿q<b>ué</b>?", "¡", "¡Q<b>ué,</b>"), ("<i>¿</i>qué", "", "<i></i>Qué,"),
    ("&quot;<i>¿</i>qué", "", "&quot;<i></i>Qué,"),
])  # fmt: skip
def test_tags_and_entities_stay_where_they_are(raw: str, opening: str, written: str) -> None:
    decision = Decision(",", Case.CAPITALISED, 1, 1, opening=opening)
    new, _ = decided(f"1\n00:00:01,000 --> 00:00:02,000\n{raw}\n", "srt", lambda: decision)
    assert new.splitlines()[2] == written


class QuestionsByHalves(PunctuatorByChance):
    """Every third word ends a sentence, a statement with 0.6; it would be a question where no full stop may be."""

    def vote_on(self, place: int) -> Vote:
        ends = place % 3 == 2
        return replace(super().vote_on(place), marks={".": 0.6, "?": 0.4} if ends else {"": 1.0}, openings={"": 1.0})


def test_marks_that_may_not_be_written_make_no_other_mark_likelier() -> None:
    said = "we know that you know it so it is"
    for marks, wanted in (
        ("?", "We know that you know it so it is"),
        (",.", "We know that. You know it. So it is."),
        (None, "We know that. You know it. So it is."),
    ):
        config = PunctuatorConfig(WindowConfig(100), decoding=DecodingConfig(marks=marks))
        assert QuestionsByHalves(config, 0).punctuate(said).lower() == wanted.lower(), marks


@given(
    st.lists(st.sampled_from(["we", "know", "-", "it"]), min_size=1, max_size=30),
    st.sampled_from(["?", "!", ".?", ",", "", None]),
    st.integers(0, 999),
)
def test_an_opening_mark_has_its_end_whatever_marks_may_be_written(
    words: list[str], marks: str | None, seed: int
) -> None:
    config = PunctuatorConfig(WindowConfig(8), decoding=DecodingConfig(marks=marks))
    written = PunctuatorByChance(config, seed).punctuate(" ".join(words))
    opened_ends(written)


class EndsAt(PunctuatorByChance):
    """Sentences end with `?` behind these places; the model knows no opening marks."""

    ends: tuple[int, ...] = ()

    def vote_on(self, place: int) -> Vote:
        return Vote({"?" if place in self.ends else "": 1.0}, {Case.LOWER.value: 1.0})


@pytest.mark.parametrize(("text", "ends", "written"), [
    ('"how are you" "fine" he said', (2,), '"How are you?" "Fine" he said.'),  # quotes that hold a whole sentence
    ('he asked "how are you"', (), 'He asked "how are you".'),  # a part of a sentence
    ('"war" is a book called "war"', (), '"War" is a book called "war".'),
    ("„wie geht es dir heute“ so", (4,), "„Wie geht es dir heute?“ So."),
    ('"¿cómo estás" dijo', (1,), '"¿Cómo estás?" Dijo.'),
    ('¿dijo "hola maria"', (), '¿Dijo "hola maria"?'),  # the mark is outside of the quotes, and so is its end
    ('dijo "¿cómo estás"', (), 'Dijo "¿cómo estás?"'),
])  # fmt: skip
def test_the_end_of_a_quoted_sentence_stands_inside_its_quotes(text: str, ends: tuple[int, ...], written: str) -> None:
    punctuator = EndsAt(PunctuatorConfig(), 0)
    punctuator.ends = ends
    assert punctuator.punctuate(text) == written


CUE = "1\n00:00:01,000 --> 00:00:02,000\n"


@pytest.mark.parametrize(("format", "text", "written"), [
    ("json", r'{"text": "\"how are you\" she", "words": [{"word": "how"}, {"word": "are"}, {"word": "you"}]}',
     r'{"text": "\"How are you?\" She.", "words": [{"word": "How"}, {"word": "are"}, {"word": "you?"}]}'),
    ("csv", 'text\n"""how are you"" she"\n', 'text\n"""How are you?"" She."\n'),
    ("csv", 'word,n\n"""how",1\nare,2\n"you""",3\nshe,4\n', 'word,n\n"""How",1\nare,2\n"you?""",3\nShe.,4\n'),
    ("srt", f'{CUE}"<i>how are you</i>" she\n', f'{CUE}"<i>How are you?</i>" She.\n'),
    ("text", "»how are you?« she\n", "»How are you?« She.\n"),
])  # fmt: skip
def test_quotes_behind_an_end_keep_what_the_file_has_around_them(format: str, text: str, written: str) -> None:
    punctuator = EndsAt(PunctuatorConfig(), 0)
    punctuator.ends = (2,)
    transcript = transcript_of(text.splitlines(keepends=True), format)
    words = [word for text in punctuator.annotate_texts(transcript.texts) for word in text]
    assert "".join(punctuator.file_pieces(transcript, words)) == written


# -- in training


def test_a_chunk_has_them_they_are_counted_and_places_of_a_recording_get_them() -> None:
    chunk = chunk_of(split('Dijo: "¿Qué hora es?" ¡No!').words, style="prose", cased=True)
    assert (chunk.source, chunk.target) == ("dijo qué hora es no", "Dijo: ¿Qué hora es? ¡No!")
    counts = compare("¿Qué hora es? ¡No! ¿Sí?", "¿qué hora es? ¿no! sí?")
    assert (counts.openings.correct, counts.openings.predicted, counts.openings.reference) == (1, 2, 3)
    assert counts.classes["QUESTION"].reference == 2
    assert counts.words_changed == 0
    text = '{"text": "(qué) ¿no", "words": [{"word": "qué"}, {"word": "¿no"}]}'
    decisions = iter([Decision(",", Case.CAPITALISED, 1, 1, opening="¿"), Decision("", Case.LOWER, 1, 1, opening="")])
    new, _ = decided(text, "json", lambda: next(decisions))
    assert new == '{"text": "(¿Qué), no", "words": [{"word": "¿Qué,"}, {"word": "no"}]}'


def test_errors_keep_an_opening_mark_with_its_sentence() -> None:
    said = [ChunkWord("qué", "Qué", "", opening="¿"), ChunkWord("hora", "hora", ""), ChunkWord("es", "es", "?")]
    for seed in range(200):
        heard = add_noise(
            said, NoiseConfig(1.0, {"substitute": 0.2, "delete": 0.3, "insert": 0.2}), random.Random(seed),
            lambda: ChunkWord("x", "x", "", opening="¡"),
        )  # fmt: skip
        assert [word.opening for word in heard] == ["¿", *[""] * (len(heard) - 1)]


def opened_text(n_sentences: int, seed: int) -> str:
    """English in which sentences ask from the first `how` or `why` on, shout from `please` or `stop` on, and say so."""
    return " ".join(map(opened_sentence, tiny_text(n_sentences, seed)))


def opened_sentence(sentence: str) -> str:
    bare = re.sub(r"\b(today|now|right)\b", "know", sentence.rstrip(".?!"), flags=re.IGNORECASE).capitalize()
    for opening, words, last in (("¿", "how|why", "today"), ("¡", "please|stop", "now")):
        opened = re.sub(rf"\b({words})\b", rf"{opening}\1", bare, count=1, flags=re.IGNORECASE)
        if opened != bare:
            return f"{opened} {last}{OPENING[opening]}"
    return f"{bare} right."


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("openings")
    (folder / "talks.txt").write_text("\n".join(opened_text(20, seed) for seed in range(20)))
    corpora, chunks = [CorpusConfig("talks.txt")], ChunkConfig(4, 12)
    prepare(PrepareConfig(str(folder / "data"), str(folder), corpora, chunks, holdout_percent=5.0))
    return folder / "data"


@pytest.fixture(scope="module")
def trained(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    encoder = save_tiny_encoder(folder / "encoder", "mpnet")
    torch.manual_seed(2)  # of its new decoder
    models.save(from_encoder(encoder, SPANISH), folder / "begun")
    config = TrainConfig(
        output=str(folder / "model"), init_from=str(folder / "begun"),
        data=DataConfig(str(data), batch_tokens=900, noise=NoiseConfig(0.3)),
        optim=OptimConfig(lr=3e-3, warmup_steps=0, max_steps=60), loss=LossConfig(tagger_weight=1, slot_weight=1),
    )  # fmt: skip
    start = make_starting_model(config)
    examples = ChunkExamples(load_split(str(data), "train"), start.tokenizer, config.data)
    models.save(replace(start, tagger=fit_tagger(start, examples, 1500)), folder / "start")
    return train(replace(config, init_from=str(folder / "start")))


def test_examples_have_their_classes(data: Path, trained: Path) -> None:
    rows = load_split(str(data), "train")
    model = models.load(trained)
    examples = ChunkExamples(rows, model.tokenizer)
    plain = ChunkExamples(rows, model.with_task(opening="").tokenizer)
    n_openings, tokens = 0, model.tokenizer.opening_ids.values()
    for index in range(len(examples)):
        example, words = examples[index], split(rows[index]["target"]).words
        assert example.openings == tuple(("", "¿", "¡").index(word.opening) for word in words)
        pairs = zip(example.targets, example.next_word_ids, strict=True)
        target, next_word_ids = zip(*(pair for pair in pairs if pair[0] not in tokens), strict=True)
        without = replace(example, targets=target, decoder_ids=target, next_word_ids=next_word_ids)
        starts = plain[index].slot_starts
        assert plain[index] == replace(without, openings=(0,) * len(words), slot_starts=starts)
        assert len(example.targets) - len(target) == sum(map(bool, example.openings))
        n_openings += sum(example.openings)
    assert n_openings > 20


def test_it_learns_them_and_a_stream_commits_them_with_their_words(trained: Path) -> None:
    model = models.load(trained)
    assert model.tagger is not None and model.tagger.opening_classes == ("", "¿", "¡")
    reference = opened_text(40, seed=99)
    said = " ".join(word.normal for word in split(reference).words)
    config = PunctuatorConfig(WindowConfig(100), decoding=DecodingConfig("tagger"))
    written = Punctuator(model, config).punctuate(said)
    counts = compare(reference, written).openings
    assert counts.reference > 5
    assert 2 * counts.correct > 0.6 * (counts.predicted + counts.reference)
    assert opened_ends(written) > 10
    questions = [PunctuatorConfig(decoding=DecodingConfig(marks=marks)) for marks in ("?", "¿?")]
    assert len({Punctuator(model, config).punctuate(said) for config in questions}) == 1
    few = Punctuator(model, PunctuatorConfig(decoding=DecodingConfig(marks=",."))).punctuate(said)
    assert "¿" not in few, "it is written only where its closing mark may be"
    said = [word.normal for word in split(opened_text(10, seed=98)).words]
    config = PunctuatorConfig(decoding=DecodingConfig("tagger"))
    punctuator = Punctuator.from_pretrained(source=trained, config=config)
    stream = StreamingPunctuator(punctuator, StreamConfig(policy="fixed", lookahead=3))
    committed = [word.annotated.text for word in [*stream.push(said), *stream.finish()]]
    assert any(text.startswith("¿") for text in committed)
    assert opened_ends(" ".join(committed)) > 0, "each ends as it was opened, though its mark is out already"
    assert [split(text).words[0].normal for text in committed] == said


def test_a_decoder_with_tokens_for_them_writes_them_by_itself(trained: Path) -> None:
    """As step by step; a decoder so small learns no more than that.  A tagger that knows them has the say."""
    model = models.load(trained)
    alone = replace(model, tagger=None)
    words = [word.normal for word in split(opened_text(40, seed=99)).words]
    windows = [WindowInput.of(words[begin : begin + 20]) for begin in range(0, 200, 20)]
    votes = SlotDecoder(alone).votes(windows)
    assert_same_votes(votes, decode_stepwise(alone, windows))
    assert {tuple(vote.openings or ()) for window in votes for vote in window} == {("", "¿", "¡")}
    config = PunctuatorConfig(decoding=DecodingConfig("slots"))
    assert opened_ends(Punctuator(model, config).punctuate(" ".join(words))) > 10
    few = Punctuator(alone, PunctuatorConfig(decoding=DecodingConfig("slots", marks=",."))).punctuate(" ".join(words))
    assert "¿" not in few


def test_targets_with_them_are_read_back(trained: Path) -> None:
    model = models.load(trained)
    text = "well, ¿how do you know? ¡Stop now! We know right."
    ids = model.tokenizer.encode_target(text)
    assert model.tokenizer.decode(ids) == text
    alignment = align([word.normal for word in split(text).words], text, model.task.alphabet)
    said = votes_of_alignment(alignment, has_openings=True)
    assert [vote.openings and most_probable(vote.openings) for vote in said][:2] == ["", "¿"]


def test_a_new_decoder_gets_tokens_for_them(data: Path, tmp_path: Path) -> None:
    folder = save_tiny_encoder(tmp_path, "mpnet")
    model = from_encoder(folder, ENCODER_TASK).with_task(opening="¿¡")
    assert not model.tokenizer.opening_ids
    tokens = with_opening_tokens(model).tokenizer.opening_ids
    assert sorted(tokens) == ["¡", "¿"] and len({*tokens.values()}) == 2
    models.save(model, tmp_path / "model")
    config = TrainConfig(init_from=str(tmp_path / "model"), data=DataConfig(str(data)))
    assert not make_starting_model(config).tokenizer.opening_ids, "its decoder stays, which cannot write them"


def opened_ends(text: str) -> int:
    """How many sentences have an opening mark; each of them ends with its closing mark."""
    opening, n_opened = "", 0
    for word in split(text).words:
        assert not (opening and word.opening), text
        opening = opening or word.opening
        if word.ends_sentence(word.marks):
            assert not opening or OPENING[opening] in word.marks, text
            n_opened += bool(opening)
            opening = ""
    assert not opening, text
    return n_opened


def test_a_tagger_without_them_is_what_it_was_and_other_marks_are_refused() -> None:
    assert set(Tagger(8, ",.").state_dict()) == {"marks.weight", "marks.bias", "cases.weight", "cases.bias"}
    assert Tagger(8, ",.").opening_probabilities(torch.ones(2, 8), ",.") is None
    for wrong in ("?", "¿¿", "a"):
        with pytest.raises(ConfigError, match="expected some of ¿¡"):
            TaskConfig(opening=wrong)
