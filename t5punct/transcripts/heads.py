"""What opens a line and is not said: its id, its time, who speaks.

In: the lines of a file.  Out: `Heads`, which finds the head of a line (id, number, time) and knows the file's labels.

Some heads are certain from one line (`00:00:01;12 - 00:00:04;02`, `Jane Doe:`).  Others take the whole file: `maria:`
is a label if it comes back, or if most lines have a label.  `utt-0001` is an id if every line has one.

>>> heads = Heads.of(["utt-01 maria: so what", "utt-02 tom: i see", "utt-03 maria: and"])
>>> heads.head_of("utt-02 tom: i see").n_chars, sorted(heads.labels)
(7, ['maria', 'tom'])
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ..text.languages import LANGUAGES, SMALL_WORDS

_DAY = r"(?:\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4})"
_DATE = rf"{_DAY},?[T ]"  # before a time, as chats and logs have it
_WITH_HOURS = r"\d{1,3}[:;]\d\d[:;]\d\d"
_ZONE = r"(?:Z|\ ?[+-]\d\d:?\d\d)"  # behind a time in logs
# `0:03`, `1:02:03.5`, and with frames as editing programs have them: `00:00:01;12` or `00;00;01;12`
TIME = (
    rf"(?:{_DATE})?(?:{_WITH_HOURS}(?:[.,;:]\d{{1,6}})?{_ZONE}?|\d{{1,3}}:\d\d(?:[.,]\d{{1,3}})?)"
    r"(?:\s?[AaPp]\.?[Mm]\b\.?)?"
)
_SPAN = rf"{TIME}(?:\s*(?:-{{1,2}}>|[-–—,])\s*|\s+){TIME}"
_SECONDS = r"\d{1,6}[.,]\d{1,3}s?"
_SECONDS_SPAN = rf"{_SECONDS}(?:[ ]*(?:-{{1,2}}>|[-–—])[ ]*|[ ]+){_SECONDS}"  # `0.00s -> 2.50s`, `0,5 2,5`
# `#00:00:04-5#` is a time of MAXQDA, f4 and easytranscript
# `[10:31 AM, 1/2/2024]` is a time of WhatsApp; a time of a video may be a link in Markdown: `[00:03](https://..)`
BRACKETED = (
    rf"\[(?:{TIME}|{_SPAN}|{_SECONDS_SPAN}|{TIME},\ {_DAY})\](?:\(https?://[^()\s]*\))?|\((?:{TIME}|{_SPAN})\)"
    rf"|\#{_WITH_HOURS}(?:[-.,]\d{{1,3}})?\#"
)
_CLOCK = rf"(?:{_WITH_HOURS}|0\d:\d\d)(?:[.,;:]\d{{1,3}})?"  # nobody says such a time
_CAPITAL = "[" + "".join(char for char in map(chr, range(0x530)) if char.isupper()) + "]"  # Latin, Greek, Cyrillic
_LOUD = rf"{_CAPITAL}[{_CAPITAL[1:-1]} .,'’-]{{1,40}}"
_SOUND = rf"(?-i:\({_LOUD}\)|\[{_LOUD}\])\s+(?=[^\W\d_])"  # `(DOOR SLAMS) `
_EMOJI = r"[\U0001f000-\U0001faff][^\w\s:]{0,8}\s?"
_LEAD = rf"[\s\u200e]*(?:\*{{0,2}}(?:{BRACKETED})\s*)?(?:{_SOUND}|{_EMOJI})?"  # may stand before a label
_NAME = rf"(?-i:{_CAPITAL}[\w.'’-]*(?:\ (?:{_CAPITAL}[\w.'’-]*|\d{{1,3}}|&|and|of|de|del|der|di|van|von)){{0,3}})"
_COLON = r"[ \u00a0\u202f]?:(?=\s|$)"  # behind a name; in French a space stands before it
_BEGINS, _ENDS = r"[\[({<«\"“*_@#~+]{0,2}\u202f?", r"[\])}>»\"”*_]{0,2}"  # around a name: [Maria], **Maria**, @maria
_OF_NAME = r"[\w.'’\"“”&@#|/\U0001f000-\U0001faff–-]"
BARE_TURN = ">>"  # another speaker begins
_TURN = re.compile(rf"{_LEAD}>{{2,}}\s*")
_SURE_LABEL = re.compile(  # at the start of a line
    rf"""{_LEAD}(?:
        >{{2,}}(?:\s*[^\W\d_][\w.'’ -]{{0,60}}{_COLON}|(?=[\s\w]|$))  # >> or >> JOHN:
      | (?=[^:\n]{{1,60}}:)(?:{_NAME}|[^\W\d_][\w.'’() -]{{0,40}}:)\t{TIME}(?=\t)(?!\t[\d\s.,:-]*$)
            # Jane Doe:, and her time in the next cell of a table
      | [\[(]?(?:speaker|spk)[ _]?\w{{1,3}}[\])]?{_COLON}            # Speaker 1: or [SPEAKER_00]:
      | (?:[\[(](?:speaker|spk)[ _]?\d{{1,3}}[\])]|(?-i:SPEAKER_\d\d))(?=\s)  # [Speaker 1] or SPEAKER_00, of diarisers
      | From\s+[^:\n]{{1,40}}?\s+to\s+(?:everyone|me|hosts?|[^:\n]{{1,40}}?\([^():]+\)){_COLON}  # Zoom's chat
      | (?-i:From)\s(?:\s[^:\n]{{1,40}}?|{_NAME})\ :(?=\s)            # From  Jane Doe : as Zoom had it
      | (?:speaker|spk)[ _]?\d{{1,3}}(?=\s*$)                         # Speaker 1, on a line of its own
      | (?-i:[A-Z][A-Z0-9.&#'’ -]{{0,30}}){_COLON}                    # THE MAN IN THE RED COAT:
      | (?=[^:\n]{{1,44}}:){_NAME}(?:\ \([^():]{{1,12}}\)|\ \[[^\[\]:]{{1,30}}\])?{_COLON}
            # Jane Doe:, DR. SMITH (V.O.): or MAN [over radio]:
      | (?=[^:\n]{{1,44}}:){_NAME}\ {{1,2}}(?:{BRACKETED}):(?=\s|$)    # Jane Doe (00:03):
      | (?=[^:\n]{{1,44}}:)(?:\*\*{_NAME}\*\*\ |{_NAME},\ (?=\[{_DAY})|{_NAME}\ \ )(?:{BRACKETED})(?=\s*$)
            # **Jane** [00:03], Telegram's Jane Doe, [1/2/2024 10:31] or Slack's Jane Doe  [10:31 AM]
      | (?=[^:\n]{{1,44}}:)[^\W\d_][\w.'’-]*(?:\ [\w.'’-]+){{0,4}}(?:\s{{2,}}|\ \|\ )(?:{_SPAN}|{TIME})(?=\s*$)
            # jane doe  0:03
      | (?=[^:\n]{{1,44}}:){_NAME}\ {_CLOCK}(?:\s*[-–—]\s*{TIME})?(?=\s*$)  # Speaker 1 00:03
      | (?=[^:\n]{{1,44}}:)\[{_NAME}\]\ {TIME}(?=\s*$)                 # [Jane Doe] 10:02:11, as Zoom has it
      | [^\W\d_][\w.'’ -]{{0,40}}\ —\ (?:(?:to|yester)day\ at\ |(?={_DATE})){TIME}(?=\s*$)  # jane — Today at 10:02
    )\s*""",
    re.VERBOSE | re.IGNORECASE,
)
_ANY_LABEL = re.compile(
    rf"""{_LEAD}(?:
        {_BEGINS}[^\W_](?:{_OF_NAME}|\+){{0,60}}(?:,?\ {_OF_NAME}{{1,30}}){{0,9}}{_ENDS}
        (?:\ (?:\([^():]{{1,60}}\)|\[[^\[\]:]{{1,60}}\]))?
        # maria:, [Maria]:, **Maria:**, ANNA SMITH, CEO:, JANE FOX (SALES):, maria [on phone]:, speaker 3 (00:03):
        (?:(?:\ (?:{BRACKETED}))?(?:{_COLON}|:\*{{1,2}}(?=\s|$))
          | \ {_CLOCK}(?=\s*$))            # maria 00:03, on a line of its own
      | {_NAME},?\ (?:{_SPAN}|{TIME}|{BRACKETED})(?=\s*$)  # Maria 12:03, Jane Doe (00:03)
    )\s*""",
    re.VERBOSE,
)
_BEHIND_NAME = re.compile(r"(?<=\S)\ [\[(][^\[\]()]*[\])]")  # maria [on phone]
_EMAIL = re.compile(r"\S{1,60}@\S*")
_QUESTIONS = ({"Q.", "A."}, {"Q", "A"})
_TAGS = r"(?:[abipqu]|br|em|li|td|th|tr|div|span|font|strong|sub|sup|h\d)>"
# (tom), <anna> as chats have it, ANNA alone on a line, as scripts do, or as courts do Q. and A., or both before a gap
_UNMARKED_LABEL = re.compile(
    rf"""\s*(?:(?:{BRACKETED})\s*)?(
        (?:\((?=[^()]+\))|<(?!{_TAGS})(?=[^<>]+>))[^\W\d_][\w.'’\ -]{{0,30}}[)>](?=\s)
      | {_CAPITAL}{{2}}[{_CAPITAL[1:-1]}\d.'’\ -]{{0,30}}(?=\s*$)
      | [QA](?:\.(?=\s)|(?=\t|\ {{2}}))
    )\s*""",
    re.VERBOSE,
)
# `0:03 - Jane Doe` or `[00:03] Jane Doe`, on a line of its own above what she says
_TIMED_NAME = re.compile(
    rf"\s*(?P<time>@?(?:{BRACKETED}|{_SPAN}|{TIME})(?:\s*[-–—|])?\s+)?"
    r"(?P<name>[^\W\d_][\w.'’-]*(?:\ [\w.'’()&@+-]+){0,4})(?=\s*$)\s*"
)
_OPENING_TIME = re.compile(rf"\s*@?(?:{BRACKETED}|{TIME})")
_SPAN_LINE = re.compile(rf"\s*{_SPAN}\s*")
_CAPITALISED = re.compile(rf"{_NAME}(?:\ \([^()]+\))?")
# a time with hours or a date, two times, or one in brackets before a colon: nobody says it; some lists have a number
# before it
_SURE_TIME = re.compile(
    rf"\s*(?:\d{{1,6}}\s+)?(?:{_SPAN}|(?={_WITH_HOURS}|{_DATE}){TIME}|(?:{BRACKETED}):)(?:\s+[-–—|])?(?=\s)\s*"
)
_ANY_TIME = re.compile(rf"\s*(?:{TIME}|{_SECONDS_SPAN}:?)(?:\s+[-–—|])?(?=\s|$)\s*")
# as in transcripts copied from YouTube; a last line `10:30` may be said
_TIME_LINE = re.compile(rf"\s*{TIME}(?:\s+(?:--|[-–—|]))?\s*\n\Z")
# `utt-0001`, `clips/a1.wav`, or `LJ001-0001|` as LJSpeech has them
_ID_BEFORE = re.compile(
    r"\s*(?=[^\s|]*\d)(?=[^\s|]*[A-Za-z_-])([./]*[A-Za-z0-9]+(?:[-_./][A-Za-z0-9]+)*)(?:\||(?=\s))[ \t]*"
)
_RUNNING = re.compile(r"\d+(?:\.[A-Za-z]\w{1,3})?$")  # the last number of an id, which counts a recording's lines
# sclite's: `so what (ann-01)`
_ID_BEHIND = re.compile(r"(?s:.*)\((?=[^()]*\d)([A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)+)\)\s*$")
_NUMBER = re.compile(r"\s*(\d{1,6})(?=\s|$)[ \t]*")  # of a line, if all lines are counted
_CHAPTER = re.compile(r"\s*(?:(\d{1,2}):)?(\d{1,3}):(\d\d)(?=\s)")  # `1:03:20 - The end`
_ITEM_TIME = rf"[ \t]+(?:{TIME}(?:[ \t]+[-–—|])?[ \t]+)?(?=\S)"  # of an item in a list, which may be a chapter
_LIST_NUMBER = re.compile(rf"\s*(\d{{1,3}}|[a-z])[.)](?=[ \t])(?:{_ITEM_TIME}|[ \t]*)")  # `1.`, `1)`, `a.` or `a)`
_BULLET = re.compile(rf"\s*([-*+•–—]){_ITEM_TIME}")
# `[^1]: `, of a note in Markdown, and `> `, of a quoted line there and in mails
_NOTE_OR_QUOTE = re.compile(r"[ \t]{0,8}(?:\[\^[^\[\]]{1,40}\]:|>)[ \t]+(?=[^\s>])")
_FEWEST_COUNTED = 3  # lines are counted: two, `1 thing` and `2 things`, may be said
# NIST's STM: file, channel, speaker, begin, end, and maybe labels
_STM = re.compile(r"\S+\s+\S+\s+(\S+)\s+(?P<start>\d+(?:\.\d+)?)\s+(?P<end>\d+(?:\.\d+)?)\s+(?:<[^<>\s]*>\s*)?")
_STM_COMMENT = ";;"
_STM_UNSCORED = "ignore_time_segment_in_scoring"  # in the place of words
OPENING_CHARS = 300  # of a line, in which its head stands
# `_CLAUSE_WORDS` show that words before a colon are no label: `the question is this:`.  Some small words stand in names
_IN_NAMES = (
    "the of and for der die das den de le la les du des el los las il di della do da o van een het en et y "
    "al dan ed han per tam"
)
_OPENERS = (
    "he she but or if so then when where why who which said says here's it's that's note remember first "
    "example beispiel voici voilà exemple ejemplo esempio exemplo bijvoorbeeld przykład például"
)
_SMALL_IN_NAMES = {*_IN_NAMES.split()}
_CLAUSE_WORDS = {*_OPENERS.split()}.union(*(SMALL_WORDS[name] for name in LANGUAGES.values())) - _SMALL_IN_NAMES
_MOST_UNCAPITALISED = 3  # words of a label without capitals
_MOST_MIXED = 5  # words of a label in which some words have capitals


@dataclass(frozen=True, slots=True)
class Head:
    """The characters at the begin and the end of a line that are no speech.

    group: the speaker or the recording that an id names, without the running number; if it changes, a sentence ends.
    """

    n_chars: int = 0  # at the line's begin
    group: str = ""
    n_chars_behind: int = 0  # at the line's end
    begins_sentence: bool = False  # as an item of a list does


@dataclass(frozen=True)
class Heads:
    """Which heads the lines of a file have: one that may be said counts only if other lines have one, too.

    patterns: of ids, times, numbers and the like; the first that matches a line's begin counts.  bullets: those that
    open items of lists.  is_stm: whether all lines are NIST's STM.  labels: speakers, in lower case; not those of
    labels that are certain by themselves.
    """

    patterns: Sequence[re.Pattern[str]]
    bullets: frozenset[str]
    is_stm: bool
    labels: frozenset[str] = frozenset()

    @classmethod
    def of(cls, lines: Sequence[str]) -> Heads:
        """Find the kinds of heads, then the labels, which stand behind the heads: `utt-01 maria:`."""
        openings = [line[:OPENING_CHARS] for line in lines if not line.isspace()]
        n_lines = len(openings)
        n_times = sum(_ANY_TIME.match(line) is not None for line in openings)
        neighbours = [*pairwise(_first_groups(map(_LIST_NUMBER.match, openings)))]
        kinds = {
            _ID_BEHIND: _have_ids(_first_groups(map(_ID_BEHIND.match, lines)), n_lines),
            _ID_BEFORE: _have_ids(_first_groups(map(_ID_BEFORE.match, openings)), n_lines),
            _TIME_LINE: True,
            _BULLET: True,
            _LIST_NUMBER: ("1", "2") in neighbours or ("a", "b") in neighbours,
            _SURE_TIME: True,
            _NOTE_OR_QUOTE: True,
            _NUMBER: _are_counted(openings),
            _ANY_TIME: n_times > max(1, n_lines // 2) or _have_chapters(openings),
        }
        patterns = [pattern for pattern, are_there in kinds.items() if are_there]
        heads = cls(patterns, _bullets_of(openings), _are_stm(openings))
        behind_heads = [line[heads.head_of(line).n_chars :] for line in openings]
        names = _names_beside_times(openings) | _names_above_speech(openings)
        return replace(heads, labels=labels_of(behind_heads) | names)

    def head_of(self, line: str) -> Head:
        """Return a line's id, number, time or bullet, without the label behind it."""
        if self.is_stm:
            match = _STM.match(line)
            has_speech = match and line[match.end() :].strip().lower() != _STM_UNSCORED  # a comment has none, either
            return Head(match.end(), match[1]) if match and has_speech else Head(len(line))
        head = Head()
        for pattern in self.patterns:
            match = pattern.match(line)
            if match is None or (pattern is _BULLET and match[1] not in self.bullets):
                continue
            group = _RUNNING.sub("", match[1]) if pattern in (_ID_BEFORE, _ID_BEHIND) else head.group
            if pattern is _ID_BEHIND:  # the line may begin with a bullet or a time all the same
                n_before = len(line[: match.start(1) - 1].rstrip())
                head = Head(0, group, n_chars_behind=len(line) - n_before)
                continue
            n_behind = min(head.n_chars_behind, len(line) - match.end())  # `- (ann-01)` has one space for both
            return Head(match.end(), group, n_behind, begins_sentence=pattern in (_BULLET, _LIST_NUMBER))
        return head


def _first_groups(matches: Iterable[re.Match[str] | None]) -> list[str]:
    return [match[1] for match in matches if match]


def labels_of(lines: Iterable[str]) -> frozenset[str]:
    """Find the speakers whose labels open lines.

    Words before a colon are a label if they come back, or if most lines have such words, or every other line has them
    alone.  Labels without a colon, such as `(tom)`, must be many, as they look like `(loudly)`.
    """
    openings = [line[:OPENING_CHARS] for line in lines]
    n_lines = sum(any(map(str.isalpha, line)) for line in openings)
    before_colons = [match for match in map(_ANY_LABEL.match, openings) if match and not _is_clause(match[0])]
    counts = Counter(speaker_of(match[0]) for match in before_colons)
    n_alone = sum(match.end() == len(match.string) for match in before_colons)
    have_most_labels = counts.total() > max(1, n_lines // 2) or n_alone >= max(2, n_lines / 2)
    labels = {name for name, n_times in counts.items() if have_most_labels or n_times > 1}
    without_colons = Counter(_first_groups(map(_UNMARKED_LABEL.match, openings)))
    for names in _QUESTIONS:
        if without_colons.keys() >= names:
            labels |= names
        for name in names:
            del without_colons[name]
    n_labels = without_colons.total()
    # in a text that is all in capitals, lines look like labels in capitals: half of the lines must have small letters
    n_lower = sum(any(map(str.islower, line)) for line in openings)
    if n_labels > 1 and n_lines <= 3 * n_labels and n_lines <= 2 * n_lower:
        labels.update(without_colons)
    if any(line.lstrip().startswith(BARE_TURN) for line in openings):
        labels.add(BARE_TURN)  # so it is one inside a line, too
    return frozenset(labels)


def label_of(text: str, known: Container[str] = ()) -> re.Match[str] | None:
    """Match the label at the start of a line.

    Some labels are certain by themselves: `Jane Doe:`, `>>`.  Others must name a speaker whom `labels_of` has found.
    """
    sure = _SURE_LABEL.match(text)
    turn = _TURN.match(text)
    if sure and turn:  # behind `>>`, too, a clause is no name
        name = sure[0][turn.end() :]
        return turn if name and not _SURE_LABEL.match(name) and _is_clause(name) else sure
    if sure or not known:
        return sure
    match = _ANY_LABEL.match(text)
    if match and speaker_of(match[0]) in known:
        return match
    match = _UNMARKED_LABEL.match(text)
    if match and match[1] in known:
        return match
    match = _TIMED_NAME.match(text)  # its time may be gone already, as the head of the line
    return match if match and match["name"] in known else None


def _names_beside_times(lines: Iterable[str]) -> frozenset[str]:
    """Return the names in lines such as `0:03 - Jane Doe`, if all lines with a time are such, and speech follows each.

    The names have capitals or come back; a caption, `0:03 so what`, mostly has a line with the next time behind it.
    Premiere has a name in the line below two times, Zoom and Teams in the line above one.
    """
    joined = list[str]()  # a time and the name in the line below or above it are one line
    for line in lines:
        if joined and _SPAN_LINE.fullmatch(joined[-1]):
            joined[-1] = f"{joined[-1].rstrip()} {line}"
        elif joined and _TIME_LINE.match(line):
            joined[-1] = f"{line.rstrip()} {joined[-1]}"
        else:
            joined.append(line)
    have_time = [_OPENING_TIME.match(line) is not None for line in joined]
    n_timed = sum(have_time)
    follows_time = any(before and after for before, after in pairwise(have_time))
    if n_timed < 2 or follows_time:
        return frozenset()
    matches = [_TIMED_NAME.match(line) for line in joined]
    counts = Counter(match["name"] for match in matches if match and match["time"])
    are_names = all(_CAPITALISED.fullmatch(name) or n_times > 1 for name, n_times in counts.items())
    return frozenset(counts) if are_names and counts.total() == n_timed else frozenset()


def _names_above_speech(lines: Iterable[str]) -> frozenset[str]:
    """Return the names that stand alone on lines and come back, such as `Jane Doe`, if speech follows each.

    They have two words or more, not all in capitals, and there are two names: `Yes` is said, and so may `Thank You` be.
    """
    names = [name if " " in name and _CAPITALISED.fullmatch(name) else "" for name in map(str.strip, lines)]
    counts = Counter(name for name in names if name and not name.isupper() and name[-1] != ".")
    speakers = frozenset(name for name, n_times in counts.items() if n_times > 1)
    follows_name = any(before in speakers and after in speakers for before, after in pairwise(names))
    return speakers if len(speakers) > 1 and not follows_name else frozenset()


def speaker_of(label: str) -> str:
    """Return the name in a label, in lower case; empty for `>>` and a dash, which name nobody.

    >>> speaker_of("[Maria] (00:02): "), speaker_of(">> ")
    ('maria', '')
    """
    if label.lstrip().startswith(">"):
        return ""
    name = re.sub(rf"^\s*{_SOUND}|{BRACKETED}|{TIME}|[\[\](){{}}:<>«»“”\"*]", "", label)
    return name.strip(" \t\r\n\u00a0\u200e\u202f-–—|_~").lower()


def _is_clause(label: str) -> bool:
    """Return whether the words before a colon are a clause and no name: `the question is this:`."""
    label = _BEHIND_NAME.sub("", _EMAIL.sub("", label)).replace("’", "'")
    words = re.findall(r"[\w']+", speaker_of(label))  # without their capitals, so the next line looks at the label
    small_words = {word for word in re.findall(r"[\w']+", label) if word[0].islower()}
    is_long_and_small = len(words) > _MOST_UNCAPITALISED and label.islower()
    # `Ann Lee, Head of Sales and Design:`, a name with a role, has capitals but in small words
    is_long_and_mixed = len(words) > _MOST_MIXED and bool(small_words - _SMALL_IN_NAMES)
    # a single letter may be an initial
    has_clause_word = any(word in _CLAUSE_WORDS for word in words if len(word) > 1)
    return is_long_and_small or is_long_and_mixed or has_clause_word


def _have_ids(ids: Sequence[str], n_lines: int) -> bool:
    """Return whether each line has its own id, and all ids have one shape: `utt0001` and `utt12` are both `a0`."""
    shapes = {re.sub(r"[A-Za-z]+", "a", re.sub(r"\d+", "0", name)) for name in ids}
    return n_lines > 1 and len(ids) == len({*ids}) == n_lines and len(shapes) == 1


def _are_counted(lines: Sequence[str]) -> bool:
    """Return whether each line begins with its number: 0 or 1 and so on, from the start again on each page.

    Some lines may be empty behind it; numbers alone are said.
    """
    numbers = [int(number) for number in _first_groups(map(_NUMBER.match, lines))]
    n_filled = sum(not line.strip().isdecimal() for line in lines)
    if len(numbers) < len(lines) or n_filled < _FEWEST_COUNTED or numbers[0] not in (0, 1):
        return False
    for before, after in pairwise(numbers):
        is_next_page = after == numbers[0] and before >= _FEWEST_COUNTED
        if after != before + 1 and not is_next_page:
            return False
    return True


def _have_chapters(lines: Iterable[str]) -> bool:
    """Return whether times rise at the begin of three lines in a row, as those of chapters in notes of a podcast."""
    matches = map(_CHAPTER.match, lines)
    starts_s = [int(match[1] or 0) * 3600 + int(match[2]) * 60 + int(match[3]) if match else -1 for match in matches]
    in_a_row = zip(starts_s, starts_s[1:], starts_s[2:], strict=False)
    return any(0 <= first < second < third for first, second, third in in_a_row)


def _bullets_of(lines: Sequence[str]) -> frozenset[str]:
    """Return the bullets that open two lines in a row, or two with indented lines of the first item between."""
    bullets = list[str]()  # of each line; empty: it has none
    for line in lines:
        match = _BULLET.match(line)
        if match or not line[:1].isspace():
            bullets.append(match[1] if match else "")
    return frozenset(bullet for bullet, after in pairwise(bullets) if bullet and bullet == after)


def _are_stm(lines: Sequence[str]) -> bool:
    """Return whether all lines but comments are rows of NIST's STM."""
    rows = [_STM.match(line) for line in lines if not line.startswith(_STM_COMMENT)]
    # a single line with two numbers may be speech, unless it has a label such as `<o,f0,male>`
    is_enough = len(rows) > 1 or any("<" in line for line in lines)
    return is_enough and all(row is not None and float(row["end"]) > float(row["start"]) for row in rows)
