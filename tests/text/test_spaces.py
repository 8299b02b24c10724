"""Text of a language without spaces is refused, by the command and in data sets; one that was cut into words is not."""

from pathlib import Path

import pytest
from chance import PunctuatorByChance

from t5punct.errors import InputError
from t5punct.punctuator import PunctuatorConfig
from t5punct.text.languages import is_unspaced
from t5punct.training.data.corpora import CorpusConfig
from t5punct.training.data.prepare import ChunkConfig, PrepareConfig, prepare

WITHOUT = {
    "Chinese": "我们知道这个事情是对的吗 我不知道今天天气很好 我们去公园玩吧",
    "Japanese": "わたしたちはそれがただしいことをしっています 今日は天気がいいですね",
    "Thai": "เรารู้ว่าเรื่องนี้ถูกต้องหรือไม่ ฉันไม่รู้วันนี้อากาศดีมาก", "a short line of Chinese": "今天天气很好",
    "a shorter one": "今天天气", "short lines": "你好世界\n谢谢大家",
}  # fmt: skip
WITH = {
    "Chinese, cut into words": "我们 知道 这个 事情 是 对 的 吗 我 不 知道 今天 天气 很 好 我们 去 公园 玩 吧",
    "Thai, cut into words": "เรา รู้ ว่า เรื่อง นี้ ถูกต้อง หรือไม่ ฉัน ไม่ รู้ วันนี้ อากาศ ดี มาก",
    "Korean": "우리는 그것이 맞는지 알고 있습니다 오늘은 날씨가 아주 좋습니다 공원에 가서 놀자",
    "English that quotes": "he wrote 我们知道这个事情是对的吗我不知道 and then he went home to have his dinner",
    "a name": "李小龙",
    "a word of four among others": "这 真 是 莫名其妙",
    "words, a line each": "你好\n谢谢",
    "nothing": "",
}


def test_text_without_spaces_is_seen_and_text_with_spaces_is_read() -> None:
    assert {name for name, text in (WITHOUT | WITH).items() if is_unspaced(text)} == WITHOUT.keys()


def test_the_command_says_so_of_any_format(tmp_path: Path) -> None:
    cues = "\n\n".join(f"1\n00:00:01,000 --> 00:00:02,000\n{cue}" for cue in WITHOUT["Chinese"].split())
    for name, text in (("talk.txt", WITHOUT["Chinese"]), ("talk.srt", cues)):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=rf"{name}, whose words have no spaces .* cut it into words first"):
            list(PunctuatorByChance(PunctuatorConfig(), 1).punctuate_file(path))


def test_one_of_many_texts_stops_no_others_and_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    texts = PunctuatorByChance(PunctuatorConfig(), 1).punctuate_many(["we know that", WITHOUT["Thai"], "so is it"])
    assert [len(text.split()) for text in texts][::2] == [3, 3]
    assert [record.levelname for record in caplog.records if "have no spaces between" in record.message] == ["WARNING"]


def test_a_data_set_of_it_is_refused_and_one_document_of_it_is_not(tmp_path: Path) -> None:
    talks = tmp_path / "talks.txt"
    config = PrepareConfig(str(tmp_path / "data"), str(tmp_path), [CorpusConfig("talks.txt")], ChunkConfig(2, 12))
    talks.write_text("\n".join([WITHOUT["Japanese"]] * 30), encoding="utf-8")
    with pytest.raises(InputError, match=r"talks\.txt, whose words have no spaces"):
        prepare(config)
    talks.write_text("\n".join([*["We know. Do you know it?"] * 30, WITHOUT["Chinese"]]), encoding="utf-8")
    assert prepare(config).train_chunks
