"""What some commands need beyond what inference needs: the extras of pyproject.toml.

In: an extra's name.  Out: nothing, or an error that says how to install it.

`need("train")` in a command that trains, before it imports anything of it.
"""

from __future__ import annotations

from importlib.util import find_spec

from .errors import ConfigError

PACKAGES = {  # by extra, those that it adds
    "train": ("accelerate", "datasets", "psutil"),
    "ray": ("ray",),
    "serve": (
        "fastapi",
        "httptools",
        "prometheus_client",
        "pydantic",
        "python_multipart",
        "starlette",
        "uvicorn",
        "websockets",
    ),
    "onnx": ("onnx", "onnxruntime", "onnxscript"),
}


def way_to_install(extra: str) -> str:
    """Return how to install an extra, from a package index and from a checkout.

    >>> way_to_install("train")
    'pip install "t5punct[train]", in a checkout ".[train]"'
    """
    return f'pip install "t5punct[{extra}]", in a checkout ".[{extra}]"'


def need(extra: str) -> None:
    """Raise ConfigError where packages of an extra are not installed."""
    missing = [name for name in PACKAGES[extra] if find_spec(name) is None]
    if missing:
        raise ConfigError(
            f"no package {' and no '.join(missing)}",
            expected=f"the extra `{extra}`",
            fix=way_to_install(extra),
        )
