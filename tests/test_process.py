"""How a command treats memory: glibc is told what it knows, other systems are left alone."""

from __future__ import annotations

import ctypes
import gc
import platform
from types import SimpleNamespace
from typing import Any

import pytest

from t5punct.cli import process


def test_glibc_takes_every_setting() -> None:
    if platform.libc_ver()[0] != "glibc":
        pytest.skip("this system has no glibc")
    assert process.keep_freed_memory()


@pytest.mark.parametrize("library", [SimpleNamespace(), None])
def test_other_systems_are_left_alone(monkeypatch: pytest.MonkeyPatch, library: Any) -> None:
    def load(name: None) -> Any:
        if library is None:
            raise TypeError("a name is needed")  # as Windows says
        return library

    monkeypatch.setattr(ctypes, "CDLL", load)
    assert not process.keep_freed_memory()


def test_a_setting_that_is_refused_is_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []

    def mallopt(name: int, value: int) -> int:
        told.append(name)
        return int(name != -3)  # older ones refuse so large a threshold

    monkeypatch.setattr(ctypes, "CDLL", lambda name: SimpleNamespace(mallopt=mallopt))
    assert not process.keep_freed_memory()
    assert len(told) == 3, "the others are told all the same"


def test_what_there_is_stays() -> None:
    before = gc.get_freeze_count()
    process.keep_objects()
    try:
        assert gc.get_freeze_count() > before
    finally:
        gc.unfreeze()
