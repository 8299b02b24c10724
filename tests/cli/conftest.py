"""The model that commands are given where it does not matter which."""

import pytest

from t5punct import model
from t5punct.model import Model


@pytest.fixture(scope="session")
def folder(tiny_model: Model, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A saved model that knows nothing.  Shared: do not write into it."""
    path = tmp_path_factory.mktemp("model")
    model.save(tiny_model, path)
    return str(path)
