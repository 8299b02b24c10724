"""What a finished run scores, and what it gained over the model that it started from.

In: a run's folder and its settings.  Out: `FinalScores`, with a sentence for whatever could not be scored.

`final_scores(Path("runs/mine"), config)` scores `config.validation.file` with the run and with `config.init_from`.  How
many words are scored depends on how fast the models turn out to be, so that it ends in time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from ...decoding.inputs import DecodingConfig
from ...errors import T5PunctError
from ...evaluation.comparison import Comparison, compare_file
from ...evaluation.evaluate import Report, evaluate_file
from ...evaluation.references import count_words
from ...punctuator import Punctuator, PunctuatorConfig
from ..config import ReportConfig, TrainConfig

_TRIED_WORDS = 300  # of the text, to see how fast a model is; at least so many are scored


@dataclass(frozen=True)
class FinalScores:
    """The scores of a run's model, if there is a text to score; those of both if it started from another."""

    scores: Report | None = None
    comparison: Comparison | None = None
    notes: tuple[str, ...] = ()  # what could not be scored, and why


def final_scores(run: Path, config: TrainConfig, on_progress: Callable[[int, int], None] | None = None) -> FinalScores:
    """Score a run.  `on_progress` is called with how many words are decided, and of how many.

    Raises InputError for a text that cannot be read, ModelError for a run without a model.
    """
    file, wanted = config.report.file or config.validation.file, config.report
    if file is None or not wanted.max_words:
        why = "no validation text was named" if file is None else "report.max_words is 0"
        return FinalScores(notes=(f"There are no scores: {why}. `t5punct report {run} file=TEXT` adds them.",))
    ours, notes = _punctuator(str(run), config), list[str]()
    theirs, note = _start(config)
    notes += [note] if note else []
    systems = [system for system in (theirs, ours) if system is not None]
    n_words, n_there = _affordable(file, systems, wanted), count_words(file, wanted.max_words) or wanted.max_words
    if n_words < n_there:
        notes.append(f"At most {n_words:,} words are scored, to end in {wanted.max_seconds} s (`report.max_seconds`).")

    def tell(done: int) -> None:
        if on_progress is not None:
            on_progress(done, len(systems) * min(n_words, n_there))

    if theirs is None:
        return FinalScores(evaluate_file(file, ours, max_words=n_words, on_progress=tell), None, tuple(notes))
    comparison = compare_file(file, theirs, ours, max_words=n_words, on_progress=tell)
    return FinalScores(comparison.second, comparison, tuple(notes))


def _start(config: TrainConfig) -> tuple[Punctuator | None, str]:
    """The model that the run is compared with; None, and why, where there is none."""
    source = config.report.against or config.init_from
    if source is None:
        return None, "The run began with random weights: there is no starting model to compare with."
    try:
        return _punctuator(source, config), ""
    except T5PunctError as error:
        what = "model" if config.report.against else "starting model"
        return None, f"The {what} {source} cannot be compared: {error}."


def _punctuator(source: str, config: TrainConfig) -> Punctuator:
    """A model with the windows of the validation, and the decoder that was trained."""
    chosen = PunctuatorConfig.of_preset(config.validation.preset)
    return Punctuator.from_pretrained(source, replace(chosen, decoding=DecodingConfig(config.loss.decoder)))


def _affordable(file: str, systems: list[Punctuator], wanted: ReportConfig) -> int:
    """How many words can be scored in time, after a trial of each model."""
    if wanted.max_words <= _TRIED_WORDS:
        return wanted.max_words
    tried = [evaluate_file(file, system, max_words=_TRIED_WORDS) for system in systems]
    seconds_per_word = sum(report.seconds / max(1, report.scores.words) for report in tried)
    return max(_TRIED_WORDS, min(wanted.max_words, int(wanted.max_seconds / seconds_per_word)))
