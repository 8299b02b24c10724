"""Errors say got, expected and what to do, in one line."""

from __future__ import annotations

import pickle

import pytest

from t5punct.errors import ConfigError, InputError, ModelError, T5PunctError


@pytest.mark.parametrize("kind", [ConfigError, InputError, ModelError])
def test_an_error_is_one_line_that_says_found_expected_and_fix(kind: type[T5PunctError]) -> None:
    error = kind("a\nfile  of 3\r\nlines", expected="one\tline", fix="cut it")
    assert str(error) == "a file of 3 lines; expected one line; cut it"
    assert isinstance(error, T5PunctError)


@pytest.mark.parametrize("kind", [ConfigError, InputError, ModelError])
def test_an_error_can_be_sent_to_another_process(kind: type[T5PunctError]) -> None:
    sent = pickle.loads(pickle.dumps(kind("a\nfile", expected="one", fix="cut it")))  # noqa: S301
    assert (type(sent), str(sent), sent.found) == (kind, "a file; expected one; cut it", "a\nfile")
