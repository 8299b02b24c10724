"""Tables of texts: the same columns, and one more with marks and capitals.

In: a batch as frameworks hand it over: a dict of columns (Ray Data, `datasets`) or a pandas frame (Spark).  Out: the
same, with a column `punctuated`.  Neither Ray, Spark nor pandas is imported.

>>> punctuate = BatchPunctuator()
>>> punctuate({"id": [7], "text": ["how are you today"]})  # doctest: +SKIP
{'id': [7], 'text': ['how are you today'], 'punctuated': ['How are you today?']}
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..errors import InputError
from ..punctuator import Punctuator, PunctuatorConfig

_Batch = TypeVar("_Batch")
_LOADING = threading.Lock()  # threads that share an instance share its model


@dataclass
class BatchPunctuator:
    """Punctuates a column of texts, each on its own; windows of several texts are decoded together.

    `model` and `config` are what `Punctuator.from_pretrained` takes.  The model is loaded at the first batch, once in
    each process, so an instance is small when it is sent to workers.
    """

    model: str | Path | None = None
    config: PunctuatorConfig | None = None
    style: str | None = field(default=None, kw_only=True)
    precision: str | None = field(default=None, kw_only=True)
    device: str | None = field(default=None, kw_only=True)
    revision: str | None = field(default=None, kw_only=True)
    column: str = field(default="text", kw_only=True)
    output_column: str = field(default="punctuated", kw_only=True)
    _loaded: Punctuator | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def punctuator(self) -> Punctuator:
        with _LOADING:
            if self._loaded is None:
                named = {name: getattr(self, name) for name in ("style", "precision", "device", "revision")}
                self._loaded = Punctuator.from_pretrained(self.model, self.config, **named)
            return self._loaded

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: the settings."""
        return {**self.__dict__, "_loaded": None}

    def __call__(self, batch: _Batch) -> _Batch:
        """The batch with one more column.  A missing text (None, NaN) stays missing.

        Raises InputError if there is no such column, and for a value that is no text.
        """
        columns: Any = batch
        is_frame = not isinstance(batch, Mapping)
        if is_frame and not hasattr(batch, "columns"):
            raise InputError(
                f"a batch of type {type(batch).__name__}",
                expected="a dict of columns or a pandas frame",
                fix="for one text use Punctuator.punctuate",
            )
        names = list(columns.columns if is_frame else columns)
        if self.column not in names:
            raise InputError(
                f"columns {', '.join(map(str, names))}", expected=f"one named {self.column}", fix="set column="
            )
        texts = columns[self.column]
        if isinstance(texts, str):  # whose letters would be the texts
            raise InputError(f"one text as column {self.column}", expected="a column of texts", fix="put it in a list")
        written = self.punctuator.iter_punctuate(text for text in texts if not _is_missing(text))
        punctuated: Any = [text if _is_missing(text) else next(written) for text in texts]
        if is_frame:
            return columns.assign(**{self.output_column: punctuated})
        if not isinstance(texts, list):  # Ray Data has columns of numpy
            punctuated = np.array(punctuated, dtype=object)
        return {**columns, self.output_column: punctuated}  # type: ignore[return-value]

    def frames(self, frames: Iterable[_Batch]) -> Iterator[_Batch]:
        """Yield pandas frames one after the other, as Spark's `mapInPandas` wants them."""
        yield from map(self, frames)


def _is_missing(value: object) -> bool:
    """Return whether a value is that of an empty cell: None, NaN, or pandas' NA."""
    return value is None or (isinstance(value, float) and math.isnan(value)) or type(value).__name__ == "NAType"
