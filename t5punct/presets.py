"""Named decoding strategies, each a plain set of values.

In: a name.  Out: a `Preset`, whose values can be copied and changed.

>>> preset("double-overlap").windows.stride_words
44
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .combine import CombineConfig
from .errors import ConfigError
from .windows import WindowConfig


@dataclass(frozen=True)
class Preset:
    """How a document is cut into windows, and how the windows' votes are combined."""

    windows: WindowConfig = field(default_factory=WindowConfig)
    combine: CombineConfig = field(default_factory=CombineConfig)


DEFAULT_PRESET = "double-overlap"

PRESETS: dict[str, Preset] = {
    # the baseline: windows side by side
    "none": Preset(WindowConfig(window=64)),
    # Chen 2021: windows overlap by their masks, one vote a slot
    "double-overlap": Preset(WindowConfig(window=64, mask_left=12, mask_right=8)),
    # Minixhofer 2021: n votes a slot, mean of the distributions
    "mask-combine-2": Preset(WindowConfig(window=64, mask_left=12, mask_right=8, overlap=2)),
    "mask-combine-4": Preset(WindowConfig(window=64, mask_left=12, mask_right=8, overlap=4)),
    # Cho 2012: a mark is set when more than half of the windows set it
    "vote": Preset(WindowConfig(window=64, overlap=4), CombineConfig("vote", threshold=0.5)),
}


def preset(name: str) -> Preset:
    """A preset by name.  Raises ConfigError for an unknown one."""
    if name not in PRESETS:
        raise ConfigError(f"preset {name!r}", expected=f"one of {', '.join(PRESETS)}", fix="check --preset")
    return PRESETS[name]
