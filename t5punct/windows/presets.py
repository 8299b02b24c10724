"""Named decoding strategies, each a plain set of values.

In: a name, or a YAML file of values.  Out: a `Preset`.  Every published strategy is a point in one space (Minixhofer
2021, section 3): window, stride, masks, combination.

>>> load_preset("realtime-2").windows
WindowConfig(window=32, stride=1, mask_left=29, mask_right=2, overlap=1, lead_in=29)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from .. import config as settings
from ..errors import ConfigError
from .combine import CombineConfig
from .plan import WindowConfig


@dataclass(frozen=True)
class Preset:
    """How a document is cut into windows, and how the windows' votes are combined."""

    windows: WindowConfig = field(default_factory=WindowConfig)
    combine: CombineConfig = field(default_factory=CombineConfig)


DEFAULT_PRESET = "double-overlap"
PRESET_SUFFIXES = (".yaml", ".yml")  # of files that hold one
_WORDS = 64  # w; the papers fill BERT's 512 tokens, which is too long for us
_DEFAULT_WORDS = 96  # more words read twice with less, no gain in F1 or speed with more (docs/results/speed.md)
_STREAM_WORDS = 32


PRESETS: Mapping[str, Preset] = {
    # the baseline: windows side by side
    "side-by-side": Preset(WindowConfig(_WORDS)),
    # Chen 2021: windows overlap by their masks, one vote a slot
    "double-overlap": Preset(WindowConfig(_DEFAULT_WORDS, mask_left=12, mask_right=8)),
    # Nguyen 2019: chunks of 30 words that overlap by 15, of which the earlier chunk loses its last 10
    "overlapped-chunk": Preset(WindowConfig(30, stride=15, mask_left=5, mask_right=10)),
    # Cho 2012: a mark is set when more than half of the windows set it
    "vote": Preset(WindowConfig(_WORDS, overlap=4), CombineConfig("vote", threshold=0.5)),
}
FAMILIES = {  # presets named FAMILY-NUMBER, with the numbers that a listing shows
    "mask-combine": (2, 4),
    "unmasked": (2, 4),
    "multi-prediction": (4, 8),
    "realtime": (0, 4),
}


def list_presets() -> dict[str, Preset]:
    """Return all presets with a fixed name, and each family with its usual numbers."""
    names = [f"{family}-{n}" for family, numbers in FAMILIES.items() for n in numbers]
    return {name: load_preset(name) for name in (*PRESETS, *names)}


def load_preset(name: str) -> Preset:
    """Return a preset by name, or from a YAML file such as `t5punct presets NAME` prints.

    Raises ConfigError for an unknown name, or values that do not fit.
    """
    if name in PRESETS:
        return PRESETS[name]
    if name.endswith(PRESET_SUFFIXES):
        return settings.load(Preset, name)
    match = re.fullmatch(r"(.+)-(\d{1,4})", name)
    family, n = (match[1], int(match[2])) if match else (name, 0)
    if match and family == "mask-combine":  # Minixhofer 2021: n votes a slot, mean of the distributions
        return Preset(WindowConfig(_WORDS, mask_left=12, mask_right=8, overlap=n))
    if match and family in ("unmasked", "multi-prediction"):  # the same without masks
        windows = WindowConfig(_WORDS, overlap=n)
        if family == "multi-prediction":  # Courtland 2020, Nagy 2021: n votes at the document's beginning too
            windows = replace(windows, lead_in=_WORDS - windows.stride_words)
        return Preset(windows)
    if match and family == "realtime":
        # Minixhofer 2021: one window for each new word decides one slot, with exactly n words of right context
        n_before = _STREAM_WORDS - n - 1
        return Preset(WindowConfig(_STREAM_WORDS, stride=1, mask_left=n_before, mask_right=n, lead_in=n_before))
    names = [*PRESETS, *(f"{family}-NUMBER" for family in FAMILIES), "a YAML file"]
    raise ConfigError(f"preset {name!r}", expected=f"one of {', '.join(names)}", fix="see `t5punct presets`")
