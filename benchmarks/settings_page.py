"""Write docs/settings.md: all settings of `t5punct prepare` and `t5punct train`, from their dataclasses.

    python benchmarks/settings_page.py > docs/settings.md

A setting's text is the comment beside or above it.  A test compares the page with what this writes.
"""

import ast
import dataclasses
import inspect
import json
import re
import textwrap
import typing
from collections.abc import Iterator
from typing import Any

from t5punct.t5.task import TaskConfig
from t5punct.training.config import TrainConfig
from t5punct.training.data.prepare import PrepareConfig

HEAD = """# Settings

All settings of `t5punct prepare` and of `t5punct train` (`python train.py`), with their defaults. Write them into a
YAML file (`--config`), or behind the command by their dotted names (`optim.lr=1e-4`). `null`
stands for none. The files in `configs/` are examples, [usage.md](usage.md#fine-tune) is the guide.

This page is written by `python benchmarks/settings_page.py > docs/settings.md`.
"""


def page() -> str:
    """Return the page."""
    parts = [HEAD]
    for title, schema, prefix in (
        ("t5punct prepare", PrepareConfig, ""),
        ("t5punct train", TrainConfig, ""),
        ("Under `task`, and in a model's `t5punct.yaml`", TaskConfig, "task."),
    ):
        parts += [f"## {title}\n", *iter_sections(schema, prefix)]
    return "\n".join(parts)


def iter_sections(schema: Any, prefix: str) -> Iterator[str]:
    """Yield the table of a dataclass's settings, then those of the dataclasses that it holds."""
    held, comments = dict[str, Any](), comments_of(schema)
    rows = ["| setting | default | |", "| --- | --- | --- |"]
    for field in dataclasses.fields(schema):
        kind = held_kind(typing.get_type_hints(schema)[field.name])
        if kind is not None:
            held[f"{prefix}{field.name}"] = kind
        if kind is None or comments[field.name]:
            text = " ".join(comments[field.name].split()).replace("|", "\\|")
            rows.append(f"| `{prefix}{field.name}` | {shown_default(field)} | {text} |")
    yield "\n".join([*rows, ""])
    for name, kind in held.items():
        opening = re.split(r"\n\s*\n", inspect.getdoc(kind) or "")[0]
        yield f"### {name}\n\n{' '.join(opening.split())}\n"
        yield from iter_sections(kind, f"{name}.")


def held_kind(hint: Any) -> Any:
    """Return the dataclass in a type: of `list[CorpusConfig]` that of a corpus; None where there is none."""
    kinds = [hint, *typing.get_args(hint)]
    return next((kind for kind in kinds if dataclasses.is_dataclass(kind)), None)


def comments_of(schema: Any) -> dict[str, str]:
    """Return the comment beside or above each field of a dataclass."""
    source = textwrap.dedent(inspect.getsource(schema))
    lines, comments = source.splitlines(), dict[str, str]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
            above = list[str]()
            while lines[first - 1 - len(above)].strip().startswith("# "):
                above.insert(0, lines[first - 1 - len(above)].strip().removeprefix("# "))
            beside = lines[last][node.end_col_offset :].partition("# ")[2]
            comments[node.target.id] = " ".join([*above, beside])
    return comments


def shown_default(field: Any) -> str:
    """Return a default as YAML has it; nothing for settings that are tables of their own."""
    value = field.default if field.default is not dataclasses.MISSING else field.default_factory()
    if dataclasses.is_dataclass(value):
        return ""
    text = json.dumps(value, ensure_ascii=False)
    return "`" + (text if not isinstance(value, str) or not value else value.replace("|", "\\|")) + "`"


if __name__ == "__main__":
    print(page(), end="")
