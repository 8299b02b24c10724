"""A transcript in one format, written in another, with the marks that it has."""

from collections.abc import Iterable, Iterator

from chance import reading, spoken

from t5punct.text.marks import Alphabet, Case
from t5punct.text.render import AnnotatedWord, Decision, RenderConfig, render_word
from t5punct.transcripts.items import Item
from t5punct.transcripts.writers import WriterConfig, written_pieces

SRT = (
    "1\n00:00:01,000 --> 00:00:02,000\n<i>so what.</i>\n- fine [laughs]\n\n"
    "2\n00:00:04,000 --> 00:00:06,000\nand &amp; you?\n"
)


def kept(items: Iterable[Item]) -> Iterator[AnnotatedWord]:
    """The words with the marks that they have."""
    for word in (item.word for item in spoken(items)):
        yield render_word(word, Decision(word.marks, Case.VERBATIM, 1.0, 1.0), RenderConfig(), Alphabet())


def converted(text: str, name: str, config: WriterConfig) -> str:
    transcript = reading(text, name)
    return "".join(written_pieces(transcript, transcript.with_words(kept(transcript.items)), config, "talks/one.srt"))
