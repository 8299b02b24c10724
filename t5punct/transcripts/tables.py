"""Tables of words or segments: NIST's CTM, and values separated by tabs or by commas.

In: the lines of a file, with their ends.  Out: items, of which only the words of a row are not `Kept`.
In: the written items of any transcript.  Out: its words as a new table, or as a list in json.

>>> rows = ["talk 1 0.5 0.2 so\\n", "talk 1 0.7 0.1 ,\\n", "talk 1 0.9 0.3 what\\n"]
>>> words = [item for item in read_ctm(rows) if isinstance(item, SpokenWord)]
>>> [(item.word.text, item.word.marks, item.start_ms) for item in words]
[('so', ',', 500), ('what', '', 900)]
>>> words[0].with_text("so?"), words[0].with_text("so")
('so\\ntalk 1 0.7 0.1 ?\\n', 'so\\n')
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import PurePath

from ..errors import InputError
from ..text.marks import DASH, DASH_APART, Alphabet
from ..text.words import ALL_MARKS, Word, opening_apart, words_of
from .heads import BRACKETED, TIME
from .items import (
    Cue,
    Item,
    Kept,
    Role,
    SpokenWord,
    WrittenItem,
    WrittenWord,
    leave_out_removed,
    seconds,
    speaker_label,
    without_spaces,
)
from .resegment import words_with_times
from .speech import DOUBLED_QUOTES, read_line, set_cue_times

_FIELD = re.compile(r"\S+")
_CELL = re.compile(r"[^\t\r\n]+|(?<=\t)(?=\t)|^(?=\t)")
_QUOTED = re.compile(r'\s*"(.*)"\s*', re.DOTALL)
_SOUND = re.compile(r"\[[^\[\]\s]+\]|<\w+>")  # in the place of a word: [noise], <unk>, <eps>
_SEGMENT_NAMES = (  # of columns of segments
    "text", "transcript", "transcription", "sentence", "utterance", "dialogue", "caption", "content",
)  # fmt: skip
# columns of words, the best first: `sentence` beside `word` is a number
_TEXT_NAMES = ("text", "word", "token", *_SEGMENT_NAMES[1:])
_OPENING_QUOTE = re.compile(r'(?:^|[,;|])\s*"')
_TEXT_BEHIND_QUOTE = re.compile(r'(?:^|[,;|])\s*+"(?:[^"]|"")*+"(?!\s*+(?:[,;|]|$))')  # that closes a cell
_CTM_FIELDS = 5  # file, channel, start, duration, word; a confidence may follow
_FEWEST_ROWS = 2  # fewer lines are not taken for a CTM
_CLOCK = re.compile(r"(?:(\d{1,9}):)?(\d{1,2}):(\d\d(?:\.\d{1,9})?)")  # `00:01`, `1:02:03.5`
_BLANK = ("", "na", "none", "-")  # cells in a column of times
_DASHES = re.compile(f"{DASH}+")
_SECOND_MS = 1000
_TIME_OF_LABEL = re.compile(f"{BRACKETED}|{TIME}")
_dumps = json.JSONEncoder(ensure_ascii=False).encode


@dataclass(frozen=True, slots=True)
class TableRow:
    """A line of a table.

    begin, end: where its words stand in the line.  cue: number, times and speaker.  is_segment: has words; else it is
    one word.  source: recording and channel of a CTM; no sentence goes on from one to another.  delimiter: of a csv's
    cell without quotes.  markup: the pattern of quotes in a quoted cell.
    """

    line: str
    begin: int
    end: int
    cue: Cue
    is_segment: bool = False
    source: tuple[str, ...] = ()
    delimiter: str = ""
    markup: re.Pattern[str] | None = None

    @property
    def text(self) -> str:
        return self.line[self.begin : self.end]


@dataclass(frozen=True, slots=True)
class MarkRows:
    """A word whose marks have rows of their own behind it.  New marks are written into the first; the others go.

    word: has these marks.  cell, behind: the word without them, and what follows it in its row.  rows: what stands
    before each mark, the mark, and what stands behind it.
    """

    word: Word
    cell: str
    behind: str
    rows: tuple[tuple[str, str, str], ...]

    @property
    def raw(self) -> str:
        return self.cell + self.behind + "".join(map("".join, self.rows))

    def rewrite(self, text: str) -> str:
        """Return the rows of the word, written as `text`: itself in its cell, its marks in their first row."""
        word = self.word.closing_as(text)  # its closing quotes stand where `text` has them
        # `¿` may come or go, so both are compared without it
        new, new_opening = opening_apart(text)
        old, old_opening = opening_apart(self.cell)
        n_letters = word.n_stem - len(old_opening)  # without a mark that stands in the cell, as in `so.`
        if new[: len(old)].lower() == old.lower():  # `so` becomes `So,`
            n_in_cell = len(new_opening) + len(old)
        elif not word.n_closers and new[:n_letters].lower() == old[:n_letters].lower():  # `so.` becomes `So,`
            n_in_cell = len(new_opening) + n_letters
        else:  # the user's spelling, or closing quotes, which marks stand inside: only a dash gets a row
            n_in_cell = len(text.partition(DASH_APART)[0])
        cell = without_spaces(text[:n_in_cell])
        marks = "".join(text[n_in_cell:].split())
        if not marks:
            return cell + self.behind
        if marks == "".join(mark for _, mark, _ in self.rows):
            return cell + self.raw[len(self.cell) :]
        before_mark, _, behind_mark = self.rows[0]
        return cell + self.behind + before_mark + marks + behind_mark


def read_ctm(lines: Iterable[str], alphabet: Alphabet | None = None) -> Iterator[Item]:
    """Read NIST's CTM: lines of file, channel, start, duration (in seconds), word and more; `;;` opens a comment."""
    return _items_of_rows(map(_ctm_row, lines), alphabet)


def are_ctm(lines: Iterable[str]) -> bool:
    """Return whether all lines are rows of CTM: file, channel, two times, a word, and maybe a confidence."""
    rows = [line.split() for line in lines if not line.isspace() and not line.startswith(";;")]
    have_all_fields = all(len(row) in (_CTM_FIELDS, _CTM_FIELDS + 1) for row in rows)
    numbers = chain.from_iterable(row[2:4] + row[_CTM_FIELDS:] for row in rows)  # times and confidences
    return len(rows) >= _FEWEST_ROWS and have_all_fields and all(parse_ms(number) is not None for number in numbers)


def _ctm_row(line: str) -> TableRow | str:
    """Parse a line.  A line that is not CTM is returned as it is."""
    fields = list(_FIELD.finditer(line))
    if line.startswith(";;") or len(fields) < _CTM_FIELDS:
        return line
    start_ms = parse_ms(fields[2][0])
    duration_ms = parse_ms(fields[3][0])
    if start_ms is None or duration_ms is None:
        return line
    source = (fields[0][0], fields[1][0])
    begin, end = fields[4].span()
    cue = Cue(number=0, start_ms=start_ms, end_ms=start_ms + duration_ms)  # rows of words need no number
    return TableRow(line, begin, end, cue, source=source)


def read_table(lines: Iterable[str], alphabet: Alphabet | None = None) -> Iterator[Item]:
    """Read tab-separated values.

    A header names a column of words (`word` or `token`), or of segments (`text`, `transcript`, `sentence` and so on);
    and maybe `start`, `end` and `speaker`.  Times are in seconds; those of segments are in ms, as Whisper's, if none
    has a decimal point or comma.  Without a header, one column has words or segments, and all others have numbers:
    times stand behind words, and before segments, as in Audacity's labels.  Raises InputError if the column of words
    is not clear.
    """
    return _items_of_rows(_rows([(line, list(_CELL.finditer(line))) for line in lines]), alphabet)


@dataclass(frozen=True, slots=True)
class CellEdge(Kept):
    """The begin or the end of a cell without quotes in a csv.  If the cell gets a comma, `write_cells` adds quotes.

    text: white space that stands outside of the quotes, of words that were removed at this edge.
    """

    delimiter: str = ","


def read_csv(lines: Iterable[str], alphabet: Alphabet | None = None) -> Iterator[Item]:
    """Read a table as `read_table` does, with values that are separated by commas, semicolons or bars."""
    lines = [*_whole_rows(lines)]
    delimiter = max(",;|", key=lines[0].count) if lines else ","
    # a cell: in quotes, where "" is a quote, or up to the next delimiter; it may be empty
    cell = re.compile(rf'(?:^|(?<=[{delimiter}]))(?:"(?:[^"]|"")*"|[^"{delimiter}\r\n][^{delimiter}\r\n]*|)')
    cells = [(line, [*cell.finditer(line.rstrip("\r\n"))]) for line in lines]
    return _items_of_rows(_rows(cells, delimiter), alphabet)


def write_cells(written: Iterable[WrittenItem]) -> Iterator[str]:
    """Write a csv from its items, with quotes around cells that have commas now."""
    cell: list[str] | None = None  # the pieces since the first `CellEdge` of a cell; None: outside of one
    for item in written:
        if not isinstance(item, CellEdge):
            if cell is None:
                yield item.in_file
            else:
                cell.append(item.in_file)
        elif cell is None:  # the begin of a cell
            yield item.text
            cell = []
        else:  # the end
            text = "".join(cell)
            yield (_quoted(text) if item.delimiter in text else text) + item.text
            cell = None


def _whole_rows(lines: Iterable[str]) -> Iterator[str]:
    """Yield the rows of a csv.  A row goes on in the next line while a quote is open."""
    row = ""  # the lines of an unfinished row
    first = 0  # the number of its first line
    for number, line in enumerate(lines, start=1):
        if not row:
            first = number
        has_opening_quote = bool(row) or _OPENING_QUOTE.search(line)  # the quote of `5" wide` opens no cell
        row += line
        if has_opening_quote and row.count('"') % 2:  # it is still open
            continue
        # of `"so` and, lines later, `"what`, the first quote was never closed: what seems to close it opens a cell
        has_text_behind = number > first and _TEXT_BEHIND_QUOTE.search(row)
        if has_text_behind:
            raise _unclosed_error(first)
        yield row
        row = ""
    if row:
        raise _unclosed_error(first)


def _unclosed_error(number: int) -> InputError:
    expected = 'quotes around whole cells, and "" for a quote inside one'
    return InputError(f'line {number}: a " that is not closed', expected=expected, fix="close it, or drop it")


@dataclass(frozen=True, slots=True)
class _Columns:
    """The indices of a table's columns, from 0; None: the table has no such column.

    text: of words or segments.  unit_ms: of times.  is_segment: a row is a segment of many words, not one word.
    """

    text: int
    start: int | None = None
    end: int | None = None
    unit_ms: int = _SECOND_MS
    is_segment: bool = False
    has_header: bool = False
    speaker: int | None = None


def _find_columns(rows: Sequence[Sequence[str]]) -> _Columns:
    """Find the columns of a table.  Raises InputError if it is not clear which of them has the words.

    They have names in the first row; or only one column does not hold numbers: that of words (`so 0.5 0.7`), or of
    segments (`0.5 2.5 so what`).
    """
    word_rows = [row for row in rows if not any(map(_is_marks, row))]  # a row of a mark may have fewer cells
    # `Start Time`, `endTime` and `speaker_name` are `start`, `end` and `speaker`
    header = [re.sub(r"[ _]?(?:time|name)$", "", name.lower()) for name in rows[0]] if rows else []
    text_name = next((name for name in _TEXT_NAMES if name in header), None)
    if text_name is not None:
        # R writes a column of row names, for which its header has no name
        has_row_names = {len(row) for row in word_rows if row is not rows[0]} == {len(header) + 1}
        index = dict[str, int]()  # of equal names the first counts
        for number, name in enumerate(header, start=1 if has_row_names else 0):
            index.setdefault(name, number)
        is_segment = text_name in _SEGMENT_NAMES
        start = index.get("start")
        end = index.get("end")
        have_fractions = any({".", ","} & {*_cell_of(row, start), *_cell_of(row, end)} for row in rows[1:])
        unit_ms = 1 if is_segment and not have_fractions else _SECOND_MS  # Whisper's whole numbers are ms
        return _Columns(index[text_name], start, end, unit_ms, is_segment, True, index.get("speaker"))
    n_columns = max(map(len, word_rows), default=1)
    with_text = list[int]()  # the columns that hold more than numbers
    for column in range(n_columns):
        filled = [row[column] for row in rows if column < len(row) and row[column].lower() not in _BLANK]
        if any(parse_ms(_without_marks(cell)) is None for cell in filled if not _is_marks(cell)):
            with_text.append(column)
    cells = [_without_marks(row[0]) for row in rows if not _is_marks(row[0])]
    times = cells[1:] or cells  # the first cell may be a header
    has_only_times = n_columns == 1 and bool(cells) and all(map(_CLOCK.fullmatch, times))
    if has_only_times or (n_columns > 1 and len(with_text) != 1):
        raise InputError(
            f"columns {', '.join(rows[0])}: it is not clear which of them holds words",
            expected="a header with `word`, `token` or `text`, or one column of words beside numbers",
            fix="name the column of words in a header",
        )
    text = with_text[0] if with_text else 0
    is_segment = text > 0
    start = text - 2 if is_segment else 1  # words stand before their start and end, segments behind them
    if n_columns < 3 or start < 0:  # no two columns of times
        return _Columns(text)
    return _Columns(text, start, start + 1, is_segment=is_segment)


def _without_marks(cell: str) -> str:
    """Return a cell without the marks behind its text: `1984,` is a number, too."""
    return cell.rstrip(ALL_MARKS.characters + " ")


def _rows(lines: Sequence[tuple[str, Sequence[re.Match[str]]]], delimiter: str = "") -> Iterator[TableRow | str]:
    """Yield the rows of lines and their cells; a line without words is yielded as it is.  delimiter: of a csv."""
    columns = _find_columns([[*map(_plain, cells)] for _, cells in lines if cells])
    for number, (line, cells) in enumerate(lines):
        is_header = columns.has_header and not number
        if is_header or len(cells) <= columns.text or not cells[columns.text][0].strip():
            yield line
            continue
        row = [*map(_plain, cells)]
        start_ms = parse_ms(_cell_of(row, columns.start), columns.unit_ms)
        end_ms = parse_ms(_cell_of(row, columns.end), columns.unit_ms)
        cue = Cue(number, start_ms, end_ms, _cell_of(row, columns.speaker))
        cell = cells[columns.text]
        quoted = _QUOTED.fullmatch(line, *cell.span())
        begin, end = quoted.span(1) if quoted else cell.span()
        markup = DOUBLED_QUOTES if quoted else None
        is_segment = columns.is_segment or bool(delimiter)
        yield TableRow(line, begin, end, cue, is_segment, delimiter="" if quoted else delimiter, markup=markup)


def _cell_of(row: Sequence[str], column: int | None) -> str:
    """Return the cell of a column; empty if the table has no such column, or the row is short."""
    return "" if column is None or column >= len(row) else row[column]


def _plain(cell: re.Match[str]) -> str:
    return cell[0].strip().strip('"')


def _items_of_rows(rows: Iterable[TableRow | str], alphabet: Alphabet | None) -> Iterator[Item]:
    """Yield the items of rows; a row of a mark alone belongs to the word of the row before it."""
    held = list[Item]()  # the items of the row before, held back as rows of marks may follow
    source_before: tuple[str, ...] | None = None
    speaker = ""
    for row in rows:
        if isinstance(row, str):  # a line without words
            yield from held
            held = [Kept(row)]
            continue
        held_with_mark = _with_mark(held, row, alphabet or ALL_MARKS) if row.source == source_before else None
        if held_with_mark:
            held = held_with_mark
            continue
        yield from held
        is_new_source = source_before is not None and row.source != source_before
        held = [Kept("", breaks=is_new_source), *_row_items(row, alphabet)]
        if row.cue.speaker != speaker:
            speaker = row.cue.speaker
            held.insert(0, speaker_label(speaker, row.cue if row.is_segment else None))
        source_before = row.source
    yield from held


def _row_items(row: TableRow, alphabet: Alphabet | None) -> Iterator[Item]:
    """Yield the items of a row: the words of a segment, or one word, or a sound such as `[noise]` in its place."""
    if row.is_segment:
        edge = [CellEdge("", delimiter=row.delimiter)] if row.delimiter else []  # where a csv may need quotes
        speech = read_line(row.text, alphabet=alphabet, cue=row.cue, markup=row.markup)
        yield Kept(row.line[: row.begin])
        yield from chain(edge, set_cue_times(speech, row.cue), edge)
        yield Kept(row.line[row.end :])
        return
    begin = row.end - len(row.text.lstrip())
    text = row.line[begin : row.end]
    yield Kept(row.line[:begin])
    sound = text.rstrip()
    if _SOUND.fullmatch(sound):  # may be heard inside a sentence, so it is no break
        yield Kept(sound, role=Role.DIRECTION)
        yield Kept(text[len(sound) :] + row.line[row.end :])
        return
    for word in words_of(text, alphabet, opens_line=False):
        yield SpokenWord(word, word.space, start_ms=row.cue.start_ms, end_ms=row.cue.end_ms, source=row.source)
    yield Kept(row.line[row.end :])


def _with_mark(held: Sequence[Item], row: TableRow, alphabet: Alphabet) -> list[Item] | None:
    """Append the row of a mark to the items of a word's row, `held`; None: it is no mark, or is behind no word."""
    mark = row.text.strip()
    words = [(place, item) for place, item in enumerate(held) if isinstance(item, SpokenWord)]
    if not _is_marks(mark, alphabet) or not words or row.is_segment:
        return None
    place, spoken = words[-1]
    begin = row.begin + row.text.index(mark)
    mark_row = (row.line[:begin], mark, row.line[begin + len(mark) :])
    if isinstance(spoken.markup, MarkRows):  # it has a row of a mark already
        markup = replace(spoken.markup, rows=(*spoken.markup.rows, mark_row))
    else:
        behind = spoken.after + "".join(item.text for item in held[place + 1 :] if isinstance(item, Kept))
        markup = MarkRows(spoken.word, cell=spoken.raw, behind=behind, rows=(mark_row,))
    marks = _DASHES.sub(DASH_APART, "".join(mark for _, mark, _ in markup.rows))  # a dash that touches is of the word
    word, *more_words = words_of(markup.cell + marks, alphabet, opens_line=False)
    if more_words:  # the mark cannot stand behind this word
        return None
    # what stood behind the word is in its markup now
    return [*held[:place], replace(spoken, word=word, after="", markup=replace(markup, word=word))]


def _is_marks(text: str, alphabet: Alphabet = ALL_MARKS) -> bool:
    return bool(text) and not text.strip(alphabet.characters)


def parse_ms(text: str, unit_ms: float = _SECOND_MS) -> int | None:
    """Parse a time: a number of units, or a clock's (`01:02.5`); None: it is neither.  A comma may be the point."""
    text = text.replace(",", ".")
    clock = _CLOCK.fullmatch(text)
    if clock:
        minutes = 60 * int(clock[1] or 0) + int(clock[2])
        return round(_SECOND_MS * (60 * minutes + float(clock[3])))
    try:
        return round(unit_ms * float(text))
    except (ValueError, OverflowError):
        return None


def write_ctm(written: Iterable[WrittenItem], source: str) -> Iterator[str]:
    """Write NIST's CTM.  Recordings and channels are those of the input: a CTM, or a recogniser's json with channels.

    Raises InputError as `words_with_times` does.
    """
    name = "_".join(PurePath(source).name.split(".")[0].split()) or "-"  # white space would begin another field
    words = [*words_with_times(written)]
    channels = {word.spoken.cue.stream for word, _, _ in words if word.spoken.cue}
    has_channels = len(channels) > 1 and all(map(str.isalnum, channels))  # else lines of json, or actors of ASS
    for word, start_ms, end_ms in words:
        channel = word.spoken.cue.stream if word.spoken.cue and has_channels else "1"
        recording, channel = word.spoken.source or (name, channel)
        times = f"{start_ms / 1000:.3f} {(end_ms - start_ms) / 1000:.3f}"
        yield f"{recording} {channel} {times} {without_spaces(word.annotated.text)}\n"


def write_tsv(written: Sequence[WrittenItem], source: str) -> Iterator[str]:
    """Write a table of `word`, `start` and `end`, and `speaker` if the input names any, separated by tabs.

    Times are in seconds, or empty if not known.
    """
    has_speakers = any(isinstance(item, Kept) and _speaker_in(item) for item in written)
    yield "word\tstart\tend" + ("\tspeaker\n" if has_speakers else "\n")
    speakers = dict[str, str]()  # of each stream
    for item in written:
        cue = item.cue
        stream = cue.stream if cue else ""
        if isinstance(item, WrittenWord):
            spoken = item.spoken
            times = ("" if ms is None else f"{ms / 1000:.3f}" for ms in (spoken.start_ms, spoken.end_ms))
            speaker = f"\t{speakers.get(stream, '')}" if has_speakers else ""
            yield "\t".join([item.annotated.text, *times]) + speaker + "\n"
            continue
        # an empty item stands where a turn without a name begins; a label of json has only its bare text
        begins_nameless = cue is not None and not (item.text or item.bare or cue.speaker)
        if item.role is Role.SPEAKER or begins_nameless:
            speakers[stream] = _speaker_in(item)


def _speaker_in(item: Kept) -> str:
    """Return the name in a label, as it is shown, without its time; empty if it has none."""
    name = _TIME_OF_LABEL.sub("", item.shown) if item.role is Role.SPEAKER else ""
    return " ".join(name.strip(">-–—|[]* :\u200e").split())


def write_csv(written: Sequence[WrittenItem], source: str) -> Iterator[str]:
    """Write the table of `write_tsv` with commas, and quotes around cells that need them."""
    for row in write_tsv(written, source):
        cells = row.rstrip("\n").split("\t")
        yield ",".join(_quoted(cell) if "," in cell or '"' in cell else cell for cell in cells) + "\n"


def write_json(written: Sequence[WrittenItem], source: str) -> Iterator[str]:
    """Write a transcript as a line of json, in pieces.

    start, end: seconds, if the input has times.  start_char, end_char: where the word stands in the output that
    `punctuate` writes in the input's own format (of json: in the text of its words).  removed: the words that were
    removed, if there are any.
    """
    yield f'{{"source": {_dumps(source)}, "words": ['
    begin = 0
    comma = ""
    for item in leave_out_removed(written):
        if isinstance(item, Kept):
            begin += len(item.text)
            continue
        end = begin + len(item.in_file)
        chars = {"start_char": begin, "end_char": end - len(item.spoken.after)}
        times = seconds(item.spoken.start_ms, item.spoken.end_ms)
        yield comma + _dumps({**item.annotated.as_dict(), **times, **chars})
        begin = end
        comma = ", "
    removed = [
        _dumps({"word": item.annotated.word, **seconds(item.spoken.start_ms, item.spoken.end_ms)})
        for item in written
        if isinstance(item, WrittenWord) and item.annotated.is_removed
    ]
    yield f'], "removed": [{", ".join(removed)}]}}\n' if removed else "]}\n"


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'
