"""The options of texts and streams: one list, with help and defaults, for the command line and the service.

In: values by their names.  Out: the configs of the punctuator, the writer and the stream.

On the command line the usual ones are options (`--style talk`), and all may be settings (`style=talk beams=4`).  For
the service they are fields, but for those of `ModelOptions`, which hold for all its clients.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self, get_args, get_type_hints

from .config import check, check_range
from .errors import ConfigError
from .text.render import RenderConfig
from .windows.plan import WindowConfig
from .windows.presets import DEFAULT_PRESET, PRESET_SUFFIXES, load_preset

if TYPE_CHECKING:
    from .punctuator import PunctuatorConfig
    from .streaming import StreamConfig
    from .transcripts.writers import WriterConfig

_REVIEW_ALTERNATIVES = 3
_MODEL = (
    "A model that comes along (large, base, small, multi; see `t5punct models`), a folder with one, or the id of one "
    "on the Hugging Face hub (OWNER/NAME)."
)


@dataclass(frozen=True)
class ModelOptions:
    """Which model, and how it computes."""

    model: Annotated[str | None, _MODEL] = None
    language: Annotated[
        str | None,
        "The language of the text: en, de, fr, es, it, pt, nl, pl or hu.  Chooses the model that knows it.",
    ] = None
    revision: Annotated[str | None, "The branch, tag or commit, if --model is an id on the hub; else main."] = None
    precision: Annotated[
        str,
        "What numbers the model computes with: fp32 (exact), int8 (two to three times as fast on a CPU), bf16 (fast on "
        "a GPU; a mark may change with the other texts of its batch); auto: int8 on a CPU, bf16 on a GPU that has it.",
    ] = "auto"
    device: Annotated[str, "cpu, cuda, ..; auto: a GPU if there is one."] = "auto"
    threads: Annotated[int | None, "Processor threads; else as many as this process may keep busy."] = None
    batch_tokens: Annotated[
        int,
        "How many tokens (words and parts of words) are read at a time: more takes more memory, and can be faster.",
    ] = 1024

    def for_language(self) -> Self:
        """Return options whose model knows the language; the same options if no language is named.

        Raises ConfigError for a language that no bundled model knows, and for a `--model` that does not know it.
        """
        from .model import BUNDLED, MODEL_LANGUAGES, model_for

        if self.language is None:
            return self
        best = model_for(self.language)
        usual = type(self).model
        if self.model == usual:
            return replace(self, model=usual if best == BUNDLED else best)
        is_english = best != "multi"
        knows_english_alone = self.model in MODEL_LANGUAGES and self.model != "multi"  # of others nothing is known
        mistake = f"--language {self.language} with --model {self.model}, which knows English alone"
        check(is_english or not knows_english_alone, mistake, expected=f"--model {best}", fix="drop --model")
        return self

    def config(self) -> PunctuatorConfig:
        """Return the config of a punctuator; every value is checked before a model is loaded."""
        from .decoding.inputs import DecodingConfig
        from .punctuator import PunctuatorConfig

        return PunctuatorConfig(decoding=DecodingConfig(**options_of(DecodingConfig, self)))


@dataclass(frozen=True)
class ServiceOptions(ModelOptions):
    """The model of a service, and how much of it clients may take."""

    max_body_bytes: Annotated[int, "How many bytes a request may hold."] = 16_000_000
    max_words: Annotated[int, "How many words a request's text may hold."] = 200_000
    max_waiting_words: Annotated[
        int, "How many words of all requests may wait; while there are more, others are refused with status 503."
    ] = 400_000
    max_streams: Annotated[int, "How many streams may be open at the same time."] = 200
    max_message_bytes: Annotated[int, "How many bytes a message of a stream may hold."] = 64_000
    idle_s: Annotated[float, "End a stream after this many seconds without a word."] = 300.0
    ending_s: Annotated[
        float, "When the service is stopped: how many seconds requests that have begun may still take."
    ] = 20.0

    def __post_init__(self) -> None:
        check_range(self, *(name for name in defaults_of(ServiceOptions) if name.startswith("max_")), least=1)
        for name, value in {"idle_s": self.idle_s, "ending_s": self.ending_s}.items():
            check(0 < value < math.inf, f"{name} {value}", expected="seconds, more than 0", fix=f"set {name}")


@dataclass(frozen=True)
class DecodingOptions(ModelOptions):
    """The options of a model, and how marks are decided."""

    style: Annotated[
        str | None,
        "The kind of text: talk, meeting, prose or chat, which are punctuated differently; a model of your own may "
        "have others.",
    ] = None
    decoder: Annotated[
        str,
        "What chooses the marks: slots (the T5's decoder; several marks, as in `?!`), tagger (fastest; at most one "
        "mark after a word) or generate (the T5 writes the text anew, and its marks are put into yours); auto: what is "
        "best for the style (large: slots in chat, else the tagger).",
    ] = "auto"
    marks: Annotated[str | None, 'Write only these marks, such as ",.?"; "": none, only capitals.'] = None
    mark_odds: Annotated[
        str | None,
        'Write marks more or less often (decoders slots and tagger).  ",=4 .=0.5": a comma counts four times what the '
        'model thinks of it, and a full stop half; "": each counts once.',
    ] = None
    max_marks: Annotated[
        int | None,
        "How many marks may follow a word, as in `?!`; else as the style has it (large: 1, in prose and chat 3), and 1 "
        "where the tagger decides.",
    ] = None
    fragment: Annotated[
        bool,
        "true: the text may begin and end in the middle of a sentence, so that its first word needs no capital, "
        "and its last one no mark.",
    ] = False
    beams: Annotated[
        int, "Decoder generate: how many ways to write the text it follows side by side (beam search)."
    ] = 1
    min_alignment: Annotated[
        float,
        "Decoder generate: where the model's text matches your words worse than this (0 to 1), use it only if no other "
        "window has these words.",
    ] = 0.5

    def config(self, render: RenderConfig | None = None) -> PunctuatorConfig:
        """Return the config of a punctuator, which writes words as `render` says."""
        from .decoding.align import AlignConfig
        from .decoding.inputs import DecodingConfig
        from .punctuator import PunctuatorConfig

        check_range(self, "max_marks", least=1)
        odds = None if self.mark_odds is None else parse_mark_odds(self.mark_odds)
        decoding = options_of(DecodingConfig, self) | {"mark_odds": odds, "marks": self.marks or None}
        return PunctuatorConfig(
            decoding=DecodingConfig(**decoding),
            render=replace(render or RenderConfig(), marks=self.marks != ""),
            fragment=self.fragment,
            align=AlignConfig(self.min_alignment),
        )


@dataclass(frozen=True)
class WindowOptions(DecodingOptions):
    """The options of decoding, and how documents are cut into windows."""

    preset: Annotated[
        str,
        "The model reads a text in overlapping windows; this says how long they are, and how far apart: a name that "
        "`t5punct presets` lists, or a YAML file.",
    ] = DEFAULT_PRESET
    window: Annotated[int | None, "How many words the model reads at once; else the preset's."] = None
    stride: Annotated[int | None, "How many words later the next window begins; else the preset's."] = None
    mask_left: Annotated[
        int | None, "Do not use the marks at this many of a window's first words; else the preset's."
    ] = None
    mask_right: Annotated[
        int | None, "Do not use the marks at this many of a window's last words; else the preset's."
    ] = None
    lead_in: Annotated[int | None, "Begin the first window this many words before the text; else the preset's."] = None
    combine: Annotated[
        str | None,
        "How a mark is chosen where windows overlap: by mean (the average of what they say), entropy (the surer a "
        "window, the more it counts), hamming (the nearer to its middle, the more) or vote (the majority); else the "
        "preset's.",
    ] = None
    delay_words: Annotated[
        int | None,
        "Decoder tagger: decide each mark after at most this many more words, as a stream with --policy delay does.  "
        "For models that were trained for it.",
    ] = None

    def config(self, render: RenderConfig | None = None) -> PunctuatorConfig:
        preset = load_preset(self.preset)
        changes = {name: value for name, value in options_of(WindowConfig, self).items() if value is not None}
        combine = replace(preset.combine, method=self.combine) if self.combine else preset.combine
        return replace(super().config(render), windows=replace(preset.windows, **changes), combine=combine)


@dataclass(frozen=True)
class WordOptions(DecodingOptions):
    """The options of decoding, and what becomes of the words that are read."""

    keep_marks: Annotated[bool, "Keep the marks the input has, and add others."] = False
    no_case: Annotated[bool, "Leave every letter as it is."] = False
    disfluencies: Annotated[
        str,
        "What becomes of fillers (um), words said twice and words taken back: keep, mark (a ~ behind each; in json a "
        "field) or remove; no other option leaves out words.  For models that were trained for it, as all that come "
        "along but multi were.",
    ] = "keep"


@dataclass(frozen=True)
class TranscriptOptions(WindowOptions, WordOptions):
    """The options of windows and words, and what is read and written."""

    format: Annotated[
        str | None,
        "The format of INPUT: text, lines (each line is a text of its own), srt, vtt, ass, json, ctm, tsv or csv.",
    ] = None
    to: Annotated[
        str | None,
        "Write as text, srt, vtt, ass, json (words with confidence, times and places), ctm, tsv, csv or html (a page "
        "for review).",
    ] = None
    json: Annotated[bool, "Write json, for other programs."] = False
    lines: Annotated[bool, "Each line is a text of its own, as in a chat."] = False
    keep_case: Annotated[bool, "Keep the capitals that INPUT has, and add others."] = False
    terms: Annotated[str | None, "A file of your own spellings, one a line: pytorch=PyTorch, ASR, gonna=going to."] = (
        None
    )
    paragraphs: Annotated[int | None, "Text and pages for review: begin a paragraph after so many sentences."] = None
    paragraph_pause_ms: Annotated[
        int | None,
        "Text and pages for review: begin a paragraph after a silence of this length behind a sentence, if INPUT has "
        "times.",
    ] = None
    alternatives: Annotated[
        int | None,
        "With --json and pages for review: list this many of the next most likely marks for each word; else 0, and "
        f"{_REVIEW_ALTERNATIVES} on pages.",
    ] = None
    resegment: Annotated[
        bool,
        "With --to srt, vtt or ass: divide the words anew into cues (what is shown at one time), so that each holds a "
        "sentence, or a part of one.",
    ] = False
    max_chars: Annotated[int, "With --resegment: how many characters a cue has at most."] = 84
    max_lines: Annotated[int, "With --resegment: how many lines a cue has at most."] = 2
    max_duration_ms: Annotated[int, "With --resegment: how long a cue is shown at most."] = 7000
    min_duration_ms: Annotated[int, "With --resegment: how long a cue is shown at least, where there is time."] = 833
    max_chars_per_second: Annotated[
        float,
        "With --resegment: show each cue so long that nobody must read more characters a second, where there is time.",
    ] = 20.0
    max_words_per_minute: Annotated[float, "With --resegment: the same in words a minute."] = 180.0

    @property
    def reads(self) -> tuple[str, ...]:
        """Return the files and folders that are read besides the inputs: no output may take the place of one."""
        from .model import BUNDLED_MODELS

        read = [str(BUNDLED_MODELS)]
        if self.model and Path(self.model).expanduser().is_dir():
            read.append(str(Path(self.model).expanduser()))
        if self.preset.endswith(PRESET_SUFFIXES):
            read.append(self.preset)
        if self.terms:
            read.append(self.terms)
        return tuple(read)

    @property
    def input_format(self) -> str | None:
        """Return the format of all inputs; None: their names tell.  Raises ConfigError for two of them."""
        is_one = not self.lines or self.format in (None, "text", "lines")
        check(is_one, f"--lines and --format {self.format}", expected="one of them", fix="drop one")
        return "lines" if self.lines else self.format

    def writer(self, output: Path | None = None) -> WriterConfig:
        """Return the writer's settings; the name of `output` decides the format, if it says one.

        Raises ConfigError for an unknown format, and for options that do not agree with another or with the name.
        """
        from .transcripts.resegment import ResegmentConfig
        from .transcripts.writers import ParagraphConfig, WriterConfig, format_named_by

        is_one_format = not self.json or self.to in (None, "json")
        check(is_one_format, f"--json and --to {self.to}", expected="one of them", fix="drop one")
        wanted = "json" if self.json else self.to
        named = format_named_by(output)
        mistake = f"{'--json' if self.json else f'--to {self.to}'} and -o {output}, whose name says {named}"
        fix = "drop the option, or name the output otherwise"
        check(named is None or wanted in (None, named), mistake, expected="one format", fix=fix)
        has_paragraphs = self.paragraphs is not None or self.paragraph_pause_ms is not None
        return WriterConfig(
            wanted or named,
            ParagraphConfig(self.paragraphs, self.paragraph_pause_ms) if has_paragraphs else None,
            ResegmentConfig(**options_of(ResegmentConfig, self)) if self.resegment else None,
        )

    def render(self, *, for_review: bool) -> RenderConfig:
        """Return how words are rendered.  for_review: on a page, which shows alternatives."""
        alternatives = self.alternatives
        if alternatives is None:
            alternatives = _REVIEW_ALTERNATIVES if for_review else 0
        return RenderConfig(not self.no_case, self.keep_case, self.keep_marks, alternatives, self.disfluencies)


@dataclass(frozen=True)
class StreamOptions(WordOptions):
    """The options of a stream.  By default a light model, as each word is waited for, and one thread for few words."""

    model: Annotated[str, _MODEL] = "base"
    threads: Annotated[int, "Processor threads."] = 1
    policy: Annotated[
        str,
        "When the mark after a word is decided: fixed (--lookahead words later), delay (the same, but each word is "
        "read only once; for models that were trained for it), entropy (as soon as the model is sure) or sentence "
        "(when its sentence has ended).",
    ] = "fixed"
    lookahead: Annotated[int, "Policies fixed and delay: decide when this many more words were heard."] = 4
    max_delay_ms: Annotated[int | None, "Print all that was heard when nothing follows for so many milliseconds."] = (
        None
    )
    decide: Annotated[
        str,
        "What the model is asked for: seq2seq (all marks of the last words) or classify (one mark at a time; for "
        "models trained with data.questions).",
    ] = "seq2seq"
    window: Annotated[int, "How many words the model reads at once; not with policy delay."] = 32
    l_min: Annotated[int, "Policy entropy: decide when this many more words were heard, at the earliest."] = 1
    l_max: Annotated[int, "Policy entropy: decide when this many more words were heard, at the latest."] = 6
    threshold: Annotated[
        str,
        "Policy entropy: decide as soon as the model is less unsure than this (its entropy, in bits); 0.2,0.4,...: one "
        "limit for each further word that was heard.",
    ] = "0.5"
    every: Annotated[int, "Policy sentence: look for ends of sentences every time this many words were heard."] = 4
    after: Annotated[int, "Policy sentence: take an end for certain when this many words follow it."] = 4

    def stream(self) -> StreamConfig:
        """Return the policy of when slots are decided.  Raises ConfigError for values that do not agree."""
        from .streaming import StreamConfig

        try:
            thresholds = [float(number) for number in self.threshold.split(",")]
        except ValueError as error:
            mistake = f"threshold {self.threshold!r}"
            raise ConfigError(mistake, expected="a number, or several with commas", fix="use 0.5") from error
        return StreamConfig(**options_of(StreamConfig, self), thresholds=thresholds)

    def render(self) -> RenderConfig:
        """Return how words are rendered."""
        return RenderConfig(case=not self.no_case, keep_marks=self.keep_marks, disfluencies=self.disfluencies)


def defaults_of(kind: type[Any]) -> dict[str, Any]:
    """Return the names of the fields of a dataclass, with their defaults."""
    return {option.name: option.default for option in fields(kind)}


def help_of(kind: type[Any]) -> dict[str, str]:
    """Return the help of each option of a class, by its name."""
    hints = get_type_hints(kind, include_extras=True)
    return {name: get_args(hints[name])[1] for name in defaults_of(kind)}


def options_of(config: type[Any], options: ModelOptions) -> dict[str, Any]:
    """Return those options, by their names, that `config`, a dataclass, has fields for."""
    return {name: getattr(options, name) for name in defaults_of(config) if name in defaults_of(type(options))}


def parse_mark_odds(text: str) -> dict[str, float]:
    """Parse odds of marks, such as `,=4 .=1.5`.  Raises ConfigError for anything else."""
    pieces = text.split()
    try:
        odds = {piece[0]: float(piece[1:].removeprefix("=")) for piece in pieces if piece[1:2] == "="}
    except ValueError:
        odds = {}
    expected = 'a number for each mark, such as ",=4 .=1.5"'
    check(len(odds) == len(pieces), f"mark odds {text!r}", expected=expected, fix="check --mark-odds")
    return odds


Values = Mapping[str, Any]


def _writes(values: Values, *formats: str | None) -> bool:
    """Return whether one of these formats is written, by an option or by the output's name; None: the input's."""
    from .transcripts.writers import format_named_by

    return ("json" if values["json"] else values["to"] or format_named_by(values.get("output"))) in formats


_WINDOWED = "--policy fixed, entropy or sentence"  # with a delay no window is read, and the tagger decides
_NEW_CUES = "max_chars max_lines max_duration_ms min_duration_ms max_chars_per_second max_words_per_minute"
# names of options; what they need, as the error says it; a function of all options: whether they have it
NEEDS: tuple[tuple[str, str, Callable[[Values], object]], ...] = (
    ("beams min_alignment", "--decoder generate", lambda opts: opts["decoder"] == "generate"),
    ("window", _WINDOWED, lambda opts: opts.get("policy") != "delay"),
    ("mark_odds", "--decoder slots or tagger", lambda opts: opts["decoder"] != "generate"),
    # the tagger writes one mark after a word
    ("max_marks", "--decoder slots or generate", lambda opts: opts["decoder"] != "tagger" or opts["max_marks"] <= 1),
    ("max_marks", _WINDOWED, lambda opts: opts.get("policy") != "delay" or opts["max_marks"] <= 1),
    ("decoder", _WINDOWED, lambda opts: opts.get("policy") != "delay" or opts["decoder"] != "slots"),
    ("alternatives", "--json, --html or --to html", lambda opts: opts.get("html") or _writes(opts, "json", "html")),
    (
        "paragraphs paragraph_pause_ms",
        "--to text, --to html or --html",
        lambda opts: opts.get("html") or _writes(opts, None, "text", "html"),
    ),
    ("resegment", "--to srt, vtt or ass", lambda opts: _writes(opts, "srt", "vtt", "ass")),
    (_NEW_CUES, "--resegment", lambda opts: opts["resegment"]),
    ("keep_case", "capitals (no --no-case)", lambda opts: not opts["no_case"]),
    ("overwrite ray", "--output-dir", lambda opts: opts["output_dir"]),
    ("ray_workers", "ray=ADDRESS", lambda opts: opts["ray"]),
    ("lookahead", "--policy fixed or delay", lambda opts: opts["policy"] in ("fixed", "delay")),
    ("l_min l_max threshold", "--policy entropy", lambda opts: opts["policy"] == "entropy"),
    ("every after", "--policy sentence", lambda opts: opts["policy"] == "sentence"),
    ("provisional", "--json", lambda opts: opts.get("json", True)),  # a service sends json alone
    ("private", "--push-to-hub", lambda opts: opts["push_to_hub"]),
)


def check_needs(typed: Mapping[str, str], values: Values) -> None:
    """Raise ConfigError for an option that does nothing, as it needs another one.

    typed: the options that the user typed, as names and as they were written: only these are checked, not defaults.
    values: of all options.
    """
    for names, needed, is_met in NEEDS:
        for name in names.split():
            if name in typed:
                mistake = f"{typed[name]}, which does nothing here"
                fix = f"add that, or drop {typed[name]}"
                check(is_met(values), mistake, expected=f"{needed} with it", fix=fix)
