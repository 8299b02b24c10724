"""The extras of pyproject.toml: packages that only some commands need.

In: an extra's name.  Out: nothing, or an error that says how to install it.

A command that trains calls `need("train")` before it imports `t5punct.training`.
"""

from __future__ import annotations

from importlib.util import find_spec

from .errors import ConfigError

PACKAGES = {  # of each extra, the packages as they are imported
    "train": ("accelerate", "datasets", "psutil"),
    "ray": ("ray",),
    "serve": (
        "fastapi", "httptools", "prometheus_client", "pydantic", "python_multipart", "starlette", "uvicorn",
        "websockets",
    ),
    "onnx": ("onnx", "onnxruntime", "onnxscript"),
}  # fmt: skip


def way_to_install(extra: str) -> str:
    """Return how to install an extra from a package index, and from a checkout.

    >>> way_to_install("train")
    'pip install "t5punct[train]", in a checkout ".[train]"'
    """
    return f'pip install "t5punct[{extra}]", in a checkout ".[{extra}]"'


def need(extra: str) -> None:
    """Raise ConfigError if a package of an extra is not installed."""
    missing = [name for name in PACKAGES[extra] if find_spec(name) is None]
    if missing:
        mistake = f"no package {' and no '.join(missing)}"
        raise ConfigError(mistake, expected=f"the extra `{extra}`", fix=way_to_install(extra))
