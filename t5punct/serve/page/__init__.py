"""The page at `/`: one file, with its styles and script inside, which asks no other site for anything.

In: nothing.  Out: the page, and the policy by which a browser runs nothing else.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from ...transcripts.review import content_hash, review_texts


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
