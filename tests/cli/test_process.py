"""How a command treats memory: glibc is told what it knows, other systems are left alone."""

from __future__ import annotations

import ctypes
import gc
import os
import platform
from types import SimpleNamespace
from typing import Any

import pytest

from t5punct.cli import main, process


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("MALLOC_")]:
        monkeypatch.delenv(name)


def _allocator(monkeypatch: pytest.MonkeyPatch, largest: int) -> list[tuple[int, int]]:
    """An allocator that takes thresholds up to a size; what it took."""
    took: list[tuple[int, int]] = []

    def mallopt(name: int, value: int) -> int:
        if name == -3 and value > largest:
            return 0
        took.append((name, value))
        return 1

    monkeypatch.setattr(ctypes, "CDLL", lambda name: SimpleNamespace(mallopt=mallopt))
    return took


def test_glibc_takes_every_setting() -> None:
    if platform.libc_ver()[0] != "glibc":
        pytest.skip("this system has no glibc")
    assert process.keep_freed_memory()


@pytest.mark.parametrize(("largest", "threshold"), [(2**31, 2**30), (2**25, 2**25)])
def test_the_largest_threshold_that_is_taken_is_set(
    monkeypatch: pytest.MonkeyPatch, largest: int, threshold: int
) -> None:
    took = _allocator(monkeypatch, largest)
    assert process.keep_freed_memory()
    assert took[0] == (-3, threshold) and [name for name, _ in took[1:]] == [-1, -2]


def test_without_a_threshold_nothing_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    took = _allocator(monkeypatch, 0)
    assert not process.keep_freed_memory()
    assert took == []


def test_settings_of_the_user_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    took = _allocator(monkeypatch, 2**31)
    monkeypatch.setenv("MALLOC_TOP_PAD_", "0")
    assert not process.keep_freed_memory()
    assert took == []


@pytest.mark.parametrize("library", [SimpleNamespace(), None])
def test_other_systems_are_left_alone(monkeypatch: pytest.MonkeyPatch, library: Any) -> None:
    def load(name: None) -> Any:
        if library is None:
            raise TypeError("a name is needed")  # as Windows says
        return library

    monkeypatch.setattr(ctypes, "CDLL", load)
    assert not process.keep_freed_memory()


def test_a_command_seldom_looks_for_cycles(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    monkeypatch.setattr(gc, "set_threshold", lambda *numbers: told.append(numbers[0]))
    with pytest.raises(SystemExit):
        main(["--version"])
    assert told[0] >= 20_000
    assert told[-1] == gc.get_threshold()[0], "and as usual when it is done"


def test_a_loaded_command_collects_as_usual() -> None:
    usual = gc.get_threshold()
    process.collect_seldom()
    assert gc.get_threshold() != usual
    try:
        process.keep_objects()
        assert gc.get_threshold() == usual, "or what is dropped stays"
    finally:
        gc.unfreeze()
        gc.set_threshold(*usual)


def test_what_there_is_stays() -> None:
    before = gc.get_freeze_count()
    process.keep_objects()
    try:
        assert gc.get_freeze_count() > before
    finally:
        gc.unfreeze()
