"""`t5punct serve`: the service at an address.

In: options.  Out: a line with the address once it is ready; it ends when it is told to.

`t5punct serve --port 8008` answers `curl -d 'how are you today' http://127.0.0.1:8008/v1/punctuate`.
"""

from __future__ import annotations

import os
from typing import Annotated

import typer

from ..extras import need
from .options import ModelOptions, expert, with_model_options

_TOKEN_VARIABLE = "T5PUNCT_TOKEN"  # noqa: S105  # its name


@with_model_options
def serve(
    options: ModelOptions,
    host: Annotated[str, typer.Option(help="Where to listen; 0.0.0.0: on all addresses.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: one that is free.")] = 8008,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(show_default="its own", help="Another name of the service, such as captions.example.org."),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(show_default="none", help="A site whose pages may use it, such as https://example.org."),
    ] = None,
    max_streams: Annotated[int, expert(min=1, help="How many streams may be open at the same time.")] = 200,
    max_words: Annotated[int, expert(min=1, help="How many words a request may hold.")] = 200_000,
    max_body_bytes: Annotated[int, expert(min=1, help="How many bytes a request may hold.")] = 16_000_000,
    max_message_bytes: Annotated[int, expert(min=1, help="How many bytes a message of a stream may hold.")] = 64_000,
    idle_s: Annotated[float, expert(min=1, help="End a stream after this many seconds without a word.")] = 300.0,
    ending_s: Annotated[
        float,
        expert(min=1, help="When the service is stopped: how many seconds requests that have begun may still take."),
    ] = 20.0,
) -> None:
    """Serve texts, live streams and a page for the browser.

    Texts come over HTTP, streams over WebSocket.

    Where the variable T5PUNCT_TOKEN is set, every request must bring that token, but for the page's and /healthz.
    """
    need("serve")
    from ..serve.config import ServeConfig
    from ..serve.run import listen
    from ..serve.run import serve as run
    from .fields import OptionFields

    config = ServeConfig(
        host,
        port,
        os.environ.get(_TOKEN_VARIABLE),
        tuple(allow_host or ()),
        tuple(allow_origin or ()),
        max_body_bytes=max_body_bytes,
        max_words=max_words,
        max_streams=max_streams,
        max_message_bytes=max_message_bytes,
        idle_s=idle_s,
        ending_s=ending_s,
    )
    options.config()  # a mistake is said before a model is loaded
    run(listen(config), config, options.punctuator, OptionFields(options), _tell)


def _tell(address: str) -> None:
    typer.echo(f"t5punct: serving at {address}", err=True)
