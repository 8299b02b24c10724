"""Chunks as examples in tokens, with what the decoder reads; batches of about one length, in an order by seed."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from accelerate.data_loader import BatchSamplerShard
from chunk_rows import rows
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_word, labels

from t5punct import model as models
from t5punct.errors import ConfigError
from t5punct.model import Model, load_tokenizer
from t5punct.t5.delay import NOBODY
from t5punct.t5.task import TaskConfig
from t5punct.t5.tokenization import TaskTokenizer
from t5punct.text.marks import Alphabet
from t5punct.training.config import DataConfig, QuestionConfig
from t5punct.training.examples.batches import BatchSampler, make_collator
from t5punct.training.examples.disfluencies import NoiseConfig
from t5punct.training.examples.example import IGNORED, ChunkExamples, Example, History, draw_marks, make_history
from t5punct.training.labels import codes_of


def test_chunks_of_a_style_come_as_often_as_the_config_says(tiny_model: Model) -> None:
    data = rows(*[(f"word {index}", f"Word {index}.") for index in range(400)])
    data = data.remove_columns("style").add_column("style", ["talk", "chat", "prose", "meeting"] * 100)
    config = DataConfig("data", styles={"talk": 3.0, "prose": 0.0, "meeting": 0.5})
    examples = ChunkExamples(data, tiny_model.tokenizer, config)
    plain = ChunkExamples(data, tiny_model.tokenizer)
    sources = [examples[index].input_ids for index in range(len(examples))]
    counts = [sources.count(plain[index].input_ids) for index in range(400)]
    assert [sum(counts[start::4]) for start in (0, 1, 2)] == [300, 100, 0]
    assert set(counts[3::4]) == {0, 1}
    assert 35 < sum(counts[3::4]) < 65
    assert len(examples.lengths) == len(examples)
    with pytest.raises(ConfigError, match="style 'song'; expected one of talk, "):
        ChunkExamples(data, tiny_model.tokenizer, DataConfig("data", styles={"song": 1.0}))
    nothing = dict.fromkeys(tiny_model.task.styles, 0.0)
    with pytest.raises(ConfigError, match=r"data\.styles that leaves nothing"):
        ChunkExamples(data, tiny_model.tokenizer, DataConfig("data", styles=nothing))


def test_a_share_of_the_chunks_gets_errors_others_by_seed_and_epoch(tiny_model: Model) -> None:
    data = rows(*[("we know that this is right", "We know that this is right.")] * 1000)
    noise = NoiseConfig(0.5, {"substitute": 0.05, "delete": 0.5, "insert": 0.03})

    def sources(seed: int, epoch: int, n: int = 40) -> list[tuple[int, ...]]:
        examples = ChunkExamples(data, tiny_model.tokenizer, DataConfig("data", noise=noise), seed)
        examples.epoch = epoch
        assert all(len(example.marks) == len(example.word_ends) for example in map(examples.__getitem__, range(n)))
        return [examples[index].input_ids for index in range(n)]

    assert sources(1, 0) == sources(1, 0) != sources(2, 0)
    assert sources(1, 0) != sources(1, 1)
    clean = ChunkExamples(data, tiny_model.tokenizer)[0].input_ids
    assert 440 <= sum(source != clean for source in sources(1, 0, 1000)) <= 560


def test_an_example_is_encoded_as_decoding_meets_it(tiny_model: Model) -> None:
    tokenizer = tiny_model.tokenizer
    (example,) = ChunkExamples(rows(("we know right", "We know, right?!")), tokenizer)
    source = tokenizer.source(["we", "know", "right"], "talk")
    assert (example.input_ids, example.word_ends) == (source.ids, source.word_ends)
    assert tokenizer.sentinel_id not in example.input_ids, "without a share of questions nothing is asked"
    assert example.targets == tokenizer.target(["We", "know", "right"], ["", ",", "?!"])
    assert example.marks == (0, 1, 3), "none, and of several marks the first"


def test_classes_of_marks_and_case_have_the_order_in_which_taggers_are_stored(tiny_model: Model) -> None:
    """Another order would read the weights of every trained tagger wrongly."""
    row = ("we know nasa so it is right", "We, know. NASA? so! it; is: right -")
    (example,) = ChunkExamples(rows(row), tiny_model.tokenizer)
    assert tiny_model.task.marks == ",.?!:;-"
    assert example.marks == (1, 2, 3, 4, 6, 5, 7)
    assert example.cases == (1, 0, 2, 0, 0, 0, 0)  # lower, capitalised, upper


def test_a_task_with_fewer_marks_and_no_capitals_takes_the_same_data(tiny_tokenizer_folder: Path) -> None:
    task = TaskConfig(marks=",.?", max_marks=1, cased=False)
    tokenizer = load_tokenizer(tiny_tokenizer_folder, task)
    (example,) = ChunkExamples(rows(("we know it stop now right", "We know: it - stop; now... Right?!")), tokenizer)
    assert example.targets == tokenizer.target("we know it stop now right".split(), ["", "", "", "", ".", "?"])
    assert example.marks == (0, 0, 0, 0, 2, 3)
    assert len(example.word_ends) == 6


def test_questions_ask_about_one_slot_with_little_right_context(tiny_model: Model) -> None:
    words = [f"w{place}" for place in range(12)]
    labels = {4: ",", 9: "."}
    target = " ".join(word + labels.get(place, "") for place, word in enumerate(words))
    config, tokenizer = DataConfig("data", questions=QuestionConfig(share=1.0, l_max=3)), tiny_model.tokenizer
    examples = ChunkExamples(rows(*[(" ".join(words), target)] * 400), tokenizer, config)
    known = {
        (slot, lookahead): tokenizer.source(words[: slot + lookahead + 1], "talk", asked=slot).ids
        for lookahead in range(4)
        for slot in range(12 - lookahead)
    }
    asked = []
    for index in range(len(examples)):
        example = examples[index]
        ((slot, lookahead),) = [key for key, ids in known.items() if ids == example.input_ids]
        assert example.targets == tokenizer.answer(labels.get(slot, ""))
        assert set(example.marks) == {IGNORED}
        assert len(example.input_ids) <= examples.lengths[index]
        asked.append((slot, lookahead))
    assert {lookahead for _, lookahead in asked} == {0, 1, 2, 3}
    unmarked = sum(slot not in labels for slot, _ in asked) / len(asked)
    assert unmarked == pytest.approx(0.3 * 0.835, abs=0.08), "0.3 of the unmarked slots that were drawn"
    assert examples[0] == examples[0], "an example is the same whenever it is asked for"


TIMED = ("we know <extra_id_1> right <extra_id_1>", "We know, right?")


def test_pauses_are_read_where_the_task_has_a_token_for_them(tiny_model: Model) -> None:
    plain = tiny_model.tokenizer
    words = ["we", "know", "right"]
    (deaf,) = ChunkExamples(rows(TIMED), plain)
    assert deaf.input_ids == plain.source(words, "talk").ids
    hearing = TaskTokenizer(plain.tokenizer, replace(plain.task, pause_ms=280))
    ask = DataConfig("data", questions=QuestionConfig(1.0, l_max=0))
    asked = {question.input_ids for question in ChunkExamples(rows(*[TIMED] * 50), hearing, ask)}
    assert asked >= {
        hearing.source(words[: slot + 1], "talk", slot, [False, *known]).ids
        for slot, *known in ((1, False), (1, True), (2, True, False), (2, True, True))  # of the last word one may know
    }


def test_silences_of_two_lengths_have_tokens_of_their_own_and_some_examples_hide_them(tiny_model: Model) -> None:
    data = rows(*[("we know <extra_id_1> right <extra_id_2>", "We know, right?")] * 400)
    task = replace(tiny_model.task, pause_ms=280, long_pause_ms=900)
    hearing = TaskTokenizer(tiny_model.tokenizer.tokenizer, task)
    words, (short, long) = ["we", "know", "right"], hearing.pause_ids
    (told, silent) = (hearing.source(words, "talk", pauses=pauses).ids for pauses in ([0, 1, 2], []))
    assert told.count(short) == told.count(long) == 1
    assert {example.input_ids for example in ChunkExamples(data, hearing)} == {told}
    examples = [example.input_ids for example in ChunkExamples(data, hearing, DataConfig("data", silent_share=0.3))]
    assert set(examples) == {told, silent}
    assert examples.count(silent) / 400 == pytest.approx(0.3, abs=0.07)
    one_length = TaskTokenizer(hearing.tokenizer, replace(task, long_pause_ms=None))
    assert one_length.source(words, "talk", pauses=[0, 1, 2]).ids.count(short) == 2, "a long one is a silence too"


def test_an_example_is_never_longer_than_the_model_reads(tiny_model: Model) -> None:
    """Recognition errors and disfluencies may add words."""
    text = " ".join(["we", "know", "right"] * 40)
    short = TaskTokenizer(tiny_model.tokenizer.tokenizer, replace(tiny_model.task, max_tokens=40))
    noise, questions = NoiseConfig(1.0, {"substitute": 0.05, "insert": 0.5}), QuestionConfig(share=0.5)
    config = DataConfig("data", noise=noise, questions=questions)
    examples = list(ChunkExamples(rows(*[(text, text)] * 60), short, config))
    lengths = [len(example.input_ids) for example in examples]
    assert max(lengths) <= 40
    assert max(lengths) > 34, "no more is left out than has to be"
    assert all(len(example.word_ends) == len(example.marks) == len(example.cases) for example in examples)


def test_the_odds_undo_what_asking_about_marks_more_often_does(tiny_model: Model) -> None:
    words = [f"w{place}" for place in range(20)]
    data = rows(*[(" ".join(words), " ".join(words) + ".")] * 1500)  # one slot of 20 has a mark
    ask = QuestionConfig(1.0, l_max=0)
    examples = ChunkExamples(data, tiny_model.tokenizer, DataConfig("data", questions=ask))
    asked_unmarked = 0.3 * 19 / 20
    assert examples.unmarked_odds() == pytest.approx(19 * (1 - asked_unmarked) / asked_unmarked, rel=0.15)
    bare = ChunkExamples(rows(("we know", "we know")), tiny_model.tokenizer, DataConfig("data", questions=ask))
    assert bare.unmarked_odds() == 1.0


LENGTHS = st.lists(st.integers(1, 60), max_size=200)


@given(LENGTHS, st.integers(1, 200), st.integers(0, 5))
def test_batches_keep_the_budget_and_hold_each_example_once(lengths: list[int], budget: int, seed: int) -> None:
    sampler = BatchSampler(lengths, budget, seed)
    batches = list(sampler)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    assert len(sampler) == len(batches)
    for batch in batches:
        padded = len(batch) * max(lengths[index] for index in batch)
        assert padded <= budget or len(batch) == 1  # an example above the budget is a batch of its own


def test_the_order_is_random_by_seed_and_epoch_of_batches_of_about_the_same_length() -> None:
    lengths = [1 + (7 * index) % 60 for index in range(600)]

    def order(seed: int, epoch: int) -> list[list[int]]:
        sampler = BatchSampler(lengths, 240, seed)
        sampler.set_position(epoch)
        return list(sampler)

    assert order(1, 0) == order(1, 0)
    assert len({str(order(seed, epoch)) for seed in (1, 2) for epoch in (0, 1)}) == 4
    widths = [max(lengths[index] for index in batch) for batch in order(1, 0)]
    assert widths != sorted(widths)  # batches of one length do not follow one another
    assert sum(len(batch) * width for batch, width in zip(order(1, 0), widths, strict=True)) < 1.1 * sum(lengths)


def test_collate_pads_and_masks() -> None:
    first = Example(
        (5, 6, 7, 1), (5, 8, 6, 7, 1), (5, 6, 6, IGNORED, 1), (1, 2), (1, 0), (1, 0), (0, 0, 1, NOBODY),
        (5, 9, 6, 7, 1), (0, 0), (2, 4),
    )  # fmt: skip
    second = Example((5, 1), (5, 1), (IGNORED, IGNORED), (0,), (3,), (2,), (NOBODY, NOBODY), (5, 1), (1,), (1,))
    batch = make_collator(pad_id=0)([first, second])
    assert batch.input_ids.tolist() == [[5, 6, 7, 1], [5, 1, 0, 0]]
    assert batch.attention_mask.tolist() == [[1, 1, 1, 1], [1, 1, 0, 0]]
    assert batch.targets.tolist() == [[5, 8, 6, 7, 1], [5, 1, IGNORED, IGNORED, IGNORED]]
    assert batch.decoder_ids.tolist() == [[5, 9, 6, 7, 1], [5, 1, IGNORED, IGNORED, IGNORED]]
    assert batch.next_word_ids.tolist() == [[5, 6, 6, IGNORED, 1], [IGNORED] * 5]
    assert batch.word_ends.tolist() == [[1, 2], [0, 0]]
    assert batch.marks.tolist() == [[1, 0], [3, IGNORED]]
    assert batch.cases.tolist() == [[1, 0], [2, IGNORED]]
    assert batch.token_words.tolist() == [[0, 0, 1, NOBODY], [NOBODY] * 4]
    assert batch.openings.tolist() == [[0, 0], [1, IGNORED]]
    assert batch.slot_starts.tolist() == [[2, 4], [1, 0]]
    labelled = make_collator(pad_id=0)([first, replace(second, teacher_codes=(b"\x01\x02",))])
    assert labelled.teacher_codes is not None and labelled.teacher_codes.tolist() == [
        [[0, 0], [0, 0]],
        [[1, 2], [0, 0]],
    ]
    assert batch.n_words == 3
    assert {tensor.dtype for tensor in (batch.input_ids, batch.attention_mask, batch.targets)} == {torch.int64}
    moved = batch.to(torch.device("meta"))
    assert (moved.targets.device.type, moved.marks.device.type, moved.n_words) == ("meta", "meta", 3)


@given(LENGTHS, st.integers(1, 4), st.integers(0, 2), st.integers(0, 3))
def test_every_process_gets_as_many_batches(lengths: list[int], n_processes: int, epoch: int, start: int) -> None:
    alone = BatchSampler(lengths, 60, 1)
    least = len(alone)
    alone.set_position(epoch)
    least = min(least, len(alone))
    if 0 < least < n_processes:
        with pytest.raises(ConfigError, match=f" batches for {n_processes} processes; .*data.batch_tokens"):
            BatchSampler(lengths, 60, 1, n_processes).set_position(epoch)
        return
    several = BatchSampler(lengths, 60, 1, n_processes)
    several.set_position(epoch)
    assert len(several) == len(alone) - len(alone) % n_processes
    whole = list(several)
    assert whole == list(alone)[: len(several)]
    skipped = min(start * n_processes, len(several))
    several.set_position(epoch, skipped)  # as a resume has it
    shards = [
        list(BatchSamplerShard(several, n_processes, process, even_batches=False)) for process in range(n_processes)
    ]
    assert {len(shard) for shard in shards} == {len(several) // n_processes}
    assert list(several) == whole[skipped:], "a position resumes exactly"


@pytest.fixture(scope="module")
def tokenizer() -> TaskTokenizer:
    return models.load_tokenizer("small", models.read_task(models.bundled_folder("small")))


def shown(tokenizer: TaskTokenizer, history: History) -> list[tuple[str, str, str]]:
    """For each place, the token that is read, the one that is asked for, and the next word where there is a choice."""

    def name(number: int) -> str:
        return "-" if number == IGNORED else str(tokenizer.tokenizer.convert_ids_to_tokens(number))

    return [
        (name(read), name(asked), name(next_word))
        for read, asked, next_word in zip(history.decoder_ids, history.targets, history.next_word_ids, strict=True)
    ]


def test_behind_a_mark_that_the_text_lacks_nothing_is_asked_until_the_next_word_is_written(
    tokenizer: TaskTokenizer,
) -> None:
    forms, texts, drawn = ["We", "know", "Ann", "right"], ["", ",", "", "?!"], ["", "", ".", "?!"]
    history = make_history(tokenizer, forms, texts, [""] * 4, drawn)
    assert shown(tokenizer, history) == [
        ("<^>", "<^>", "we"),
        ("we", "we", "-"),
        ("know", "know", "know"),
        ("<^>", "<,>", "ann"),  # the text has a comma here, the history a name without one
        ("ann", "-", "-"),
        ("<.>", "right", "right"),
        ("<^>", "-", "-"),  # a sentence begins here in the history, and not in the text
        ("right", "-", "-"),
        ("<?>", "<?>", "[SEP]"),
        ("<!>", "<!>", "[SEP]"),
        ("[SEP]", "[SEP]", "[SEP]"),
    ]
    ending = make_history(tokenizer, ["I", "know"], ["", "."], [""] * 2, ["", ","])
    assert shown(tokenizer, ending)[-2:] == [("<,>", "<.>", "[SEP]"), ("[SEP]", "-", "-")]
    going_on = make_history(tokenizer, ["No", "Then", "I"], [".", "", ""], [""] * 3, ["", ".", ""])
    assert [read for read, _, _ in shown(tokenizer, going_on)] == ["<^>", "no", "then", "<.>", "<^>", "i", "[SEP]"]


@given(st.lists(st.tuples(any_word, labels(Alphabet())), min_size=1, max_size=6))
def test_at_each_mark_the_next_word_may_stand_as_well(tiny_model: Model, parts: list[tuple[str, str]]) -> None:
    tokenizer, wanted = tiny_model.tokenizer, list[tuple[int, int]]()  # the target's token, and the next word's
    assert max(map(len, tokenizer.mark_ids.values())) > 1, "else no mark takes two tokens here"
    forms, marked = zip(*parts, strict=True)
    starts = [tokenizer.word_ids(form.lower(), first=index == 0)[0] for index, form in enumerate(forms)]
    for index, (form, label) in enumerate(parts):
        following = starts[index + 1] if index + 1 < len(parts) else tokenizer.eos_id
        pieces = [tokenizer.form_ids(form, first=index == 0), *(tokenizer.mark_ids[mark] for mark in label)]
        for ids, next_word in zip(pieces, [starts[index], *(following for _ in label)], strict=True):
            wanted += zip(ids, [next_word, *[IGNORED] * (len(ids) - 1)], strict=True)
    wanted.append((tokenizer.eos_id, tokenizer.eos_id))
    history = make_history(tokenizer, forms, marked, [""] * len(forms))
    assert [*zip(history.decoder_ids, history.next_word_ids, strict=True)] == wanted
    assert history.decoder_ids == tokenizer.target(forms, marked)
    for index, start in enumerate(history.slot_starts):
        before = tokenizer.target(forms[: index + 1], (*marked[:index], ""))[:-1]
        assert (start, history.decoder_ids[:start]) == (len(before), before)


@given(st.lists(st.tuples(any_word, labels(Alphabet()), labels(Alphabet())), min_size=1, max_size=6))
def test_what_is_asked_is_the_texts_own(tiny_model: Model, parts: list[tuple[str, str, str]]) -> None:
    """Also where marks and capitals are parts of words, and take several tokens."""
    tokenizer = tiny_model.tokenizer
    forms, texts, drawn = map(list, zip(*parts, strict=True))
    plain = make_history(tokenizer, forms, texts, [""] * len(forms))
    assert plain.decoder_ids == plain.targets == tokenizer.target(forms, texts)
    history = make_history(tokenizer, forms, texts, [""] * len(forms), drawn)
    assert len(history.decoder_ids) == len(history.targets) == len(history.next_word_ids)
    for index, start in enumerate(history.slot_starts):
        # the text's own token, behind words with other marks
        assert history.targets[start] == plain.targets[plain.slot_starts[index]]
    if drawn == texts:
        assert history == plain


def test_labels_are_drawn_as_the_teacher_says(tokenizer: TaskTokenizer) -> None:
    classes = tokenizer.task.mark_classes
    shares = [*({"": 0.5, ",": 0.3, "?": 0.2}.get(mark, 0.0) for mark in classes), 1.0, 0.0]
    code = bytes(codes_of(torch.tensor(shares)).numpy())
    rng, n_words = random.Random(1), 3000
    drawn = draw_marks(["?!"] * n_words, [code] * n_words, classes, rng)
    assert {label: round(drawn.count(label) / n_words, 1) for label in set(drawn)} == {"": 0.5, ",": 0.3, "?!": 0.2}
    assert draw_marks([".", "~,"], [b"", code], classes, rng) == [".", "~,"], "nothing is known, or a sign"
