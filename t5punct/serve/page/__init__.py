"""The page at `/`: one file, with its styles and script inside, which asks no other site for anything.

In: nothing.  Out: the page, and the policy by which a browser runs nothing else.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files


@cache
def page() -> tuple[str, str]:
    """Return the page and its content security policy."""
    texts = {name: (files(__package__) / f"page.{name}").read_text(encoding="utf-8") for name in ("html", "css", "js")}
    hashes = {name: f"'sha256-{b64encode(sha256(texts[name].encode()).digest()).decode()}'" for name in ("css", "js")}
    text = texts["html"].replace("{{css}}", texts["css"]).replace("{{js}}", texts["js"])
    # the review page is shown in a frame of its own, which brings its own policy
    policy = (
        f"default-src 'none'; style-src {hashes['css']} 'unsafe-hashes'; script-src {hashes['js']}; "
        "connect-src 'self'; frame-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return text, policy
