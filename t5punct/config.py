"""Settings: defaults < base < YAML file < dotted overrides, into typed frozen dataclasses.

In: a config dataclass, a YAML file, words such as `optim.lr=1e-3`.  Out: an instance of the dataclass.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import typing
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from .errors import ConfigError, InputError, T5PunctError, first_line

T = TypeVar("T")
_Layer = tuple[Any, str]  # plain values, and ` in FILE` for error messages; nothing for overrides


def load(
    schema: type[T],
    path: str | Path | None = None,
    overrides: Sequence[str] = (),
    current: Mapping[str, Any] | None = None,
) -> T:
    """Merge a dataclass's defaults, `current` values, a YAML file and `key.path=value` overrides; later values win.

    A YAML file may name a base, `base: FILE` relative to itself, whose settings come before its own.  Mappings are
    merged key by key; an explicit `{}` empties one.  A list replaces a list.
    Raises ConfigError for an unknown key, a value of the wrong type, or bases in a circle.
    """
    layers = [] if path is None else _read_with_bases(Path(path))
    return _build(schema, [(current, ""), *layers, *((_read_override(override), "") for override in overrides)])


def load_plain(schema: type[T], path: str | Path) -> T:
    """Load a YAML file that others made, such as one that came with a model.  It may not name a base.

    Raises ConfigError as `load` does, and for `${...}`, which could read this machine's environment variables.
    """
    values = _read_yaml(Path(path), may_resolve=False)
    if "${" in str(values):
        raise ConfigError(f"${{...}} in {path}", expected="plain values", fix="write the value itself")
    return _build(schema, [(values, f" in {path}")])


def as_yaml(config: Any) -> str:
    """Return a config dataclass as YAML, which `load` reads."""
    from omegaconf import OmegaConf

    return str(OmegaConf.to_yaml(OmegaConf.create(dataclasses.asdict(config))))


def save(config: Any, path: str | Path) -> None:
    """Write a config dataclass as YAML."""
    Path(path).write_text(as_yaml(config), encoding="utf-8")


def check(is_possible: object, found: str, *, expected: str, fix: str, kind: type[T5PunctError] = ConfigError) -> None:
    """Raise an error of a `kind` unless a condition holds.  found: what is wrong."""
    if not is_possible:
        raise kind(found, expected=expected, fix=fix)


def check_range(config: Any, *names: str, least: float, most: float = math.inf, section: str = "") -> None:
    """Raise ConfigError unless each of these settings of `config` is null, or a number from `least` to `most`.

    section: of the config, such as `optim.`, for errors.
    """
    expected = f"{least} or more" if most == math.inf else f"{least} to {most}"
    for name in names:
        value = getattr(config, name)
        is_inside = isinstance(value, int | float) and least <= value <= most
        check(value is None or is_inside, f"{section}{name} {value}", expected=expected, fix=f"set {section}{name}")


def check_choice(config: Any, name: str, choices: Sequence[str], *, section: str = "") -> None:
    """Raise ConfigError unless a setting of `config` is null, or one of some choices; section: as in `check_range`."""
    value = getattr(config, name)
    mistake = f"{section}{name} {value!r}"
    expected = f"one of {', '.join(choices)}"
    check(value is None or value in choices, mistake, expected=expected, fix=f"check {section}{name}")


def valid_keys(schema: Any, prefix: str = "") -> list[str]:
    """Return the dotted names of all settings of a config dataclass."""
    keys = list[str]()
    for name, hint in typing.get_type_hints(schema).items():
        # a section's type may stand inside another, as in `Section | None` or `list[Section]`
        sections = [kind for kind in (hint, *typing.get_args(hint)) if dataclasses.is_dataclass(kind)]
        keys += valid_keys(sections[0], f"{prefix}{name}.") if sections else [prefix + name]
    return keys


def nearest_keys(key: str, keys: Iterable[str]) -> list[str]:
    """Return the five keys that are most like a mistyped one, the likest first.

    The last parts are compared as well, and the initials of the mistyped key with names: `lr` is a `learning_rate`.

    >>> nearest_keys("learning_rate", ["output", "optim.lr", "data.workers", "loss.share", "label", "seed"])[0]
    'optim.lr'
    """
    last = key.rpartition(".")[2]
    initials = "".join(word[:1] for word in last.split("_"))

    forms = [form for form in (last, initials) if len(form) > 1]

    def likeness(known_key: str) -> float:
        parts = known_key.split(".")
        if "." in key:  # else it may be the name of a section as well
            parts = parts[-1:]
        ratios = [_ratio(form, part) for form in forms for part in parts]
        return max(ratios, default=0.0) + _ratio(key, known_key)

    return sorted(keys, key=likeness, reverse=True)[:5]


def _ratio(first: str, second: str) -> float:
    return difflib.SequenceMatcher(None, first, second).ratio()


def _read_with_bases(path: Path, above: tuple[Path, ...] = ()) -> list[_Layer]:
    """Return the settings of a YAML file's bases, the lowest first, then its own.  above: the files that name it."""
    values = _read_yaml(path)
    base = values.pop("base", None) if isinstance(values, dict) else None
    layer = (values, f" in {path}")
    if base is None:
        return [layer]
    base_path = path.parent / str(base)
    above = (*above, path.resolve())
    is_new = base_path.resolve() not in above
    check(is_new, f"base {base} in {path}, a circle", expected="another file", fix="drop one of their `base:` lines")
    return [*_read_with_bases(base_path, above), layer]


def _read_yaml(path: Path, *, may_resolve: bool = True) -> Any:
    from omegaconf import OmegaConf

    check(path.is_file(), f"no config file {path}", expected="a YAML file", fix="see configs/ for examples")
    try:
        return OmegaConf.to_container(OmegaConf.load(path), resolve=may_resolve)
    except Exception as error:  # PyYAML's and OmegaConf's errors have no common class
        raise InputError(f"{path} is not YAML ({error})", expected="key: value lines", fix="fix the file") from error


def _read_override(text: str) -> Any:
    """Return the settings of `optim.lr=1e-3`, nested: {"optim": {"lr": 0.001}}."""
    from omegaconf import OmegaConf

    key, sign, value = text.partition("=")
    expected = "key=value"
    fix = "write e.g. optim.lr=1e-3"
    check(sign, f"override {text!r}", expected=expected, fix=fix)
    are_signs = value.strip() and not any(char.isalnum() for char in value)
    is_yaml = value.strip() == "~" or any(char in "[]{}'\"" for char in value)  # null, a list, a dict, in quotes
    if are_signs and not is_yaml:  # `task.marks=,.?!`
        value = f"'{value}'"
    try:
        return OmegaConf.to_container(OmegaConf.from_dotlist([f"{key}={value}"]), resolve=True)
    except Exception as error:  # PyYAML's and OmegaConf's errors have no common class
        raise ConfigError(f"override {text!r} ({error})", expected=expected, fix=fix) from error


def _build(schema: type[T], layers: Sequence[_Layer]) -> T:
    """Merge settings into a schema's defaults, and return an instance of it."""
    from omegaconf import OmegaConf
    from omegaconf.errors import ConfigKeyError, OmegaConfBaseException

    merged = OmegaConf.structured(schema)
    for values, place in layers:
        _check_lists(merged, values, place)
        try:
            merged = OmegaConf.merge(merged, {} if values is None else values)
        except ConfigKeyError as error:
            mistake = f"unknown setting {str(error.full_key)!r}{place}"
            expected = f"one like {', '.join(nearest_keys(str(error.full_key), valid_keys(schema)))}"
            raise ConfigError(mistake, expected=expected, fix="see --help or docs/settings.md") from error
        except (OmegaConfBaseException, TypeError) as error:
            key = getattr(error, "full_key", None)  # not of a section that is no mapping
            name = f"setting {key!r}" if key else "settings"
            mistake = f"{name}{place}: {first_line(error)}"
            raise ConfigError(mistake, expected="another type", fix="correct it") from error
        _empty_mappings(merged, values)  # which `merge` does not do
    return cast(T, OmegaConf.to_object(merged))


def _check_lists(merged: Any, values: Any, place: str, prefix: str = "") -> None:
    """Raise ConfigError if `values` sets keys of a list, as `corpora.column=Text` does: a list is set as a whole."""
    from omegaconf import OmegaConf

    for name, value in values.items() if isinstance(values, dict) else ():
        key = f"{prefix}{name}"
        section = merged.get(name) if name in merged else None
        if OmegaConf.is_dict(section):
            _check_lists(section, value, place, f"{key}.")
        elif OmegaConf.is_list(section) and isinstance(value, dict):
            members = ", ".join(f"{inner}: {each}" for inner, each in value.items())
            fix = f"write '{key}=[{{{members}, ..}}]'"
            raise ConfigError(f"keys of {key}{place}", expected="a list, which is set as a whole", fix=fix)


def _empty_mappings(merged: Any, values: Any) -> None:
    """Empty the mappings that `values` sets to `{}`, such as `styles: {}`: OmegaConf merges, and so keeps the default.

    merged: settings into which `values` were merged.  A section that is set to `{}`, such as `optim`, keeps its own.
    """
    from omegaconf import OmegaConf, read_write

    if not isinstance(values, dict):
        return
    for name, value in values.items():
        if value == {} and OmegaConf.get_type(merged, name) is dict:  # a section has the type of its dataclass
            with read_write(merged):
                merged[name] = {}
        elif isinstance(value, dict):
            _empty_mappings(merged[name], value)
