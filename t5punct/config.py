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
_Layer = tuple[Any, str]  # settings as plain values, and where they stand: ` in FILE`, or nothing for overrides
_MOST_LISTED = 25  # settings that an error names: all of them, or those nearest to an unknown one
_KINDS: dict[Any, str] = {  # what a value may be, as people say it
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "text",
    list: "a list, e.g. [1,2]",
    dict: "a mapping, e.g. {a: 1}",
    type(None): "null",
}


def load(
    schema: type[T],
    path: str | Path | None = None,
    overrides: Sequence[str] = (),
    current: Mapping[str, Any] | None = None,
) -> T:
    """Merge a dataclass's defaults, `current` values, a YAML file and `key.path=value` overrides, in that order.

    `base: FILE` in a YAML file, relative to it, names another one that comes before it, and may have a base as well.
    Mappings are merged key by key; an explicit `{}` empties one.  Lists replace each other.
    Raises ConfigError for an unknown key (with the file and the nearest valid keys), for a value of the wrong type, and
    for bases in a circle.
    """
    layers: list[_Layer] = [(current or {}, "")]
    if path is not None:
        layers += _read_file(Path(path))
    return _build(schema, layers + [(_read_override(override), "") for override in overrides])


def load_plain(schema: type[T], path: str | Path) -> T:
    """Load a file that others made, as `load` does: one that came with a model may not read this machine's environment.

    Raises ConfigError for `${...}` anywhere in it, and as `load` does.
    """
    values = _read_yaml(Path(path), may_resolve=False)
    if "${" in str(values):
        raise ConfigError(f"${{...}} in {path}", expected="plain values", fix="write the value itself")
    return _build(schema, [(values, f" in {path}")])


def as_yaml(config: Any) -> str:
    """Return a resolved config as YAML, which `load` reads."""
    from omegaconf import OmegaConf

    return str(OmegaConf.to_yaml(OmegaConf.create(dataclasses.asdict(config))))


def save(config: Any, path: str | Path) -> None:
    """Write a resolved config as YAML."""
    Path(path).write_text(as_yaml(config), encoding="utf-8")


def check(is_possible: object, found: str, *, expected: str, fix: str, kind: type[T5PunctError] = ConfigError) -> None:
    """Raise an error for what is not possible, or not together: settings, or of another kind an input or a model."""
    if not is_possible:
        raise kind(found, expected=expected, fix=fix)


def check_range(
    config: Any, section: str, least: float, *names: str, most: float = math.inf, below: float = math.inf
) -> None:
    """Raise ConfigError for the first of these settings that is out of a range, or no number; null passes.

    The range begins with `least`, and ends with `most`, before `below`, or never.
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
    """Raise ConfigError for a setting that is none of these; null passes."""
    value = getattr(config, name)
    is_one = value is None or value in choices
    expected = f"one of {', '.join(choices)}"
    check(is_one, f"{section}{name} {value!r}", expected=expected, fix=f"check {section}{name}")


def valid_keys(schema: Any, prefix: str = "") -> list[str]:
    """Return the dotted names of all settings of a config dataclass."""
    keys = list[str]()
    for name, hint in typing.get_type_hints(schema).items():
        sections = [kind for kind in (hint, *typing.get_args(hint)) if dataclasses.is_dataclass(kind)]
        keys += valid_keys(sections[0], f"{prefix}{name}.") if sections else [prefix + name]
    return keys


def nearest_keys(key: str, schema: Any) -> list[str]:
    """Return the five settings and sections most like an unknown one: by their dotted names, or by the last part."""

    def likeness(valid: str) -> float:
        pairs = [(valid, key), (valid.rpartition(".")[2], key.rpartition(".")[2])]
        return max(difflib.SequenceMatcher(None, *pair).ratio() for pair in pairs)

    valid = valid_keys(schema)
    sections = dict.fromkeys(key.rpartition(".")[0] for key in valid if "." in key)  # of `optm.lr`, `optm` is unknown
    return sorted([*valid, *sections], key=likeness, reverse=True)[:5]


def _read_file(path: Path, derived: tuple[Path, ...] = ()) -> list[_Layer]:
    """Return a YAML file and the bases below it, the lowest first; `derived` are the files that lead to it."""
    if path.resolve() in [file.resolve() for file in derived]:
        circle = " -> ".join(map(str, [*derived, path]))
        raise ConfigError(f"bases in a circle: {circle}", expected="an end", fix="drop one of their `base:` lines")
    values = _read_yaml(path, f", the base of {derived[-1]}" if derived else "")
    if not isinstance(values, dict) or "base" not in values:
        return [(values, f" in {path}")]
    base = values.pop("base")
    expected = "the name of a YAML file"
    check(isinstance(base, str), f"base {base} in {path}", expected=expected, fix="name one, or drop it")
    return [*_read_file(path.parent / base, (*derived, path)), (values, f" in {path}")]


def _read_yaml(path: Path, role: str = "", *, may_resolve: bool = True) -> Any:
    from omegaconf import OmegaConf

    check(path.is_file(), f"no config file {path}{role}", expected="a YAML file", fix="see configs/ for examples")
    try:
        return OmegaConf.to_container(OmegaConf.load(path), resolve=may_resolve)
    except Exception as error:  # the YAML reader's own errors have no common base
        raise InputError(f"{path} is not YAML ({error})", expected="key: value lines", fix="fix the file") from error


def _read_override(text: str) -> Any:
    from omegaconf import OmegaConf

    key, sign, value = text.removeprefix("--").partition("=")
    # signs alone, as in `task.marks=,.?!`, are no YAML, but for null, brackets and quotes
    if not any(char.isalnum() or char in "[]{}'\"" for char in value) and value.strip() not in ("", "~"):
        value = f"'{value}'"
    expected, fix = "key=value", "write e.g. optim.lr=1e-3"
    check(sign, f"override {text!r}", expected=expected, fix=fix)
    try:
        return OmegaConf.to_container(OmegaConf.from_dotlist([f"{key}={value}"]), resolve=True)
    except Exception as error:  # as above
        raise ConfigError(f"override {text!r} ({error})", expected=expected, fix=fix) from error


def _build(schema: type[T], layers: Sequence[_Layer]) -> T:
    """Return a dataclass from the layers of its settings, the lowest first."""
    from omegaconf import OmegaConf
    from omegaconf.errors import ConfigKeyError, OmegaConfBaseException

    merged = OmegaConf.structured(schema)
    for values, place in layers:
        try:
            merged = OmegaConf.merge(merged, {} if values is None else values)
        except ConfigKeyError as unknown:
            raise _unknown_setting(str(unknown.full_key), schema, place) from unknown
        except (OmegaConfBaseException, TypeError) as refusal:
            raise _refused_value(refusal, values, place) from refusal
        _empty(merged, values)
    return cast(T, OmegaConf.to_object(merged))


def _empty(merged: Any, values: Any) -> None:
    """Empty the mappings that plain values have as `{}`, which OmegaConf merges; not sections, and not in lists."""
    from omegaconf import OmegaConf, read_write

    for name, value in values.items() if isinstance(values, dict) else ():
        if value == {} and OmegaConf.get_type(merged, name) is dict:
            with read_write(merged):
                merged[name] = {}
        elif isinstance(value, dict):
            _empty(merged[name], value)


def _unknown_setting(key: str, schema: Any, place: str) -> ConfigError:
    valid, nearest = valid_keys(schema), nearest_keys(key, schema)
    found, fix = f"unknown setting {key!r}{place}", f"check the spelling: is it {nearest[0]}?"
    if len(valid) <= _MOST_LISTED:
        return ConfigError(found, expected=f"one of {', '.join(valid)}", fix=fix)
    return ConfigError(found, expected=f"one like {', '.join(nearest)}", fix=f"{fix} (docs/settings.md lists all)")


def _refused_value(refusal: Any, values: Any, place: str) -> ConfigError:
    section = getattr(refusal, "object_type", None)
    if section is None:  # of a section that is no mapping, OmegaConf does not say where it is
        expected = "a mapping for each section, e.g. {a: 1}, and a list for each list, e.g. [1,2]"
        return ConfigError(f"settings{place}: {values}", expected=expected, fix="fix it")
    if dataclasses.is_dataclass(section):
        hint = typing.get_type_hints(section)[refusal.key]
    else:
        hint = typing.get_args(refusal.ref_type)[-1]
    kinds = typing.get_args(hint) if type(None) in typing.get_args(hint) else [hint]
    plain = [dict if dataclasses.is_dataclass(kind) else typing.get_origin(kind) or kind for kind in kinds]
    expected = " or ".join(_KINDS[kind] for kind in plain)
    return ConfigError(f"setting {refusal.full_key!r}{place}: {refusal.value}", expected=expected, fix="fix it")
