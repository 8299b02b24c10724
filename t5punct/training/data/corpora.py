"""Corpora: the documents of files and data sets, and which of them are for training, which for validation.

`READERS` yield the documents of a file, by the ending of its name: lines, paragraphs, rows of a table, a whole
transcript without its labels and times.  `read_documents` reads a corpus once, into a table on the disk, so that it
may be larger than the memory.  `plan_pieces` chooses by the lengths of documents, and `Documents.text_of` is the text
of what was chosen.

>>> list(join_paragraphs(["He saw", "it.", "", "So did I."]))
['He saw it.', 'So did I.']
"""

from __future__ import annotations

import csv
import glob
import json
import random
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

from ...config import check, check_choice, check_range
from ...errors import InputError, T5PunctError, first_line
from ...t5.task import silence_tokens
from ...text.io.files import MARKDOWN, check_source, count_endings, ending_of, find_files, lines_of_file, unpacked_name
from ...text.io.iwslt import LABEL_OF_CLASS, is_iwslt, join_clitics, read_rows
from ...text.io.live import timed_word
from ...text.marks import Alphabet
from ...text.words import Word
from ...transcripts.formats import FORMATS, read_transcript
from ...transcripts.heads import OPENING_CHARS, Heads, label_of
from ...transcripts.items import Item, SpokenWord, add_pauses
from ...transcripts.speech import read_plain
from ...windows.plan import iter_pools

_ROWS_IN_MEMORY = 20  # documents that are written to the table at a time; each may be a book
UNITS = ("auto", "line", "paragraph", "file")


@dataclass(frozen=True)
class CorpusConfig:
    """Documents that belong together: a file, a folder, the files that fit a pattern, or a data set."""

    path: str = ""  # text, jsonl, IWSLT tsv, csv, parquet, a folder of them, `talks/*.txt`, or a saved data set
    style: str = "talk"  # the kind of text, named as for `--style`: talk, meeting, prose or chat
    words: int = 0  # how many words to take, spread over all documents; 0 takes all
    join: int = 1  # how many short documents to join at random, so that windows also begin and end inside them
    holdout_every: int = 0  # one document in so many is for validation; 0: the last `holdout_percent` are
    column: str = "text"  # that holds the text, in a table, a data set or jsonl
    document: str = "auto"  # in a text file: line, paragraph, file; auto: transcripts, wrapped paragraphs or lines
    dataset: str | None = None  # instead of a path: the id of a data set of the hub, which is downloaded
    subset: str | None = None  # of a data set of the hub, where it has several
    split: str = "train"  # of a data set: which part is read
    revision: str | None = None  # of a data set of the hub: a branch, tag or commit
    streaming: bool = False  # read no further than `words` needs; a hub id is not downloaded

    def __post_init__(self) -> None:
        check_choice(self, "document", UNITS, section="corpora.")
        check_range(self, "words", "holdout_every", least=0, section="corpora.")
        check_range(self, "join", least=1, section="corpora.")
        mistake = f"path {self.path} and dataset {self.dataset}"
        check(not self.path or self.dataset is None, mistake, expected="one of them", fix="drop one")
        is_of_hub = self.dataset is not None or (self.subset is None and self.revision is None)
        mistake = f"subset {self.subset}, revision {self.revision} of path {self.path}"  # they would be ignored
        check(is_of_hub, mistake, expected="them with a data set of the hub", fix="set corpora.dataset, or drop them")

    @property
    def title(self) -> str:
        return self.dataset or self.path


_OWN = {"tsv", "csv", "json"}  # formats with readers of their own below: their files may be other than a transcript
_TRANSCRIPTS = (".json", *(
    suffix for format in FORMATS.values() if format.reader and not format.is_plain and format.name not in _OWN
    for suffix in format.suffixes
))  # fmt: skip
# the order in which one file of a recording is chosen: the first formats have most of the times
PREFERRED = (*_TRANSCRIPTS, ".tsv", ".txt", *MARKDOWN)
_SEEN_WORDS = 5000  # of a file, to tell whether it has marks and capitals, and how many it needs for that
_FEWEST_WORDS = 100
_MARK = re.compile(r"[.,?!;:…](?=\s|$)")
FEWEST_MARKS = 0.02  # a word; speech and prose have 0.1 to 0.2
_SEEN_LINES = 2000  # of a file, to tell whether its lines are wrapped
_PART_CHARS = 1_000_000  # of a transcript as text that are read at a time: a file of many need not fit the memory
_FEWEST_LINES = 5  # that another line follows
_WIDTHS = range(40, 161)  # characters; longer lines are documents, shorter ones lists
_SENTENCE_ENDS = tuple(".?!…\"'”’»)")
# keys of a recording's parts in json; rows of a table of texts have none of them
_OF_RECORDINGS = {
    "start", "end", "start_time", "end_time", "startTime", "endTime", "startOffset", "begin", "offset", "offsets",
    "timestamp", "time", "words", "segments", "word", "speaker", "speaker_label", "channel", "alternatives", "tokens",
}  # fmt: skip


@dataclass
class Findings:
    """What is seen of the single files of a corpus while they are read."""

    left_out: list[str] = field(default_factory=list)  # notes, each names a file and says why
    without_marks: list[str] = field(default_factory=list)  # files with enough words to tell
    without_case: list[str] = field(default_factory=list)


def source_documents(
    corpus: CorpusConfig, pauses_ms: tuple[int, ...], findings: Findings | None = None
) -> Iterator[str]:
    """Yield all documents of a corpus, "" for an empty row of a table; fill `findings`.

    Of several files those whose bytes are no text are left out.  Raises InputError if all are.
    """
    findings = findings or Findings()
    if corpus.dataset is not None:
        yield from read_rows_of_table(None, corpus, pauses_ms)
    paths, _ = find_sources(corpus)  # none for a data set of the hub
    for path in paths:
        mistake, fix = f"split {corpus.split!r} of {path}", "name the file of this part, or drop corpora.split"
        has_splits = is_saved(path)
        check(has_splits or corpus.split == "train", mistake, expected="a data set, which has splits", fix=fix)
        read = read_rows_of_table if has_splits else READERS.get(ending_of(path), read_text)
        if len(paths) == 1:
            yield from read(path, corpus, pauses_ms)
            continue
        try:
            lines = lines_of_file(path) if ending_of(path) != ".parquet" else ()
            for _ in lines:  # to the end: the reader may find a wrong byte after some documents
                pass
        except InputError as error:
            findings.left_out.append(f"{error.found}, left out; {error.fix}")
            if len(findings.left_out) == len(paths):
                raise
            continue
        yield from _watched(read(path, corpus, pauses_ms), str(path), findings)


def _watched(documents: Iterable[str], name: str, findings: Findings) -> Iterator[str]:
    """Yield the documents of a file; then add its name to `findings` if it has words enough, but no marks or case."""
    n_words = n_marks = 0
    has_case = False
    for document in documents:
        if n_words < _SEEN_WORDS:
            n_words += len(document.split())
            n_marks += count_marks(document)
            has_case = has_case or not is_one_case(document)
        yield document
    if n_words >= _FEWEST_WORDS:
        if n_marks < FEWEST_MARKS * n_words:
            findings.without_marks.append(name)
        if not has_case:
            findings.without_case.append(name)


def count_marks(text: str) -> int:
    return len(_MARK.findall(text))


def is_one_case(text: str) -> bool:
    return text in (text.lower(), text.upper())


def find_sources(corpus: CorpusConfig) -> tuple[list[Path], list[str]]:
    """Return the files of a corpus that are read, in order, and notes on those of a folder that are not.

    A file with an unknown ending is read as text if the corpus names it.  Of several files of one recording, as Whisper
    writes it in five formats, only one is read: else one could be learned from and another one scored with.
    """
    if corpus.dataset is not None:
        return [], []
    check(corpus.path, "a corpus without a path", expected="corpora: [{path: FILE}]", fix="name a file")
    path = Path(corpus.path)
    is_folder = path.is_dir() and not is_saved(path)
    is_pattern = glob.has_magic(corpus.path) and not path.exists()
    if not (is_folder or is_pattern):  # one file, or the folder of a saved data set
        if not path.is_dir():
            check_source(path)
        return [path], []
    _, files = find_files(corpus.path)
    if is_folder:
        readable = [file for file in files if ending_of(file) in READERS]
        mistake, expected = f"folder {path} holds no text", f"files that end with {', '.join(READERS)}"
        check(readable, mistake, expected=expected, fix="name the files", kind=InputError)
    else:
        readable = files  # whatever their endings are: the corpus names them
        mistake, expected = f"no file {corpus.path}", "a pattern that files fit"
        check(readable, mistake, expected=expected, fix="check the path", kind=InputError)
    # of files whose names differ only in the ending, the one in the first format of `PREFERRED`
    recordings = [file for file in readable if ending_of(file) in PREFERRED]
    first_of_name: dict[Path, Path] = {}  # by the path without its ending
    for file in sorted(recordings, key=lambda file: PREFERRED.index(ending_of(file))):
        first_of_name.setdefault(file.with_name(Path(unpacked_name(file)).stem), file)
    copies = {*recordings} - {*first_of_name.values()}
    notes = _notes_on_unread({*files} - {*readable}, "no reader for it")
    notes += _notes_on_unread(copies, "another format of a file that is read")
    return [file for file in readable if file not in copies], notes


def _notes_on_unread(files: Iterable[Path], why: str) -> list[str]:
    """Return a note for each ending of some files that are not read, `3 x .pdf left out: no reader for it`."""
    return [f"{counted} left out: {why}" for counted in count_endings(files)]


@dataclass(frozen=True, slots=True)
class Piece:
    """A text to be cut into chunks: a document, or several that are joined, or a stretch of their words."""

    rows: tuple[int, ...]  # those of its documents
    n_words: int
    start: int | None = None  # the first word of the stretch; None: all words


@dataclass(frozen=True)
class Documents:
    """The documents of a corpus, some of them empty.

    rows: a `datasets.Dataset` with the columns text and n_words, the number of pieces between white space.
    """

    corpus: CorpusConfig
    rows: Any
    holdout_percent: float
    findings: Findings = field(default_factory=Findings)

    @property
    def lengths(self) -> dict[int, int]:
        """Return the number of words of each document that is not empty, by its row."""
        counts = enumerate(self.rows["n_words"][:])  # [:] reads them at once; one by one takes 0.1 ms each
        return {row: n_words for row, n_words in counts if n_words}

    def text_of(self, piece: Piece) -> str:
        """Return the words of a piece as one text."""
        text = " ".join(self.rows[row]["text"] for row in piece.rows)
        return text if piece.start is None else " ".join(text.split()[piece.start : piece.start + piece.n_words])


def read_documents(corpus: CorpusConfig, pauses_ms: tuple[int, ...], cache: str, holdout_percent: float) -> Documents:
    """Read a corpus into a table in the folder `cache`.  Raises InputError if it holds no text.

    With `pauses_ms`, a token stands at every silence between words with times, another one for each of these lengths.
    """
    from datasets import Dataset, Features, Value
    from datasets.exceptions import DatasetGenerationError

    findings = Findings()

    def iter_rows() -> Iterator[dict[str, Any]]:  # runs in this process, so that it can fill `findings`
        yield from _document_rows(corpus, pauses_ms, holdout_percent, findings)

    features = Features({"text": Value("string"), "n_words": Value("int64")})
    try:
        rows = Dataset.from_generator(iter_rows, features, cache, writer_batch_size=_ROWS_IN_MEMORY)
    except DatasetGenerationError as error:
        raise error.__cause__ or error from None  # our own error, or the system's
    return Documents(corpus, rows, holdout_percent, findings)


def _document_rows(
    corpus: CorpusConfig, pauses_ms: tuple[int, ...], holdout_percent: float, findings: Findings
) -> Iterator[dict[str, Any]]:
    """Yield the documents as rows of the table; of a stream, as many as its budget needs for both splits."""
    n_needed = sum(_budget(corpus, split, holdout_percent) or 0 for split in ("train", "validation"))  # 0: all
    n_read = 0
    for text in source_documents(corpus, pauses_ms, findings):
        n_words = len(text.split())
        yield {"text": text, "n_words": n_words}
        n_read += n_words
        if corpus.streaming and n_needed and n_read >= n_needed:
            return
    fix = "check the path or corpora.column"
    check(n_read, f"no text in {corpus.title}", expected="a file with text", fix=fix, kind=InputError)


def plan_pieces(documents: Documents, split: str, seed: int) -> Iterator[Piece]:
    """Yield the pieces that one split takes, in order.

    For validation are the last `holdout_percent` of the documents, or one in `holdout_every`; of a single document it
    is the end.  With a budget of words, every document gives one random stretch, in proportion to its length; that of
    a short one may have no words.
    """
    corpus = documents.corpus
    percent = documents.holdout_percent
    lengths = documents.lengths  # words by row
    rows = list(lengths)
    budget = _budget(corpus, split, percent)
    name = corpus.dataset or Path(corpus.path).name  # without its folder: a corpus that is moved draws the same
    rng = random.Random(f"{seed} {name} {split}")
    if len(rows) == 1:  # its beginning is for training, its end for validation
        n_words = lengths[rows[0]]
        first_of_validation = n_words - round(n_words * percent / 100)
        words = range(first_of_validation) if split == "train" else range(first_of_validation, n_words)
        n_taken = len(words) if budget is None else min(budget, len(words))
        if n_taken:
            yield Piece((rows[0],), n_taken, words.start + rng.randint(0, len(words) - n_taken))
        return
    every = corpus.holdout_every
    if every and len(rows) >= every:
        held_out = {*rows[every - 1 :: every]}
    else:  # at least one, unless the percentage is 0
        n_held_out = max(1, round(len(rows) * percent / 100)) if percent else 0
        held_out = {*rows[len(rows) - n_held_out :]}
    chosen = [row for row in rows if (row in held_out) == (split == "validation")]
    if corpus.join > 1:  # so that documents that were not neighbours are joined
        rng.shuffle(chosen)
    total = sum(lengths[row] for row in chosen)
    owed = 0.0  # the shares of the budget so far, less the words taken, as shares are no whole numbers
    for first in range(0, len(chosen), corpus.join):
        joined = tuple(chosen[first : first + corpus.join])
        n_words = sum(lengths[row] for row in joined)
        if budget is None or total <= budget:
            yield Piece(joined, n_words)
            continue
        owed += budget / total * n_words
        n_taken = min(int(owed), n_words)
        owed -= n_taken
        yield Piece(joined, n_taken, rng.randint(0, n_words - n_taken))


def _budget(corpus: CorpusConfig, split: str, holdout_percent: float) -> int | None:
    """Return how many words of a split to take; None: all."""
    if not corpus.words:
        return None
    percent = 100 / corpus.holdout_every if corpus.holdout_every else holdout_percent
    return corpus.words if split == "train" else round(corpus.words * percent / 100)


def read_text(path: Path, corpus: CorpusConfig, pauses_ms: tuple[int, ...]) -> Iterator[str]:
    """Yield the documents of a text file, or one of IWSLT rows."""
    if is_iwslt(path):
        yield _read_iwslt(path)
        return
    unit = corpus.document
    if unit == "auto" and is_transcript(islice(lines_of_file(path), _SEEN_LINES)):
        lines = (line + "\n" for line in lines_of_file(path))
        for part in iter_pools(lines, _PART_CHARS, len, is_growing=False):  # nearly always one
            yield text_with_silences([*read_plain(part)], ())
        return
    if unit == "auto":
        unit = "paragraph" if is_wrapped(islice(lines_of_file(path), _SEEN_LINES)) else "line"
    full_lines = (line for line in lines_of_file(path) if line.strip())
    if unit == "paragraph":
        yield from join_paragraphs(lines_of_file(path))
    elif unit == "file":
        yield from join_paragraphs(full_lines)  # without blank lines it is one paragraph
    else:
        yield from full_lines


def is_transcript(lines: Iterable[str]) -> bool:
    """Return whether at least every third line begins with what nobody says: a name, a time, an id."""
    lines = [line[:OPENING_CHARS] + "\n" for line in lines if line.strip()]
    heads = Heads.of(lines)
    n_with_head = 0
    for line in lines:
        head = heads.head_of(line)
        is_list_item = head.begins_sentence
        if (head.n_chars and not is_list_item) or label_of(line, heads.labels):
            n_with_head += 1
    return n_with_head > 1 and 3 * n_with_head >= len(lines)


def join_paragraphs(lines: Iterable[str]) -> Iterator[str]:
    """Yield each run of lines without a blank line as one line."""
    for is_text, paragraph in groupby((line.strip() for line in lines), key=bool):
        if is_text:
            yield " ".join(paragraph)


def is_wrapped(lines: Iterable[str]) -> bool:
    """Return whether lines are broken at a width, as in a book.

    Then nearly every line is so full that the next line's first word would not have fitted, and few end a sentence.
    """
    lines = [line.rstrip()[: _WIDTHS.stop] for line in lines]  # cut only to bound the work
    lengths = sorted(len(line) for line in lines if line)
    # lines before another line with text, and the first word of that
    followed = [(line, after.split()[0]) for line, after in pairwise(lines) if line.strip() and after.strip()]
    if len(followed) < _FEWEST_LINES:
        return False
    width = lengths[int(0.95 * len(lengths))]  # a few lines may be longer: titles, addresses
    n_full = sum(len(f"{line} {next_word}") > width for line, next_word in followed)
    n_ended = sum(line.endswith(_SENTENCE_ENDS) for line, _ in followed)
    return width in _WIDTHS and n_full >= 0.8 * len(followed) and n_ended <= 0.5 * len(followed)


def _read_iwslt(path: Path) -> str:
    """Return the whole file as one punctuated document in lower case."""
    rows = read_rows(path)
    joined = join_clitics(rows)  # the rows `it` and `'s` are one word, with the mark of the second
    marks = [LABEL_OF_CLASS[rows[last].label_class] for last in joined.last_rows]
    alphabet = Alphabet()
    return " ".join(alphabet.spell(word, mark) for word, mark in zip(joined.words, marks, strict=True))


def _read_transcript(path: Path, corpus: CorpusConfig, pauses_ms: tuple[int, ...]) -> Iterator[str]:
    yield text_with_silences(read_transcript(path).items, pauses_ms)


def text_with_silences(items: Sequence[Item], pauses_ms: Sequence[int]) -> str:
    """Return the words of items with the tokens of the silences between them, as one text."""
    pieces = list[str]()
    for item in add_pauses(items, pauses_ms):
        if isinstance(item, SpokenWord):
            pieces += [item.word.raw, *silence_tokens(item.word.pause)]
    return " ".join(pieces)


def _read_json(path: Path, corpus: CorpusConfig, pauses_ms: tuple[int, ...]) -> Iterator[str]:
    """Yield the documents of json lines, of an array of rows, or of one recording."""
    first_lines = list(islice((line for line in lines_of_file(path) if line.strip()), 2))
    row = _parsed(first_lines[0]) if first_lines else None
    if isinstance(row, dict):  # the first of several rows, or the only row, or a whole recording in one line
        # a recording has `text`, too, but no column of another name that the user gives
        has_users_column = corpus.column != "text" and column_of(row, corpus.column) in row
        if has_users_column or len(first_lines) > 1:
            yield from _read_jsonl(path, corpus, pauses_ms)
            return
    text = "\n".join(lines_of_file(path))
    rows = _parsed(text) if text.lstrip().startswith("[") else None
    if rows and all(isinstance(row, str) for row in rows):
        yield from rows
    elif rows and all(isinstance(row, dict) and not _OF_RECORDINGS & row.keys() for row in rows):
        yield from _texts_of_rows(rows, corpus.column, str(path))
    else:
        yield from _read_transcript(path, corpus, pauses_ms)


def _parsed(text: str) -> Any:
    """Return the value of json; None for what is no json, of which the reader of recordings says where."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def _read_tsv(path: Path, corpus: CorpusConfig, pauses_ms: tuple[int, ...]) -> Iterator[str]:
    """Yield the document of a recogniser's table, which has a header, or of IWSLT rows."""
    header = set(next(lines_of_file(path), "").lower().split("\t"))
    if {"start", "end"} & header and {"text", "word", "token"} & header:
        yield from _read_transcript(path, corpus, pauses_ms)
    else:
        yield _read_iwslt(path)


def timed_words(values: Mapping[str, Any]) -> list[SpokenWord]:
    """Return the words of a line of json, `{"words": [{"word": .., "marks": .., "start": .., "end": ..}, ..]}`.

    A word with an `est_end`, an aligner's estimate, ends there.
    """
    words: list[SpokenWord] = []
    for value in values["words"]:
        text = value["word"] + value.get("marks", "")
        end = value.get("est_end", value.get("end"))
        timed = timed_word({"word": text, "start": value.get("start"), "end": end})
        words.append(SpokenWord(Word(text, raw=text), start_ms=timed.start_ms, end_ms=timed.end_ms))
    return words


def _read_jsonl(path: Path, corpus: CorpusConfig, pauses_ms: tuple[int, ...]) -> Iterator[str]:
    """Yield the text of each line; of lines with words, those of one meeting as one document, with all its turns."""
    for _, lines in groupby(_parsed_lines(path, corpus), key=itemgetter(0)):
        contents = [content for _, content in lines]
        if isinstance(contents[0], str):  # a text is a document of its own
            yield contents[0]
        else:
            yield text_with_silences([word for words in contents for word in words], pauses_ms)


def _parsed_lines(path: Path, corpus: CorpusConfig) -> Iterator[tuple[str | int, Any]]:
    """Yield the document that each line is of, a meeting's name or else the line's number, and its text or words."""
    for number, line in enumerate(lines_of_file(path), start=1):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
            column = column_of(values, corpus.column)
            if "words" in values:
                content: str | list[SpokenWord] = timed_words(values)
                meeting = values.get("meeting")
            else:
                text = values[column]
                content = "" if text is None else str(text)
                meeting = None  # each text is a document
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise InputError(
                f"{path} line {number}: {line[:40]!r}",
                expected=f'{{"{corpus.column}": "..."}} or '
                '{"words": [{"word": "...", "start": 0.1, "end": 0.4}, ...]}',
                fix="correct the line" if corpus.column in line else "correct the line, or set corpora.column",
            ) from error
        yield number if meeting is None else str(meeting), content


def is_saved(folder: Path) -> bool:
    """Return whether a folder is a data set that `datasets` has saved."""
    return any((folder / name).is_file() for name in ("dataset_dict.json", "state.json"))


def read_rows_of_table(path: Path | None, corpus: CorpusConfig, pauses_ms: tuple[int, ...]) -> Iterator[str]:
    """Yield the texts of a csv or parquet file, of a folder that `datasets` saved, or of the hub's data set (None)."""
    from datasets import DatasetDict, load_dataset, load_from_disk

    fix = "check the file"
    try:
        if path is None:
            fix = "check corpora.dataset, corpora.subset, corpora.split and the network"
            rows = load_dataset(
                corpus.dataset, corpus.subset, split=corpus.split, revision=corpus.revision, streaming=corpus.streaming
            )
        elif is_saved(path):
            rows = load_from_disk(str(path))
            if isinstance(rows, DatasetDict):
                mistake = f"no split {corpus.split!r} in {path}"
                expected = f"one of {', '.join(rows)}"
                check(corpus.split in rows, mistake, expected=expected, fix="set corpora.split", kind=InputError)
                rows = rows[corpus.split]
        else:
            kind = ending_of(path).removeprefix(".")
            options: dict[str, Any] = {}
            if kind == "csv":
                options = {"keep_default_na": False, "sep": _delimiter_of(path, corpus.column)}  # "NA" is text, too
            rows = load_dataset(kind, data_files=[str(path)], split="train", streaming=True, **options)
        yield from _texts_of_rows(rows, corpus.column, str(path or corpus.dataset))
    except T5PunctError:
        raise
    except Exception as error:  # those of pandas, pyarrow, the network and `datasets` have no common base
        mistake = f"{path or corpus.dataset} cannot be read ({first_line(error)})"
        raise InputError(mistake, expected="a table, or a data set with this split", fix=fix) from error


def _delimiter_of(path: Path, column: str) -> str:
    """Return what stands between the names in the first line of a csv."""
    header = next(lines_of_file(path), "")

    def likeness(delimiter: str) -> tuple[bool, int]:
        names = next(csv.reader([header], delimiter=delimiter))
        return column_of(names, column) in names, header.count(delimiter)

    return max(",;|", key=likeness)


def column_of(row: Collection[str], column: str) -> str:
    """Return the name that a row has for a column, whatever its capitals are, unless two could be meant.

    >>> column_of({"id": 1, "Text": "so"}, "text"), column_of({"Text": "so", "TEXT": "we"}, "text")
    ('Text', 'text')
    """
    if column in row:
        return column
    names = [name for name in row if name.lower() == column.lower()]
    return names[0] if len(names) == 1 else column


def _texts_of_rows(rows: Iterable[Any], column: str, name: str) -> Iterator[str]:
    """Yield the text in a column of each row, "" for none.  name: of the file or data set, for errors."""
    for number, row in enumerate(rows, start=1):
        row_column = column_of(row, column)
        if row_column not in row:
            mistake = f"no column {column!r} in {name}"
            raise InputError(mistake, expected=f"one of {', '.join(row)}", fix="set corpora.column")
        text = row[row_column]
        if text is not None and not isinstance(text, str):
            mistake = f"{name} row {number}: {str(text)[:40]!r} under {column!r}"
            raise InputError(mistake, expected="text", fix="set corpora.column")
        yield text or ""


READERS: dict[str, Callable[[Path, CorpusConfig, tuple[int, ...]], Iterator[str]]] = {  # by ending, packed or not
    **dict.fromkeys((".txt", *MARKDOWN), read_text),
    ".jsonl": _read_jsonl,
    **dict.fromkeys(_TRANSCRIPTS, _read_transcript),
    ".json": _read_json,
    ".tsv": _read_tsv,
    ".csv": read_rows_of_table,
    ".parquet": read_rows_of_table,
}
