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
import re
import types
import typing
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from .errors import ConfigError, InputError

T = TypeVar("T")
_Layer = tuple[Any, str]  # settings, and where they stand: ` in FILE`, or nothing for overrides
_MOST_LISTED, _NEAREST = 25, 5  # settings that an error names: all of them, or those nearest to an unknown one
_KINDS: dict[Any, str] = {  # what a value may be, as people say it
    **{int: "a whole number", float: "a number", bool: "true or false", str: "text"},
    **{list: "a list, e.g. [1,2]", dict: "a mapping, e.g. {a: 1}", type(None): "null"},
}


def load(schema: type[T], path: str | Path | None = None, overrides: Sequence[str] = (), current: str = "") -> T:
    """Merge a dataclass's defaults, `current` (YAML text), a YAML file and `key.path=value` overrides, in that order.

    `base: FILE` in a YAML file, relative to it, names another one that comes before it, and may have a base as well.
    Mappings are merged key by key; an explicit `{}` empties one.  Lists replace each other.
    Raises ConfigError for an unknown key (with the file and the nearest valid keys), for a value of the wrong type, and
    for bases in a circle.
    """
    layers = [(_parsed(current), "")] if current else []
    layers += [] if path is None else _read_layers(Path(path))
    layers += [(_read_override(override), "") for override in overrides]
    return _merge(schema, layers)


def read_values(path: str | Path | None = None, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """Return a YAML file and overrides, merged, before anything is checked; without defaults.

    Nothing where they cannot be merged: `load` says why.
    """
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    layers = [] if path is None else _read_layers(Path(path))
    layers += [(_read_override(override), "") for override in overrides]
    try:
        merged = OmegaConf.merge({}, *(layer for layer, _ in layers))
        return cast(dict[str, Any], OmegaConf.to_container(merged, resolve=False))
    except (OmegaConfBaseException, TypeError):
        return {}


def load_plain(schema: type[T], path: str | Path) -> T:
    """Load a file that others made, as `load` does: one that came with a model may not read this machine's environment.

    Raises ConfigError for `${...}` anywhere in it, and as `load` does.
    """
    from omegaconf import OmegaConf

    layer = _read_yaml(Path(path))
    if any("${" in text for text in _texts(OmegaConf.to_container(layer, resolve=False))):
        raise ConfigError(f"${{...}} in {path}", expected="plain values", fix="write the value itself")
    return _merge(schema, [(layer, f" in {path}")])


def as_yaml(config: Any) -> str:
    """Return a resolved config as YAML, which `load` reads."""
    from omegaconf import OmegaConf

    return str(OmegaConf.to_yaml(OmegaConf.structured(config)))


def save(config: Any, path: str | Path) -> None:
    """Write a resolved config as YAML."""
    Path(path).write_text(as_yaml(config), encoding="utf-8")


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
            value >= least and (most is None or value <= most) and (below is None or value < below)
        )
        if not is_inside:
            raise ConfigError(f"{section}{name} {value}", expected=f"{least}{end}", fix=f"set {section}{name}")


def check_choice(config: Any, section: str, name: str, choices: Sequence[str]) -> None:
    """Raise ConfigError for a setting that is none of these; null passes."""
    value = getattr(config, name)
    if value is not None and value not in choices:
        raise ConfigError(
            f"{section}{name} {value!r}", expected=f"one of {', '.join(choices)}", fix=f"check {section}{name}"
        )


def valid_keys(schema: Any, prefix: str = "") -> list[str]:
    """Return the dotted names of all settings of a config dataclass."""
    hints = typing.get_type_hints(schema)
    keys: list[str] = []
    for field in dataclasses.fields(schema):
        kinds = [hints[field.name], *typing.get_args(hints[field.name])]  # `Task | None` holds a Task
        kind = next((kind for kind in kinds if dataclasses.is_dataclass(kind)), None)
        if kind is not None:
            keys += valid_keys(kind, f"{prefix}{field.name}.")
        else:
            keys.append(prefix + field.name)
    return keys


def nearest_keys(key: str, schema: Any) -> list[str]:
    """Return valid settings, those most like an unknown one first, whole or by the last part: `lr` is `optim.lr`."""
    from rapidfuzz.distance import OSA, JaroWinkler

    key = re.sub(r"\[\d+\]", "", key)  # `corpora[0]`

    def likeness(valid: str) -> float:
        whole, last = (valid, key), (valid.rpartition(".")[2], key.rpartition(".")[2])
        likes = [
            max(OSA.normalized_similarity(*pair), 0.9 * JaroWinkler.normalized_similarity(*pair))
            for pair in (whole, last)
        ]
        return max(likes) + 0.1 * likes[0]

    valid = valid_keys(schema)
    sections = dict.fromkeys(key.rpartition(".")[0] for key in valid if "." in key)  # of `optm.lr`, `optm` is unknown
    return sorted([*valid, *sections], key=likeness, reverse=True)


def _read_layers(path: Path, derived: tuple[Path, ...] = ()) -> list[_Layer]:
    """Read a YAML file and the bases below it, the lowest first; `derived` are the files that lead to it."""
    from omegaconf import DictConfig, OmegaConf

    if path.resolve() in [file.resolve() for file in derived]:
        circle = " -> ".join(map(str, [*derived, path]))
        raise ConfigError(f"bases in a circle: {circle}", expected="an end", fix="drop one of their `base:` lines")
    layer = _read_yaml(path, f", the base of {derived[-1]}" if derived else "")
    if not isinstance(layer, DictConfig) or "base" not in layer:
        return [(layer, f" in {path}")]
    base = OmegaConf.to_container(layer, resolve=False)["base"]
    if not isinstance(base, str):
        raise ConfigError(
            f"base {base} in {path}", expected="the name of a YAML file", fix="name one, or drop the line"
        )
    del layer["base"]
    return [*_read_layers(path.parent / base, (*derived, path)), (layer, f" in {path}")]


def _read_yaml(path: Path, role: str = "") -> Any:
    from omegaconf import OmegaConf

    if not path.is_file():
        raise ConfigError(f"no config file {path}{role}", expected="a YAML file", fix="see configs/ for examples")
    try:
        return OmegaConf.load(path)
    except Exception as error:  # the YAML reader's own errors have no common base
        raise InputError(f"{path} is not YAML ({error})", expected="key: value lines", fix="fix the file") from error


def _parsed(text: str) -> Any:
    from omegaconf import OmegaConf

    return OmegaConf.create(text)


def _texts(node: Any) -> Iterator[str]:
    """Every key and value of what a YAML file holds."""
    if isinstance(node, dict):
        node = [*node, *node.values()]
    if isinstance(node, list):
        for item in node:
            yield from _texts(item)
    else:
        yield str(node)


def _read_override(text: str) -> Any:
    from omegaconf import OmegaConf

    key, sign, value = text.removeprefix("--").partition("=")
    if _is_signs(value):  # `task.marks=,.?!`, which is no YAML
        value = f"'{value}'"
    try:
        if sign:
            return OmegaConf.from_dotlist([f"{key}={value}"])
        reason = ""
    except Exception as error:  # as above
        reason = f" ({error})"
    raise ConfigError(f"override {text!r}{reason}", expected="key=value", fix="write e.g. optim.lr=1e-3")


def _is_signs(value: str) -> bool:
    """Whether a value is signs alone, which are text, and neither null nor brackets or quotes, which YAML knows."""
    return not any(char.isalnum() or char in "[]{}'\"" for char in value) and value.strip() not in ("", "~")


def _merge(schema: type[T], layers: Sequence[_Layer]) -> T:
    from omegaconf import OmegaConf
    from omegaconf.errors import ConfigKeyError, OmegaConfBaseException, ValidationError

    merged, place = OmegaConf.structured(schema), ""
    OmegaConf.set_readonly(merged, False)
    try:
        for layer, origin in layers:
            place = origin
            _unfreeze(merged)
            _empty(merged, layer)
            merged = OmegaConf.merge(merged, layer)
        place = ""
        return cast(T, OmegaConf.to_object(merged))
    except ConfigKeyError as error:
        key, valid = error.full_key or str(error.key), valid_keys(schema)
        nearest = nearest_keys(key, schema)
        are_few = len(valid) <= _MOST_LISTED
        raise ConfigError(
            f"unknown setting {key!r}{place}",
            expected=f"one of {', '.join(valid)}" if are_few else f"one like {', '.join(nearest[:_NEAREST])}",
            fix=f"check the spelling: is it {nearest[0]}?" + ("" if are_few else " (docs/settings.md lists all)"),
        ) from error
    except (OmegaConfBaseException, TypeError) as error:  # TypeError: a list where keys belong
        key = getattr(error, "full_key", None)
        setting = f"setting {key!r}{place}" if key else f"settings{place}"
        problem, expected = str(error).splitlines()[0], "a value of the right type"
        if key and isinstance(error, ValidationError) and (kind := _kind(schema, key)):
            problem, expected = str(error.value), kind
        raise ConfigError(f"{setting}: {problem}", expected=expected, fix="fix it") from error


def _kind(schema: Any, key: str) -> str:
    """What a setting's value must be, in words; nothing where the key leads nowhere."""
    hints: list[Any] = [schema]
    for name in re.sub(r"\[(\d+)\]", r".\1", key).split("."):  # `corpora[0].words`
        if any(dataclasses.is_dataclass(hint) or typing.get_args(hint) for hint in hints):  # else the key has dots
            hints = [held_hint for hint in hints for held_hint in _held(hint, name)]
    return " or ".join(
        dict.fromkeys(_KINDS[kind] for hint in hints if (kind := typing.get_origin(hint) or hint) in _KINDS)
    )


def _held(hint: Any, name: str) -> Iterator[Any]:
    """The types of what a value of a type holds under a name, or at a place; of `Task | None` both."""
    if dataclasses.is_dataclass(hint):
        held_hint = typing.get_type_hints(hint).get(name)
    else:
        held_hint = [None, *typing.get_args(hint)][-1]  # of a list, of a mapping
    is_union = typing.get_origin(held_hint) in (types.UnionType, typing.Union)
    yield from typing.get_args(held_hint) if is_union else [held_hint]


def _empty(node: Any, layer: Any) -> None:
    """Empty the mappings that a layer gives as `{}`: merging alone would leave them as they were."""
    from omegaconf import DictConfig, OmegaConf

    if not isinstance(node, DictConfig) or not isinstance(layer, DictConfig) or node._is_none() or layer._is_none():
        return
    if OmegaConf.get_type(node) is dict and not len(layer):
        node.clear()
    for key in [key for key in layer if key in node]:  # the merge refuses the others
        _empty(node._get_node(key), layer._get_node(key))


def _unfreeze(node: Any) -> None:
    """Frozen dataclasses come out read-only; merging needs them writable until the last layer."""
    from omegaconf import DictConfig, OmegaConf

    OmegaConf.set_readonly(node, False)
    for key in node:
        if OmegaConf.is_missing(node, key):
            continue
        child = node._get_node(key)
        if isinstance(child, DictConfig) and not child._is_none():
            _unfreeze(child)
