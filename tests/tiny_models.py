"""Two models of some kilobytes in the folders real ones come in: an embedder and a cross-encoder that know 60 words.

A word is a direction for what it is about and a little of its own. Every special token but padding is nothing, and
padding is much, so that whoever lets padding count gets something else. The networks are written as the bytes that
ONNX defines for them, which are a few lines; its package would be a dependency for nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

DIMENSIONS = 12
STEEP, MIDDLE = 12.0, 0.5  # of the cross-encoder: how fast a logit grows with the cosine, and where it is 0
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
TOPICS = (
    "auth token credentials login cookie session",
    "rotate rotated rotation",
    "how often every hours daily 24",
    "bananas yellow potassium apples ripen rich fruit",
    "connection pool postgres max overflow exhausted raise",
    "null pointer middleware check fault fix",
    "lunch noon team",
    "query represent sentence searching relevant",
    "passage passages",
)
COMMON = (
    "a an and are as at be by came does do for from has in is it must of or stored the this to we with "
    "word words two entry half pair scheduled job deploy"
)
FLOAT, INT64 = 1, 7  # ONNX's numbers for them
OPSET, FORMAT = 17, 8


def vocabulary() -> list[str]:
    """Every token in the order of its number; letters and digits spell what no word stands for."""
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    words = [*" ".join(TOPICS).split(), *COMMON.split()]
    return [*SPECIAL, *dict.fromkeys([*words, *letters, *(f"##{letter}" for letter in letters)])]


def table() -> npt.NDArray[np.float32]:
    """The vector of every token."""
    tokens = vocabulary()
    vectors = np.random.default_rng(7).normal(0.0, 0.05, (len(tokens), DIMENSIONS))
    for topic, words in enumerate(TOPICS):
        vectors[[tokens.index(word) for word in words.split()], topic] += 1.0
    vectors[: len(SPECIAL)] = 0.0
    vectors[0] = 5.0
    return vectors.astype(np.float32)


def write_embedder(folder: Path, pooling: str = "mean") -> Path:
    """A vector per token: the token's own and the mean of the text's, so that the first one knows the text, too."""
    nodes = [
        *_masked(),
        _node("ReduceSum", ["shown", "tokens"], "all", keepdims=1),
        _node("ReduceSum", ["mask", "tokens"], "count", keepdims=1),
        _node("Div", ["all", "count"], "mean"),
        _node("Add", ["vectors", "mean"], "with_mean"),
        # a second part would move every vector: a text alone has none
        _node("Cast", ["token_type_ids"], "part", to=FLOAT),
        _node("Unsqueeze", ["part", "last"], "parts"),
        _node("Add", ["with_mean", "parts"], "last_hidden_state"),
    ]
    _write(folder, nodes, "last_hidden_state", ("batch", "tokens", DIMENSIONS))
    (folder / "embedding.toml").write_text(f'pooling = "{pooling}"\n')
    return folder


def write_cross_encoder(folder: Path) -> Path:
    """One logit per pair: how alike in direction the sums of both texts' tokens are."""
    nodes = [
        *_masked(),
        _node("Cast", ["token_type_ids"], "part", to=FLOAT),
        _node("Unsqueeze", ["part", "last"], "parts"),
        _node("Mul", ["shown", "parts"], "second_tokens"),
        _node("Sub", ["shown", "second_tokens"], "first_tokens"),
        *(
            node
            for name in ("first", "second")
            for node in (
                _node("ReduceSum", [f"{name}_tokens", "tokens"], name, keepdims=0),
                _node("Mul", [name, name], f"{name}_squares"),
                _node("ReduceSum", [f"{name}_squares", "tokens"], f"{name}_square", keepdims=1),
            )
        ),
        _node("Mul", ["first", "second"], "products"),
        _node("ReduceSum", ["products", "tokens"], "dot", keepdims=1),
        _node("Mul", ["first_square", "second_square"], "square"),
        _node("Add", ["square", "little"], "positive"),
        _node("Sqrt", ["positive"], "lengths"),
        _node("Div", ["dot", "lengths"], "cosine"),
        _node("Sub", ["cosine", "middle"], "beyond"),
        _node("Mul", ["beyond", "steep"], "logits"),
    ]
    numbers = {"little": 1e-9, "middle": MIDDLE, "steep": STEEP}
    _write(
        folder,
        nodes,
        "logits",
        ("batch", 1),
        **{name: np.array([value], np.float32) for name, value in numbers.items()},
    )
    return folder


def _masked() -> list[bytes]:
    """Token vectors, and the same without those of padding."""
    return [
        _node("Gather", ["table", "input_ids"], "vectors", axis=0),
        _node("Cast", ["attention_mask"], "flags", to=FLOAT),
        _node("Unsqueeze", ["flags", "last"], "mask"),
        _node("Mul", ["vectors", "mask"], "shown"),
    ]


def _write(
    folder: Path, nodes: list[bytes], output: str, shape: tuple[str | int, ...], **more: npt.NDArray[np.float32]
) -> None:
    constants = {"table": table(), "tokens": np.array([1]), "last": np.array([-1]), **more}
    inputs = ("input_ids", "attention_mask", "token_type_ids")
    graph = b"".join(
        [
            *(_part(1, node) for node in nodes),
            _part(2, b"tiny"),
            *(_part(5, _tensor(name, array)) for name, array in constants.items()),
            *(_part(11, _value(name, INT64, ("batch", "tokens"))) for name in inputs),
            _part(12, _value(output, FLOAT, shape)),
        ]
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(_number(1, FORMAT) + _part(7, graph) + _part(8, _number(2, OPSET)))
    (folder / "tokenizer.json").write_text(_tokenizer().to_str(), encoding="utf-8")


def _tokenizer() -> Tokenizer:
    numbers = {token: number for number, token in enumerate(vocabulary())}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]", max_input_chars_per_word=100))  # noqa: S106 - a token of text
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, numbers[name]) for name in ("[CLS]", "[SEP]")],
    )
    # as real files have it: always 512 tokens, most of which are padding
    tokenizer.enable_padding(length=512)
    tokenizer.enable_truncation(512)
    return tokenizer


def _node(kind: str, inputs: list[str], output: str, **options: int) -> bytes:
    given = [_part(5, _part(1, name.encode()) + _number(3, value) + _number(20, 2)) for name, value in options.items()]
    names = [_part(1, name.encode()) for name in inputs]
    return b"".join([*names, _part(2, output.encode()), _part(4, kind.encode()), *given])


def _tensor(name: str, array: npt.NDArray[np.float32] | npt.NDArray[np.int64]) -> bytes:
    kind = FLOAT if array.dtype == np.float32 else INT64
    sizes = b"".join(_number(1, size) for size in array.shape)
    return sizes + _number(2, kind) + _part(8, name.encode()) + _part(9, array.tobytes())


def _value(name: str, kind: int, shape: tuple[str | int, ...]) -> bytes:
    sizes = [_number(1, size) if isinstance(size, int) else _part(2, size.encode()) for size in shape]
    of = _number(1, kind) + _part(2, b"".join(_part(1, size) for size in sizes))
    return _part(1, name.encode()) + _part(2, _part(1, of))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _part(field: int, body: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(body)) + body


def _varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first; the eighth says that more follow."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])
