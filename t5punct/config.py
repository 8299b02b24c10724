"""Settings: defaults < base < YAML file < dotted overrides, into typed frozen dataclasses.

In: a config dataclass, a YAML file, words such as `optim.lr=1e-3`.  Out: an instance of the dataclass.

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True)
... class Demo:
...     size: int = 1
>>> load(Demo, overrides=["size=3"])
Demo(size=3)
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from .errors import ConfigError, InputError, T5PunctError

T = TypeVar("T")
_Layer = tuple[Any, str]  # plain values, and ` in FILE` for error messages; nothing for overrides
_MOST_LISTED = 25  # of up to so many settings, an error lists all, else those most like the unknown one
_TYPE_NAMES: dict[Any, str] = {
    int: "a whole number", float: "a number", bool: "true or false", str: "text", list: "a list, e.g. [1,2]",
    dict: "a mapping, e.g. {a: 1}", type(None): "null",
}  # fmt: skip


def load(
    schema: type[T],
    path: str | Path | None = None,
    overrides: Sequence[str] = (),
    current: Mapping[str, Any] | None = None,
) -> T:
    """Merge a dataclass's defaults, `current` values, a YAML file and `key.path=value` overrides, in that order.

    Later values win.  A YAML file may name a base, `base: FILE` relative to itself, whose settings come before its own.
    Mappings are merged key by key; an explicit `{}` empties one.  A list replaces a list.
    Raises ConfigError for an unknown key, a value of the wrong type, or bases in a circle.
    """
    layers: list[_Layer] = [(current or {}, "")]
    if path is not None:
        layers += _read_with_bases(Path(path))
    return _build(schema, layers + [(_read_override(override), "") for override in overrides])


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


def check_range(
    config: Any, section: str, least: float, *names: str, most: float = math.inf, below: float = math.inf
) -> None:
    """Raise ConfigError unless each of these settings is null, or a number in a range.

    The range is `least` or more, `least` to `most`, or `least` to below `below`.  section: e.g. `optim.`, for errors.
    """
    expected = f"{least} or more"
    if most < math.inf:
        expected = f"{least} to {most}"
    elif below < math.inf:
        expected = f"{least} to below {below}"
    for name in names:
        value = getattr(config, name)
        is_inside = isinstance(value, int | float) and least <= value <= most and value < below
        check(value is None or is_inside, f"{section}{name} {value}", expected=expected, fix=f"set {section}{name}")


def check_choice(config: Any, section: str, name: str, choices: Sequence[str]) -> None:
    """Raise ConfigError unless a setting is null, or one of some choices."""
    value, setting = getattr(config, name), section + name
    expected = f"one of {', '.join(choices)}"
    check(value is None or value in choices, f"{setting} {value!r}", expected=expected, fix=f"check {setting}")


def valid_keys(schema: Any, prefix: str = "") -> list[str]:
    """Return the dotted names of all settings of a config dataclass."""
    keys = list[str]()
    for name, hint in typing.get_type_hints(schema).items():
        # a section's type may stand inside another, as in `Section | None` or `list[Section]`
        sections = [kind for kind in (hint, *typing.get_args(hint)) if dataclasses.is_dataclass(kind)]
        keys += valid_keys(sections[0], f"{prefix}{name}.") if sections else [prefix + name]
    return keys


def nearest_keys(key: str, schema: Any) -> list[str]:
    """Return the five settings and sections most like an unknown one, in their dotted names or their last parts."""

    def likeness(valid: str) -> float:
        pairs = [(valid, key), (valid.rpartition(".")[2], key.rpartition(".")[2])]
        return max(difflib.SequenceMatcher(None, *pair).ratio() for pair in pairs)

    valid = valid_keys(schema)
    sections = dict.fromkeys(key.rpartition(".")[0] for key in valid if "." in key)  # `optm` of `optm.lr`
    return sorted([*valid, *sections], key=likeness, reverse=True)[:5]


def _read_with_bases(path: Path, files_above: tuple[Path, ...] = ()) -> list[_Layer]:
    """Return the settings of a YAML file's bases, the lowest first, then its own.  files_above: have it as a base."""
    if path.resolve() in [file.resolve() for file in files_above]:
        circle = " -> ".join(map(str, [*files_above, path]))
        raise ConfigError(f"bases in a circle: {circle}", expected="an end", fix="drop one of their `base:` lines")
    values = _read_yaml(path, f", the base of {files_above[-1]}" if files_above else "")
    if not isinstance(values, dict) or "base" not in values:
        return [(values, f" in {path}")]
    base = values.pop("base")
    mistake = f"base {base} in {path}"
    check(isinstance(base, str), mistake, expected="the name of a YAML file", fix="name one, or drop it")
    return [*_read_with_bases(path.parent / base, (*files_above, path)), (values, f" in {path}")]


def _read_yaml(path: Path, role: str = "", *, may_resolve: bool = True) -> Any:
    from omegaconf import OmegaConf

    check(path.is_file(), f"no config file {path}{role}", expected="a YAML file", fix="see configs/ for examples")
    try:
        return OmegaConf.to_container(OmegaConf.load(path), resolve=may_resolve)
    except Exception as error:  # PyYAML's and OmegaConf's errors have no common class
        raise InputError(f"{path} is not YAML ({error})", expected="key: value lines", fix="fix the file") from error


def _read_override(text: str) -> Any:
    from omegaconf import OmegaConf

    key, sign, value = text.removeprefix("--").partition("=")
    # `task.marks=,.?!` is not YAML: a value of signs alone is quoted, unless it is null, a bracket or a quote
    if not any(char.isalnum() or char in "[]{}'\"" for char in value) and value.strip() not in ("", "~"):
        value = f"'{value}'"
    expected, fix = "key=value", "write e.g. optim.lr=1e-3"
    check(sign, f"override {text!r}", expected=expected, fix=fix)
    try:
        return OmegaConf.to_container(OmegaConf.from_dotlist([f"{key}={value}"]), resolve=True)
    except Exception as error:  # as above
        raise ConfigError(f"override {text!r} ({error})", expected=expected, fix=fix) from error


def _build(schema: type[T], layers: Sequence[_Layer]) -> T:
    from omegaconf import OmegaConf
    from omegaconf.errors import ConfigKeyError, OmegaConfBaseException

    merged = OmegaConf.structured(schema)
    for values, place in layers:
        try:
            merged = OmegaConf.merge(merged, {} if values is None else values)
        except ConfigKeyError as unknown:
            raise _unknown_setting_error(str(unknown.full_key), schema, place) from unknown
        except (OmegaConfBaseException, TypeError) as error:
            raise _wrong_type_error(error, values, place) from error
        _empty_mappings(merged, values)
    return cast(T, OmegaConf.to_object(merged))


def _empty_mappings(merged: Any, values: Any) -> None:
    """Empty the mappings that `values` have as `{}`, which OmegaConf merges; sections keep their settings."""
    from omegaconf import OmegaConf, read_write

    for name, value in values.items() if isinstance(values, dict) else ():
        if value == {} and OmegaConf.get_type(merged, name) is dict:
            with read_write(merged):
                merged[name] = {}
        elif isinstance(value, dict):
            _empty_mappings(merged[name], value)


def _unknown_setting_error(key: str, schema: Any, place: str) -> ConfigError:
    valid, nearest = valid_keys(schema), nearest_keys(key, schema)
    mistake, fix = f"unknown setting {key!r}{place}", f"check the spelling: is it {nearest[0]}?"
    if len(valid) <= _MOST_LISTED:
        return ConfigError(mistake, expected=f"one of {', '.join(valid)}", fix=fix)
    return ConfigError(mistake, expected=f"one like {', '.join(nearest)}", fix=f"{fix} (docs/settings.md lists all)")


def _wrong_type_error(error: Any, values: Any, place: str) -> ConfigError:
    parent = getattr(error, "object_type", None)  # the type of what holds the wrong value
    if parent is None:  # OmegaConf does not say which section is not a mapping
        expected = "a mapping for each section, e.g. {a: 1}, and a list for each list, e.g. [1,2]"
        return ConfigError(f"settings{place}: {values}", expected=expected, fix="fix it")
    is_section = dataclasses.is_dataclass(parent)
    hint = typing.get_type_hints(parent)[error.key] if is_section else typing.get_args(error.ref_type)[-1]
    types = typing.get_args(hint) if type(None) in typing.get_args(hint) else [hint]
    plain_types = [dict if dataclasses.is_dataclass(item) else typing.get_origin(item) or item for item in types]
    expected = " or ".join(_TYPE_NAMES[item] for item in plain_types)
    return ConfigError(f"setting {error.full_key!r}{place}: {error.value}", expected=expected, fix="fix it")
