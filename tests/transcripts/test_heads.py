"""What opens lines and is not said: labels, also behind tags, ids and times; a speaker who goes on in the next line."""

import io
import json
import re
from collections.abc import Iterable

import pytest
from chance import punctuated, reading, said, unchanged

from t5punct.errors import InputError
from t5punct.text.render import AnnotatedWord
from t5punct.transcripts.formats import Transcript, transcript_of
from t5punct.transcripts.items import Item, Kept, Role, in_file_order
from t5punct.transcripts.speech import TAGS, read_line

ZOOM = (
    "WEBVTT\n\n1\n00:00:01.000 --> 00:00:03.000\n{a}: yesterday i went to the\n\n"
    "2\n00:00:03.000 --> 00:00:05.000\n{a}: new shop\n\n3\n00:00:05.000 --> 00:00:06.000\n{b}: which one\n"
)
LINES = "{a}: yesterday i went to the\n{a}: new shop\n{b}: which one\n{b}: do you mean\n"
LABELS = [
    ("Ann Lee", "Tom"), ("interviewer", "maria"), ("agent", "participant 3"), ("[Maria]", "[Tom]"),
    ("Anna [00:01:02]", "Tom [00:01:09]"), ("ANNA SMITH, CEO", "TOM"), ("speaker_1", "speaker_2"),
    ("dan", "al"), ("Łukasz", "żaneta"),
    ("it.me@example.com", "priya.k@example.com"), ("👩 Anna", "👨🏽‍🦱 ben"), ("Anna/Ben", "ben/tom"),
    ("Marie ", "Paul "), ("Marie\u00a0", "l'animateur\u202f"), ("l’animateur ", "JEAN-LUC\u00a0"),
    ("**Maria**", "_Tom_"), ("{Maria}", "«Tom»"), ("Anna | Acme", "@tom"), ("2nd participant", "+49 151 1234567"),
    ("maria [on phone]", "MAN #2"), ('Anna "Annie" Smith', "Anna Smith – CEO"),
]  # fmt: skip
HEADS = {  # files whose lines open with what nobody says, and what is said
    "utterance ids": ("utt-0001 so what\nutt-0002 yes we know\n", "so what yes we know"),
    "LibriSpeech": ("1089-134686-0000 so what\n1089-134686-0001 yes\n1089-134691-0000 we\n", "so what yes / we"),
    "Kaldi": ("sp01_utt1\tso what\nsp01_utt2\tyes\nsp02_utt1\twe know\n", "so what yes / we know"),
    "STM": (
        ";; by hand\ntalk 1 ann 0.00 1.50 <o,f0,female> so what\ntalk 1 tom 1.50 2.25 <o,f0,male> yes\n"
        "talk 1 inter_segment_gap 2.25 3.00 <o,,unknown> ignore_time_segment_in_scoring\n", "so what / yes"),
    "an editing program": (
        "00:00:01;12 - 00:00:04;02\nSpeaker 1\nso\n\n00:00:04;10 - 00:00:06;20\nSpeaker 2\nyes\n", "so / yes"),
    "Markdown's stars around times": ("**[00:03] Ann:** so what\n**[00:05] Tom Lee:** yes\n", "so what / yes"),
    "how a voice sounds": ("so\nMAN [over radio]: what\nyes\nTom Fox [on phone]: we\n", "so / what yes / we"),
    "an editing program that knows names": (
        "00:00:01:12 - 00:00:04:02\nAnn Lee\nso what\n\n00:00:04:10 - 00:00:06:20\nUnknown\nyes\n", "so what / yes"),
    "captions of an editor": ("00:00:01:12 - 00:00:04:02\nYes\n\n00:00:04:10 - 00:00:06:20\nOkay\n", "Yes Okay"),
    "times before lines": ("0:01 so what\n0:05 at 10:30 we\n0:09 know\n", "so what at 10:30 we know"),
    "a time that is said": ("10:30 is when\nwe meet\nor not\n", "10:30 is when we meet or not"),
    "Zoom's captions": ("[Ann Lee] 10:02:11\nso what\n\n[Tom] 10:02:15\nyes\n", "so what / yes"),
    "MAXQDA and f4": (
        "#00:00:04-5# B1: so\n#00:00:06-1# I: what #00:00:07-1#\n#00:00:08-2#\nal: yes\n\nal: we #00:01:07-10# know\n",
        "so / what / yes we know"),
    "Markdown": (
        "# talk of may\n\nso what\n\n| name | role |\n| --- | :---: |\n| ann | boss |\n\nyes we\n```python\n"
        "x = 1  # we\n```\n  ~~~\nso\n  ~~~\nknow\n", "so what / yes we / know"),
    "Markdown, more of it": (
        "---\ntitle: my talk\ndate: 2024-05-01\n---\nTalk\n====\nso\n\na | b\n-|:-:\nso | what\n\nyes\n````\n```\nx\n"
        "```\n````\nwe\n\n[ref]: http://foo.com/x\n[^1]: the note\n> quoted\n> lines\n***\n<!-- not\nthis -->\nknow\n",
        "Talk / so / yes / we / the note quoted lines / know"),
    "fences that close nothing": ("```how``` he said\nso\n```\nyes we\n", "```how``` he said so ``` yes we"),
    "numbers and bars": ("#1 we know | so\n#what we\n", "#1 we know | so #what we"),
    "HTML of other kinds": (
        '<details open><summary>so</summary>\nyes <img src="a b.png" alt="how"> we <!-- no --> it\n', "so / yes we it"),
    "HTML": (
        '<div class="a b"><P>so <b>what</b><br/>yes</P>\n<p>we <a href="x.html">kn<i>ow</i></a> &amp; so</p></div>\n',
        "so what yes / we know &amp; so"),
    "counted lines of two pages": ("1 so what\n2 yes\n3 people\n1 know\n2 it\n", "so what yes people know it"),
    "a court's": (
        "THE COURT: so\nBY MR. SMITH:\nQ. so what\nA. yes\nand so\nwe\nknow\nand so\non\nQ. when\n",
        "so / so what / yes and so we know and so on / when"),
    "a list": ("what we do\n1. so what\n2. yes\n", "what we do / so what / yes"),
    "a list of letters": ("what we do\na. so what\nb) yes\n", "what we do / so what / yes"),
    "a list with plus signs": ("what we do\n+ so what\n+ yes\n", "what we do / so what / yes"),
    "labels with commas": ("Ann Lee, 12:01 PM\nso\nTom Fox, 12:02 PM\nyes\nAnn Lee, 12:03 PM\nwe\n", "so / yes / we"),
    "a list with hyphens": ("what we do\n\n- so what\n  we know\n- yes\n", "what we do / so what we know / yes"),
    "a dash that opens a line": ("so what\n- we know\nyes\n", "so what - we know yes"),
    "LJSpeech": ("LJ001-0001|so what\nLJ001-0002|yes\n", "so what yes"),
    "a label that comes once": ("maria: so\nmaria: what\nguest 2: yes\nANN LEE, CEO: we\n", "so what / yes / we"),
    "labels of many words": (
        "ANN LEE, DIRECTOR OF RESEARCH AND DESIGN: so what\nTom Fox (Head of Sales Team Europe): yes\n"
        "ANN LEE, DIRECTOR OF RESEARCH AND DESIGN: we\nTom Fox (Head of Sales Team Europe): know\n",
        "so what / yes / we / know"),
    "a clause of many words that comes back": (
        "Ann wants Tom to know something new: so\nyes\nAnn wants Tom to know something new: what\nyes\nyes\n",
        "Ann wants Tom to know something new so yes Ann wants Tom to know something new what yes yes"),
    "a label and its time behind one space": ("Speaker 1 00:03\nso what\n\nTom 1:00:10\nyes\n", "so what / yes"),
    "labels and times": ("ann 00:12\nso\n\nTom 9:58\nit\n\nTom 12:08\nyes\n\nann 00:12:12.3\nwe\n", "so / it yes / we"),
    "times before names, above what they say": (
        "0:00 - Ann Lee\nso what\n\n0:08 - Tom Fox (Acme)\nyes\n\n0:09 - Ann Lee\nwe\n", "so what / yes / we"),
    "times in brackets before names": (
        "[00:00:00.210] - ann\nso\n(0:08) Tom\nwhat\n00:00:11 ann\nyes\n**Bob** (0:14)\nwe\n", "so / what / yes / we"),
    "captions of single words": ("[0:00] Yes\n[0:01] Okay\n[0:02] so what\n", "Yes Okay so what"),
    "times before first words": ("0:00 Okay\nso what\n0:08 we know\nyes\n", "0:00 Okay so what 0:08 we know yes"),
    "times at the ends of lines": (
        "we meet at 10:30\nso\ncome at 12:30\nyes\nLunch 12:30\nwe know\n",
        "we meet at 10:30 so come at 12:30 yes Lunch 12:30 we know"),
    "faster-whisper": ("[0.00s -> 2.50s] so what\n[2.50s -> 4.00s] yes\n", "so what yes"),
    "numbers with points that are said": ("1.5 2.5 so what\nyes\nwe\nknow\n", "1.5 2.5 so what yes we know"),
    "a chat": ("12/05/2024, 10:02 - Ann: so what\n12/05/2024, 10:03 - tom: yes\n", "so what / yes"),
    "a chat of Discord's": ("ann — Today at 10:02\nso what\ntom — 12/05/2024 10:03 AM\nyes\n", "so what / yes"),
    "labels in brackets of tags, and in Markdown's stars": (
        "<Ann Lee>: so\n<Ann Lee>: what\n**Tom Fox:** yes\n**Tom Fox:** we know\n", "so what / yes we know"),
    "counted lines with times": (
        "1 00:01:02 Ann: so\n2 00:01:04 Ann: what\n3 00:01:06 tom: yes\n4 0:01:09 tom: we\n", "so what / yes we"),
    "brackets around who speaks": ("(tom) so what\n(ann lee) yes\n(tom) we\n", "so what / yes / we"),
    "IRC": ("<Anna> so what\n<tom> yes\n<tom> we know\n", "so what / yes we know"),
    "capitals throughout": (
        "SO WHAT\nYES\nWE KNOW\nIT\nSO WHAT\nYES\nWE KNOW\n", "SO WHAT YES WE KNOW IT SO WHAT YES WE KNOW"),
    "a diariser's": ("SPEAKER_00 so what\nSPEAKER_00 yes\nSPEAKER_01 we\n", "so what yes / we"),
    "drop frames": ("00;00;01;12 - 00;00;04;02\nso what\n00;00;05;12 - 00;00;06;02\nyes\n", "so what yes"),
    "WhatsApp's invisible characters, emoji and unknown names": (
        "[1/2/24, 10:31:05\u202fAM] Ann Lee: so\n\u200e[1/2/24, 10:32:11\u202fAM] Tom \U0001f389: yes\n"
        "[1/2/24, 10:33:00\u202fAM] ~\u202ftom: what\n\u200e[1/2/24, 10:34:00\u202fAM] ~\u202ftom: we\n",
        "so / yes / what we"),
    "Slack and Telegram": (
        "Ann Lee  [10:31 AM]\nso\nTom, [01.05.2024 10:32]\nyes\nWell, [10:33]\nwe\n", "so / yes Well we"),
    "targets of links, and slashes in speech": (
        '[1]: https://a.org/x "A page"\n[Ann]: and/or what\n[Ann]: yes [1]\n', "and/or what yes [1]"),
    "a time behind a word": ("YES [00:01]\nso what\nwe know\nand go\n", "YES so what we know and go"),
    "names before times": ("Ann (00:01)\nso\nTom Lee (00:05)\nwhat\nAnn (00:09)\nyes\n", "so / what / yes"),
    "Rev": ("Ann (00:02):\nso\n\n(00:45):\nwhat\n(00:50): yes\n\nTom (01:09):\nwe (1:10)\n", "so what yes / we"),
    "Zoom and Teams, copied": (
        "Ann Lee\n00:02\nso what\nTom Fox\n00:15\nyes\n\nAnn Lee\n00:18\nwe know\n", "so what / yes / we know"),
    "YouTube, copied": (
        "So\n0:00\nwhat\n0:02\nYes\n0:04\nwe\nOkay\n0:07\nknow\nso\n", "So what Yes we Okay know so"),
    "Fathom": (
        "0:00 - Ann Lee\nso what\n\n0:09 - Tom Fox (tom+x@acme.so)\nyes\n\n0:12 - Ann Lee\nwe\n", "so what / yes / we"),
    "spans behind names, without brackets": (
        "Ann Lee 00:02 - 00:05\nso\nTom Fox 01:05 - 01:09\nwhat\nann  0:09 - 0:12\nyes\n", "so / what / yes"),
    "a court's, with numbers before empty lines, too": (
        "1  Q.  so what\n2  A.  yes\n3\n4  Q.  we know\n5  A.  it\n6", "so what / yes / we know / it"),
    "a court's without full stops": ("Q   so what\nA\tyes\nand so\nQ   we\nA dog\n", "so what / yes and so / we A dog"),
    "numbers that are said": ("1\n2\n3\nso what\n", "1 2 3 so what"),
    "a list with ids": ("- so what (ann-01)\n- yes (ann-02)\n- (ann-03)\n", "so what / yes"),
    "chapters among other lines": (
        "what\n\n00:00 - yes\n02:30 - we\n1:03:20 - know\n\nso\nwhat\nyes\nit\n", "what yes we know so what yes it"),
    "times in a row that do not rise": (
        "what\n10:30 yes\n11:30 we\n9:30 know\nso\nwhat\nyes\n", "what 10:30 yes 11:30 we 9:30 know so what yes"),
    "times in a list": ("so what\n- 2:30 yes\n- 12:30 - we\n- know 1:30\n", "so what / yes / we / know 1:30"),
    "lines in frames": (
        "so\n--- MUSIC ---\nwhat\n  === Part 2 ====\nyes --- we ---\n***know it***\n-- so --\n",
        "so / what / yes we ***know it*** -- so"),
    "names alone on lines": (
        "Talk\nAnn Lee\nso what\n\nTom Fox\nYes\nI know\n\nAnn Lee\nwe\n\nTom Fox\nit\n",
        "Talk / so what / Yes I know / we / it"),
    "short lines that come back": (
        "Thank You\nso\nYes\nwe\nWe know\nThank You\nso\nYes\nit\n", "Thank You so Yes we We know Thank You so Yes it"),
    "a log with a zone apart": ("2024-01-02 10:31:05,123 +0200 so\n2024-01-02 10:31:06,123 -0500 what\n", "so what"),
    "a log": ("2024-01-02T10:31:05Z so\n2024-01-02T10:31:06.123456+00:00 what\n", "so what"),
    "links to times in Markdown": ("[00:03](https://a.org/x?t=3) so\n[00:05](https://a.org/x?t=5) what\n", "so what"),
    "times inside a line": ("So [00:01] we know [00:02] it\nand [00:03] that\n", "So we know it and that"),
    "hours in a line": ("we meet (10:30 - 11:30) and (10:30, 11:30)\n", "we meet (10:30 - 11:30) and (10:30 11:30)"),
    "spans behind names": ("Ann Lee (00:00:01 - 00:00:04)\nso\nTom Fox (00:00:05 - 00:00:07)\nyes\n", "so / yes"),
    "WhatsApp": ("[10:31 AM, 1/2/2024] Ann: so\n[10:32 AM, 1/2/2024] tom: yes\n", "so / yes"),
    "Zoom's chat of earlier days": (
        "10:02:11\t From  Ann Lee : so what\n10:02:15\t From  tom : yes\nfrom here on : so\nFrom here on : so\n",
        "so what / yes from here on so From here on so"),
    "other speakers inside a line": (">> so >> TOM FOX: yes >>> we know\nyou >> it\n", "so / yes / we know you / it"),
    "a clause before a colon, said by another speaker": (
        ">> and this is it: so\nwe >> here it is: yes >> Ann de la Fox: so >> tom fox: what\n",
        "and this is it so we / here it is yes / so / what"),
    "Zoom's chat": (
        "10:02:11 From Ann Lee to Everyone:\n\tso\n10:02:15 From tom to me (Direct Message) : yes\n", "so / yes"),
    "sclite": ("so what (ann-0001)\nyes (ann-0002)\nwe know (tom-0001)\n", "so what yes / we know"),
    "a bracket that opens a line": ("so\n(and this is it) yes\nwe\nknow\n", "so (and this is it) yes we know"),
    "a clause twice without a small word": (
        "one last important thing: so\nwe\nknow\none last important thing: yes\n",
        "one last important thing so we know one last important thing yes"),
    "a clause among labels": (
        "maria: so\nmy aim is: yes\ntom: it\nmaria: we\nmy aim is: no\n", "so my aim is yes / it / we my aim is no"),
    "French, where a space stands before the colon": (
        "Intervenant 1 : so\nMarie\u00a0: yes\n(Paul) : what\nMarie\u00a0: we\n(Paul) : know\n>> Marie\u202f: it\n",
        "so / yes / what / we / know / it"),
    "directions behind labels": (
        "JOHN: (WHISPERING) so\nMaria: (in German) yes we\nJOHN: (what is it, so loud?)\n>> (sighs loudly) know\n",
        "so / yes we / know"),
    "directions before labels": (
        "(DOOR SLAMS) tom: so\n[TÜR ZU] ann: yes\n(SIGHS) Jane Doe: we\ntom: no\nann: it\n", "so / yes / we / no / it"),
}  # fmt: skip


@pytest.mark.parametrize(("first", "second"), LABELS)
@pytest.mark.parametrize("format", ["text", "vtt", "srt"])
def test_a_label_that_comes_back_is_kept_and_ends_sentences_of_others(first: str, second: str, format: str) -> None:
    text = LINES if format == "text" else ZOOM + "\n4\n00:00:06.000 --> 00:00:07.000\n{b}: do you mean\n"
    text = text.format(a=first, b=second)
    assert said(text, format) == "yesterday i went to the new shop / which one do you mean"
    for seed in range(5):
        new = punctuated(text, format, seed)
        assert [line.partition(": ")[0] for line in new.splitlines()] == [
            line.partition(": ")[0] if ": " in line else line_new
            for line, line_new in zip(text.splitlines(), new.splitlines(), strict=True)
        ]


@pytest.mark.parametrize("name", HEADS)
def test_the_head_of_a_line_is_kept(name: str) -> None:
    text, words = HEADS[name]
    assert said(text) == words
    assert unchanged(reading(text, "text")) == text
    heads = [item.text for item in reading(text, "text").items if isinstance(item, Kept)]
    for seed in range(5):
        new = punctuated(text, "text", seed)
        assert [item.text for item in reading(new, "text").items if isinstance(item, Kept)] == heads


def test_a_number_without_a_full_stop_is_said_and_a_name_in_capitals_on_its_own_line_a_label() -> None:
    assert said("1. so what\n2. yes\n3 people know\n") == "so what / yes 3 people know"
    assert said("ANNA\nso what\n\nDR. TOM\nyes\nwe know\n") == "so what / yes we know"
    assert said("we go to\nNASA\nand then\nto the moon\n") == "we go to NASA and then to the moon"
    assert said("(SO WHAT) YES\nSO (WE KNOW) IT\n(NASA) so\n") == "(SO WHAT) YES SO (WE KNOW) IT (NASA) so"
    assert said("so `cat a >> b.txt` it >> yes\n") == "so `cat a >> b.txt` it >> yes", "no line begins with >>"
    assert said("utt-01 so\nutt-02 what\n", "lines") == "so / what"


def unnamed(text: str, name: str = "talk.txt") -> Transcript:
    return transcript_of(io.StringIO(text, newline="\n"), name=name)


@pytest.mark.parametrize(("text", "format", "words"), [
    ("0.000000\t2.500000\tso what\n2.500000\t3.250000\tyes\n", "tsv", "so what yes"),  # Audacity's labels
    ("word\tstart\tend\nso\t0.1\t0.2\nwhat\t0.2\t0.4\n", "tsv", "so what"),
    (";; by hand\ntalk 1 0.5 0.2 so\ntalk 1 0.7 0.1 what 0.9\n", "ctm", "so what"),
    ("we met 3 4 times\nso\n", "text", "we met 3 4 times so"),
    ("utt-1\tso what\nutt-2\tyes\n", "text", "so what yes"), ("so\twhat\nyes\n", "text", "so what yes"),
    ("Ann Lee:\t0:02\tso what\ntom (Acme):\t0:09\tyes\nTom\t0:15\twe\n", "text", "so what / yes / we"),
    ("so\t0:01\t0:02\nwhat\t0:02\t0:03\n", "tsv", "so what"),
    ("Ann:\tso what\nTom:\tyes\n", "text", "so what / yes"),
])  # fmt: skip
def test_a_table_with_tabs_is_read_as_one_whatever_its_name(text: str, format: str, words: str) -> None:
    transcript = unnamed(text)
    assert (transcript.format, unchanged(transcript)) == (format, text)
    assert said(text, format) == words


@pytest.mark.parametrize(("text", "name", "message"), [
    ("ann\t12 may\tso what\ntom\t13 may\tyes\n", "talk.txt", "columns ann, 12 may, so what: it is not clear which of"),
    ("@UTF8\n@Begin\n*MOT:\tso what ?\n@End\n", "talk.txt", "talk.txt holds CHAT, whose codes stand inside words; exp"),
    ("<tt>\n<body>so</body></tt>\n", "-", "standard input holds XML; expected text; export its words, as text or SRT"),
    ("{25}{100}so|what\n{110}{150}yes\n", "talk.txt", "talk.txt holds MicroDVD, whose times are frames; exp"),
    ("TITLE: CUT\n\n001  AX  V  C  00:00:00:00 00:00:05:00\n", "cut.txt", "cut.txt holds an edit list (EDL); expected"),
])  # fmt: skip
def test_structure_that_cannot_be_kept_is_refused_in_one_line(text: str, name: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        unnamed(text, name)
    assert message in str(refused.value)


def test_a_label_that_is_said_again_is_not_shown_again_and_each_line_of_json_may_have_one() -> None:
    items = reading(LINES.format(a="ann", b="tom"), "text").items
    roles = [item.role for item in items if isinstance(item, Kept) and item.text.strip()]
    assert roles == [Role.SPEAKER, Role.LAYOUT, Role.SPEAKER, Role.LAYOUT]
    source = json.dumps({"text": "JOHN: so what\nMARY: it is\nnothing"})
    assert " ".join(_shown(reading(source, "json").items)) == "[JOHN:] so what [MARY:] it is nothing"


def events(*rows: str) -> str:
    head = "[Events]\nFormat: Layer, Start, End, Style, Name, Text\n"
    return head + "".join(f"Dialogue: 0,{row}\n" for row in rows)


ASS = {  # events: start, end, style, name, text
    "a sign of the same style": (
        ["0:00:01.00,0:00:02.00,Default,Ann,we went to the", "0:00:01.50,0:00:03.00,Default,sign,bank",
         "0:00:02.10,0:00:03.00,Default,Ann,new shop"], "we went to the new shop / bank"),
    "two who talk to each other": (
        ["0:00:01.00,0:00:02.00,Default,Ann,how are you", "0:00:02.00,0:00:03.00,Default,Tom,fine",
         "0:00:03.00,0:00:04.00,Default,Ann,good", "0:00:04.00,0:00:05.00,Default,Ann,for you"],
        "how are you / fine / good for you"),
}  # fmt: skip


@pytest.mark.parametrize("name", ASS)
def test_styles_and_actors_of_ass_are_streams_of_their_own(name: str) -> None:
    rows, words = ASS[name]
    text = events(*rows)
    assert said(text, "ass") == words
    assert unchanged(reading(text, "ass")) == text
    transcript = reading(text, "ass")
    texts = (word.text for words in transcript.texts for word in words)
    annotated = [AnnotatedWord(said, said.upper(), "", "upper", 1.0, 1.0) for said in texts]
    written = "".join(transcript.pieces(transcript.with_words(in_file_order(transcript.items, annotated))))
    assert written == re.sub(r"(?m)^(Dialogue: (?:[^,]*,){5})(.*)$", lambda row: row[1] + row[2].upper(), text)


def _shown(items: Iterable[Item]) -> list[str]:
    shown = ((f"[{item.shown}]" if item.shown else "") if isinstance(item, Kept) else item.word.text for item in items)
    return [text for text in shown if text]


@pytest.mark.parametrize(("line", "shown"), [
    ("<i>MARY: so</i> it is", "[MARY:] so it is"), ("<b>MA</b>RY: so", "[MARY:] so"), ("&gt;&gt;so", "[>>] so"),
    (">>JOHN: so", "[>>JOHN:] so"), ("<i>- no</i>", "[-] no"), ("yes <i>[laughs]</i> no", "yes [[laughs]] no"),
    ("{\\an8}♪ so it goes ♪", "[♪] so it goes [♪]"), ("a <i>MARY: so</i>", "a MARY so"),
])  # fmt: skip
def test_labels_and_directions_are_seen_behind_tags(line: str, shown: str) -> None:
    assert " ".join(_shown(read_line(line, markup=TAGS, dashes=True))) == shown
