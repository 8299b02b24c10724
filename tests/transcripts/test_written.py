"""What becomes of a transcript on its way: spellings, pauses, paragraphs, other formats, new cues."""

import json

import pytest
from chance import reading, spoken
from converting import SRT, converted

from t5punct.errors import ConfigError, InputError
from t5punct.text.marks import Alphabet, Case
from t5punct.text.render import AnnotatedWord, Decision, RenderConfig, render_word
from t5punct.transcripts.items import add_pauses
from t5punct.transcripts.resegment import ResegmentConfig
from t5punct.transcripts.terms import Terms, apply_terms
from t5punct.transcripts.writers import ParagraphConfig, WriterConfig, check_writable, written_pieces

WHISPER = {
    "text": " so what. fine",
    "segments": [
        {"start": 0.0, "end": 2.0, "text": " so what.", "speaker": "A"}, {"start": 4, "end": 5, "text": " fine"}
    ],
}  # fmt: skip


TEAMS = (
    "WEBVTT\n\na1\n00:00:01.000 --> 00:00:02.000\n<v Ann Lee>so what</v>\n\na2\n00:00:02.000 --> 00:00:03.000\n"
    "<v Ann Lee>we know.</v>\n\nb1\n00:00:03.000 --> 00:00:04.000\n<v Tom>yes</v>\n"
)
VOICES = "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ann>so</v> <v.loud Tom>what.</v>\n\n"  # side by side, then nested
NESTED = "00:02.000 --> 00:03.000\n<v Ann>we <v Tom>yes</v>, it is</v>\n<v Ann>fine <v Tom>no</v></v>\n"
FIRST_TEAMS = (  # Teams wrote so in 2020: times without zeros, and a name in a line of its own
    "0:0:0.0 --> 0:0:3.120\nAnn Lee\nso what\n\n0:0:3.120 --> 0:0:6.5\nAnn Lee\nwe know.\n\n"
    "0:0:6.5 --> 0:0:7.0\nTom\nyes\n"
)
DIARISED = json.dumps({"segments": [  # whisperX's: a speaker by the segment and by the word
    {"start": start, "end": start + 1, "text": f" {text}", "speaker": speaker,
     "words": [{"word": text, "start": start, "end": start + 1, "speaker": speaker}]}
    for start, text, speaker in ((1, "so", "SPEAKER_00"), (2, "what.", "SPEAKER_00"), (3, "yes", "SPEAKER_01"))
]})  # fmt: skip
TWO_SPEAKERS = json.dumps({"segments": [  # in one segment; two words have no speaker, one of them no time
    {"start": 1, "end": 5, "text": " so what. yes 50 of", "speaker": "A0", "words": [
        {"word": "so", "start": 1, "end": 2, "speaker": "A0"}, {"word": "what.", "start": 2, "end": 3, "speaker": "A0"},
        {"word": "yes", "start": 3, "end": 4, "speaker": "B0"}, {"word": "50"}, {"word": "of", "start": 4, "end": 5},
    ]}
]})  # fmt: skip
NAMED = TWO_SPEAKERS.replace('50 of", "speaker": "A0"', '50 of", "speaker": "Ann"')  # words have numbers of speakers


@pytest.mark.parametrize(("name", "source", "to", "resegment", "expected"), [
    ("vtt", TEAMS, "text", False, "Ann Lee: so what we know.\nTom: yes\n"),
    ("vtt", TEAMS, "srt", False, "1\n00:00:01,000 --> 00:00:02,000\nAnn Lee: so what\n\n2\n00:00:02,000 --> "
     "00:00:03,000\nwe know.\n\n3\n00:00:03,000 --> 00:00:04,000\nTom: yes\n\n"),
    ("vtt", VOICES, "srt", False, "1\n00:00:01,000 --> 00:00:02,000\nAnn: so\nTom: what.\n\n"),
    ("vtt", VOICES + NESTED, "text", False, "Ann: so\nTom: what.\nAnn: we\nTom: yes,\nAnn: it is fine\nTom: no\n"),
    ("vtt", VOICES + NESTED, None, False, VOICES + NESTED),
    ("vtt", VOICES.replace("<v Ann>", "<v Ann O&apos;Neil>"), "srt", False,
     "1\n00:00:01,000 --> 00:00:02,000\nAnn O'Neil: so\nTom: what.\n\n"),
    ("vtt", FIRST_TEAMS, "text", False, "Ann Lee: so what we know.\nTom: yes\n"),
    ("vtt", FIRST_TEAMS, None, False, FIRST_TEAMS),
    ("json", DIARISED, "text", False, "SPEAKER_00: so what.\nSPEAKER_01: yes\n"),
    ("json", DIARISED, "vtt", True, "WEBVTT\n\n1\n00:00:01.000 --> 00:00:03.000\nSPEAKER_00: so what.\n\n"
     "2\n00:00:03.000 --> 00:00:04.000\nSPEAKER_01: yes\n\n"),
    ("json", TWO_SPEAKERS, "text", False, "A0: so what.\nB0: yes 50 of\n"),
    ("json", TWO_SPEAKERS, "srt", False, "1\n00:00:01,000 --> 00:00:05,000\nA0: so what.\nB0: yes 50 of\n\n"),
    ("json", NAMED, "text", False, "Ann: so what. yes 50 of\n"),
])  # fmt: skip
def test_who_speaks_is_written_where_it_changes(
    name: str, source: str, to: str | None, resegment: bool, expected: str
) -> None:
    config = WriterConfig(to, resegment=ResegmentConfig() if resegment else None)
    assert converted(source, name, config) == expected


TIMED = [{"endTime": f"{place}s", "word": word} for place, word in enumerate(("so", "what.", "yes"), start=1)]


@pytest.mark.parametrize("source", [
    # ElevenLabs, Google, Podcasting 2.0
    *({"segments": [{text: "so what.", speaker: "A", "startTime": 0.5}, {text: "yes", speaker: 1, "startTime": 1}]}
      for text, speaker in (("text", "speaker_id"), ("word", "speakerTag"), ("body", "speaker"))),
    # names beside numbers, as Teams has them too; Amazon Connect; recall.ai's speakers are objects
    *({"list": [{text: "so what.", number: 7, name: "Speaker A"}, {text: "yes", number: 8, name: "Speaker 1"}]}
      for text, number, name in (("text", "speaker_id", "speaker_name"), ("text", "speakerId", "speakerDisplayName"),
                                 ("Content", "id", "ParticipantRole"))),
    [{"participant": {"id": 1, "name": "Speaker A"}, "words": [{"text": "so"}, {"text": "what."}]},
     {"participant": {"id": 2, "name": "Speaker 1"}, "words": [{"text": "yes"}]}],
    # the speaker of an object holds for all in it: words, or Azure's guesses
    {"turns": [{"speaker": "A", "words": [{"word": "so"}, {"word": "what."}]},
               {"speaker": 1, "words": [{"word": "yes"}]}]},
    {"recognizedPhrases": [{"speaker": "A", "nBest": [{"lexical": "so what", "text": "so what."}]},
                           {"speaker": 1, "nBest": [{"lexical": "yes", "text": "yes"}]}]},
    # Google's last result repeats all words, with their speakers
    {"results": [
        {"alternatives": [{"transcript": "so what. yes", "words": TIMED}]},
        {"alternatives": [{"words": [{**word, "speakerTag": "A" if word["word"] != "yes" else 1} for word in TIMED]}]},
    ]},
])  # fmt: skip
def test_json_may_say_in_many_ways_who_speaks(source: object) -> None:
    text = json.dumps(source)
    assert converted(text, "json", WriterConfig("text")) == "Speaker A: so what.\nSpeaker 1: yes\n"
    assert converted(text, "json", WriterConfig()) == text


@pytest.mark.parametrize("text", [{}, {"text": "so what. yes"}, {"results": [{"text": "so what."}, {"text": "yes"}]}])
def test_words_with_times_beside_a_text_without_get_new_cues(text: dict[str, object]) -> None:
    """As OpenAI's service, Vosk, Deepgram and others write them."""
    words = [{"word": word, "start": at, "end": at + 1} for at, word in enumerate(("so", "what.", "yes"))]
    new = converted(json.dumps({**text, "words": words}), "json", WriterConfig("srt"))
    assert new == "1\n00:00:00,000 --> 00:00:03,000\nso what. yes\n\n"


SIGNS = """[Events]
Format: Layer, Start, End, Style, Name, Text
Dialogue: 0,0:00:01.00,0:00:03.00,Default,{actor},so we
Dialogue: 0,0:00:01.50,0:00:02.50,Sign,,no swimming
Dialogue: 0,0:00:03.00,0:00:05.00,Default,{actor},know it.
"""


@pytest.mark.parametrize("actor", ["", "Ann"])
def test_a_sign_between_two_events_has_a_line_and_a_cue_of_its_own(actor: str) -> None:
    source = SIGNS.format(actor=actor)
    label = f"{actor}: " if actor else ""
    assert converted(source, "ass", WriterConfig("text")) == f"{label}so we know it.\nno swimming\n"
    cues = converted(source, "ass", WriterConfig("srt", resegment=ResegmentConfig()))
    assert cues == (
        f"1\n00:00:01,000 --> 00:00:05,000\n{label}so we know it.\n\n2\n00:00:01,500 --> 00:00:02,500\nno swimming\n\n"
    )


@pytest.mark.parametrize("says_channel", [True, False])
def test_two_channels_of_a_call_share_no_cue(says_channel: bool) -> None:
    """AWS has one text of both channels, and items that say in which each was said, or lists of them that do."""
    said = [("ch_0", "so we"), ("ch_1", "yes right"), ("ch_0", "know it")] * 3
    items = [
        {"type": "pronunciation", "alternatives": [{"content": word}], "channel_label": channel,
         "start_time": f"{number}.{place}", "end_time": f"{number}.{place + 4}"}
        for number, (channel, words) in enumerate(said) for place, word in zip((0, 5), words.split(), strict=True)
    ]  # fmt: skip
    channels = [
        {"channel_label": name, "items": [item for item in items if item["channel_label"] == name]}
        for name in ("ch_0", "ch_1")
    ]
    text = " ".join(words for _, words in said)
    if not says_channel:
        items = [{key: value for key, value in item.items() if key != "channel_label"} for item in items]
    source = json.dumps({"results": {"transcripts": [{"transcript": text}], "items": items,
                                     "channel_labels": {"channels": channels}}})  # fmt: skip
    new = converted(source, "json", WriterConfig("srt", resegment=ResegmentConfig()))
    cues = [" ".join(block.split("\n")[2:]) for block in new.strip().split("\n\n")]
    assert " ".join(cues).split() == text.split()
    assert not [cue for cue in cues if {"yes", "right"} & {*cue.split()} and {"so", "we", "know"} & {*cue.split()}]


@pytest.mark.parametrize(("name", "source", "to", "expected"), [
    ("srt", SRT, "vtt", "WEBVTT\n\n1\n00:00:01.000 --> 00:00:02.000\nso what.\n- fine [laughs]\n\n"
     "2\n00:00:04.000 --> 00:00:06.000\nand &amp; you?\n"),
    ("json", json.dumps(WHISPER), "text", "Speaker A: so what.\nfine\n"),
    ("json", json.dumps(WHISPER), "srt",
     "1\n00:00:00,000 --> 00:00:02,000\nSpeaker A: so what.\n\n2\n00:00:04,000 --> 00:00:05,000\nfine\n"),
    # a cue without words stays where it is, and one with two voices stays one
    ("vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\n<i>[Music]</i>\n\n"
     "00:05.000 --> 00:06.000\n<v Ann>so\n<v Bob>what\n", "srt",
     "1\n00:00:01,000 --> 00:00:02,000\n[Music]\n\n2\n00:00:05,000 --> 00:00:06,000\nAnn: so\nBob: what\n"),
    ("srt", "1\n00:00:01,000 --> 00:00:02,000\n<i>&gt;&gt; JOHN: so</i> <b>[laughs]</b>\n", "vtt",
     "WEBVTT\n\n1\n00:00:01.000 --> 00:00:02.000\n&gt;&gt; JOHN: so [laughs]\n"),
    ("text", "so what\n\nfine\n", "tsv", "word\tstart\tend\nso\t\t\nwhat\t\t\nfine\t\t\n"),
    # words beside a drawing of ASS are speech
    ("ass", SIGNS.format(actor="").replace("it.", r"{\an7\p2}m 0 l{\c&H0&} 9{\i1\p0}it.{\p1}m 1 1"), "text",
     "so we know it.\nno swimming\n"),
    ("ass", SIGNS.format(actor="").replace("no swimming", r"{\an7}{\p1}m 0 l 9{\p0}"), "text", "so we know it.\n"),
    # what is shown without a time is left out of cues
    ("json", '{"segments": [{"text": "[Music]"}, {"start": 3, "end": 4, "text": "so\\n[laughs]\\nyou"}]}', "srt",
     "1\n00:00:03,000 --> 00:00:04,000\nso\n[laughs]\nyou\n"),
])  # fmt: skip
def test_one_format_becomes_another(name: str, source: str, to: str, expected: str) -> None:
    assert converted(source, name, WriterConfig(to)).strip() == expected.strip()


def test_a_direction_in_a_cue_of_its_own_stays_there() -> None:
    """Also in a file without words, in which it was lost; at the end of a cue it stays with its sentence."""
    config = WriterConfig("srt", resegment=ResegmentConfig())
    laughed = "1\n00:00:00,000 --> 00:00:02,000\nso what. [laughs]\n\n2\n00:01:00,000 --> 00:01:02,000\nwe know.\n\n"
    assert converted(laughed, "srt", config) == laughed
    music = "1\n00:00:01,000 --> 00:00:05,000\n[Music]\n\n"
    assert converted(music, "srt", config) == music
    noisy = music + (
        "2\n00:00:06,000 --> 00:00:07,000\nso what.\n\n3\n00:00:08,000 --> 00:00:09,000\n[inaudible]\n\n"
        "4\n00:00:09,000 --> 00:00:10,000\nand you\n\n5\n00:01:00,000 --> 00:01:01,000\n[Music]\n[Applause]\n\n"
        "6\n00:01:02,000 --> 00:01:03,000\nJOHN: yes.\n\n7\n00:02:00,000 --> 00:02:01,000\n♪\n\n"
    )
    assert converted(noisy, "srt", config) == music + (
        "2\n00:00:06,000 --> 00:00:07,000\nso what. [inaudible]\n\n3\n00:00:09,000 --> 00:00:10,000\nand you\n\n"
        "4\n00:01:00,000 --> 00:01:01,000\n[Music] [Applause]\n\n"
        "5\n00:01:02,000 --> 00:01:03,000\nJOHN: yes.\n\n6\n00:02:00,000 --> 00:02:01,000\n♪\n\n"
    )


PARAGRAPHS = ParagraphConfig(sentences=1)


@pytest.mark.parametrize(("name", "source", "config"), [
    *(("text", "so what. fine.\nand you. yes\n", WriterConfig(to, PARAGRAPHS)) for to in (None, "text")),
    ("srt", SRT, WriterConfig("text", PARAGRAPHS)), ("srt", SRT, WriterConfig("srt")),
    ("srt", SRT, WriterConfig("srt", resegment=ResegmentConfig())),
    ("tsv", "word\tstart\nso\t1\n", WriterConfig("tsv")),
])  # fmt: skip
def test_lines_of_text_and_of_the_same_format_end_as_they_did(name: str, source: str, config: WriterConfig) -> None:
    for line_end in ("\r\n", "\r"):
        new = converted(source.replace("\n", line_end), name, config)
        assert new == converted(source, name, config).replace("\n", line_end)
    assert "\r" not in converted(SRT.replace("\n", "\r\n"), "srt", WriterConfig("vtt"))


def test_json_has_words_times_and_places() -> None:
    value = json.loads(converted(SRT, "srt", WriterConfig("json")))
    assert value["source"] == "talks/one.srt"
    same = converted(SRT, "srt", WriterConfig())
    assert [same[word["start_char"] : word["end_char"]] for word in value["words"]] == [
        "so", "what.", "fine", "and", "&amp;", "you?",
    ]  # fmt: skip
    assert [word.get("start") for word in value["words"]] == [1.0, None, None, 4.0, None, None]
    assert [word.get("end") for word in value["words"]] == [None, None, 2.0, None, None, 6.0]


@pytest.mark.parametrize("to", ["srt", "vtt", "ass", "ctm"])
def test_a_format_that_needs_times_says_so(to: str) -> None:
    with pytest.raises(InputError, match=r"words in no cue|no time for the word"):
        converted("so what", "text", WriterConfig(to))
    with pytest.raises(InputError, match="no time for the word 'so'"):
        converted("so what", "text", WriterConfig(to, resegment=ResegmentConfig()))


@pytest.mark.parametrize(("source", "config", "expected"), [
    ("one. two. three. four", ParagraphConfig(sentences=2), "one. two.\n\nthree. four"),
    ("so what. fine.\nand you. yes\n", PARAGRAPHS, "so what.\n\nfine.\n\nand you.\n\nyes\n"),
    ("one. JOHN two. ", PARAGRAPHS, "one.\n\nJOHN two. "), ("one two three", PARAGRAPHS, "one two three"),
    ("Ms. John F. Who of St. Ives Inc. one. two", PARAGRAPHS, "Ms. John F. Who of St. Ives Inc. one.\n\ntwo"),
])  # fmt: skip
def test_paragraphs_end_after_so_many_sentences(source: str, config: ParagraphConfig, expected: str) -> None:
    assert converted(source, "text", WriterConfig(paragraphs=config)) == expected


@pytest.mark.parametrize(("source", "expected"), [
    ("so.\nAnn: what.\nAnn: we.\nTom: yes\n", "so.\n\nAnn: what.\nAnn: we.\n\nTom: yes\n"),
    ("Ann: so.\r\nTom: yes\r\n \r\nAnn: we\r\n", "Ann: so.\r\n\r\nTom: yes\r\n \r\nAnn: we\r\n"),
    ("[Music]\n>> so. [laughs]\n>> yes >> we\n", "[Music]\n>> so. [laughs]\n\n>> yes\n\n>> we\n"),
    ("Ann Lee\n0:02\nso\nTom Fox\n0:15\nyes\n", "Ann Lee\n0:02\nso\n\nTom Fox\n0:15\nyes\n"),
    ("- Ann: so (a-01)\n- Tom: yes (t-02)\n", "- Ann: so (a-01)\n\n- Tom: yes (t-02)\n"),
    ("one <b>two.</b> three. <i>four.</i> five\n", "one <b>two.</b> three.\n\n<i>four.</i> five\n"),
])  # fmt: skip
def test_a_new_speaker_begins_a_paragraph_and_tags_stay(source: str, expected: str) -> None:
    assert converted(source, "text", WriterConfig(paragraphs=ParagraphConfig(sentences=2))) == expected


def test_paragraphs_end_where_it_is_silent_and_not_at_a_direction() -> None:
    text = "a 1 0 1 so.\na 1 1.5 1 what\na 1 9 1 now.\na 1 20 1 fine.\n"
    config = WriterConfig("text", ParagraphConfig(pause_ms=2000))
    assert converted(text, "ctm", config) == "so. what now.\n\nfine.\n"
    owned = "a 1 0 1 Mr.\na 1 9 1 Who\na 1 20 1 Inc.\na 1 30 1 so\n"
    assert converted(owned, "ctm", config) == "Mr. Who Inc.\n\nso\n", "a silence shows that `Inc.` ended a sentence"
    with pytest.raises(ConfigError, match="paragraphs in a file of another format; expected text; add --to text"):
        converted(text, "ctm", WriterConfig(paragraphs=ParagraphConfig(2)))
    with pytest.raises(ConfigError, match="paragraphs 0; expected 1 or more"):
        ParagraphConfig(sentences=0)
    cue = "{n}\n00:00:0{n},000 --> 00:00:0{n},900\n{text}\n\n"
    said = ("we left.", "[Laughter]", "it was late.", "so", "yes.")
    text = "".join(cue.format(n=n, text=line) for n, line in enumerate(said, start=1))
    for config, written in (
        (ParagraphConfig(2), "we left. [Laughter] it was late.\n\nso yes.\n"),
        (ParagraphConfig(pause_ms=1000), "we left.\n\n[Laughter] it was late. so yes.\n"),
    ):
        assert converted(text, "srt", WriterConfig("text", config)) == written
    laughed = "one. [laughs]\n\ntwo. three."
    assert converted(laughed, "text", WriterConfig(paragraphs=ParagraphConfig(2))) == laughed


def test_terms_are_written_as_the_user_wants() -> None:
    terms = Terms.of(["# ours", "", "pytorch=PyTorch", "ASR # the recogniser", "new york=New York", "gonna=going to"])
    source = "pytorch's asr, i'm gonna (ASR) new\nyork new PYTORCH JOHN new york"
    items = apply_terms(reading(source, "text").items, terms)
    written = [item.word.with_marks(item.word.marks, Case.LOWER) for item in spoken(items)]
    assert written == [
        "PyTorch's", "ASR,", "i'm", "going to", "(ASR)", "New", "York", "new", "PyTorch", "john", "New", "York",
    ]  # fmt: skip
    terms = Terms.of(["dr=Dr.", "inc=Inc.", "vs.=versus", "yahoo=Yahoo!"])
    items = apply_terms(reading("dr. smith of acme inc. vs. yahoo dr who", "text").items, terms)
    written = [item.word.with_marks("", Case.LOWER) for item in spoken(items)]
    assert written == ["Dr.", "smith", "of", "acme", "Inc.", "versus", "Yahoo!", "Dr.", "who"]


def test_silences_are_known_across_cues() -> None:
    items = spoken(add_pauses(reading(SRT, "srt").items, [1500]))
    assert [item.word.pause for item in items] == [False, False, True] + 3 * [False]


def test_a_term_that_does_not_fit_is_refused_and_the_first_equals_sign_parts_one() -> None:
    for line in ("a b=c", "=x", "two words=three words more"):
        with pytest.raises(InputError, match=r"terms line 1: .*; expected words=spelling"):
            Terms.of([line])
    assert Terms.of(["a=b=c d"]).spellings == {("a",): ("b=c d",)}


# -- words that are removed: the white space that they leave, and what stays of cues, segments and lines


FILLERS = ("um", "uh")
FILLED = (
    "1\n00:00:01,000 --> 00:00:02,000\num we know\nuh this <i>um</i> now\n\n"
    "2\n00:00:03,000 --> 00:00:04,000\num\n\n3\n00:00:05,000 --> 00:00:06,000\num\nyes\n"
)


def _without(text: str, name: str = "text", to: str | None = None) -> str:
    """The file without its fillers."""
    transcript, words = reading(text, name), list[AnnotatedWord]()
    for word in (item.word for item in spoken(transcript.items)):
        decision = Decision("", Case.VERBATIM, 1.0, 1.0, disfluent=word.text in FILLERS)
        words.append(render_word(word, decision, RenderConfig(disfluencies="remove"), Alphabet()))
    return "".join(written_pieces(transcript, transcript.with_words(words), WriterConfig(to), "talk"))


@pytest.mark.parametrize(("text", "left"), [
    ("we um know", "we know"), ("um we know um", "we know"), ("we um\nknow", "we\nknow"), ("we\num know", "we\nknow"),
    ("we\num\nknow\n", "we\nknow\n"), ("we um uh know\n", "we know\n"), ("we\n\num\n\nknow", "we\n\n\nknow"),
    ("um", ""), ("JOHN: um yes\n", "JOHN: yes\n"), ("so um [laughs] yes", "so [laughs] yes"), ("we know", "we know"),
])  # fmt: skip
def test_white_space_is_joined(text: str, left: str) -> None:
    assert _without(text) == left


CUE, VTT_CUE = "1\n00:00:01,000 --> 00:00:02,000\n", "WEBVTT\n\n00:01.000 --> 00:02.000\n"


@pytest.mark.parametrize(("name", "text", "to", "left"), [
    ("lines", "hi\num\nyes um\n", None, "hi\n\nyes\n"),  # lines of their own stay lines
    ("srt", f"{CUE}um <i>we know</i>\n", None, f"{CUE}<i>we know</i>\n"),
    ("srt", f"{CUE}- um uh\n- we know\n", None, f"{CUE}- we know\n"),  # no dash stays alone
    ("vtt", f"{VTT_CUE}um<00:01.500><c> know</c>\n", None, f"{VTT_CUE}<00:01.500><c>know</c>\n"),
    # tags are not shown in another format
    ("srt", f"{CUE}JOHN: um <i>we know</i>\n", "text", "JOHN: we know\n"),
    ("vtt", f"{VTT_CUE}[laughs] um <00:01.500><c>so</c>\n", "text", "[laughs] so\n"),
])  # fmt: skip
def test_lines_and_tags_of_a_removed_word_stay(name: str, text: str, to: str | None, left: str) -> None:
    assert _without(text, name, to) == left


def test_cues_keep_their_times_and_numbers_and_a_recognisers_json_its_places() -> None:
    assert _without(FILLED, "srt") == (
        "1\n00:00:01,000 --> 00:00:02,000\nwe know\nthis <i></i>now\n\n"
        "2\n00:00:03,000 --> 00:00:04,000\n\n"
        "3\n00:00:05,000 --> 00:00:06,000\nyes\n"
    )
    assert "um" not in _without(FILLED, "srt", "vtt")
    segment = {"text": " so um yes", "words": [{"word": " so"}, {"word": " um"}]}
    value = json.loads(_without(json.dumps({"text": "so um yes", "segments": [segment]}), "json"))
    assert value["text"] == "so yes"
    assert value["segments"][0]["text"] == " so yes"
    assert [word["word"].strip() for word in value["segments"][0]["words"]] == ["so", ""]


def test_words_as_json_list_what_was_removed_and_tables_are_written_anew_or_not() -> None:
    value = json.loads(_without(FILLED, "srt", "json"))
    assert [word["word"] for word in value["removed"]] == ["um", "uh", "um", "um", "um"]
    assert value["removed"][0] == {"word": "um", "start": 1.0}
    own = _without(FILLED, "srt")
    assert [own[word["start_char"] : word["end_char"]] for word in value["words"]] == "we know this now yes".split()
    assert "removed" not in json.loads(_without("we know", "text", "json"))
    lines = "talk 1 0.0 0.5 um\ntalk 1 0.5 0.5 yes\n"
    with pytest.raises(InputError, match="talk: words to be removed from a ctm, whose other columns stay; expected"):
        check_writable(reading(lines, "ctm"), WriterConfig(), "talk", removes=True)
    check_writable(reading(lines, "ctm"), WriterConfig("ctm"), "talk", removes=True)
    assert _without(lines, "ctm", "ctm") == "talk 1 0.500 0.500 yes\n"
