"""Random calls of `attention` and `attention_backward`."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod
from random import Random
from typing import Any

from warploom.kernels.hopper.backward_plan import HEADS
from warploom.kernels.hopper.cost_model import H200
from warploom.kernels.hopper.plan import HOPPER

_MMA = "sm_80"  # oldest target of the kernel that multiplies with mma
_LARGEST = 2000  # tokens, or keys
_MOST = 2_500_000  # scores of a case, for which float64 takes about a second
_MOST_EMULATED = 30_000_000  # products of the tiles of a case that the emulator runs in a few seconds
_TILE = 64  # tokens and keys, to estimate the work of a case
_GRADIENT_PRODUCTS = 3  # products for the gradients, per product of the forward kernel
_DECODE_ROWS = 64  # tokens times heads of a group, up to which CTAs compute parts of the keys
_SHORT = 512  # keys up to which one CTA computes them
_VALUES = ("normal", "normal", "normal", "large", "tiny", "one-hot", "equal", "graded")
_STORAGES = ("", "", "wide", "heads", "tokens")
_HEADS = (64, 64, 64, 128, 128, 128, 256)
_BYTES = 0.25  # share of e4m3 among the cases that e4m3 supports
_FACTORS = ((1.0, 0.75, 0.375), (1.0, 0.75, 0.375), (1.0, 0.375, 2.5))  # of Q, K and V
_WIDE_HEADS = ((192, 128), (256, 256), (256, 64), (64, 256))


@dataclass(frozen=True, slots=True)
class Case:
    """Arguments of one call of `attention`, or of `attention_backward` if `gradients`.

    Each sequence has a number of tokens of Q and a number of keys. All padded sequences have the same number of tokens
    of Q, and their arrays have `padding` more keys than the longest sequence. If `packed`, the sequences lie one after
    another, and the arrays have `padding` more tokens and keys than all sequences. `page` is the number of keys of a
    page, or 0.

    The storage of an array is "" (dense), "wide" (the middle of a larger array), "heads" or "tokens" (heads or tokens
    are the outermost axis in memory). With the storage "fused", Q, K and V are parts of one array. `out` is the storage
    of the arrays for results; None passes no such array. `lse` is "" (no logarithms), "new" or "given".

    `values` is the kind of elements: "normal", "large" (scores of some hundreds), "tiny" (subnormal numbers of f16),
    "one-hot" (rows of Q and K with one element), "equal" (all rows of K, and of V, are equal) or "graded" (rows of K
    grow, so that each block of keys raises or keeps the maximum).

    `factors` are the scale factors of Q, K and V, which only e4m3 has. An operand whose letter is in `factor_arrays`
    has an array of scale factors near its number. `result` is the type of O, or "" for the default.

    The grid, and the number of parts of the keys, are those for a GPU with `multiprocessors` multiprocessors. A small
    number makes each persistent CTA compute several tiles.
    """

    type: str = "bf16"
    head: int = 64
    head_v: int = 64
    heads: int = 1
    heads_kv: int = 1
    tokens: tuple[int, ...] = (40,)
    keys: tuple[int, ...] = (100,)
    packed: bool = False
    left: int | None = None
    right: int | None = None
    scale: float | None = None
    page: int = 0
    causal: bool = False
    padding: int = 0
    storage: str = ""
    out: str | None = "wide"
    lse: str = "given"
    values: str = "normal"
    factors: tuple[float, float, float] = (1.0, 1.0, 1.0)
    factor_arrays: str = ""
    result: str = ""
    target: str = HOPPER
    multiprocessors: int = H200.multiprocessors
    gradients: bool = False
    deterministic: bool = False
    seed: int = 0
    number: int = 0

    def __str__(self) -> str:
        tokens, keys = (",".join(map(str, each)) for each in (self.tokens, self.keys))
        sizes = f"tokens {tokens}, keys {keys}, heads {self.heads} by {self.heads_kv} of {self.head}"
        return f"number {self.number}, {sizes}: {'; '.join(self.features)}"

    @property
    def lengths(self) -> bool:
        """True if `k_lengths` is passed."""
        return not self.packed and (self.page > 0 or self.k_tokens > min(self.keys))

    @property
    def q_tokens(self) -> int:
        """Extent of the axis of tokens of Q."""
        return max(1, sum(self.tokens) + self.padding) if self.packed else self.tokens[0]

    @property
    def k_tokens(self) -> int:
        """Number of keys for which the arrays have memory, of one sequence or of all packed sequences."""
        whole = max(1, (sum if self.packed else max)(self.keys) + self.padding)
        return -(-whole // self.page) * self.page if self.page else whole

    @property
    def last(self) -> int | None:
        """Number of keys after the diagonal to which a row attends, or None."""
        return 0 if self.causal else self.right

    @property
    def result_type(self) -> str:
        """Type of O and of gradients."""
        return self.result or ("bf16" if self.type == "e4m3" else self.type)

    @property
    def has_parts(self) -> bool:
        """True if CTAs of sm_90a compute parts of the keys."""
        if self.type == "e4m3":
            return False
        few = self.q_tokens * self.heads // self.heads_kv <= _DECODE_ROWS and not (self.gradients or self.packed)
        lines = self.heads_kv * len(self.tokens)
        has_pieces = few and lines < self.multiprocessors and self.k_tokens > _SHORT
        return self.target == HOPPER and (self.page > 0 or has_pieces)

    @property
    def kind(self) -> str:
        """Type, kernel and target, such as `bf16, sm_90a, parts of keys`."""
        if self.gradients:
            return f"{self.type}, gradients{', fixed order' if self.deterministic else ''}"
        return f"{self.type}, {self.target}{', parts of keys' if self.has_parts else ''}"

    @property
    def work(self) -> int:
        """Number of products of two elements in the tiles."""
        tiles = sum(-(-m // _TILE) * -(-n // _TILE) for m, n in zip(self.tokens, self.keys, strict=True))
        products = tiles * _TILE**2 * self.heads * (self.head + self.head_v)
        return products * (_GRADIENT_PRODUCTS if self.gradients else 1)

    @property
    def small(self) -> bool:
        """True if the emulator runs the case in a few seconds."""
        return self.work <= _MOST_EMULATED

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features that the case uses."""
        features = {
            self.kind: True,
            "packed": self.packed,
            "padded": self.lengths and not self.page,
            "pages": self.page > 0,
            "an empty sequence": 0 in self.keys or 0 in self.tokens,
            "causal": self.causal,
            "left limit": self.left is not None,
            "right limit": self.last is not None and not self.causal,
            "rows without keys": any(m > n for m, n in zip(self.tokens, self.keys, strict=True)) and self.last == 0,
            "scale": self.scale is not None,
            "grouped queries": self.heads > self.heads_kv,
            "another head size of V": self.head != self.head_v,
            "a head size that is no multiple of 64": bool(self.head % 64 or self.head_v % 64),
            "one token": max(self.tokens) == 1,
            "few tokens": 1 < max(self.tokens) <= 16,
            "more than 1000 keys": max(self.keys) > 1000,
            f"stored {self.storage}": bool(self.storage),
            "results given": self.out is not None,
            f"results stored {self.out}": bool(self.out),
            f"logarithms {self.lse}": bool(self.lse) and not self.gradients,
            f"{self.values} values": self.values != "normal",
            "scale factors": any(each != 1 for each in self.factors),
            "arrays of scale factors": bool(self.factor_arrays),
            "f16 from e4m3": self.type == "e4m3" and self.result_type == "f16",
            "few CTAs": self.multiprocessors < H200.multiprocessors,
        }
        return tuple(name for name, present in features.items() if present)


def case(seed: int, number: int, _target: str = "") -> Case:
    """Return the case with a number. The case is equal on every computer."""
    draw = Random(f"attention {seed} {number}")
    maker = draw.choices((_padded, _packed, _decode, _gradients), (4, 3, 3, 3))[0]
    one = maker(draw, {"seed": seed, "number": number})
    bytes_draw = Random(f"attention e4m3 {seed} {number}")
    fits = one.target == HOPPER and not (one.gradients or one.page)
    return _with_bytes(bytes_draw, one) if fits and bytes_draw.random() < _BYTES else one


def cases(seed: int, count: int) -> Iterator[Case]:
    """Return an iterator over the first `count` cases of a seed."""
    return (case(seed, number) for number in range(count))


def _size(draw: Random, smallest: int = 1) -> int:
    low, high = draw.choices(((1, 1), (2, 16), (2, 150), (100, 500), (400, _LARGEST)), (1, 2, 6, 2, 2))[0]
    return max(smallest, draw.randint(low, high))


def _padded(draw: Random, words: dict[str, Any]) -> Case:
    """Return a case with padded sequences, or with sequences of equal sizes."""
    count = draw.choice((1, 1, 2, 3))
    tokens, keys = _size(draw), _size(draw)
    lengths = [keys] * count
    if draw.random() < 0.5:
        lengths = [draw.choice((keys, draw.randint(0, keys))) for _ in range(count)]
    padding = draw.choice((0, 0, 5, 70))
    fused = draw.random() < 0.2
    if fused:
        tokens, padding = max(1, *lengths), 0
    whole = {
        **words, **_heads(draw, fused=fused), "tokens": (tokens,) * count, "keys": tuple(lengths), "padding": padding,
    }  # fmt: skip
    return _limited(draw, {**whole, **_rest(draw, fused=fused)})


def _packed(draw: Random, words: dict[str, Any]) -> Case:
    count = draw.choice((1, 2, 3, 6))
    fused = draw.random() < 0.2
    tokens = [_size(draw) for _ in range(count)]
    keys = tokens if fused else [_size(draw) for _ in range(count)]
    for sizes in (tokens, keys):
        for index in range(1, count):
            if draw.random() < 0.2:
                sizes[index] = 0
    whole = {
        **words, **_heads(draw, fused=fused), "tokens": tuple(tokens), "keys": tuple(keys), "packed": True,
        "padding": draw.choice((0, 0, 9)),
    }  # fmt: skip
    return _limited(draw, {**whole, **_rest(draw, fused=fused)})


def _decode(draw: Random, words: dict[str, Any]) -> Case:
    """Return a case with few tokens of Q and many keys, half of them in pages."""
    heads = _heads(draw, fused=False)
    tokens = draw.choice((1, 1, 2, 4, 16))
    while tokens * heads["heads"] // heads["heads_kv"] > _DECODE_ROWS:
        tokens //= 2
    count = draw.choice((1, 1, 2, 4))
    keys = draw.randint(513, _LARGEST) if draw.random() < 0.7 else _size(draw)
    lengths = [draw.choice((keys, draw.randint(0, keys))) for _ in range(count)]
    whole = {**words, **heads, "tokens": (tokens,) * count, "keys": tuple(lengths)}
    if draw.random() < 0.5:
        whole["page"] = draw.choice((8, 16, 64, 128, 256))
    return _limited(draw, {**whole, **_rest(draw, fused=False)})


def _gradients(draw: Random, words: dict[str, Any]) -> Case:
    one = draw.choice((_padded, _packed))(draw, words)
    head = draw.choice(HEADS)
    changed = {"head": head, "head_v": head, "target": HOPPER, "gradients": True, "lse": "new"}
    changed["deterministic"] = draw.random() < 0.5
    return _limited(draw, {name: getattr(one, name) for name in Case.__slots__} | changed)


def _with_bytes(draw: Random, one: Case) -> Case:
    """Return a case with elements of e4m3."""
    q, k, v = map(draw.choice, _FACTORS)
    head, head_v = (-(-size // 16) * 16 for size in (one.head, one.head_v))
    return replace(
        one, type="e4m3", head=head, head_v=head_v, factors=(q, k, v),
        factor_arrays=draw.choice(("", "", "qkv", "v", "qk")),
        result="" if one.out is None else draw.choice(("", "f16")),
    )  # fmt: skip


def _heads(draw: Random, *, fused: bool) -> dict[str, Any]:
    """Return random types, head sizes and numbers of heads."""
    kind = draw.random()
    if kind < 0.6 or fused:
        head = head_v = draw.choice(_HEADS)
    elif kind < 0.7:
        head, head_v = draw.choice(_WIDE_HEADS)
    else:
        head, head_v = (8 * draw.randint(1, 32) for _ in range(2))
        if draw.random() < 0.5:
            head_v = head
    heads_kv, group = draw.choice(((1, 1), (1, 2), (2, 1), (1, 3), (2, 4), (1, 8), (3, 1)))
    return {
        "type": draw.choice(("bf16", "f16")), "head": head, "head_v": head_v, "heads": heads_kv * group,
        "heads_kv": heads_kv,
    }  # fmt: skip


def _rest(draw: Random, *, fused: bool) -> dict[str, Any]:
    """Return random values of the fields that all kinds of cases have."""
    limits = [draw.choice((None, None, 0, 1, draw.randint(0, 40), draw.randint(0, 400))) for _ in range(2)]
    return {
        "causal": draw.random() < 0.3, "left": limits[0], "right": limits[1],
        "scale": draw.choice((None, None, None, 0.3, 0.02)),
        "storage": "fused" if fused else draw.choice(_STORAGES),
        "out": draw.choice((None, None, *_STORAGES[1:])),
        "lse": draw.choice(("", "new", "given")),
        "values": draw.choice(_VALUES),
        "target": draw.choice((HOPPER, HOPPER, _MMA)),
        "multiprocessors": draw.choice((H200.multiprocessors,) * 3 + (2, 7)),
    }  # fmt: skip


def _limited(draw: Random, words: dict[str, Any]) -> Case:
    """Return the case with fewer tokens, keys or heads if it has too many scores."""
    words = dict(words)
    while True:
        scores = sum(map(prod, zip(words["tokens"], words["keys"], strict=True))) * words["heads"]
        if scores <= _MOST:
            return Case(**words)
        name = draw.choice(("tokens", "keys"))
        for each in ("tokens", "keys") if words["storage"] == "fused" else (name,):
            words[each] = tuple((size + 1) // 2 for size in words[each])
