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
import re
import types
import typing
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar, cast

from .errors import ConfigError, InputError, T5PunctError

T = TypeVar("T")
_Layer = tuple[Any, str]  # settings as plain values, and where they stand: ` in FILE`, or nothing for overrides
_MOST_LISTED, _NEAREST = 25, 5  # settings that an error names: all of them, or those nearest to an unknown one
_KINDS: dict[Any, str] = {  # what a value may be, as people say it
    **{int: "a whole number", float: "a number", bool: "true or false", str: "text"},
    **{list: "a list, e.g. [1,2]", dict: "a mapping, e.g. {a: 1}", type(None): "null"},
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
    layers = [(dict(current or {}), ""), *([] if path is None else _read_file(Path(path)))]
    layers += [(_read_override(override), "") for override in overrides]
    return cast(T, _built(schema, schema, "", layers))


def load_plain(schema: type[T], path: str | Path) -> T:
    """Load a file that others made, as `load` does: one that came with a model may not read this machine's environment.

    Raises ConfigError for `${...}` anywhere in it, and as `load` does.
    """
    values = _read_yaml(Path(path), may_resolve=False)
    if "${" in str(values):
        raise ConfigError(f"${{...}} in {path}", expected="plain values", fix="write the value itself")
    return cast(T, _built(schema, schema, "", [(values, f" in {path}")]))


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
    config: Any, section: str, least: float, *names: str, most: float | None = None, below: float | None = None
) -> None:
    """Raise ConfigError for the first of these settings that is out of a range, or no number; null passes.

    The range begins with `least`, and ends with `most`, before `below`, or never.
    """
    end = f" to {most}" if most is not None else f" to below {below}" if below is not None else " or more"
    for name in names:
        value = getattr(config, name)
        is_inside = value is None or (
            isinstance(value, int | float)
            and value >= least
            and (most is None or value <= most)
            and (below is None or value < below)
        )
        check(is_inside, f"{section}{name} {value}", expected=f"{least}{end}", fix=f"set {section}{name}")


def check_choice(config: Any, section: str, name: str, choices: Sequence[str]) -> None:
    """Raise ConfigError for a setting that is none of these; null passes."""
    value = getattr(config, name)
    if value is not None and value not in choices:
        raise ConfigError(
            f"{section}{name} {value!r}", expected=f"one of {', '.join(choices)}", fix=f"check {section}{name}"
        )


def valid_keys(schema: Any, prefix: str = "") -> list[str]:
    """Return the dotted names of all settings of a config dataclass."""
    keys = list[str]()
    for name, hint in typing.get_type_hints(schema).items():
        held_schemas = [kind for kind in (hint, *typing.get_args(hint)) if dataclasses.is_dataclass(kind)]
        keys += valid_keys(held_schemas[0], f"{prefix}{name}.") if held_schemas else [prefix + name]
    return keys


def nearest_keys(key: str, schema: Any) -> list[str]:
    """Return settings and sections, those most like an unknown one first: `optim.lr` for `lr`, as its last part is."""
    key = re.sub(r"\[\d+\]", "", key)  # `corpora[0]`

    def likeness(valid: str) -> float:
        pairs = (valid, key), (valid.rpartition(".")[2], key.rpartition(".")[2])
        return max(difflib.SequenceMatcher(None, *pair).ratio() for pair in pairs)

    valid = valid_keys(schema)
    sections = dict.fromkeys(key.rpartition(".")[0] for key in valid if "." in key)  # of `optm.lr`, `optm` is unknown
    return sorted([*valid, *sections], key=likeness, reverse=True)


def _read_file(path: Path, derived: tuple[Path, ...] = ()) -> list[_Layer]:
    """Return a YAML file and the bases below it, the lowest first; `derived` are the files that lead to it."""
    if path.resolve() in [file.resolve() for file in derived]:
        circle = " -> ".join(map(str, [*derived, path]))
        raise ConfigError(f"bases in a circle: {circle}", expected="an end", fix="drop one of their `base:` lines")
    values = _read_yaml(path, f", the base of {derived[-1]}" if derived else "")
    if not isinstance(values, dict) or "base" not in values:
        return [(values, f" in {path}")]
    base = values.pop("base")
    if not isinstance(base, str):
        raise ConfigError(f"base {base} in {path}", expected="the name of a YAML file", fix="name one, or drop it")
    return [*_read_file(path.parent / base, (*derived, path)), (values, f" in {path}")]


def _read_yaml(path: Path, role: str = "", *, may_resolve: bool = True) -> Any:
    from omegaconf import OmegaConf

    if not path.is_file():
        raise ConfigError(f"no config file {path}{role}", expected="a YAML file", fix="see configs/ for examples")
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
    try:
        if sign:
            return OmegaConf.to_container(OmegaConf.from_dotlist([f"{key}={value}"]), resolve=True)
        reason = ""
    except Exception as error:  # as above
        reason = f" ({error})"
    raise ConfigError(f"override {text!r}{reason}", expected="key=value", fix="write e.g. optim.lr=1e-3")


def _built(schema: Any, hint: Any, key: str, layers: Sequence[_Layer], default: Any = dict) -> Any:
    """Return the value of a setting, of the type `hint`, from its layers, the lowest first.

    `default`: makes the mapping that those of layers are merged into.
    """
    if hint is Any:
        return layers[-1][0]
    is_union = typing.get_origin(hint) in (types.UnionType, typing.Union)
    kinds = {}  # by what a value of each is in YAML: a section is a mapping
    for kind in typing.get_args(hint) if is_union else [hint]:
        kinds[dict if dataclasses.is_dataclass(kind) else typing.get_origin(kind) or kind] = kind
    layers = [(_checked(kinds, value, key, place), place) for value, place in layers]
    value, place = layers[-1]
    of_parts = typing.get_args(kinds.get(type(value)))
    if isinstance(value, list):
        return [_built(schema, of_parts[0], f"{key}[{n}]", [(item, place)]) for n, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    last_null = max((n for n, (values, _) in enumerate(layers) if values is None), default=-1)
    layers = [(values, place) for values, place in layers[last_null + 1 :] if isinstance(values, dict)]
    if dataclasses.is_dataclass(kinds[dict]):
        return _built_section(schema, kinds[dict], key, layers)
    mapping = default()
    for values, place in layers:
        built = {name: _built(schema, of_parts[1], f"{key}.{name}", [(item, place)]) for name, item in values.items()}
        mapping = {**mapping, **built} if values else {}
    return mapping


def _built_section(schema: Any, section: Any, key: str, layers: Sequence[_Layer]) -> Any:
    """Return a dataclass from the layers of its settings."""
    hints = typing.get_type_hints(section)
    prefix = f"{key}." if key else ""
    for name, place in [(name, place) for values, place in layers for name in values if name not in hints]:
        valid = valid_keys(schema)
        nearest = nearest_keys(prefix + str(name), schema)
        are_few = len(valid) <= _MOST_LISTED
        raise ConfigError(
            f"unknown setting {prefix + str(name)!r}{place}",
            expected=f"one of {', '.join(valid)}" if are_few else f"one like {', '.join(nearest[:_NEAREST])}",
            fix=f"check the spelling: is it {nearest[0]}?" + ("" if are_few else " (docs/settings.md lists all)"),
        )
    said = {name: [(values[name], place) for values, place in layers if name in values] for name in hints}
    defaults = {field.name: field.default_factory for field in dataclasses.fields(section)}
    defaults = {name: default for name, default in defaults.items() if default is not dataclasses.MISSING}
    return section(
        **{
            name: _built(schema, hints[name], prefix + name, own, defaults.get(name, dict))
            for name, own in said.items()
            if own
        }
    )


def _checked(kinds: Mapping[Any, Any], value: Any, key: str, place: str) -> Any:
    """Return a value as one of these kinds; OmegaConf knows which text is a number.  Raises ConfigError where it is
    none.
    """
    from omegaconf import BooleanNode, FloatNode, IntegerNode, StringNode
    from omegaconf.errors import ValidationError

    nodes: dict[Any, Any] = {int: IntegerNode, float: FloatNode, bool: BooleanNode, str: StringNode}
    for kind in kinds:
        if kind is type(value) and kind not in nodes:
            return value
        if kind in nodes and value is not None:
            with suppress(ValidationError):
                return nodes[kind](value)._value()
    raise ConfigError(
        f"setting {key!r}{place}: {value}" if key else f"settings{place}: {value}",
        expected=" or ".join(_KINDS[kind] for kind in kinds),
        fix="fix it",
    )
