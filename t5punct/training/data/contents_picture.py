"""The preparation report as a picture, where matplotlib (the extra `report`) is installed.

In: a `PrepareReport`.  Out: a file such as `report.png`: labels, lengths of documents and of chunks.

`draw_report(report, Path("report.png"))` is False, and draws nothing, without matplotlib.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from ...evaluation.plots import save
from .contents import PrepareReport

_BARS = 10  # labels, at most


def draw_report(report: PrepareReport, path: Path) -> bool:
    """Draw the report; False without matplotlib."""
    if find_spec("matplotlib") is None:
        return False
    from matplotlib.figure import Figure

    content = report.content
    figure = Figure(figsize=(12, 3.8))
    labels, documents, chunks = figure.subplots(1, 3)
    marked = [label for label in content.labels if label.name][:_BARS]
    labels.bar(
        [f" {label.name} " for label in marked], [1000 * label.count / max(1, content.n_words) for label in marked]
    )
    labels.set(title="labels of 1,000 words", xlabel="label")
    lengths = [[max(1, words) for words in corpus.lengths] for corpus in report.corpora if corpus.lengths]
    if lengths:
        documents.hist(lengths, bins=[2.0**power for power in range(0, 20)], stacked=True)
    documents.set(title="documents, by corpus", xlabel="words of a document", xscale="log")
    chunks.bar([length.name for length in content.lengths], [length.count for length in content.lengths])
    chunks.set(title="chunks", xlabel="words of a chunk")
    chunks.tick_params(axis="x", labelrotation=30)
    save(figure, path)
    return True
