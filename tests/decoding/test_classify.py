"""Questions about one slot: distributions against the network's own, and what may be asked of which model."""

import pytest
import torch

from t5punct.decoding.classify import Question, SlotClassifier
from t5punct.decoding.inputs import DecodingConfig, WindowInput
from t5punct.errors import ConfigError
from t5punct.model import Model

WINDOWS = [WindowInput.of(words.split()) for words in ("we know that right", "no", "i saw iPhone users in the U.S.")]
QUESTIONS = [Question(window, slot) for window in WINDOWS for slot in range(len(window.words))]


@pytest.fixture(scope="module")
def model(lively_model: Model) -> Model:
    return lively_model.with_task(classifies=True)


@torch.inference_mode()
def _next(model: Model, question: Question, written: list[int], allowed: list[int]) -> list[float]:
    """The probabilities of the allowed tokens after what is written, by one plain forward pass."""
    source = model.tokenizer.source(question.window.words, asked=question.slot)
    decoder = torch.tensor([[model.start_id, *written]])
    logits = model.network(input_ids=torch.tensor([source.ids]), decoder_input_ids=decoder).logits[0, -1]
    return list(torch.softmax(logits[allowed], dim=0).tolist())


def test_labels_are_chain_rule_products_of_the_networks_chances(model: Model) -> None:
    """Of two marks at most: what would follow a mark that was not taken is never asked."""
    answers = SlotClassifier(model.with_task(marks="?!"), DecodingConfig(max_marks=2)).decode(QUESTIONS)
    tokenizer = model.tokenizer
    tokens = {"": tokenizer.eos_id, "?": tokenizer.mark_ids["?"][0], "!": tokenizer.mark_ids["!"][0]}
    n_marked = 0
    for question, labels in zip(QUESTIONS, answers, strict=True):
        wanted = dict(zip(tokens, _next(model, question, [tokenizer.sentinel_id], [*tokens.values()]), strict=True))
        best = max(wanted, key=wanted.__getitem__)
        if best:
            n_marked += 1
            first = wanted.pop(best)
            second = _next(model, question, [tokenizer.sentinel_id, tokens[best]], [*tokens.values()])
            wanted |= {best + mark: first * chance for mark, chance in zip(tokens, second, strict=True)}
        assert {label: labels.get(label, 0.0) for label in wanted} == pytest.approx(wanted, abs=1e-4)
    assert 0 < n_marked < len(QUESTIONS), "some slots have a mark, others none"


def test_many_questions_are_answered_as_each_alone(model: Model) -> None:
    classifier = SlotClassifier(model)
    for question, labels in zip(QUESTIONS, classifier.decode(QUESTIONS), strict=True):
        (single,) = classifier.decode([question])
        assert tuple(labels) == tuple(single)
        assert tuple(labels.values()) == pytest.approx(tuple(single.values()), abs=1e-4)


def test_pure_punctuation_has_no_marks_and_the_model_must_know_the_task(model: Model, lively_model: Model) -> None:
    window = WindowInput.of(["so", ":)"], [True, False])
    (labels,) = SlotClassifier(model).decode([Question(window, 1)])
    assert (tuple(labels), tuple(labels.values())) == (("",), (1.0,))
    with pytest.raises(ConfigError, match=r"lively, which was not trained to classify slots; .*classifies: true"):
        SlotClassifier(lively_model)


def test_rarely_asked_slots_without_marks_get_their_share_back(model: Model) -> None:
    plain = SlotClassifier(model).decode(QUESTIONS)
    for before, after in zip(plain, SlotClassifier(model.with_task(unmarked_odds=3.0)).decode(QUESTIONS), strict=True):
        bare = before[""]
        assert after[""] == pytest.approx(3 * bare / (3 * bare + 1 - bare), abs=1e-5)
        for label in before.keys() - {""}:
            assert after[label] == pytest.approx(before[label] / (3 * bare + 1 - bare), abs=1e-5)
    with pytest.raises(ConfigError, match=r"unmarked_odds 0\.0"):
        model.with_task(unmarked_odds=0.0)
