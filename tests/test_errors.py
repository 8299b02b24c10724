"""Errors say got, expected and what to do, in one line."""

import pickle

import pytest

from t5punct.errors import ConfigError, InputError, ModelError, T5PunctError


@pytest.mark.parametrize("kind", [ConfigError, InputError, ModelError])
def test_an_error_is_one_line_of_found_expected_and_fix_and_can_be_pickled(kind: type[T5PunctError]) -> None:
    error = kind("a\nfile  of 3\r\nlines", expected="one\tline", fix="cut it")
    for sent in (error, pickle.loads(pickle.dumps(error))):  # noqa: S301
        assert (type(sent), str(sent)) == (kind, "a file of 3 lines; expected one line; cut it")
        assert isinstance(sent, T5PunctError) and sent.found == error.found
