"""`t5punct serve`: the service at an address.

In: options.  Out: a line with the address once it is ready; it ends when it is told to.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Annotated

import typer

from ..extras import need
from ..options import ServiceOptions
from . import parameters as shared
from .parameters import load_punctuator, read_options
from .progress import note


def serve(
    context: typer.Context,
    settings: shared.Settings = None,
    host: Annotated[
        str, typer.Option(help="Who reaches the service; 127.0.0.1: this machine alone; 0.0.0.0: other machines, too.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port of its address; 0: any that is free.")] = 8008,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            show_default="its own", help="A name by which others call the service, such as captions.example.org."
        ),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            show_default="none", help="A web site whose pages may use the service, such as https://example.org."
        ),
    ] = None,
    model: shared.Model = None,
    language: shared.Language = None,
    precision: shared.Precision = "auto",
    device: shared.Device = "auto",
    quiet: shared.Quiet = False,
) -> None:
    """Punctuate as a service, with a page for the browser.

    Texts come over HTTP, streams over WebSocket; docs/guides/serve.md tells how.

    Where the variable T5PUNCT_TOKEN is set, every request must bring that token, but for the page, /docs and /healthz.
    """
    need("serve")
    from ..serve.app import listen
    from ..serve.app import serve as run
    from ..serve.guard import Access

    options = read_options(ServiceOptions, context, settings)
    token = os.environ.get("T5PUNCT_TOKEN")
    access = Access(host, port, token, tuple(allow_host or ()), tuple(allow_origin or ()))
    load = partial(load_punctuator, options, options.config())  # config() fails for wrong values before loading
    run(listen(access), access, options, load, lambda address: note(f"serving at {address}"))
