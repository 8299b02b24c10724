"""What opens a line and is not said: its id, its time, who speaks.

In: the lines of a file.  Out: `Heads`; what of a line is its head, and who speaks by its label.

Much of it is certain from one line (`00:00:01;12 - 00:00:04;02`, `Jane Doe:`).  The rest is known from the whole file:
`maria:` is a label where it comes back or most lines have one, and `utt-0001` an id where every line has one.

>>> heads = Heads.of(["utt-01 maria: so what", "utt-02 tom: i see", "utt-03 maria: and"])
>>> heads.head_of("utt-02 tom: i see").n_chars, sorted(heads.labels)
(7, ['maria', 'tom'])
>>> speaker_of("[Maria] (00:02): "), speaker_of(">> ")
('maria', '')
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ..text.languages import LANGUAGES, SMALL_WORDS

_DATE = r"(?:\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}),?[T ]"  # before a time, as chats and logs have it
_WITH_HOURS = r"\d{1,3}:\d\d:\d\d"
# `0:03`, `1:02:03.5`, and with frames as editing programs have them: `00:00:01;12`
TIME = rf"(?:{_DATE})?\d{{1,3}}:\d\d(?::\d\d(?:[.,;:]\d{{1,3}})?|[.,]\d{{1,3}})?(?:\s?[AaPp]\.?[Mm]\b\.?)?"
_SPAN = rf"{TIME}(?:\s*(?:-{{1,2}}>|[-–—,])\s*|\s+){TIME}"
_SECONDS = r"\d{1,6}[.,]\d{1,3}s?"
_SECONDS_SPAN = rf"{_SECONDS}(?:[ ]*(?:-{{1,2}}>|[-–—])[ ]*|[ ]+){_SECONDS}"  # `0.00s -> 2.50s`, `0,5 2,5`
# `#00:00:04-5#` is a time of MAXQDA, f4 and easytranscript
BRACKETED = rf"\[(?:{TIME}|{_SPAN}|{_SECONDS_SPAN})\]|\({TIME}\)|\#{_WITH_HOURS}(?:[-.,]\d{{1,3}})?\#"
_CLOCK = rf"(?:{_WITH_HOURS}|0\d:\d\d)(?:[.,;:]\d{{1,3}})?"  # a time that nobody says
_CAPITAL = "[" + "".join(char for char in map(chr, range(0x530)) if char.isupper()) + "]"  # Latin, Greek, Cyrillic
_LOUD = rf"{_CAPITAL}[{_CAPITAL[1:-1]} .,'’-]{{1,40}}"
_SOUND = rf"(?-i:\({_LOUD}\)|\[{_LOUD}\])\s+(?=[^\W\d_])"  # `(DOOR SLAMS) `
_EMOJI = r"[\U0001f000-\U0001faff][^\w\s:]{0,8}\s?"
_LEAD = rf"\s*(?:(?:{BRACKETED})\s*)?(?:{_SOUND}|{_EMOJI})?"  # what may stand before who speaks
_NAME = rf"(?-i:{_CAPITAL}[\w.'’-]*(?:\ (?:{_CAPITAL}[\w.'’-]*|\d{{1,3}}|&|and|of|de|del|der|di|van|von)){{0,3}})"
_COLON = r"[ \u00a0\u202f]?:(?=\s|$)"  # behind who speaks; in French a space stands before it
_SURE_LABEL = re.compile(  # at the start of a line
    rf"""{_LEAD}(?:
        >{{2,}}(?:\s*[^\W\d_][\w.'’ -]{{0,40}}{_COLON}|(?=[\s\w]|$))  # >> or >> JOHN:
      | [\[(]?(?:speaker|spk)[ _]?\w{{1,3}}[\])]?{_COLON}            # Speaker 1: or [SPEAKER_00]:
      | (?:[\[(](?:speaker|spk)[ _]?\d{{1,3}}[\])]|(?-i:SPEAKER_\d\d))(?=\s)  # [Speaker 1] or SPEAKER_00, of diarisers
      | From\s+[^:\n]{{1,40}}?\s+to\s+(?:everyone|me|hosts?|[^:\n]{{1,40}}?\([^():]+\)){_COLON}  # Zoom's chat
      | (?:speaker|spk)[ _]?\d{{1,3}}(?=\s*$)                         # Speaker 1, on a line of its own
      | (?-i:[A-Z][A-Z0-9.&'’ -]{{0,30}}){_COLON}                     # THE MAN IN THE RED COAT:
      | (?=[^:\n]{{1,44}}:){_NAME}(?:\ \([^():]{{1,12}}\))?{_COLON}    # Jane Doe: or DR. SMITH (V.O.):
      | (?=[^:\n]{{1,44}}:){_NAME}\ (?:{BRACKETED}):?(?=\s|$)          # Jane Doe (00:03): or Jane Doe [00:03]
      | (?=[^:\n]{{1,44}}:)[^\W\d_][\w.'’-]*(?:\ [\w.'’-]+){{0,4}}(?:\s{{2,}}|\ \|\ ){TIME}(?=\s*$)  # jane doe  0:03
      | (?=[^:\n]{{1,44}}:){_NAME}\ {_CLOCK}(?=\s*$)  # Speaker 1 00:03
      | (?=[^:\n]{{1,44}}:)\[{_NAME}\]\ {TIME}(?=\s*$)                 # [Jane Doe] 10:02:11, as Zoom has it
      | [^\W\d_][\w.'’ -]{{0,40}}\ —\ (?:(?:to|yester)day\ at\ |(?={_DATE})){TIME}(?=\s*$)  # jane — Today at 10:02
    )\s*""",
    re.VERBOSE | re.IGNORECASE,
)
_ANY_LABEL = re.compile(
    rf"""{_LEAD}(?:
        [\[(]?[^\W\d_][\w.'’&@/+-]{{0,60}}(?:,?\ [\w.'’&/-]{{1,30}}){{0,9}}[\])]?(?:\ \([^():]{{1,60}}\))?
        (?:(?:\ (?:{BRACKETED}))?{_COLON}  # maria:, [Maria]:, ANNA SMITH, CEO:, JANE FOX (SALES):, speaker 3 (00:03):
          | \ {_CLOCK}(?=\s*$))            # maria 00:03, on a line of its own
      | {_NAME}\ {TIME}(?=\s*$)            # Maria 12:03
    )\s*""",
    re.VERBOSE,
)
_ADDRESS = re.compile(r"\S{1,60}@\S*")  # of e-mail: its words are no clause
_QUESTIONS = {"Q.", "A."}
_TAGS = r"(?:[abipqu]|br|em|li|td|th|tr|div|span|font|strong|sub|sup|h\d)>"
# (tom), <anna> as chats have it, ANNA alone on a line, as scripts do, or Q. and A., as courts do
_UNMARKED_LABEL = re.compile(
    rf"""\s*(?:(?:{BRACKETED})\s*)?(
        (?:\((?=[^()]+\))|<(?!{_TAGS})(?=[^<>]+>))[^\W\d_][\w.'’\ -]{{0,30}}[)>](?=\s)
      | {_CAPITAL}{{2}}[{_CAPITAL[1:-1]}\d.'’\ -]{{0,30}}(?=\s*$)
      | [QA]\.(?=\s)
    )\s*""",
    re.VERBOSE,
)
# with hours, with a date, or two: nobody says it; the list of an editing program has a number before two
_SURE_TIME = re.compile(rf"\s*(?:(?:\d{{1,6}}\s+)?{_SPAN}|(?={_WITH_HOURS}|{_DATE}){TIME})(?:\s+[-–—|])?(?=\s)\s*")
_ANY_TIME = re.compile(rf"\s*(?:{TIME}|{_SECONDS_SPAN}:?)(?:\s+[-–—|])?(?=\s)\s*")
_TIME_LINE = re.compile(rf"\s*{TIME}\s*\n")  # what YouTube shows beside a video has such; `10:30` alone may be said
# `utt-0001`, `clips/a1.wav`, or `LJ001-0001|` as LJSpeech has them
_ID = re.compile(r"\s*(?=[^\s|]*\d)(?=[^\s|]*[A-Za-z_-])([./]*[A-Za-z0-9]+(?:[-_./][A-Za-z0-9]+)*)(?:\||(?=\s))[ \t]*")
_RUNNING = re.compile(r"\d+(?:\.[A-Za-z]\w{1,3})?$")  # of an id: what tells it from others of its recording
_ID_BEHIND = re.compile(r"\((?=[^()]*\d)([A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)+)\)\s*$")  # sclite's: `so what (ann-01)`
_NUMBER = re.compile(r"\s*(\d{1,6})(?=[ \t])[ \t]*")  # of a line, where all lines are counted
_LIST_NUMBER = re.compile(r"\s*(\d{1,3})[.)](?=[ \t])[ \t]*")  # `1.` or `1)`, of an item in a list
_BULLET = re.compile(r"\s*([-*•–—])[ \t]+(?=\S)")  # before an item in a list
# `[^1]: `, of a note in Markdown, and `> `, of a quoted line there and in mails
_NOTE_OR_QUOTE = re.compile(r"[ \t]{0,8}(?:\[\^[^\[\]]{1,40}\]:|>)[ \t]+(?=[^\s>])")
_FEWEST_COUNTED = 3  # lines; `1 thing` and `2 things` may be said
# NIST's STM: file, channel, speaker, begin, end, and maybe labels
_STM = re.compile(r"\S+\s+\S+\s+(\S+)\s+(\d+(?:\.\d+)?)\s+(\d+(?:\.\d+)?)\s+(?:<[^<>\s]*>\s*)?")
_STM_COMMENT = ";;"
_OPENING_CHARS = 300  # of a line; a head is in them
# words of which one in a "label" says that it is a clause: `the question is this:`; and words that stand in names, too
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
_MOST_MIXED = 5  # words of a label of which some have capitals


@dataclass(frozen=True, slots=True)
class Head:
    """What of a line is no speech: its first characters, its last ones, or both.

    group: the speaker or the recording that an id names, without the running number: where it changes, a sentence ends.
    """

    n_chars: int = 0
    group: str = ""
    n_chars_behind: int = 0  # at the line's end
    begins_sentence: bool = False  # behind the head, as an item of a list does


@dataclass(frozen=True)
class Heads:
    """What opens the lines of a file: which kinds of heads it has.

    A number, an id or a time alone may be said, so such a head counts only if the other lines have one, too.
    """

    labels: frozenset[str] = frozenset()  # who speaks, in lower case, beside what is certain by itself
    has_ids: bool = False  # `utt-0001 so what`
    has_times: bool = False  # `10:30 so what`
    is_stm: bool = False  # NIST's STM
    has_numbers: bool = False  # lines are counted: `1 so what`
    has_ids_behind: bool = False  # `so what (utt-01)`
    has_list: bool = False  # `1. so what`
    bullets: frozenset[str] = frozenset()  # those that open items of lists

    @classmethod
    def of(cls, lines: Sequence[str]) -> Heads:
        """Find out what opens the lines of a file."""
        spoken = [line[:_OPENING_CHARS] for line in lines if not line.isspace()]
        n_times = sum(_ANY_TIME.match(line) is not None for line in spoken)
        list_numbers = map(int, _first_groups(map(_LIST_NUMBER.match, spoken)))
        structure = cls(
            has_ids=_have_ids(_first_groups(map(_ID.match, spoken)), len(spoken)),
            has_times=_are_most(n_times, len(spoken)),  # then `10:30` is a time, too, and no spoken word
            is_stm=_are_stm(spoken),
            has_numbers=_are_counted(spoken),
            has_list=(1, 2) in pairwise(list_numbers),
            bullets=_bullets_of(spoken),
            has_ids_behind=_have_ids(_first_groups(map(_id_behind, lines)), len(spoken)),
        )
        # labels stand behind the other heads: `utt-01 maria:`
        return replace(structure, labels=labels_of(line[structure.head_of(line).n_chars :] for line in spoken))

    def head_of(self, line: str) -> Head:
        """Return what of a line is no speech: its id, number or time; a label is found behind it, by `label_of`."""
        if self.is_stm:
            match = _STM.match(line)
            return Head(match.end(), match[1]) if match else Head(len(line))  # a comment is no speech at all
        if self.has_ids:
            match = _ID.match(line)
            if match:
                return Head(match.end(), _RUNNING.sub("", match[1]))
        if _TIME_LINE.fullmatch(line):
            return Head(len(line))
        bullet = _BULLET.match(line)
        item = bullet if bullet and bullet[1] in self.bullets else None
        if item is None and self.has_list:
            item = _LIST_NUMBER.match(line)
        if item:
            return Head(item.end(), begins_sentence=True)
        if self.has_ids_behind:
            match = _id_behind(line)
            if match:
                n_before = len(line[: match.start()].rstrip())
                return Head(0, _RUNNING.sub("", match[1]), n_chars_behind=len(line) - n_before)
        match = _NUMBER.match(line) if self.has_numbers else None
        match = match or _NOTE_OR_QUOTE.match(line) or _SURE_TIME.match(line)
        if match is None and self.has_times:
            match = _ANY_TIME.match(line)
        return Head(match.end()) if match else Head()


def _first_groups(matches: Iterable[re.Match[str] | None]) -> list[str]:
    return [match[1] for match in matches if match]


def _are_most(n_lines: int, n_spoken: int) -> bool:
    """Return whether they are more than half of the lines, and more than one."""
    return n_lines > max(1, n_spoken // 2)


def labels_of(lines: Iterable[str]) -> frozenset[str]:
    """Return who speaks by what stands before a colon at the start of lines: what comes back, or all if most have it.

    >>> sorted(labels_of(["maria: so", "remember this: we know", "and", "that", "which", "maria: yes"]))
    ['maria']
    >>> sorted(labels_of(["maria: so", "guest 2: what"])), sorted(labels_of(["remember: so", "what"]))
    (['guest 2', 'maria'], [])
    """
    openings = [line[:_OPENING_CHARS] for line in lines]
    n_spoken = sum(any(map(str.isalpha, line)) for line in openings)
    before_colons = [match[0] for match in map(_ANY_LABEL.match, openings) if match]
    counts = Counter(speaker_of(label) for label in before_colons if not _is_clause(label))
    are_labelled = _are_most(counts.total(), n_spoken)
    labels = {name for name, n_lines in counts.items() if are_labelled or n_lines > 1}
    without_colons = Counter(_first_groups(map(_UNMARKED_LABEL.match, openings)))
    if without_colons.keys() >= _QUESTIONS:
        labels |= _QUESTIONS
    for name in _QUESTIONS:
        del without_colons[name]
    # `(loudly)` or a heading in capitals looks the same: speakers would open a third of the lines, and most of a text
    # in capitals throughout would be labels, so half of the lines must have small letters
    n_lower = sum(any(map(str.islower, line)) for line in openings)
    n_labels = without_colons.total()
    if n_labels > 1 and n_spoken <= 3 * n_labels and n_spoken <= 2 * n_lower:
        labels.update(without_colons)
    return frozenset(labels)


def label_of(text: str, known: Container[str] = ()) -> re.Match[str] | None:
    """Return the label at the start of a line; `known`: speakers who have one in the file, as `Heads.labels`.

    What is certain by itself needs no file: `Jane Doe:`, `>>`, `[Speaker 1]`.
    """
    sure = _SURE_LABEL.match(text)
    if sure or not known:
        return sure
    match = _ANY_LABEL.match(text)
    if match and speaker_of(match[0]) in known:
        return match
    match = _UNMARKED_LABEL.match(text)
    return match if match and match[1] in known else None


def speaker_of(label: str) -> str:
    """Return who speaks by a label, in lower case; nothing for `>>` and a dash, which say that another one does."""
    if label.lstrip().startswith(">"):
        return ""
    return re.sub(rf"^\s*{_SOUND}|{BRACKETED}|{TIME}|[\[\]():<>]", "", label).strip(" \t\r\n\u00a0\u202f-–—|").lower()


def _is_clause(label: str) -> bool:
    """Return whether the words before a colon are part of a sentence and no name: `the question is this:`.

    >>> [label for label in ("the chair:", "here is the thing:", "i:", "zum beispiel:") if _is_clause(label)]
    ['here is the thing:', 'zum beispiel:']
    """
    words = re.findall(r"[\w']+", _ADDRESS.sub("", speaker_of(label)).replace("’", "'"))
    is_long = len(words) > _MOST_UNCAPITALISED and label.islower()
    # a name and what its bearer is, `Ann Lee, Head of Sales and Design:`, has capitals throughout
    small = {word for word in re.findall(r"[\w']+", label) if word[0].islower()}
    is_mixed = len(words) > _MOST_MIXED and not small <= _SMALL_IN_NAMES
    # a single letter may be an initial
    has_clause_word = any(word in _CLAUSE_WORDS for word in words if len(word) > 1)
    return is_long or is_mixed or has_clause_word


def _id_behind(line: str) -> re.Match[str] | None:
    """Return the id in brackets at the end of a line."""
    return _ID_BEHIND.match(line, max(0, line.rfind("(")))


def _have_ids(ids: Sequence[str], n_lines: int) -> bool:
    """Return whether each line has an id of its own, and all are built alike: `1089-134686-0000`, `utt0001`."""
    shapes = {re.sub(r"[A-Za-z]+", "a", re.sub(r"\d+", "0", name)) for name in ids}  # `utt0001` and `spk12` are `a0`
    has_each_one = n_lines > 1 and len(ids) == n_lines
    return has_each_one and len(shapes) == 1 and len(set(ids)) == len(ids)


def _are_counted(lines: Sequence[str]) -> bool:
    """Return whether each line begins with its number: 1, 2, 3, on each page anew."""
    numbers = [int(number) for number in _first_groups(map(_NUMBER.match, lines))]
    if len(numbers) < len(lines) or len(lines) < _FEWEST_COUNTED or numbers[0] not in (0, 1):
        return False
    for before, after in pairwise(numbers):
        is_next_page = after == numbers[0] and before >= _FEWEST_COUNTED
        if after != before + 1 and not is_next_page:
            return False
    return True


def _bullets_of(lines: Sequence[str]) -> frozenset[str]:
    """Return the bullets that open two lines in a row; lines that are indented go on with an item."""
    marks = list[str]()  # of each line, its bullet, or none
    for line in lines:
        bullet = _BULLET.match(line)
        if bullet or not line[:1].isspace():
            marks.append(bullet[1] if bullet else "")
    return frozenset(mark for mark, after in pairwise(marks) if mark and mark == after)


def _are_stm(lines: Sequence[str]) -> bool:
    """Return whether the lines are NIST's STM, but for comments."""
    rows = [_STM.match(line) for line in lines if not line.startswith(_STM_COMMENT)]
    is_clear = len(rows) > 1 or any("<" in line for line in lines)  # a single line may be one that is said
    return is_clear and all(row is not None and float(row[3]) > float(row[2]) for row in rows)
