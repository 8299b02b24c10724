"""The aligner against everything that a generator may do to the words."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import any_word, texts

from t5punct.decoding.align import AlignConfig, Alignment, AlignmentCounts, align, votes
from t5punct.errors import ConfigError
from t5punct.text.marks import Alphabet
from t5punct.windows.votes import most_probable

quick = settings(max_examples=200, deadline=None)
short_words = st.lists(st.sampled_from(["a", "b", "ab", "ba", "aab"]), max_size=6)


def marked(alignment: Alignment) -> str:
    """The input words with the labels they were voted, for reading."""
    pairs = zip(alignment.words, votes(alignment), strict=True)
    return " ".join(Alphabet().spell(word, most_probable(vote.marks)) for word, vote in pairs)


def cases(alignment: Alignment) -> list[str]:
    return [most_probable(vote.cases) for vote in votes(alignment)]


@quick
@given(st.lists(any_word.map(str.lower), max_size=8) | short_words, texts | short_words.map(" ".join))
def test_every_input_word_gets_exactly_one_vote_whatever_was_generated(words: list[str], text: str) -> None:
    alignment = align(words, text)
    assert len(alignment.links) == len(words)
    assert sum(link.exact for link in alignment.links) + alignment.n_changed + alignment.n_dropped == len(words)
    ends = [link.marks_index for link in alignment.links if link.marks_index is not None]
    assert ends == sorted(ends), "links never cross"
    word_votes = votes(alignment)
    assert len(word_votes) == len(words)
    assert [(vote.left_words, vote.right_words) for vote in word_votes] == [
        (place, len(words) - place - 1) for place in range(len(words))
    ]
    assert all(vote.weight in (0.0, 0.5, 1.0) for vote in word_votes)


@pytest.mark.parametrize(("words", "text", "expected"), [
    pytest.param("we know that right", "We know that, right?", "we know that, right?", id="faithful"),
    pytest.param("we know that right", "We know, right?", "we know, that right?", id="dropped"),
    pytest.param("we know right", "Well, we know now, right?", "we know, right?", id="inserted"),
    pytest.param("we know right", "We we we know, know, right?", "we know, right?", id="repeated"),
    pytest.param("i went to colour town", "I went to color, town.", "i went to colour, town.", id="re-spelled"),
    pytest.param("we can not go", "We cannot, go.", "we can not, go.", id="merged"),
    pytest.param("in new york city we", "In newyorkcity, we", "in new york city, we", id="three merged"),
    pytest.param("we cannot go", "We can not, go.", "we cannot, go.", id="split"),
    pytest.param("so everybodyelse knows", "So every body else, knows!", "so everybodyelse, knows!", id="in three"),
    pytest.param("we know that right", "We know,", "we know, that right", id="cut off"),
    pytest.param("we know that right", "", "we know that right", id="empty"),
    pytest.param("we know", "zzz! qqq? xxx. yyy, www", "we know", id="garbage"),
    pytest.param("", "Hello.", "", id="no words"),
])  # fmt: skip
def test_marks_find_their_place_whatever_the_generator_did_to_the_words(words: str, text: str, expected: str) -> None:
    alignment = align(words.split(), text)
    if expected == words:  # nothing can be trusted, but nothing is lost either
        assert [vote.weight < 1.0 for vote in votes(alignment)] == [True] * len(words.split())
        return
    assert marked(alignment) == expected


def test_a_mark_behind_an_inserted_word_counts_half_and_only_where_the_word_before_has_none() -> None:
    stray = align("we know right".split(), "We know um, right?")
    assert marked(stray) == "we know, right?"
    assert [link.exact for link in stray.links] == [True, False, True]
    assert [vote.weight for vote in votes(stray)] == [1.0, 0.5, 1.0]
    assert (stray.n_inserted, stray.n_dropped, stray.n_changed) == (1, 0, 0)
    own = align("we know right".split(), "We know, um. Right?")
    assert marked(own) == "we know, right?"
    assert [vote.weight for vote in votes(own)] == [1.0, 1.0, 1.0]
    assert marked(align("so we know".split(), "Also um, we know.")) == "so, we know."
    assert marked(align("so we know".split(), "Also we, we know.")) == "so we know.", "a repetition of what follows"
    assert marked(align("we know".split(), "We know um, er.")) == "we know.", "the last of several"


def test_alignment_reads_marks_of_the_given_alphabet_and_votes_leave_others_out() -> None:
    alignment = align(["yes", "no"], "yes~ no!", Alphabet("~!"))
    assert [most_probable(vote.marks) for vote in votes(alignment)] == ["~", "!"]
    alignment = align(["yes", "no"], "yes?! no;")
    assert [most_probable(vote.marks) for vote in votes(alignment, Alphabet(",!"))] == ["!", ""]


def test_long_repetitions_and_stretches_without_a_word_in_common_are_aligned() -> None:
    words = ["we", "know"] * 100
    assert len(votes(align(words, "we know " * 1000))) == 200
    assert len(votes(align(["x" * 64], "y " * 5000))) == 1
    words, other = [f"a{n}" for n in range(60)], " ".join(f"b{n}," for n in range(50))
    links = align(words, other).links
    assert [link.marks_index for link in links] == [*range(50), *[None] * 10]


def test_a_capital_after_a_generated_sentence_end_says_nothing_of_a_word_inside_a_sentence() -> None:
    word_votes = votes(align("so we know i know nasa".split(), "So. We know. I know. NASA."))  # no end is before `So`
    insides = [most_probable(vote.inside) if vote.inside else None for vote in word_votes]
    assert insides == [None, "lower", None, "capitalised", None, "upper"]
    assert [vote.inside for vote in votes(align(["mr", "who"], "Mr. Who"))] == [None, None], "the capital of a name"


def test_a_window_that_aligned_worse_than_asked_has_no_weight_and_counts_add_up() -> None:
    alignment = align("we know that right".split(), "We know, right?")
    for least, weights in ((0.0, [1, 1, 0, 1]), (alignment.quality, [1, 1, 0, 1]), (0.74, [0] * 4), (1.0, [0] * 4)):
        assert [vote.weight for vote in votes(alignment, config=AlignConfig(least))] == weights
        assert AlignmentCounts.of(alignment, AlignConfig(least)).distrusted == (not any(weights))
    half = align(["ab"], "ac!")
    assert (half.quality, votes(half)[0].weight) == (0.5, 0.5), "half of the letters, if nothing else is asked"
    assert votes(align(["abc"], "axx!"))[0].weight == 0.0
    for wrong in (-0.1, 1.1):
        with pytest.raises(ConfigError, match=f"min_quality {wrong}; expected 0 to 1; .*min_alignment"):
            AlignConfig(wrong)
    alike, unlike = align(["so", "it", "is"], "So it is."), align(["so", "it", "is"], "never mind at all, thanks")
    counts = [AlignmentCounts.of(alignment, AlignConfig(min_quality=0.5)) for alignment in (alike, unlike)]
    assert counts[0] == AlignmentCounts(windows=1, distrusted=0, words=3)
    assert (counts[1].windows, counts[1].distrusted, counts[1].words) == (1, 1, 3)
    assert counts[1].inserted + counts[1].dropped + counts[1].changed > 0
    total = counts[0] + counts[1]
    assert (total.windows, total.distrusted, total.words) == (2, 1, 6)
    assert total - counts[1] == counts[0]


def test_merged_and_split_words_are_alike_and_their_first_piece_has_the_capital() -> None:
    merged = align("we can not go".split(), "We cannot, go.")
    assert (merged.n_inserted, merged.n_dropped, merged.n_changed) == (0, 1, 1)
    split_up = align("we cannot go".split(), "We can not, go.")
    assert (split_up.n_inserted, split_up.n_dropped, split_up.n_changed) == (1, 0, 1)
    unlike = align("we can not go".split(), "We xyzw, go.")
    assert [link.marks_index for link in unlike.links] == [0, None, 1, 2], "one of the two, re-spelled"
    lost = align("internationalisation one umm".split(), "Internationalisations on.")
    assert [link.marks_index for link in lost.links] == [0, 1, None], "nothing is merged to pair `umm` with `on`"
    respelled = align(["colour"], "color!")
    assert (respelled.n_inserted, respelled.n_dropped, respelled.n_changed) == (0, 0, 1)
    assert respelled.links[0].exact is False
    alignment = align(["can", "not", "go"], "Cannot, go.")
    assert cases(alignment) == ["capitalised", "verbatim", "lower"]
    assert [vote.weight for vote in votes(alignment)] == [0.5, 0.5, 1.0]
    assert cases(align(["cannot", "go"], "Can not, go.")) == ["capitalised", "lower"]
    lost = votes(align(["we", "know", "nasa"], "We know."))[2]
    assert (most_probable(lost.marks), most_probable(lost.cases), lost.weight) == ("", "verbatim", 0.0)
