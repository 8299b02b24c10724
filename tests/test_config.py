"""Settings: defaults < YAML < overrides, and a mistake is said with the names that are valid."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from t5punct.config import load, load_plain, save, valid_keys
from t5punct.errors import ConfigError, InputError
from t5punct.t5.task import TaskConfig


@dataclass(frozen=True)
class Optim:
    lr: float = 1e-3
    name: str | None = None


@dataclass(frozen=True)
class Corpus:
    path: str = ""
    words: int = 0


@dataclass(frozen=True)
class Demo:
    size: int = 1
    optim: Optim = field(default_factory=Optim)
    corpora: list[Corpus] = field(default_factory=list)
    odds: dict[str, float] = field(default_factory=lambda: {",": 2.0})


@dataclass(frozen=True)
class Optional:
    optim: Optim | None = None


@dataclass(frozen=True)
class Holder:
    demo: Demo | None = None


@pytest.fixture
def yaml(tmp_path: Path) -> Path:
    path = tmp_path / "demo.yaml"
    path.write_text("# a comment\nsize: 2\noptim: {lr: 2.0, name: yaml}\ncorpora:\n  - {path: a.txt, words: 5}\n")
    return path


def test_without_anything_the_defaults_hold(tmp_path: Path) -> None:
    (tmp_path / "empty.yaml").write_text("")
    assert load(Demo) == load(Demo, tmp_path / "empty.yaml") == Demo()


def test_a_yaml_file_goes_over_the_defaults_and_overrides_over_the_file(yaml: Path) -> None:
    from_yaml = Demo(2, Optim(2.0, "yaml"), [Corpus("a.txt", 5)])
    assert load(Demo, yaml) == from_yaml
    assert load(Demo, yaml, ["optim.lr=3e-4"]) == dataclasses.replace(from_yaml, optim=Optim(3e-4, "yaml"))
    assert load(Demo, yaml, ["size=3", "size=4"]).size == 4
    assert load(Demo, None, ["optim.name=a=b", "corpora=[{path: b, words: 7}]"]) == Demo(
        optim=Optim(name="a=b"), corpora=[Corpus("b", 7)]
    )


def test_mappings_are_merged_and_an_explicit_empty_one_empties(tmp_path: Path) -> None:
    (tmp_path / "none.yaml").write_text("odds: {}\n")
    current = {"odds": {".": 3.0}}
    assert load(Demo, current=current).odds == {",": 2.0, ".": 3.0}
    assert load(Demo, None, ["odds={}"], current=current).odds == {}
    assert load(Demo, tmp_path / "none.yaml", current=current).odds == {}
    assert load(Demo, None, ["odds={}", "odds={-: 1}"], current=current).odds == {"-": 1.0}
    assert load(Demo, None, ["optim={}"], current={"optim": {"lr": 2.0}}).optim == Optim(2.0), (
        "a section has its settings"
    )
    assert load(Holder, None, ["demo.odds={.: 1}", "demo.odds={}"]).demo == Demo(odds={}), "in a section that was null"
    with pytest.raises(ConfigError, match=r"unknown setting 'ods'"):
        load(Demo, None, ["ods={}"])


def test_valid_keys_are_dotted_names_of_every_setting() -> None:
    assert valid_keys(Demo) == ["size", "optim.lr", "optim.name", "corpora.path", "corpora.words", "odds"]
    assert valid_keys(Optional) == ["optim.lr", "optim.name"]


@pytest.mark.parametrize(("key", "nearest"), [
    ("sise", "size"), ("optm", "optim.lr"), ("lr", "optim.lr"), ("optim.nmae", "optim.name"), ("path", "corpora.path"),
    ("learning_rate", "optim.lr"), ("optim.learning_rate", "optim.lr"),
])  # fmt: skip
def test_the_settings_nearest_to_an_unknown_one_are_named(key: str, nearest: str) -> None:
    with pytest.raises(ConfigError, match=rf"unknown setting '{key}'; expected one like {nearest}, .*"):
        load(Demo, None, [f"{key}=1"])


def test_an_unknown_setting_of_a_file_is_named_with_the_file(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    above = tmp_path / "above.yaml"
    wrong.write_text("optim: {rate: 1}")
    above.write_text("base: wrong.yaml\nsize: 3")
    for path in (wrong, above):
        with pytest.raises(ConfigError, match=f"unknown setting 'optim.rate' in {wrong}; expected one like "):
            load(Demo, path, ["size=4"])


def test_a_base_comes_before_its_file_and_the_resolved_settings_have_none(tmp_path: Path) -> None:
    (tmp_path / "lower").mkdir()
    (tmp_path / "lower" / "least.yaml").write_text("size: 2\noptim: {lr: 2.0, name: least}\nodds: {'.': 3.0}")
    (tmp_path / "lower" / "middle.yaml").write_text("base: least.yaml\noptim: {name: middle}\nodds: {'?': 4.0}")
    top = tmp_path / "top.yaml"
    top.write_text("base: lower/middle.yaml\nsize: 5\ncorpora: [{path: a}]")
    odds = {",": 2.0, ".": 3.0, "?": 4.0}
    expected = Demo(5, Optim(2.0, "middle"), [Corpus("a")], odds)
    assert load(Demo, top) == expected
    assert load(Demo, top, ["optim.name=mine"]).optim == Optim(2.0, "mine")
    assert load(Demo, top, current={"size": 9, "optim": {"lr": 9.0}}) == expected, "a file's base is part of the file"
    save(load(Demo, top), tmp_path / "saved.yaml")
    assert "base" not in (tmp_path / "saved.yaml").read_text()
    assert load_plain(Demo, tmp_path / "saved.yaml") == expected
    top.write_text("base: lower/middle.yaml\nodds: {}")
    assert load(Demo, top).odds == {}


def test_bases_in_a_circle_are_refused_and_so_is_one_that_is_not_there(tmp_path: Path) -> None:
    a = tmp_path / "a.yaml"
    b = tmp_path / "b.yaml"
    a.write_text("base: b.yaml")
    b.write_text("base: ../" + tmp_path.name + "/a.yaml")
    with pytest.raises(ConfigError, match=rf"base .*a.yaml in {b}, a circle; expected another file"):
        load(Demo, a)
    for missing in ("none.yaml", "3"):
        b.write_text(f"base: {missing}")
        with pytest.raises(ConfigError, match=rf"no config file {tmp_path}/{missing};"):
            load(Demo, a)


def test_a_file_that_others_made_has_no_base(yaml: Path) -> None:
    above = yaml.with_name("above.yaml")
    above.write_text(f"base: {yaml.name}")
    with pytest.raises(ConfigError, match=rf"unknown setting 'base' in {above};"):
        load_plain(Demo, above)


@pytest.mark.parametrize(("override", "message"), [
    ("size=x", "setting 'size': Value 'x' of type 'str' could not be converted to Integer; expected another type"),
    ("size=", "setting 'size': Incompatible value 'None' for field of type 'int'; "),
    ("optim=3", "settings: Merge error: int is not a subclass of Optim. value: 3; "),
    ("corpora.words=3", "keys of corpora; expected a list, which is set as a whole; write 'corpora=[{words: 3, ..}]'"),
    ("odds={a: x}", "setting 'odds.a': Value 'x' of type 'str' could not be converted to Float; "),
])  # fmt: skip
def test_a_value_of_the_wrong_type_is_refused(override: str, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        load(Demo, None, [override])


@pytest.mark.parametrize("marks", [",.?!", "-", "#", ".،؟!", "*", "%"])
def test_signs_need_no_quotes(marks: str) -> None:
    assert load(TaskConfig, None, [f"marks={marks}"]).marks == marks


@pytest.mark.parametrize("override", ["size", "--size", "size=[", "size=${x", "size=${nowhere}"])
def test_an_override_that_cannot_be_read_is_refused(override: str) -> None:
    with pytest.raises(ConfigError, match=r"expected key=value; write e.g. optim.lr=1e-3"):
        load(Demo, None, [override])


@pytest.mark.parametrize(("text", "error"), [
    ("corpora: [{path: a, word: 3}]", r"unknown setting 'word' in .*demo.yaml; expected one like .*corpora.words, "),
    ("size: x", "setting 'size' in .*demo.yaml: Value 'x' "),  # also where an override follows
    ("- 1\n- 2\n", r"settings in .*demo.yaml: Cannot merge "),
    ("size: [", "demo.yaml is not YAML"),
    ("\0", "demo.yaml is not YAML"),
    (None, "no config file"),
])  # fmt: skip
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, text: str | None, error: str) -> None:
    if text is not None:
        (tmp_path / "demo.yaml").write_text(text)
    with pytest.raises((ConfigError, InputError), match=error):
        load(Demo, tmp_path / "demo.yaml", ["size=3"])
