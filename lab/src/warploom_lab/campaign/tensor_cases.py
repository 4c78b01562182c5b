"""Random copies through tensor maps, and random tensor maps that are legal or nearly legal."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random

from warploom.isa.instructions.reductions import tensor_map_types
from warploom.layout import TensorMapFields, box_bytes, shared_bytes
from warploom.layout.tensormap import ELEMENT_TYPES, INTERLEAVES, SWIZZLE_SPANS, pad_to_five
from warploom_lab.campaign.patterns import KINDS
from warploom_lab.campaign.tensor_case import Action, TensorCase

_HOPPER_TYPES = 13  # element types of Hopper; Blackwell has more
_FLOATS = [code for code, (word, _, _) in enumerate(ELEMENT_TYPES) if word[0] in "ft" or word == "bf16"]
_CONVERTED = ("f32.ftz", "tf32", "tf32.ftz")
_REDUCTIONS = ("add", "min", "max", "inc", "dec", "and", "or", "xor")
_CORNER_BITS = {3: 16, 4: 8, 5: 5}
_LONGEST_SPAN = 1 << 18
_MARGIN = 1 << 14  # bytes before and after a tensor, in which accesses outside the tensor show
_SHARED = 200 * 1024


def tensor_cases(count: int, seed: int) -> Iterator[TensorCase]:
    """Yield `count` random tensor copies. Each copy depends only on `seed` and on its index."""
    for number in range(count):
        rng = Random(f"{seed} {number}")
        yield _verdict(rng, number) if number % 4 == 3 else _copy(rng, number)


# Maps -------------------------------------------------------------------------------------------------------


def _map(rng: Random, *, im2col: bool) -> TensorMapFields:
    interleave = rng.choice((0, 0, 0, 0, 0, 1, 2))
    rank = rng.choice((3, 4, 5)) if im2col or interleave else rng.choice((1, 2, 2, 3, 3, 4, 5))
    elemtype = rng.randrange(_HOPPER_TYPES)
    swizzle = 1 if interleave == 2 else rng.choice((0, 0, 1, 2, 3))
    size = ELEMENT_TYPES[elemtype][1] // 8
    unit = INTERLEAVES[interleave] or size
    most = min(SWIZZLE_SPANS[swizzle] or 256 * size, 256 * size)
    inner = min(rng.choice((1, 2, 3, 4, 8, 16)) * 16, most) // size
    if interleave:
        inner = max(rng.choice((1, 1, 2, 3, 4)) * 16 // size, 1)
    steps = [1] * 5 if rng.random() < 0.6 else [rng.choice((1, 1, 2, 3, 8)) for _ in range(5)]
    box = [inner] + [rng.choice((1, 2, 3, 4, 8, 13)) for _ in range(4)]
    if rng.random() < 0.03:
        axis = rng.randrange(rank)
        box[axis] = 256 if axis or not (swizzle or interleave) else inner
    while _rows(box, steps, rank) * _row(inner, unit, swizzle) > 24 * 1024:
        axis = max(range(1, rank), key=lambda k: box[k]) if rank > 1 else 0
        box[axis] = max(box[axis] // 2, 1)
    dims = [rng.choice((1, 2, 3)) * inner + rng.randrange(4) * rng.choice((1, 16 // size or 1))]
    dims += [rng.choice((1, 2, 4, 5, 7, 12, box[axis] * steps[axis])) for axis in range(1, 5)]
    if im2col:
        dims[1:rank] = [rng.choice((3, 4, 5, 6, 9)) for _ in range(1, rank)]
    pitches: list[int] = []
    pitch, grain = dims[0] * unit, 32 if interleave == 2 else 16
    for axis in range(1, rank):
        pitch = -(-pitch // grain) * grain + grain * rng.choice((0, 0, 1, 3))
        pitches.append(pitch)
        pitch *= dims[axis]
        if pitch > _LONGEST_SPAN:
            dims[axis] = max(_LONGEST_SPAN // pitches[-1], 1)
            pitch = pitches[-1] * dims[axis]
    if rng.random() < 0.06:
        rng.shuffle(pitches)
    made = TensorMapFields(
        global_address=_MARGIN + 32 * rng.randrange(8),
        rank=rank,
        global_dim=pad_to_five(dims[:rank]),
        global_stride=pad_to_five(pitches)[:4],
        box=pad_to_five(box[:rank]),
        element_stride=pad_to_five(steps[:rank]),
        elemtype=elemtype,
        interleave=interleave,
        swizzle=swizzle,
        fill=int(elemtype in _FLOATS and rng.random() < 0.5),
        l2_promotion=rng.randrange(4),
    )
    return _im2col(rng, made, inner) if im2col else made


def _rows(box: list[int], steps: list[int], rank: int) -> int:
    rows = 1
    for axis in range(1, rank):
        rows *= -(-box[axis] // steps[axis])
    return rows


def _row(inner: int, unit: int, swizzle: int) -> int:
    return max(inner * unit, SWIZZLE_SPANS[swizzle])


def _im2col(rng: Random, tiled: TensorMapFields, channels: int) -> TensorMapFields:
    """Return an im2col map over the tensor of a tiled map. A pixel of the box has `channels` channels."""
    half = 1 << (_CORNER_BITS[tiled.rank] - 1)
    spatial = tiled.rank - 2
    first = 0 if tiled.interleave else 1
    lower = [rng.choice((0, 0, -1, -2, 1, 3)) for _ in range(spatial)]
    upper = [rng.choice((0, 0, -1, -2, 1, 2)) for _ in range(spatial)]
    for axis in range(spatial):
        extent = tiled.global_dim[first + axis]
        lower[axis] = min(lower[axis], extent + upper[axis] - 1, half - 1)
    pixels = rng.choice((1, 2, 5, 8, 16, 33, 64))
    if rng.random() < 0.04:
        pixels = 1024 if channels * tiled.element_bits <= 256 else 128
    return replace(
        tiled,
        box=(0, 0, 0, 0, 0),
        im2col_lower=pad_to_five(lower)[:3],
        im2col_upper=pad_to_five(upper)[:3],
        channels_per_pixel=channels,
        pixels_per_column=pixels,
    )


# Copies -----------------------------------------------------------------------------------------------------


def _copy(rng: Random, number: int) -> TensorCase:
    im2col = rng.random() < 0.3
    made = _map(rng, im2col=im2col)
    if rng.random() < 0.02 and not im2col:
        made = _large(made)
    action: Action = rng.choice(("load", "load", "load", "load", "store", "store", "reduce", "reduce", "prefetch"))
    stored = action in ("store", "reduce") and rng.random() < 0.8  # without negative coordinates
    if stored and im2col:
        lower, upper = ((max(each, 0) for each in made.im2col_lower), (min(each, 0) for each in made.im2col_upper))
        made = replace(made, im2col_lower=tuple(lower), im2col_upper=tuple(upper))
    coordinates = _coordinates(rng, made)
    if stored:
        coordinates = tuple(max(at, 0) for at in coordinates)
    start = 1024 * rng.randrange(3)
    chance = rng.random()
    if chance < 0.4:
        start = 128 * rng.randrange(16)
    elif chance < 0.45:
        start = 16 * rng.randrange(64)
    extent = -(-(start + shared_bytes(made) + 1024) // 128) * 128
    cluster, mask = 1, 0
    if action == "load" and extent <= 64 * 1024 and rng.random() < 0.25:
        cluster = rng.choice((2, 4))
        mask = rng.randrange(1, 1 << cluster)
    converted = made.element_type in _CONVERTED or made.element_bits >= 16
    numbers = action == "reduce" or (converted and rng.random() < 0.3) or made.element_type in _CONVERTED
    inner = made.global_dim[0] * (INTERLEAVES[made.interleave] or made.element_bits // 8)
    span = inner + sum(
        (extent_ - 1) * pitch for extent_, pitch in zip(made.global_dim[1 : made.rank], made.global_stride)
    )
    return TensorCase(
        number,
        action,
        made,
        memory=made.global_address + span + _MARGIN,
        coordinates=coordinates,
        offsets=_offsets(rng, made) if made.is_im2col and action in ("load", "prefetch") else (),
        start=start,
        extent=extent,
        expected=box_bytes(made) if action == "load" else 0,
        cluster=cluster,
        mask=mask,
        reduction=_reduction(rng, made) if action == "reduce" else "",
        kind=_kind(rng, made, action) if numbers else "",
    )


def _kind(rng: Random, made: TensorMapFields, action: Action) -> str:
    chance = rng.random()
    if chance < 0.2 and action == "reduce" and made.elemtype in _FLOATS:
        return "infinite"
    if chance < 0.4 and made.element_type.startswith("tf32"):
        return "ties"
    return rng.choice(KINDS)


def _reduction(rng: Random, made: TensorMapFields) -> str:
    legal = [word for word in _REDUCTIONS if made.element_type in tensor_map_types(word)]
    return rng.choice(legal if legal and rng.random() < 0.85 else _REDUCTIONS)


def _large(made: TensorMapFields) -> TensorMapFields:
    """Return a copy of the tensor map. Its box is the largest that fits in shared memory."""
    row = _row(made.box[0], INTERLEAVES[made.interleave] or made.element_bits // 8, made.swizzle)
    box, left = list(made.box), _SHARED // row
    for axis in range(1, made.rank):
        box[axis] = min(256, left)
        left //= box[axis]
    return replace(made, box=tuple(box), element_stride=pad_to_five([1] * made.rank))


def _coordinates(rng: Random, made: TensorMapFields) -> tuple[int, ...]:
    """Return random coordinates of a box, innermost first. `made` is the tensor map."""
    size = made.element_bits // 8
    step = max(16 // size, 1) if not made.interleave else 1
    choice = rng.random()
    found: list[int] = []
    for axis in range(made.rank):
        extent = made.global_dim[axis]
        box = made.box[axis] or (made.channels_per_pixel if axis == 0 else 1)
        inside = rng.randint(0, max(extent - box, 0))
        low, high = rng.randint(-box, 0), rng.randint(max(extent - box, 0), extent)
        outside = rng.choice((-box - rng.randrange(4), extent + rng.randrange(4), -(1 << 31), (1 << 31) - 1))
        # The box is inside, partly outside, or outside the tensor.
        if choice < 0.5:
            at = inside
        elif choice < 0.9:
            at = rng.choice((inside, inside, low, high))
        else:
            at = rng.choice((inside, low, high, outside))
        if axis == 0 and rng.random() < 0.96:
            at = at // step * step
        found.append(at)
    if made.is_im2col and rng.random() < 0.85:
        first = 0 if made.interleave else 1
        for axis in range(made.rank - 2):
            low = made.im2col_lower[axis]
            found[first + axis] = rng.randint(
                low, max(made.global_dim[first + axis] + made.im2col_upper[axis] - 1, low)
            )
    return tuple(max(min(at, (1 << 31) - 1), -(1 << 31)) for at in found)


def _offsets(rng: Random, made: TensorMapFields) -> tuple[int, ...]:
    bits = _CORNER_BITS[made.rank]
    wild = rng.random() < 0.06
    return tuple(
        rng.choice((1 << bits, (1 << bits) - 1, (1 << (bits - 1)) + 1, 0xFFFF)) & 0xFFFF if wild else rng.randrange(4)
        for _ in range(made.rank - 2)
    )


# Nearly legal maps ------------------------------------------------------------------------------------------


def _verdict(rng: Random, number: int) -> TensorCase:
    im2col = rng.random() < 0.35
    made = _map(rng, im2col=im2col)
    changes = _COMMON_CHANGES + (_IM2COL_CHANGES if im2col else _TILED_CHANGES)
    for _ in range(rng.choice((1, 1, 1, 2))):
        made = rng.choice(changes)(rng, made)
    return TensorCase(number, "verdict", made)


_MapChange = Callable[[Random, TensorMapFields], TensorMapFields]


def _change_entry(name: str, *values: int) -> _MapChange:
    """Return a function that changes a tensor map: one random entry of a field becomes one of the values.

    `name` is the name of a field that holds a tuple.
    """

    def change(rng: Random, made: TensorMapFields) -> TensorMapFields:
        entries: list[int] = list(getattr(made, name))
        used = {"global_stride": made.rank - 1, "im2col_lower": made.rank - 2, "im2col_upper": made.rank - 2}
        entries[rng.randrange(max(used.get(name, made.rank), 1))] = rng.choice(values)
        return replace(made, **{name: tuple(entries)})

    return change


def _change_field(name: str, *values: int) -> _MapChange:
    """Return a function that changes a tensor map: the field `name` becomes one of the values."""
    return lambda rng, made: replace(made, **{name: rng.choice(values)})


def _shift_address(rng: Random, made: TensorMapFields) -> TensorMapFields:
    return replace(made, global_address=made.global_address + rng.choice((1, 2, 4, 8, 16, 24)))


def _change_row_size(rng: Random, made: TensorMapFields) -> TensorMapFields:
    """Return the map with a random size of a box row, or of an im2col pixel. The size is near a limit."""
    size = made.element_bits // 8 or 1
    size_in_elements = rng.choice((8, 12, 16, 24, 32, 48, 64, 80, 128, 144, 256, 512)) // size
    size_in_elements = max(min(size_in_elements, 257), 1)
    if made.is_im2col:
        return replace(made, channels_per_pixel=size_in_elements)
    return replace(made, box=(size_in_elements, *made.box[1:]))


def _change_box_size(rng: Random, made: TensorMapFields) -> TensorMapFields:
    """Return the map with a box of about the size of shared memory."""
    kib = rng.choice((208, 216, 224, 225, 226, 227, 228, 229, 232, 240, 248, 255, 256))
    size = made.element_bits // 8 or 1
    if made.is_im2col:
        pixels = min(4 * kib + rng.choice((-1, 0, 0, 1)), 1024)
        swizzle = made.swizzle if made.interleave else 0
        return replace(made, channels_per_pixel=256 // size, pixels_per_column=pixels, swizzle=swizzle)
    rank = max(made.rank, 3)
    long = [64, kib] if rank != 4 or rng.random() < 0.5 else [kib, 64]
    filled = replace(_change_rank(rng, made), rank=rank)
    box = (16 // size, *long, *[1] * (rank - 3))
    if made.interleave:  # the second-to-last dimension holds the slices
        box = (16 // size, *long, 3)[:rank] if rank == 4 else box
    return replace(filled, box=pad_to_five(box[:rank]), element_stride=pad_to_five([1] * rank))


def _change_strided_box_size(rng: Random, made: TensorMapFields) -> TensorMapFields:
    """Return the map with a traversal stride. The copied box about fills shared memory."""
    sized = _change_box_size(rng, made)
    if sized.is_im2col:
        return sized
    axis, step = rng.choice((0, 0, 1, 2)), rng.choice((2, 3, 4, 8))
    more = 0 if axis == 0 else rng.choice((-1, 0, 1, step - 1))
    box, steps = list(sized.box), [1] * sized.rank
    box[axis], steps[axis] = min(box[axis] * step + more, 256), step
    return replace(sized, box=pad_to_five(box[: sized.rank]), element_stride=pad_to_five(steps))


def _change_rank(rng: Random, made: TensorMapFields) -> TensorMapFields:
    rank = rng.randint(3 if made.is_im2col else 1, 5)
    filled = {"global_dim": 4, "global_stride": 4096, "box": 2, "element_stride": 1}
    values = {name: tuple(each or value for each in getattr(made, name)) for name, value in filled.items()}
    if made.is_im2col:
        values["box"] = made.box
    return replace(made, rank=rank, **values)


_COMMON_CHANGES: tuple[_MapChange, ...] = (
    _shift_address,
    _change_row_size,
    _change_row_size,
    _change_box_size,
    _change_box_size,
    _change_rank,
    _change_entry("global_dim", 0, 1, 1 << 32, (1 << 32) + 1),
    _change_entry("global_stride", 0, 8, 16, 24, 32, 48, 1 << 20, (1 << 40) - 32, (1 << 40) - 16, 1 << 40, 1 << 41),
    _change_entry("element_stride", 0, 1, 7, 8, 9, 16),
    _change_field("interleave", 0, 1, 2),
    _change_field("swizzle", 0, 1, 2, 3),
    _change_field("fill", 0, 1),
    _change_field("elemtype", *range(len(ELEMENT_TYPES))),
)
_TILED_CHANGES: tuple[_MapChange, ...] = (
    _change_entry("box", 0, 1, 255, 256, 257),
    _change_entry("box", 0, 1, 255, 256, 257, 1 << 31),
    _change_strided_box_size,
    _change_strided_box_size,
)
_IM2COL_CHANGES: tuple[_MapChange, ...] = (
    _change_entry("im2col_lower", 0, 15, 16, -16, -17, 127, 128, -128, -129, 32767, -32768, 32768, -32769),
    _change_entry("im2col_upper", 0, 15, 16, -16, -17, 127, 128, -128, -129, 32767, -32768, 32768, -32769),
    _change_entry("im2col_upper", -2, -3, -4, -5, -6, -9),
    _change_field("channels_per_pixel", 0, 1, 255, 256, 257),
    _change_field("pixels_per_column", 1, 255, 256, 257, 1023, 1024, 1025),
)
