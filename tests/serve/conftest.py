"""An engine over a tiny model, for all tests of the service."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")

from t5punct.model import Model
from t5punct.punctuator import Punctuator
from t5punct.serve.engine import Engine


@pytest.fixture(scope="session")
def engine(tagged_model: Model) -> Iterator[Engine]:
    """An engine of random weights; its marks are nonsense, and always the same."""
    engine = Engine(Punctuator(tagged_model))
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def english_engine(tagged_model: Model) -> Iterator[Engine]:
    """The same under the name of a bundled model, whose languages are known."""
    engine = Engine(Punctuator(replace(tagged_model, name="small")))
    yield engine
    engine.close()
