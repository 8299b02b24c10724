"""An encoder of transformers under a T5 decoder that may copy (Rothe 2020: warm-started encoder, fresh decoder).

In: configs of an encoder-only model (BERT, MPNet, RoBERTa, XLM-R, ..), or of a umT5, whose encoder is taken, and of a
decoder.  Out: an `EncoderT5`, which is used, trained and saved as any T5 of transformers.  The decoder is umT5's.  Both
read the same embeddings of words, and the output layer is these embeddings too.
"""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import nn
from transformers import AutoConfig, AutoModel, AutoModelForSeq2SeqLM, UMT5Config, UMT5ForConditionalGeneration
from transformers.modeling_outputs import BaseModelOutput
from transformers.models.umt5.modeling_umt5 import UMT5PreTrainedModel, UMT5Stack

from .folder import ENCODER_T5
from .word_memory import embed_targets, memory_of


class EncoderT5Config(UMT5Config):  # type: ignore[misc]
    """The decoder's config; its member `encoder` is the encoder's config, in the form that transformers saves.

    d_code: channels of a word's code in the decoder's memory (see `word_memory`), None where the decoder reads the
    encoder's states alone; silent_ids: the tokens that are no words, of sources and targets.
    """

    model_type = ENCODER_T5
    encoder: dict[str, Any] | None = None
    d_code: int | None = None
    silent_ids: tuple[int, ...] | list[int] = ()


class EncoderT5(UMT5ForConditionalGeneration):  # type: ignore[misc]
    """A T5 whose encoder is another model of transformers."""

    config_class = EncoderT5Config
    model_type = ENCODER_T5
    _no_split_modules = None

    def __init__(self, config: EncoderT5Config) -> None:
        UMT5PreTrainedModel.__init__(self, config)  # umT5's own would make a T5 encoder
        self.model_dim = config.d_model
        self.shared = nn.Embedding(config.vocab_size, config.d_model)
        self.encoder = _encoder_of(dict(config.encoder or {}))
        decoder_config = copy.deepcopy(config)
        decoder_config.is_decoder = True
        decoder_config.num_layers = config.num_decoder_layers
        # with torch's fused attention a decoder of transformers 5.17 reads the tokens that it shall write
        decoder_config._attn_implementation = "eager"
        self.decoder = UMT5Stack(decoder_config)
        self.memory = memory_of(config)
        self.lm_head = nn.Linear(config.d_model, config.vocab_size, bias=False)
        # all three have the embeddings of words: `post_init` makes them `shared`
        words = self.encoder.get_input_embeddings()
        name_of_words = next(name for name, module in self.encoder.named_modules() if module is words)
        tied = (f"encoder.{name_of_words}", "decoder.embed_tokens", "lm_head")
        self._tied_weights_keys = {f"{name}.weight": "shared.weight" for name in tied}
        self.post_init()

    def forward(
        self,
        input_ids: Any = None,
        attention_mask: Any = None,
        encoder_outputs: Any = None,
        decoder_input_ids: Any = None,
        decoder_inputs_embeds: Any = None,
        labels: Any = None,
        **settings: Any,
    ) -> Any:
        """Do what a T5 of transformers does; `encoder_outputs` holds the decoder's memory (`word_memory`).

        `decoder_input_ids` are all tokens from the decoder's first on; with a cache, which needs the newest alone,
        `generate` gives `decoder_inputs_embeds`.
        """
        if encoder_outputs is None:
            encoder_outputs = self.encoder(input_ids=input_ids, attention_mask=attention_mask)
            encoder_outputs = self._remembered(encoder_outputs, input_ids)
        if decoder_inputs_embeds is None:
            target_ids = self._shift_right(labels) if decoder_input_ids is None else decoder_input_ids
            decoder_inputs_embeds = embed_targets(self, target_ids)
        return super().forward(
            attention_mask=attention_mask,
            encoder_outputs=encoder_outputs,
            decoder_inputs_embeds=decoder_inputs_embeds,
            labels=labels,
            **settings,
        )

    def prepare_inputs_for_generation(self, input_ids: torch.Tensor, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return what `forward` takes at a step of `generate`; transformers looks for a parameter named `kwargs`."""
        prepared: dict[str, Any] = super().prepare_inputs_for_generation(input_ids, *args, **kwargs)
        n_new = prepared.pop("decoder_input_ids").shape[1]
        return prepared | {"decoder_inputs_embeds": embed_targets(self, input_ids)[:, -n_new:]}

    @torch.no_grad()
    def generate(self, inputs: torch.Tensor | None = None, **settings: Any) -> Any:
        """Do what `generate` of transformers does, from source ids or from `encoder_outputs`, the decoder's memory."""
        input_ids = settings.pop("input_ids", inputs)
        if settings.get("encoder_outputs") is None and input_ids is not None:
            mask = settings.setdefault("attention_mask", (input_ids != self.config.pad_token_id).long())
            encoded = self.encoder(input_ids=input_ids, attention_mask=mask)
            settings["encoder_outputs"] = self._remembered(encoded, input_ids)
        return super().generate(**settings)

    def _remembered(self, encoder_outputs: Any, input_ids: torch.Tensor) -> Any:
        if self.memory is None:
            return encoder_outputs
        memory = self.memory(encoder_outputs[0], input_ids, self.shared)
        return BaseModelOutput(last_hidden_state=memory)


def _encoder_of(values: dict[str, Any]) -> Any:
    """Return the encoder of a config that transformers has saved, with weights by chance."""
    config = AutoConfig.for_model(values.pop("model_type"), **values)
    if config.model_type == UMT5Config.model_type:
        config.use_cache = False  # an encoder has none
        return UMT5Stack(config)
    try:
        return AutoModel.from_config(config, add_pooling_layer=False)
    except TypeError:  # a kind without a pooling layer
        return AutoModel.from_config(config)


AutoConfig.register(ENCODER_T5, EncoderT5Config)
AutoModelForSeq2SeqLM.register(EncoderT5Config, EncoderT5)
