"""The page at `/`: one file, with its styles and script inside, and the page at `/docs`; they ask no other site.

In: nothing; of `/docs` what `/openapi.json` says.  Out: a page, and the policy by which a browser runs nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from ...transcripts.review import content_hash, review_texts

_STYLE = (
    ":root { color-scheme: light dark } body { font: 1rem/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; "
    "padding: 0 1rem 3rem } table { border-collapse: collapse; width: 100% } td, th { text-align: left; "
    "vertical-align: top; padding: .2rem .6rem .2rem 0; border-bottom: 1px solid #8888 } pre { white-space: pre-wrap }"
)
_STREAMS = (
    "<h2><code>WS /v1/stream</code></h2><p>Words in, events out, as docs/guides/serve.md tells; the options of "
    "<code>t5punct stream</code> are fields of the query, with <code>_</code> for <code>-</code>.</p>"
)


@cache
def page() -> tuple[str, str]:
    """Return the page and its content security policy."""
    texts = {name: (files(__package__) / f"page.{name}").read_text(encoding="utf-8") for name in ("html", "css", "js")}
    text = texts["html"].replace("{{css}}", texts["css"]).replace("{{js}}", texts["js"])
    # a page for review is shown in a frame, which is held to this policy, too
    style, script = (
        " ".join(f"'{content_hash(text)}'" for text in both)
        for both in zip((texts["css"], texts["js"]), review_texts(), strict=True)
    )
    policy = (
        f"default-src 'none'; style-src {style}; script-src {script}; connect-src 'self'; frame-src blob:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return text, policy


def reference_page(api: Mapping[str, Any]) -> tuple[str, str]:
    """Return the page and its content security policy."""
    body = "".join(
        _operation(path, method, operation)
        for path, operations in api["paths"].items()
        for method, operation in operations.items()
    )
    info = api["info"]
    page = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(info["title"])}: API</title>'
        f"<style>{_STYLE}</style><h1>{escape(info['title'])} {escape(info['version'])}: API</h1>"
        f'<p>{escape(info["description"])} For programs: <a href="/openapi.json">/openapi.json</a>.</p>{body}{_STREAMS}'
    )
    return page, f"default-src 'none'; style-src '{content_hash(_STYLE)}'; base-uri 'none'; frame-ancestors 'none'"


def _operation(path: str, method: str, operation: Mapping[str, Any]) -> str:
    """Return the description of an address: its purpose, fields, body and answers, as HTML."""
    parts = [f"<h2><code>{method.upper()} {escape(path)}</code></h2><p>{escape(operation.get('description', ''))}</p>"]
    if fields := operation.get("parameters"):
        rows = "".join(_row(field["name"], _kind(field["schema"]), field["description"]) for field in fields)
        parts.append(f"<h3>Fields, in the query or in a form</h3><table>{rows}</table>")
    if sent := operation.get("requestBody"):
        parts.append(f"<h3>Body</h3><table>{''.join(_examples(sent['content']))}</table>")
    answers = "".join(map(_answer, operation.get("responses", {}).items()))
    parts.append(f"<h3>Answers</h3><table>{answers}</table>")
    return "".join(parts)


def _answer(answer: tuple[str, Mapping[str, Any]]) -> str:
    """Return a status and its headers."""
    status, said = answer
    headers = said.get("headers", {}).items()
    return _row(status, "", said["description"]) + "".join(_row(name, "", of["description"]) for name, of in headers)


def _examples(content: Mapping[str, Any]) -> Iterator[str]:
    for kind, sent in content.items():
        example = sent.get("example", "")
        yield _row(kind, example if isinstance(example, str) else json.dumps(example, ensure_ascii=False), "")


def _kind(schema: Mapping[str, Any]) -> str:
    """Return the type of a field, and its default."""
    kinds = [choice.get("type", "") for choice in schema.get("anyOf", [schema])]
    shown = " or ".join(kind for kind in kinds if kind and kind != "null")
    default = schema.get("default")
    return shown if default is None else f"{shown}, {json.dumps(default)}"


def _row(*cells: str) -> str:
    first, *rest = (escape(str(cell)) for cell in cells)
    return f"<tr><th><code>{first}</code></th>{''.join(f'<td>{cell}</td>' for cell in rest)}</tr>"
