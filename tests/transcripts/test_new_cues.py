"""New cues: of whole sentences, within their limits, with times in order, and what they hold reads as text."""

from itertools import pairwise

import pytest
from chance import reading, spoken
from converting import SRT, converted, kept
from hypothesis import example, given
from hypothesis import strategies as st

from t5punct.text.render import AnnotatedWord
from t5punct.text.words import Word
from t5punct.transcripts.formats import FORMATS
from t5punct.transcripts.items import Kept, Role, SpokenWord, WrittenItem, WrittenWord, written_items
from t5punct.transcripts.resegment import ResegmentConfig, sentence_cues
from t5punct.transcripts.subtitles import WrittenCue
from t5punct.transcripts.writers import WriterConfig


@st.composite
def timed_words(draw: st.DrawFn) -> list[WrittenItem]:
    """Words with times, marks, silences and speakers; some words have no time of their own."""
    at_ms, items = 0, list[WrittenItem]()
    for word in draw(st.lists(st.sampled_from(["so", "what", "extraordinarily", "a", "you"]), min_size=1, max_size=60)):
        at_ms += draw(st.sampled_from([0, 50, 2_000]))
        start_ms, at_ms = at_ms, at_ms + draw(st.integers(50, 900))
        label = draw(st.sampled_from(["", "", "", ",", ".", "?"]))
        if draw(st.integers(0, 9)) == 0:
            items.append(Kept("ANN: ", breaks=True, role=Role.SPEAKER))
        spoken = SpokenWord(Word(word, raw=word), " ", start_ms=start_ms, end_ms=at_ms)
        items.append(WrittenWord(spoken, AnnotatedWord(word, word + label, label, "verbatim", 1.0, 1.0)))
    return items


@given(timed_words(), st.integers(10, 90), st.integers(1, 3), st.integers(500, 7000))
def test_new_cues_hold_every_word_once_and_keep_their_limits(
    items: list[WrittenItem], max_chars: int, max_lines: int, max_duration_ms: int
) -> None:
    config = ResegmentConfig(max_chars, max_lines, max_duration_ms)
    cues = sentence_cues(items, config)
    shown = [item.text.strip() if isinstance(item, Kept) else item.annotated.text for item in items]
    assert " ".join(cue.text for cue in cues).split() == [text for text in shown if text]
    words = {item.spoken.start_ms: item for item in items if isinstance(item, WrittenWord)}
    for cue in cues:
        n_words = len(cue.text.replace("ANN:", "").split())
        assert any(abs(cue.start_ms - start_ms) <= config.min_duration_ms for start_ms in words)
        assert cue.text.count("\n") < max_lines
        assert n_words == 1 or (
            len(cue.text) <= max(max_chars, config.max_lines) and cue.end_ms - cue.start_ms <= max_duration_ms
        )
    assert all(earlier.end_ms <= later.start_ms for earlier, later in pairwise(cues))


@given(timed_words(), st.integers(40, 90), st.integers(1000, 7000))
def test_a_cue_is_brief_if_nobody_lends_time(items: list[WrittenItem], max_chars: int, max_duration_ms: int) -> None:
    config = ResegmentConfig(max_chars, 2, max_duration_ms)
    cues = sentence_cues(items, config)
    for number, cue in enumerate(cues):
        if cue.end_ms - cue.start_ms >= config.min_duration_ms:
            continue
        assert number + 1 < len(cues), "behind the last one there is time"
        after = cues[number + 1]
        assert after.start_ms == cue.end_ms, "it stays until the next begins"
        assert after.end_ms - after.start_ms <= config.min_duration_ms
        if number:
            before = cues[number - 1]
            assert before.end_ms == cue.start_ms and before.end_ms - before.start_ms <= config.min_duration_ms


def test_a_cue_stays_until_it_can_be_read_where_there_is_time() -> None:
    def shown_ms(**settings: float) -> int:
        (cue,) = cues_of("a 1 0 0.1 extraordinarily\na 1 0.1 0.1 fast\n", ResegmentConfig(**settings))
        return cue.end_ms - cue.start_ms

    assert shown_ms() == 1000  # 20 characters, at 20 a second
    assert shown_ms(max_chars_per_second=10) == 2000
    assert shown_ms(max_chars_per_second=99, max_words_per_minute=60) == 2000
    assert shown_ms(max_chars_per_second=99, min_duration_ms=1500) == 1500
    assert shown_ms(max_chars_per_second=1, max_duration_ms=5000) == 5000


PIECES = st.tuples(st.integers(1, 9), st.integers(0, 900), st.integers(0, 400), st.sampled_from(["", "", ","]))


@given(st.lists(PIECES, min_size=1, max_size=40), st.integers(5, 60), st.integers(300, 5000))
def test_new_cues__a_sentence_is_cut_where_it_no_longer_fits(
    drawn: list[tuple[int, int, int, str]], max_chars: int, max_duration_ms: int
) -> None:
    """Against brute force: the longest beginning that fits, or that up to a mark in its second half."""
    left, now_ms = list[WrittenWord](), 0
    for n_letters, lasts_ms, pause_ms, label in drawn:
        spoken = SpokenWord(Word("x" * n_letters), start_ms=now_ms, end_ms=now_ms + lasts_ms)
        left.append(WrittenWord(spoken, AnnotatedWord("x", "x" * n_letters + label, label, "lower", 1.0, 1.0)))
        now_ms += lasts_ms + pause_ms
    config = ResegmentConfig(max_chars, 1, max_duration_ms, min_duration_ms=0, min_chars=1)
    for cue in sentence_cues(left, config):
        texts = [item.annotated.text for item in left]
        ends = [(item.spoken.end_ms or 0) - (left[0].spoken.start_ms or 0) for item in left]
        fits = [n for n in range(1, len(left) + 1) if len(" ".join(texts[:n])) <= max_chars]
        n_best = max([n for n in fits if ends[n - 1] <= max_duration_ms], default=1)
        marked = [n for n in range(n_best // 2 + 1, n_best + 1) if texts[n - 1][-1] == ","] if texts[n_best:] else []
        n_words = max(marked, default=n_best)
        assert cue.text == " ".join(texts[:n_words])
        left = left[n_words:]
    assert not left


def write_cues(cues: list[WrittenCue], format: str) -> str:
    cue_writer = FORMATS[format].cue_writer
    assert cue_writer
    return cue_writer(cues)


def cues_of(ctm: str, config: ResegmentConfig) -> list[WrittenCue]:
    items = reading(ctm, "ctm").items
    return sentence_cues(written_items(items, kept(items)), config)


def test_new_cues_end_with_sentences_and_share_the_times_of_their_words() -> None:
    text = "\n".join(f"a 1 {place} 1 {word}" for place, word in enumerate("so what. I know this, and you? yes".split()))
    assert cues_of(text, ResegmentConfig(min_chars=1)) == [
        WrittenCue(0, 2000, "so what."), WrittenCue(2000, 7000, "I know this, and you?"), WrittenCue(7000, 8000, "yes"),
    ]  # fmt: skip
    short = cues_of(text, ResegmentConfig(12, 1, min_chars=1))
    assert [cue.text for cue in short] == ["so what.", "I know this,", "and you?", "yes"], "cut behind a comma"
    text = "a 1 0 1 Mr.\na 1 1 1 Who\n"
    assert [cue.text for cue in cues_of(text, ResegmentConfig(min_chars=1))] == ["Mr. Who"]
    cues = converted(SRT, "srt", WriterConfig("srt", resegment=ResegmentConfig(min_chars=1, min_duration_ms=0)))
    assert "00:00:01,000 --> 00:00:01,360\nso what.\n" in cues
    assert "00:00:01,360 --> 00:00:02,360\n- fine [laughs]\n" in cues
    assert "00:00:04,000 --> 00:00:06,000\nand & you?\n" in cues
    rows = "a 1 5 2 so\na 1 6 0.5 what\na 1 600 1 now\na 1 0 1 yes\na 1 1 1 no"
    assert cues_of(rows, ResegmentConfig()) == [
        *(WrittenCue(0, 2000, "yes no"), WrittenCue(5000, 7000, "so what"), WrittenCue(600_000, 601_000, "now"))
    ]


def test_no_character_of_a_cue_is_read_as_a_code_of_ass() -> None:
    """pysubs2 alone would drop `{x}` and take `\\N` for a line's end."""
    said = "open C:\\New and {x} now & <b> go"
    text = write_cues([WrittenCue(0, 1500, said), WrittenCue(3_600_000, 3_601_001, "a\nb")], "ass")
    assert text.splitlines()[-2].endswith(",,open C:\\\u2060New and \\{x\\} now & <b> go")
    assert text.splitlines()[-1].endswith("1:00:00.00,1:00:01.00,Default,,0,0,0,,a\\Nb")


@pytest.mark.parametrize("format", ["srt", "vtt"])
@given(st.text(st.sampled_from("ab<>&;{}\\/lt#1 "), min_size=1, max_size=20).filter(lambda text: "a" in text))
@example("{\\a}")
def test_what_looks_like_a_tag_in_a_cue_is_read_again_as_the_text_that_it_is(format: str, text: str) -> None:
    text = f"a {' '.join(text.split())} b"
    read = reading(write_cues([WrittenCue(1000, 2000, text)], format), format)
    assert "".join(item.word.text + item.word.marks for item in spoken(read.items)) == text.replace(" ", "")


def test_speakers_of_a_cue_share_its_time() -> None:
    text = "WEBVTT\n\n00:01.000 --> 00:04.000\n<v Ann>so what <v Tom>yes yes\n<v Ann>we go\n"
    rows = [row.split() for row in converted(text, "vtt", WriterConfig("ctm")).splitlines()]
    starts = [float(row[2]) for row in rows]
    assert starts == sorted({*starts}) and starts[0] == 1.0 and float(rows[-1][3]) + starts[-1] == 4.0
    backwards = converted("1\n00:00:02,000 --> 00:00:01,000\nso what\n", "srt", WriterConfig("ctm"))
    assert {row.split()[3] for row in backwards.splitlines()} == {"0.000"}
