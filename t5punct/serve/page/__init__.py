"""The page at `/`: one file, with its styles and script inside, and the page at `/docs`; they ask no other site.

In: nothing; of `/docs` what `/openapi.json` says.  Out: answers, with the policy by which a browser runs nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from starlette.responses import HTMLResponse

from ...transcripts.formats import SUFFIXES
from ...transcripts.review import content_hash, review_texts

_STYLE = (
    ":root { color-scheme: light dark } body { font: 1rem/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; "
    "padding: 0 1rem 3rem } table { border-collapse: collapse; width: 100% } td, th { text-align: left; "
    "vertical-align: top; padding: .2rem .6rem .2rem 0; border-bottom: 1px solid #8888 } pre { white-space: pre-wrap }"
)
_STREAMS = (
    "<h2><code>WS /v1/stream</code></h2><p>Words in, events out, as docs/guides/serve.md tells; the options of "
    "<code>t5punct stream</code> are fields of the query, with <code>_</code> for <code>-</code>.</p>"
    "<h2><code>WS /v1/watch</code></h2><p>The events of the stream with the same <code>show=NAME</code>.</p>"
)


@cache
def page() -> HTMLResponse:
    """Return the page."""
    texts = {name: (files(__package__) / f"page.{name}").read_text(encoding="utf-8") for name in ("html", "css", "js")}
    text = texts["html"].replace("{{css}}", texts["css"]).replace("{{js}}", texts["js"])
    text = text.replace("{{suffixes}}", ",".join(SUFFIXES))  # of the files that it offers to open
    # a page for review is shown in a frame, which is held to this policy, too
    review_style, review_script = review_texts()
    styles = (texts["css"], review_style)
    scripts = (texts["js"], review_script)
    more = f"script-src {_hashes(scripts)}; connect-src 'self'; frame-src blob:; form-action 'none'; "
    return _closed_page(text, styles, more)


def reference_page(api: Mapping[str, Any]) -> HTMLResponse:
    """Return the page of what `/openapi.json` says."""
    body = ""
    for path, operations in api["paths"].items():
        for method, operation in operations.items():
            body += _operation(path, method, operation)
    info = api["info"]
    text = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(info["title"])}: API</title>'
        f"<style>{_STYLE}</style><h1>{escape(info['title'])} {escape(info['version'])}: API</h1>"
        f'<p>{escape(info["description"])} For programs: <a href="/openapi.json">/openapi.json</a>.</p>{body}{_STREAMS}'
    )
    return _closed_page(text, [_STYLE])


def _closed_page(text: str, styles: Iterable[str], more: str = "") -> HTMLResponse:
    """Return a page that loads nothing from other sites, and tells them nothing; `more`: of its policy."""
    policy = f"default-src 'none'; style-src {_hashes(styles)}; {more}base-uri 'none'; frame-ancestors 'none'"
    return HTMLResponse(text, headers={"Content-Security-Policy": policy, "Referrer-Policy": "no-referrer"})


def _hashes(texts: Iterable[str]) -> str:
    return " ".join(f"'{content_hash(text)}'" for text in texts)


def _operation(path: str, method: str, operation: Mapping[str, Any]) -> str:
    """Return the description of an address: its purpose, fields, body and answers, as HTML."""
    fields = [
        _row(field["name"], _kind(field["schema"]), field["description"]) for field in operation.get("parameters", ())
    ]
    answers = list[str]()
    examples = list[str]()
    for status, answer in operation.get("responses", {}).items():
        answers.append(_row(status, "", answer["description"]))
        answers += [_row(name, "", header["description"]) for name, header in answer.get("headers", {}).items()]
    for kind, sent in operation.get("requestBody", {"content": {}})["content"].items():
        example = sent.get("example", "")
        if not isinstance(example, str):
            example = json.dumps(example, ensure_ascii=False)
        examples.append(_row(kind, example, ""))
    title = f"<h2><code>{method.upper()} {escape(path)}</code></h2><p>{escape(operation.get('description', ''))}</p>"
    tables = {"Fields, in the query or in a form": fields, "Body": examples, "Answers": answers}
    return title + "".join(f"<h3>{name}</h3><table>{''.join(rows)}</table>" for name, rows in tables.items() if rows)


def _kind(schema: Mapping[str, Any]) -> str:
    """Return the type of a field, and its default."""
    kinds = [choice.get("type", "") for choice in schema.get("anyOf", [schema])]
    shown = " or ".join(kind for kind in kinds if kind and kind != "null")
    default = schema.get("default")
    return shown if default is None else f"{shown}, {json.dumps(default)}"


def _row(title: str, *cells: str) -> str:
    rest = "".join(f"<td>{escape(str(cell))}</td>" for cell in cells)
    return f"<tr><th><code>{escape(str(title))}</code></th>{rest}</tr>"
