"""`POST /v1/punctuate` answers with the bytes that `t5punct punctuate` would write, or says what is wrong."""

import io
import json
import re
import shlex
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from services import FP32, GERMAN, GERMAN_WARNING, client
from starlette.testclient import TestClient

from t5punct.batch.jobs import Job
from t5punct.batch.work import Work
from t5punct.punctuator import Punctuator
from t5punct.serve.engine import Engine
from t5punct.serve.guard import Access
from t5punct.transcripts.writers import WriterConfig

FILES = {
    "talk.txt": "how are you\n\ntoday or not\n",
    "talk.srt": "1\n00:00:01,000 --> 00:00:02,000\nhow are you\n\n2\n00:00:02,000 --> 00:00:04,000\n<i>or</i> not\n",
    "talk.vtt": "WEBVTT\n\n00:01.000 --> 00:02.000\nhow are you\n",
    "talk.json": json.dumps({"text": "how are you", "words": [{"word": w, "start": 1} for w in ("how", "are", "you")]}),
    "talk.ctm": "a 1 0.1 0.2 how\na 1 0.4 0.2 are\n",
    "talk.tsv": "word\tstart\tend\nhow\t1\t2\nare\t2\t3\n",
}
TYPES = {"talk.srt": "application/x-subrip", "talk.vtt": "text/vtt", "talk.json": "application/json"}


def command(engine: Engine, folder: Path, name: str, writer: WriterConfig | None = None) -> bytes:
    """What the command writes."""
    source, target = folder / name, folder / f"written-{name}"
    source.write_bytes(FILES[name].encode())
    outcome = Work(Punctuator(engine.model, FP32), writer).run([Job(str(source), target)])
    assert not outcome.failures
    return target.read_bytes()


def test_a_file_of_a_form_or_a_raw_body_comes_out_as_the_command_writes_it(engine: Engine, tmp_path: Path) -> None:
    with client(engine) as served:
        for name, text in FILES.items():
            answer = served.post("/v1/punctuate", files={"file": (name, io.BytesIO(text.encode()))})
            assert (answer.status_code, answer.content) == (200, command(engine, tmp_path, name))
        documented = served.get("/openapi.json").json()["paths"]["/v1/punctuate"]["post"]["responses"]["200"]["content"]
        for name, kind in TYPES.items():
            answer = served.post("/v1/punctuate", content=FILES[name].encode(), headers={"content-type": kind})
            assert answer.content == command(engine, tmp_path, name)
            assert answer.headers["content-type"].partition(";")[0] == kind and kind in documented


def test_fields_of_a_query_and_of_a_form_are_the_commands_options(engine: Engine, tmp_path: Path) -> None:
    as_text = command(engine, tmp_path, "talk.srt", WriterConfig("text"))
    with client(engine) as served:
        body = FILES["talk.srt"].encode()
        query = served.post("/v1/punctuate?to=text&format=srt", content=body)
        form = served.post("/v1/punctuate", data={"to": "text"}, files={"file": ("talk.srt", body)})
        plain_form = served.post("/v1/punctuate", data={"text": "how are you & we", "no_case": "true", "marks": "?"})
        fields = {"text": "how are you", "json": "true", "terms": "you=YOU"}
        words = served.post("/v1/punctuate", files={name: (None, value) for name, value in fields.items()}).json()
    assert query.content == form.content == as_text
    assert plain_form.text.replace("?", "") == "how are you & we"
    assert [word["word"] for word in words["words"]] == ["how", "are", "you"]
    assert words["words"][2]["text"].startswith("YOU")


def curl(served: TestClient, words: list[str]) -> str:
    """The answer to what curl would send.  talk.srt: that of `FILES`."""
    (address,) = [word for word in words if word.startswith("http://127.0.0.1:8008/")]
    path = address.removeprefix("http://127.0.0.1:8008")
    sent = dict[str, Any]()
    for option, value in pairwise(words):
        if option == "-d":
            sent = {"content": value, "headers": {"content-type": "application/x-www-form-urlencoded"}}
        elif option == "--json":
            sent = {"content": value, "headers": {"content-type": "application/json"}}
        elif option == "-F":
            name, _, text = value.partition("=")
            part = (text[1:], FILES[text[1:]].encode()) if text[0] == "@" else (None, text)
            sent = {"files": {**sent.get("files", {}), name: part}}
    answer = served.post(path, **sent)
    assert answer.status_code == 200, answer.text
    return answer.text


@pytest.fixture
def served(engine: Engine) -> TestClient:
    with client(engine, max_words=50, max_body_bytes=2_000) as served:
        return served


@pytest.mark.parametrize(("query", "body", "status", "says"), [
    ("?windo=3", b"so", 422, "an unknown field windo"),
    ("?window=many", b"so", 422, "the field window: 'many'; expected a whole number, 512 at most"),
    ("?window=513", b"so", 422, "the field window: '513'; expected a whole number, 512 at most"),
    ("?no_case=maybe", b"so", 422, "no_case: 'maybe'; expected true or false"),
    ("?min_alignment=x", b"so", 422, "min_alignment: 'x'; expected a number"), ("?style=opera", b"so", 400, "opera"),
    ("?preset=/etc/passwd.yaml", b"so", 400, "a file"), ("?window=300&stride=2", b"so", 400, "apart"),
    ("?resegment=true", b"so", 400, "resegment, which does nothing here; expected to=srt, vtt or ass with it"),
    ("?keep_case=true&no_case=true", b"so", 400, "expected capitals (no no_case) with it"),
    ("?to=doc", b"so", 400, "html; check to"),
    ("", FILES["talk.srt"].encode(), 400, "text; use format=srt, or format=text if it is text all the same"),
    ("?to=srt", b"so we know", 400, "times"), ("", b"so\xff\xfe", 400, "UTF-8"),
    ("?terms=a%20b%3Dc", b"so", 400, "terms"), ("", b"so " * 51, 413, "51 words"), ("", b"s" * 2_001, 413, "large"),
    ("?format=json", b"{" * 900, 400, "json"),
    ("", b'{"text": "how are you"}', 400, "json; expected the header content-type: application/json"),
    # texts of a json
    ("", {"text": "so", "style": "talk", "no_cas": True}, 422, "an unknown field no_cas; expected one like no_case, "),
    ("", {"text": "so", "language": "de"}, 422, "a field language; expected what a client can choose"),
    ("", {"texts": [1]}, 422, "no list of strings"),
    ("", {"text": "so", "texts": ["so"]}, 422, "text and texts; expected one of them"),
    ("", {"texts": ["so"], "to": "srt"}, 422, "texts with another format"),
    ("", {"texts": ["so"], "style": 3}, 422, "the field style: 3; expected text"),
    ("", {"texts": ["so " * 30] * 2}, 413, "60 words"),
])  # fmt: skip
def test_what_is_wrong_is_said(served: TestClient, query: str, body: Any, status: int, says: str) -> None:
    sent = {"content": body} if isinstance(body, bytes) else {"json": body}
    answer = served.post(f"/v1/punctuate{query}", **sent)
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert says in f"{error['found']}; expected {error['expected']}; {error['fix']}"
    assert error.keys() == {"found", "expected", "fix"}


def test_what_nobody_serves_is_said_and_a_body_without_a_length_is_cut_off(served: TestClient) -> None:
    form = served.post("/v1/punctuate", files={"to": (None, "text")})
    answers = [served.get("/v1/nothing"), served.get("/v1/punctuate"), form]
    assert [answer.status_code for answer in answers] == [404, 405, 422]
    for answer in answers:
        assert answer.json()["error"].keys() == {"found", "expected", "fix"}
    assert served.post("/v1/punctuate", content=(b"so " for _ in range(2_000))).status_code == 413
    assert served.post("/v1/punctuate", content=b"").content == b"", "an empty text is an empty answer"


def test_a_slash_behind_the_address_makes_no_redirect(served: TestClient) -> None:
    answer = served.post("/v1/punctuate/", content=b"so we know", follow_redirects=False)
    assert (answer.status_code, answer.text) == (200, served.post("/v1/punctuate", content=b"so we know").text)
    assert "/v1/punctuate/" not in served.get("/openapi.json").json()["paths"]


def test_requests_are_counted_and_a_busy_service_says_so(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    with client(engine) as served:
        served.post("/v1/punctuate", content=b"how are you")
        served.post("/v1/punctuate?style=opera", content=b"how are you")
        text = served.get("/metrics").text
        assert served.get("/healthz").json()["ok"] is True
    assert 't5punct_requests_total{status="200"} 1.0' in text
    assert 't5punct_requests_total{status="400"} 1.0' in text
    assert "t5punct_text_words_total 3.0" in text
    with client(engine) as served:
        monkeypatch.setattr(Engine, "n_waiting_words", 10**9)
        answer = served.post("/v1/punctuate", content=b"so")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")


def test_several_texts_of_a_json_are_answered_in_their_order(served: TestClient, engine: Engine) -> None:
    texts = ["how are you", "", "JOHN: so we know\nthat", "we"]
    answer = served.post("/v1/punctuate", json={"texts": texts, "style": "talk", "no_case": True})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json; charset=utf-8")
    plain = {"content-type": "text/plain"}
    alone = [served.post("/v1/punctuate?style=talk&no_case=true", content=text, headers=plain) for text in texts]
    assert answer.json() == {"texts": [one.text for one in alone]}
    assert served.post("/v1/punctuate", json={"texts": []}).json() == {"texts": []}
    single = served.post("/v1/punctuate", json={"text": texts[0], "style": "talk", "no_case": True})
    assert single.json() == {"text": alone[0].text}
    whisper = {"text": texts[0], "language": "en", "segments": []}
    first = served.post("/v1/punctuate", content=texts[0], headers=plain).text
    assert served.post("/v1/punctuate", json=whisper).json() == whisper | {"text": first}
    nemo = {"text": texts[0], "duration": 2.9}  # flat: it might be a request with a mistyped field
    assert served.post("/v1/punctuate?format=json", json=nemo).json() == nemo | {"text": first}


@pytest.mark.parametrize("fields", [{"to": "json"}, {"json": "true"}, {"to": "html"}, {"format": "ctm", "to": "tsv"}])
def test_one_text_of_a_json_may_have_another_format_as_a_forms(served: TestClient, fields: dict[str, str]) -> None:
    text = FILES["talk.ctm"] if "format" in fields else "how are you"
    sent = {"text": text, **fields}
    form = served.post("/v1/punctuate", files={name: (None, value) for name, value in sent.items()})
    answer = served.post("/v1/punctuate", json=sent)
    assert (answer.status_code, answer.content) == (200, form.content)
    assert answer.headers["content-type"] == form.headers["content-type"]


def test_docs_show_the_api_without_another_site_or_a_script(served: TestClient) -> None:
    answer = served.get("/docs")
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "script" not in policy and "unsafe" not in policy
    assert "<script" not in answer.text and "://" not in answer.text
    for name in served.get("/openapi.json").json()["paths"]:
        assert f"{name}</code></h2>" in answer.text
    for shown in ("mark_odds", "WS /v1/stream", "WS /v1/watch", "multipart/form-data", "&quot;texts&quot;"):
        assert shown in answer.text
    assert "More bytes or words than" in answer.text


def test_the_page_needs_no_other_site_and_says_who_may_hear_the_microphone(engine: Engine) -> None:
    with client(engine) as served:
        answer = served.get("/")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
    assert "http://" not in answer.text and "https://" not in answer.text
    root, pages = Path(__file__).parents[2], ("README.md", "SECURITY.md", "docs/guides/serve.md")
    assert 'aria-describedby="speak-note"' in (root / "t5punct/serve/page/page.html").read_text(encoding="utf-8")
    assert [name for name in pages if "vendor" not in (root / name).read_text(encoding="utf-8")] == []


def test_the_requests_of_the_guide_are_answered_as_it_shows() -> None:
    guide = (Path(__file__).parents[2] / "docs/guides/serve.md").read_text(encoding="utf-8")
    lines = [line for block in re.findall(r"```text\n(.*?)```", guide, flags=re.DOTALL) for line in block.splitlines()]
    answers = list[str]()
    with client(Engine(Punctuator(precision="fp32"))) as served:
        for line, shown in pairwise([*lines, ""]):
            if line.startswith("curl "):
                answers.append(curl(served, shlex.split(line.partition(" > ")[0])[1:]))
                assert answers[-1].strip() == shown or not shown.startswith("{"), line
    plain, file, file_as_text, words, _ = answers
    assert plain == "How are you today?" and [*json.loads(words)] == ["source", "words"]
    assert "-->" in file and "-->" not in file_as_text != ""


def test_a_language_that_the_model_does_not_know_is_told_as_by_the_command(english_engine: Engine) -> None:
    english = "how are you today and what do you do"
    srt = f"1\n00:00:01,000 --> 00:00:02,000\n{GERMAN}\n"
    with client(english_engine, Access(origins=("https://example.org",))) as served:
        texts = [served.post("/v1/punctuate", json={"texts": [text, GERMAN]}) for text in (english, GERMAN)]
        one = served.post("/v1/punctuate", json={"text": GERMAN, "style": "talk"}).json()
        bodies = [served.post("/v1/punctuate", content=body) for body in (GERMAN, english)]
        files = [served.post(f"/v1/punctuate{query}", files={"file": ("rede.srt", srt)}) for query in ("", "?to=json")]
        foreign = served.post("/v1/punctuate", content=GERMAN, headers={"origin": "https://example.org"})
        reference = served.get("/docs").text
    assert texts[0].json()["warnings"] == [f"text 2 {GERMAN_WARNING.removeprefix('the text ')}"]
    assert texts[1].json()["warnings"] == [f"text 1 {GERMAN_WARNING.removeprefix('the text ')}"], "once a language"
    holds_srt = "text 1 holds srt; its times and names become words: send it as a file"
    assert served.post("/v1/punctuate", json={"text": srt}).json()["warnings"][-1] == holds_srt
    assert one["warnings"] == [GERMAN_WARNING] and one["text"].lower().startswith("wie")
    told = [answer.headers.get("t5punct-warning") for answer in (*bodies, *files)]
    assert told == [GERMAN_WARNING, None, GERMAN_WARNING, GERMAN_WARNING]
    assert foreign.headers["access-control-expose-headers"] == "T5punct-Warning" in reference
