"""Models: loaded, saved, put on a device and converted; and those that ship inside the package.

In: a folder, a hub id, a bundled model's name, or nothing (`large`).  Out: a `Model`, a T5 with its tokenizer and task.

A model computes in fp32, as it was saved, or faster.  `int8` has linear layers multiply in int8 (`t5/int8_linear.py`);
it needs a CPU.  `bf16` is fast where the hardware multiplies bfloat16 (AVX512-BF16, AMX, any recent GPU), elsewhere
slower than fp32.  `auto` takes int8 on a CPU and bf16 on a GPU, where they are fast, else fp32.  T5 overflows in fp16,
so that is not offered.

No word changes, in any precision.  In fp32 and int8 `slots` equals step-by-step decoding, and a window's result does
not depend on what else is in its batch (up to the order of sums, some 1e-6 of a probability; where it turns a rounding
of int8, some 1e-3).  In bf16 neither holds exactly: now and then a slot that was nearly even falls the other way.
"""

from __future__ import annotations

import copy
import hashlib
import json
import logging
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import config as settings
from .config import check
from .errors import ConfigError, ModelError, first_line
from .t5.folder import TAGGER_FILE, locate, remove_weights, writing_folder
from .t5.task import TaskConfig
from .t5.tokenization import TaskTokenizer
from .t5.weights import KINDS, LOADING_LOCK, convert_weights, kind_of, load_network, quiet_transformers
from .text.languages import LANGUAGES, guess_language
from .text.spelling_table import NO_SPELLINGS, SpellingTable, read_table, write_table

if TYPE_CHECKING:
    import torch

    from .t5.tagger import Tagger

TASK_FILE = "t5punct.yaml"
BUNDLED_MODELS = Path(str(resources.files("t5punct"))) / "models"  # the folder of those that ship with the package
BUNDLED = "large"
MODEL_LANGUAGES = {**dict.fromkeys(("large", "base", "small"), ("en",)), "multi": tuple(LANGUAGES)}
_LARGEST_BLOCK_BYTES = 32 * 2**20 - 2**16  # just below 32 MiB, with what glibc adds to a block
_FINGERPRINT = "t5punct_tokenizer"  # in config.json: which tokenizer the model was saved with
PRECISIONS = ("fp32", "bf16", "int8", "auto")
_log = logging.getLogger(__name__)


@cache
def prepare_process() -> None:
    """Let processes that this one forks compute with one thread, and glibc keep the memory of batches.

    Else GNU's OpenMP waits in a forked process for threads that are gone.  And glibc gives large blocks back to the
    system, which fills their pages with zeros before it lends them again.  What counts as large grows to the size of
    the largest block that was freed, up to 32 MiB, and of free memory twice that much is kept (mallopt(3),
    M_MMAP_THRESHOLD).  Training, whose blocks are larger, sets malloc (`cli/process.py`).
    """
    import torch

    if hasattr(os, "register_at_fork"):  # not on Windows
        os.register_at_fork(after_in_child=partial(torch.set_num_threads, 1))
    torch.empty(_LARGEST_BLOCK_BYTES, dtype=torch.uint8)  # freed at once; none of its pages is touched


@dataclass(frozen=True)
class Model:
    """A T5 and the text form that it was trained with."""

    network: Any  # of transformers, or an `InferenceT5`
    tokenizer: TaskTokenizer
    name: str
    tagger: Tagger | None = None  # guesses marks and case from the encoder's states
    precision: str = "fp32"  # what it computes in
    tuned: bool = True  # False: its folder says nothing of the task, so it may never have been trained for it
    folder: Path | None = None  # where it was loaded from
    spellings: SpellingTable = NO_SPELLINGS  # words that are written in one way

    @property
    def task(self) -> TaskConfig:
        return self.tokenizer.task

    def with_task(self, **changes: object) -> Model:
        """Return the same network, used with some settings of its task changed."""
        return self.with_settings(replace(self.task, **changes))  # type: ignore[arg-type]

    def with_settings(self, task: TaskConfig) -> Model:
        """Return the same network, used with another task; the tagger's classes follow the order of its marks."""
        tagger = None if self.tagger is None else self.tagger.of_marks(task.slot_marks)
        return replace(self, tokenizer=TaskTokenizer(self.tokenizer.tokenizer, task), tagger=tagger)

    @property
    def device(self) -> torch.device:
        return self.network.shared.weight.device

    def encode(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """Return the encoder's states (n_batch, n_source, d_model) of ids and mask, int64 (n_batch, n_source)."""
        from .t5.encoder import Encoder, blocks_of

        encoder = self.network.encoder
        # in training, and where our layers cannot run an encoder, its own forward does
        if self.network.training or blocks_of(encoder) is None:
            return encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        # a CPU gains by computing no padding; a GPU computes it faster than it moves the tokens
        on_cpu = input_ids.device.type == "cpu"
        return Encoder(encoder).states(input_ids, attention_mask, packed=on_cpu)

    def remember(self, states: torch.Tensor, input_ids: torch.Tensor) -> torch.Tensor:
        """Return what the decoder reads (n_batch, n_source, d_model): states alone, or with the words beside them."""
        network: Any = self.network
        memory = getattr(network, "memory", None)
        if memory is None:
            return states
        return memory(states, input_ids, network.shared)

    @property
    def start_id(self) -> int:
        """The token that opens every decoder input."""
        return int(self.network.config.decoder_start_token_id)


def known_languages(name: str) -> tuple[str, ...] | None:
    """Return the names of the languages that a bundled model knows; None for any other model."""
    codes = MODEL_LANGUAGES.get(name)
    return None if codes is None else tuple(LANGUAGES[code] for code in codes)


def unknown_language(name: str, words: Iterable[str]) -> str | None:
    """Return the language of words if a bundled model does not know it; None if it does, or nothing is known of that.

    >>> unknown_language("large", "wie geht es dir heute und was machst du".split())
    'German'
    """
    known = known_languages(name)
    language = guess_language(words)
    return None if known is None or language in known else language


def language_warning(name: str, language: str, source: str = "the text") -> str:
    """Return a warning about a text in a language that a bundled model does not know."""
    help = "--model multi knows it" if language in LANGUAGES.values() else "no bundled model knows it"
    poor = f"{language}, which the model {name} does not know, so its marks will be poor"
    return f"{source} seems to be in {poor}; {help}"


def model_for(language: str) -> str:
    """Return the bundled model that is best for a language, by its code or name.  Raises ConfigError if none knows it.

    >>> model_for("de"), model_for("English")
    ('multi', 'large')
    """
    short = language.strip().lower().replace("_", "-").partition("-")[0]
    code = next((code for code, name in LANGUAGES.items() if short in (code, name.lower())), None)
    check(
        code, f"language {language!r}, which no bundled model knows", expected=f"one of {', '.join(LANGUAGES)}",
        fix="name a model of your own by --model; docs/guides/your-language.md says how one is made",
    )  # fmt: skip
    return next(name for name, codes in MODEL_LANGUAGES.items() if code in codes)


def bundled_folder(name: str = BUNDLED) -> Path:
    """Return the folder of a model that ships with the package.  Raises ModelError if there is none of that name."""
    names = bundled_names()
    expected = f"one of {', '.join(names)}"
    mistake = f"no bundled model {name!r}"
    check(name in names, mistake, expected=expected, fix="name a model folder instead", kind=ModelError)
    return BUNDLED_MODELS / name


def bundled_names() -> tuple[str, ...]:
    """Return the models that ship with the package."""
    return tuple(sorted(path.name for path in BUNDLED_MODELS.glob("*/")))


def find(source: str | Path | None, kind: str = "model", revision: str | None = None) -> Path:
    """Return the folder of a model, or of a tokenizer (`kind`).

    The bundled default (None), a folder of this name that holds a model, a bundled model of this name, or a hub id's.
    """
    mistake = f"a {kind} {source!r}"
    check(
        isinstance(source, str | Path | None), mistake, expected="a name or a folder", fix="name one", kind=ModelError
    )
    if source is None:
        source = BUNDLED_MODELS / BUNDLED
    elif str(source) in bundled_names() and not (Path(source) / "config.json").is_file():
        source = BUNDLED_MODELS / str(source)
    return locate(source, kind, revision, known=bundled_names())


def load(
    source: str | Path | None = None,
    device: str | None = None,
    precision: str | None = None,
    *,
    task: TaskConfig | None = None,
    revision: str | None = None,
) -> Model:
    """Load a model; `revision`: a branch, tag or commit of a hub id.

    Without a device and a precision the model is in float32 on the CPU, and can be trained and saved.  With either of
    them it only infers, and is loaded without transformers, if possible; the one that is not named is `auto`.

    Raises ModelError if the folder holds no usable T5, and ConfigError for a device that is not there.  `task` replaces
    the text form that the folder's `t5punct.yaml` states; a folder without one (any T5) has the default form.
    """
    from .t5.inference import read_network, read_tokenizer
    from .t5.tagger import load_tagger

    prepare_process()
    name = str(source) if source is not None else BUNDLED
    folder = find(source, revision=revision)
    has_config = (folder / "config.json").is_file()
    mistake = f"{folder} holds no config.json"
    check(has_config, mistake, expected="a T5 folder", fix="check the name", kind=ModelError)
    kind = kind_of(folder)
    check(  # some others would load, and fail later
        kind in KINDS, f"{folder} holds a {kind}",
        expected="a T5, mT5, umT5 or byT5, or an encoder that was trained with t5punct",
        fix="make a model of it first (recipes/from_encoder.py), or name another one", kind=ModelError,
    )  # fmt: skip
    task = task or read_task(folder)
    infers = device is not None or precision is not None
    target = find_device(device or ("auto" if infers else "cpu"))
    wanted = precision or ("auto" if infers else "fp32")
    if wanted == "auto":
        wanted = fastest_precision(target)
    pieces = read_tokenizer(folder) if infers else None
    tokenizer = load_tokenizer(folder, task) if pieces is None else TaskTokenizer(pieces, task)
    in_int8 = (target.type, wanted) == ("cpu", "int8")
    network: Any = read_network(folder, in_int8=True) if in_int8 else None
    loaded_precision = "fp32" if network is None else "int8"
    if network is None and infers:
        network = read_network(folder)
    if network is None:
        network = load_network(folder).eval()
    n_pieces, n_known = len(tokenizer.tokenizer), network.config.vocab_size
    check(
        n_pieces <= n_known, f"{folder}: a tokenizer of {n_pieces} pieces for a model of {n_known}",
        expected="the tokenizer that the model was trained with", fix="copy the folder anew", kind=ModelError,
    )  # fmt: skip
    if getattr(network.config, _FINGERPRINT, None) not in (None, tokenizer_fingerprint(tokenizer)):
        _log.warning("%s: this tokenizer is not the one that the model was saved with; expect nonsense", folder)
    tagger = load_tagger(folder / TAGGER_FILE, network.config.d_model, task.slot_marks, task.opening)
    name = f"{name}@{revision}" if revision else name
    is_tuned = (folder / TASK_FILE).is_file()
    spellings = read_table(folder)
    model = Model(network, tokenizer, name, tagger, loaded_precision, is_tuned, folder, spellings)
    if (target.type, wanted) == ("cpu", loaded_precision):
        return model
    return with_precision(on_device(model, target), wanted)


def find_device(name: str) -> torch.device:
    """Return torch's device of this name; of `auto`, a GPU if there is one.  Raises ConfigError if there is none."""
    import torch

    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
        if device.type == "meta":  # torch's own device without memory
            raise RuntimeError
        if device.type != "cpu":
            torch.empty(0, device=device)
    except (RuntimeError, AssertionError, ImportError) as error:  # an unknown name, or one that this torch cannot use
        expected = "cpu, or a GPU that torch sees"
        raise ConfigError(f"device {name!r}", expected=expected, fix="check --device") from error
    return device


def fastest_precision(device: torch.device) -> str:
    """Return the fastest precision of a device that loses nothing that can be measured."""
    import torch

    if device.type == "cpu":  # whether int8 is faster on other processors, such as ARM's, nobody measured
        return "int8" if torch.backends.cpu.get_cpu_capability().startswith("AVX") else "fp32"
    return "bf16" if multiplies_bf16(device) else "fp32"


def multiplies_bf16(device: torch.device) -> bool:
    """Return whether a device has instructions for bfloat16 (not only an emulation in software)."""
    import torch

    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    known: dict[str, object] = getattr(torch.cpu, "get_capabilities", dict)()  # older torch does not say
    return device.type == "cpu" and any(known.get(name) for name in ("avx512_bf16", "amx_bf16", "bf16"))


def on_device(model: Model, device: torch.device) -> Model:
    """Return a model on a device; the given one stays where it is."""
    if device.type == model.device.type and device.index in (None, model.device.index):
        return model
    tagger = model.tagger and copy.deepcopy(model.tagger).to(device)
    return replace(model, network=copy.deepcopy(model.network).to(device), tagger=tagger)


def with_precision(model: Model, name: str) -> Model:
    """Return a model that computes in another precision; the given one stays as it is.

    Raises ConfigError for a model that was already converted to another precision: what it lost does not come back.
    """
    import torch

    check(
        name in PRECISIONS, f"precision {name!r}", expected=f"one of {', '.join(PRECISIONS)}", fix="check --precision"
    )
    if name in ("auto", model.precision) and model.precision != "fp32":
        return model
    mistake = f"{name} of a model in {model.precision}"
    check(model.precision == "fp32", mistake, expected="a model in fp32", fix="load it again")
    if name == "bf16" and not multiplies_bf16(model.device):
        _log.warning("bf16 is slow on this %s, which has no instructions for it; use --precision auto", model.device)
    if name == "auto":
        name = fastest_precision(model.device)
    if name == "bf16":
        tagger = model.tagger and copy.deepcopy(model.tagger).to(torch.bfloat16)
        network = copy.deepcopy(model.network).to(torch.bfloat16)
        return replace(model, network=network, tagger=tagger, precision="bf16")
    if name == "int8":
        from .t5.int8_linear import in_int8

        fix = "use --precision bf16 or --device cpu"
        check(model.device.type == "cpu", f"int8 on {model.device}", expected="a CPU", fix=fix)
        return replace(model, network=in_int8(model.network), precision="int8")
    return model


def with_transformers(model: Model) -> Model:
    """Return a model with network and tokenizer of transformers, which generate, train and are saved.

    One that was loaded to infer only, in whatever precision, is in float32 then; others stay as they are.
    """
    from .t5.inference import InferenceT5, PieceTokenizer

    if not isinstance(model.network, InferenceT5) and not isinstance(model.tokenizer.tokenizer, PieceTokenizer):
        return model
    whole = load(model.folder, task=model.task)
    network: Any = whole.network
    if model.precision == "fp32":  # in which its weights may have been changed
        network.load_state_dict(model.network.state_dict())
    return replace(model, network=network.to(model.device), tokenizer=whole.tokenizer, precision="fp32")


def load_tokenizer(source: str | Path, task: TaskConfig) -> TaskTokenizer:
    """Return the tokenizer of a folder or hub id, seen through a task."""
    from transformers import AutoTokenizer, T5Tokenizer

    folder = find(source, "tokenizer")
    expected = "a T5 folder or hub id"
    fix = "check the name"
    try:
        with LOADING_LOCK, quiet_transformers():  # transformers would warn of a kind of model that it does not know
            tokenizer = AutoTokenizer.from_pretrained(str(folder), trust_remote_code=False)
    except Exception as error:  # what a damaged file raises has no common base
        if not (folder / "spiece.model").is_file():
            raise ModelError(f"no tokenizer in {source} ({first_line(error)})", expected=expected, fix=fix) from error
        tokenizer = T5Tokenizer.from_pretrained(str(folder))  # a umT5's folder may hold this file alone
    files = tokenizer.vocab_files_names.values()  # byT5 has none
    if files and not any((folder / name).is_file() for name in files):  # then transformers makes one of 104 pieces
        raise ModelError(f"no tokenizer in {source} (none of {', '.join(files)})", expected=expected, fix=fix)
    return TaskTokenizer(tokenizer, task)


def tokenizer_fingerprint(tokenizer: TaskTokenizer) -> str:
    """Return a hash of a sample of the vocabulary: of another tokenizer it is another one."""
    n_pieces = len(tokenizer.tokenizer)
    pieces = tokenizer.tokenizer.convert_ids_to_tokens(list(range(0, n_pieces, max(1, n_pieces // 1000))))
    return hashlib.sha256("\n".join(map(str, pieces)).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def save(model: Model, folder: str | Path, *, dtype: torch.dtype | None = None, int8: bool = False) -> None:
    """Write weights (safetensors), tokenizer and task; `dtype` converts the weights on the way.

    `int8`: all large matrices are written in int8 (see `t5/int8.py`); then `dtype` converts the tagger alone.
    """
    from . import __version__
    from .t5.int8 import write_int8

    folder = Path(folder)
    model = with_transformers(model)
    network: Any = model.network
    with writing_folder(folder), quiet_transformers():
        folder.mkdir(parents=True, exist_ok=True)
        remove_weights(folder)
        if int8:
            write_int8(network, folder)
        else:
            network.save_pretrained(str(folder), state_dict=convert_weights(network.state_dict(), dtype))
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        config[_FINGERPRINT] = tokenizer_fingerprint(model.tokenizer)
        if dtype is not None:
            config["dtype"] = str(dtype).removeprefix("torch.")
        text = json.dumps(config, indent=2, sort_keys=True) + "\n"
        (folder / "config.json").write_text(text, encoding="utf-8")
        if model.tagger is not None:
            from safetensors.torch import save_file

            save_file(convert_weights(model.tagger.state_dict(), dtype), folder / TAGGER_FILE)
        model.tokenizer.tokenizer.save_pretrained(str(folder))
        settings.save(model.task, folder / TASK_FILE)
        write_table(model.spellings, folder)
        (folder / "t5punct-version.txt").write_text(__version__ + "\n", encoding="utf-8")


def read_task(folder: Path) -> TaskConfig:
    """Return the text form that a folder's model was trained with; the default where none is stated."""
    path = folder / TASK_FILE
    return settings.load_plain(TaskConfig, path) if path.is_file() else TaskConfig()
