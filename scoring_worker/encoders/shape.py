"""The shape of an encoder, from its ``config.json``."""

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from safepassage.scoring_worker.manifest import ModelError

READER_TYPES = {"bert", "mpnet", "xlm-roberta", "roberta"}
"""Encoders that transformers builds without any code of the model's."""
_CONFIG = "config.json"


class EncoderShape(BaseModel):
    """What a config says of an encoder, under transformers' names; the rest is not read."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    model_type: str
    vocab_size: int = Field(ge=1)
    hidden_size: int = Field(ge=1)
    num_hidden_layers: int = Field(ge=1, le=1_000)
    num_attention_heads: int = Field(ge=1)
    intermediate_size: int = Field(ge=1)
    max_position_embeddings: int = Field(ge=1)
    layer_norm_eps: float = Field(gt=0)
    hidden_act: str
    pad_token_id: int | None
    type_vocab_size: int = Field(default=1, ge=0)
    relative_attention_num_buckets: int = Field(default=32, ge=32)
    is_decoder: bool = False


def shape_in(folder: Path) -> EncoderShape:
    """The shape that ``folder`` gives. What its config leaves open is as transformers has it.
    Raises `ModelError` where there is no config, or it is of no encoder that a reader can rest on.
    """
    try:
        said = json.loads((folder / _CONFIG).read_bytes())
        kind = said.get("model_type") if isinstance(said, dict) else None
        if kind not in READER_TYPES:
            raise ModelError(f"{folder}: a reader cannot be of type {kind!r}")
        if kind == "bert" and "type_vocab_size" not in said:
            said = _completed(folder)
        try:
            return EncoderShape.model_validate(said)
        except ValidationError:
            return EncoderShape.model_validate(_completed(folder))
    except (OSError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"{folder}: cannot read its {_CONFIG} ({type(error).__name__})") from error


def _completed(folder: Path) -> dict[str, Any]:
    from transformers import AutoConfig  # noqa: PLC0415 (seconds and 180 MB; seldom needed)

    config = AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    return dict(config.to_dict())
