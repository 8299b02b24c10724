"""The rule of slot decoding, against brute force, without a network."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import ByT5Tokenizer

from t5punct.decoding.candidates import Candidates, Choice, Option, TrieNode
from t5punct.decoding.draft import Draft, Guess, VoteBuilder
from t5punct.decoding.inputs import WindowInput
from t5punct.model import Model
from t5punct.t5.task import TaskConfig
from t5punct.t5.tokenization import TaskTokenizer
from t5punct.text.marks import Alphabet, Case
from t5punct.windows.combine import choose_marks


def _prefix_free(rng: random.Random) -> list[tuple[int, ...]]:
    """Up to six token sequences, none of which begins another, often with shared first tokens."""
    options: list[tuple[int, ...]] = []
    for _ in range(rng.randint(1, 6)):
        option = tuple(rng.randrange(3) for _ in range(rng.randint(1, 4)))
        if not any(option[: len(other)] == other or other[: len(option)] == option for other in options):
            options.append(option)
    return options


def _brute_force(options: list[tuple[int, ...]], scores: dict[tuple[int, ...], float]) -> tuple[int, list[float]]:
    """Greedy path and masses from their definition: one loop over depths, recomputing everything from scratch."""
    path: tuple[int, ...] = ()
    masses = [0.0] * len(options)
    mass = 1.0
    while path not in options:
        children = sorted({option[len(path)] for option in options if option[: len(path)] == path})
        total = sum(scores[(*path, token)] for token in children)
        best = max(children, key=lambda token: scores[(*path, token)])
        for token in children:
            if token != best:
                first_option = next(i for i, option in enumerate(options) if option[: len(path) + 1] == (*path, token))
                masses[first_option] += mass * scores[(*path, token)] / total
        mass *= scores[(*path, best)] / total
        path = (*path, best)
    index = options.index(path)
    masses[index] += mass
    return index, masses


@settings(deadline=None, max_examples=200)
@given(st.integers(0, 10**9))
def test_a_path_gives_the_masses_of_brute_force_and_they_sum_to_one(seed: int) -> None:
    rng = random.Random(seed)
    options = _prefix_free(rng)
    scores = {option[:end]: rng.random() for option in options for end in range(1, len(option) + 1)}
    choice = Choice.of([Option(tokens) for tokens in options])
    index, masses = _brute_force(options, scores)
    path = choice.paths[index]
    assert path.option.tokens == options[index]
    rows = []
    for branch in path.branches:
        values = [scores[(*path.option.tokens[: branch.offset], token)] for token in branch.node.tokens]
        assert branch.taken == values.index(max(values))
        rows.append([value / sum(values) for value in values])
    assert path.option_probabilities(rows) == pytest.approx(masses)
    assert sum(path.option_probabilities(rows)) == pytest.approx(1.0)


def _marks(candidates: Candidates, window: WindowInput, place: int, n_marks: int) -> list[str]:
    return [option.mark for option in candidates.choice(window, place, n_marks).options if option.mark]


def test_words_are_written_as_the_task_spells_them_behind_case_tokens_and_spaces(tiny_model: Model) -> None:
    window = WindowInput.of(["iPhone", "NASA"])
    for cased, spelled in ((True, "iPhone"), (False, "iphone")):
        tokenizer = tiny_model.with_task(cased=cased).tokenizer
        (option,) = Candidates(tokenizer).choice(window, 0, 0).options
        assert option.tokens == tokenizer.form_ids(spelled, first=True)
        assert option.case is (Case.VERBATIM if cased else Case.LOWER)
    forms = [option.case for option in Candidates(tokenizer).choice(window, 1, 2).options if option.mark is None]
    assert forms == [Case.LOWER], "nothing else can be written"
    tokenizer = tiny_model.with_task(inline_case=True).tokenizer
    tokenizer.case_ids = {Case.LOWER: (), Case.CAPITALISED: (8,), Case.UPPER: (9,)}
    candidates, window = Candidates(tokenizer), WindowInput.of(["so", "iPhone", "straße"])
    for place, word, before in ((1, "iphone", [(), (8,), (9,)]), (2, "straße", [(), (8,)])):
        options = candidates.choice(window, place, 3).options
        assert [option.tokens for option in options] == [(*case, *tokenizer.word_ids(word)) for case in before]
    tokenizer = TaskTokenizer(ByT5Tokenizer(), TaskConfig())
    candidates, window = Candidates(tokenizer), WindowInput.of(["no", "no"])
    first, second = (candidates.choice(window, place, 3).options[0].tokens for place in (0, 1))
    assert (first, second) == (tokenizer.word_ids("no", first=True), tokenizer.word_ids("no"))
    assert len(second) == len(first) + 1


def test_a_label_is_never_longer_than_the_alphabet_allows_and_none_follows_pure_punctuation(tiny_model: Model) -> None:
    candidates = Candidates(tiny_model.tokenizer, Alphabet("!?", 2))
    window = WindowInput.of(["hello", "there"])
    assert _marks(candidates, window, 1, 1) == ["!", "?"]
    assert _marks(candidates, window, 1, 2) == []
    assert _marks(candidates, window, 0, 0) == [], "no mark before the first word"
    window = WindowInput((":)", "there"), (":)", "there"), (False, True))
    candidates = Candidates(tiny_model.tokenizer)
    assert _marks(candidates, window, 1, 0) == []
    assert _marks(candidates, window, 2, 0) == list(tiny_model.task.marks)


def test_a_given_label_is_written_and_nothing_else_can_be(tiny_model: Model) -> None:
    tokenizer, words = tiny_model.tokenizer, ("so", "that", "is")
    window = WindowInput.of(words, given=["?!", "", "."])
    candidates = Candidates(tokenizer, Alphabet(",", 1), {",": 3.0})
    marks = (*tokenizer.mark_ids["?"], *tokenizer.mark_ids["!"])
    options = candidates.choice(window, 1, 0).options
    assert {option.case for option in options} == {Case.LOWER, Case.CAPITALISED, Case.UPPER}
    assert all(option.tokens[: len(marks)] == marks and option.mark is None for option in options)
    assert _marks(candidates, window, 2, 0) == [","], "an empty slot is open"
    assert [option.tokens for option in candidates.choice(window, 3, 0).options] == [
        (*tokenizer.mark_ids["."], tokenizer.eos_id)
    ]
    plain = WindowInput.of(words)
    assert candidates.choice(plain, 1, 0).options != options


def test_odds_are_weighed_in_once_where_marks_part_from_words() -> None:
    options = [Option((5, 1)), Option((7,), mark=",", odds=3.0), Option((5, 2), mark="-", odds=2.0)]
    root = Choice.of(options).root
    assert (root.tokens, root.log_odds) == ((5, 7), pytest.approx((0.0, math.log(3))))
    shared = root.children[0]
    assert isinstance(shared, TrieNode)
    assert (shared.tokens, shared.log_odds) == ((1, 2), pytest.approx((0.0, math.log(2))))
    twice = [Option((5,)), Option((7, 1), mark=",", odds=3.0), Option((7, 2), mark="-", odds=6.0)]
    root = Choice.of(twice).root
    marks = root.children[1]
    assert isinstance(marks, TrieNode)
    assert root.log_odds == pytest.approx((0.0, math.log(3))), "as the first of them, until they part"
    assert marks.log_odds == pytest.approx((0.0, math.log(2)))
    alike = [Option((5,)), Option((7, 1), mark=",", odds=3.0), Option((7, 2), mark="-", odds=3.0)]
    assert [node.log_odds for node in Choice.of(alike).root.children if isinstance(node, TrieNode)] == [()]


def test_only_the_first_mark_has_odds_and_of_options_that_begin_each_other_one_stays(tiny_model: Model) -> None:
    window = WindowInput.of(["no", "no"])
    weighed, plain = Candidates(tiny_model.tokenizer, mark_odds={"!": 4.0}), Candidates(tiny_model.tokenizer)
    assert [option.odds for option in weighed.choice(window, 1, 0).options if option.mark] == [1, 1, 1, 4.0, 1, 1, 1]
    assert {option.odds for option in weighed.choice(window, 1, 1).options} == {1.0}
    assert plain.choice(window, 1, 0) is plain.choice(window, 1, 1)
    form, longer, mark, alike = (Option(tokens) for tokens in ((5, 1), (5, 1, 2), (7,), (5,)))
    assert Choice.of([form, longer, mark, alike]).options == (form, mark)
    assert Choice.of([longer, form, mark]).options == (longer, mark)


# -- the first draft of a window, from the tagger's guesses


LOWER, CAPITALISED, UPPER = Case.LOWER, Case.CAPITALISED, Case.UPPER


@pytest.mark.parametrize(("mark", "word", "case", "drafted"), [
    ("", "it", CAPITALISED, CAPITALISED), (",", "it", LOWER, LOWER), (".", "it", LOWER, CAPITALISED),
    ("?", "it", UPPER, UPPER), (".", "", LOWER, None), ("", "", LOWER, None),
])  # fmt: skip
def test_a_word_behind_an_end_is_drafted_capitalised_unless_there_is_none(
    tiny_model: Model, mark: str, word: str, case: Case, drafted: Case | None
) -> None:
    window, guesses = WindowInput.of(["so", *word.split()]), [Guess(mark), *[Guess("", case)] * bool(word)]
    *marks, last = [path.option for path in Draft(window, Candidates(tiny_model.tokenizer), guesses)._places[1]]
    assert [option.mark for option in marks] == [mark] * bool(mark)
    assert (last.mark, last.case) == (None, drafted)


def test_of_equal_marks_a_tally_s_vote_goes_to_the_one_that_was_taken() -> None:
    """bf16 ties often; what was decided must be what the decoder went on from."""
    marks = [Option((8 + number,), mark=mark) for number, mark in enumerate(",.?")]
    choice = Choice.of([Option((5,), case=Case.LOWER), *marks])
    end = Choice.of([Option((1,))])
    for taken, masses in ((",", [0.2, 0.4, 0.4, 0.0]), (".", [0.2, 0.4, 0.4, 0.0]), (None, [0.4, 0.2, 0.4, 0.0])):
        builder = VoteBuilder(1)
        builder.add(Choice.of([Option((7,), case=Case.LOWER)]).paths[0], [1.0])
        path = choice.marks[taken] if taken else choice.form(Case.LOWER)
        builder._cases.append({"lower": 1.0})
        builder.add(path, masses)
        if taken:
            builder.add(end.paths[0], [1.0])
        assert choose_marks([builder._slots[0]], [1.0])[0] == (taken or "")
