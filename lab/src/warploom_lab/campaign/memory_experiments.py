"""Experiments for instructions that copy matrices to or from memory, or multiply them in memory."""

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from warploom.isa.instructions.fragments import k_of
from warploom.isa.instructions.wgmma import COMMIT, FENCE, WAIT
from warploom.isa.model.form import Form
from warploom.isa.model.types import bits_of
from warploom.layout import maps
from warploom.layout.maps import TYPE_BITS
from warploom_lab.campaign import patterns
from warploom_lab.campaign.experiment import Array, Experiment, Operand
from warploom_lab.campaign.harness import part
from warploom_lab.campaign.register_experiments import WARP, Kernel, add_register, slots_of, variants_of
from warploom_lab.ptxas.instruction_text import Slots, instruction, opcode_words, present_operands

_COPY_MEMORY = 8192  # bytes of memory that a warp copies matrices to or from
_MULTIPLY_MEMORY = 1 << 16  # bytes of shared memory that a warpgroup multiplies from
_WARPGROUP = 4 * WARP
_LINE = 16  # bytes of a matrix row in shared memory
_ALIGNMENT = 32  # alignment in bytes of a matrix for wmma
_SWIZZLE_PERIOD = 1024  # bytes after which a swizzle pattern repeats

Make = Callable[[str, patterns.Raw], Array]


# Between registers and memory -------------------------------------------------------------------------------


def copy_experiments(form: Form) -> Iterator[Experiment]:
    """Yield experiments for a form that copies matrices to or from memory; none for other forms."""
    kinds = [spec.kind for spec in form.operands.values()]
    if kinds.count("address") != 1 or form.collective != "warp":
        return
    for slots in slots_of(form):
        for optional in {False, len(present_operands(form, slots, optional=True)) > len(kinds) - 1}:
            yield _copy_experiment(form, slots, strided=optional and "stride" in form.operands)


def _copy_experiment(form: Form, slots: Slots, *, strided: bool) -> Experiment:
    kernel = Kernel(form, slots, WARP)
    kernel.operands["memory"] = Operand("u8", (_COPY_MEMORY // 8,), (_COPY_MEMORY // 8,), lambda _, raw: raw)
    texts: list[str] = []
    for pattern in present_operands(form, slots, optional=strided):
        name = pattern.first
        if form.operands[name].kind == "address":
            space = slots["ss"].partition("::")[0] or "generic"
            make = _common_start if "stride" in form.operands else _row_of_each_lane
            draws = (_COPY_MEMORY // _LINE,) if "stride" not in form.operands else ()
            texts.append(f"[{_address(kernel, name, space, make, draws)}]")
        elif name == "stride":
            texts.append(kernel.add(name, access="read", type_word="b32", count=0, make=_strides(slots)))
        else:
            texts.append(add_register(kernel, name))
    stores = not kernel.outputs
    statement = instruction(opcode_words(form, slots), texts)
    fixed = {"extent": _COPY_MEMORY, "stride": WARP * _LINE}
    body = [*kernel.loads, f"    {statement}", *kernel.stores]
    if stores and "global" not in slots["ss"]:
        body.append(part("empty", **fixed))
    return Experiment(
        form.name,
        instruction(opcode_words(form, slots), ["stride"] if strided else []),
        _shared_kernel(kernel, body, fixed),
        kernel.operands,
        ("memory",) if stores else tuple(kernel.outputs),
        shared=_COPY_MEMORY,
    )


def _shared_kernel(kernel: Kernel, body: list[str], fixed: Mapping[str, int]) -> str:
    return part(
        "shared",
        parameters=kernel.parameters,
        threads=kernel.threads,
        declarations="\n".join(kernel.declarations),
        body="\n".join(body),
        **fixed,
    )


def _address(kernel: Kernel, name: str, space: str, make: Make, draws: tuple[int, ...]) -> str:
    """Add a 64-bit register with an address in the state space `space`. Return the register's name.

    `make` turns random words of shape `draws` into byte offsets.
    """
    operand = Operand("u4", (kernel.threads, 1), draws or (1,), make)
    return _wide_register(kernel, name, operand, f"{space} address", 4)


def _wide_register(kernel: Kernel, name: str, operand: Operand, load: str, size: int) -> str:
    """Add a 64-bit register that the kernel loads from an array. Return the register's name.

    `load` names the section of `harness.ptx` that loads the register. An element of the array has `size` bytes.
    """
    kernel.operands[name] = operand
    kernel.declarations += [f"    .reg .b64 %{name}0;", f"    .reg .b64 %at_{name};"]
    kernel.loads.append(part("pointer", operand=name, bytes=size))
    kernel.loads.append(part(load, operand=name, offset=0, register=f"%{name}0"))
    return f"%{name}0"


def _row_of_each_lane(_: str, raw: patterns.Raw) -> Array:
    """Return the byte offset of a random matrix row for each lane. Lanes of a warp have different rows."""
    return np.argsort(raw, axis=1, kind="stable")[:, :WARP, None] * _LINE


def _shape_of(slots: Slots) -> tuple[int, int, int]:
    """Return (lines of a wmma matrix, elements of a line, bits of an element).

    A line is a row of a row-major matrix, or a column of a column-major matrix.
    """
    found = maps.tiled_fragment("wmma", slots.get("matrix", "d").upper(), slots["shape"], slots["type"])
    lines, elements = (found.rows, found.cols) if slots["layout"] == "row" else (found.cols, found.rows)
    return lines, elements, bits_of(slots["type"])


def _common_start(_: str, raw: patterns.Raw) -> Array:
    """Return a random byte offset for each warp. All lanes of a warp have the same offset."""
    starts = raw % np.uint64(_COPY_MEMORY // 4 // _ALIGNMENT) * np.uint64(_ALIGNMENT)
    return np.broadcast_to(starts[:, :, None], (len(raw), WARP, 1))


def _strides(slots: Slots) -> Make:
    lines, elements, bits = _shape_of(slots)
    unit = max(_LINE * 8 // bits, 1)
    most = (_COPY_MEMORY * 3 // 4 * 8 // bits - elements) // lines // unit

    def make(_: str, raw: patterns.Raw) -> Array:
        least = -(-elements // unit)
        chosen = (least + raw[:, :1, :1] % np.uint64(max(most - least, 1))) * np.uint64(unit)
        return np.broadcast_to(chosen, (len(raw), WARP, 1))

    return make


# From shared memory -----------------------------------------------------------------------------------------


def multiply_experiments(form: Form) -> Iterator[Experiment]:
    """Yield experiments for a form that multiplies matrices in shared memory; none for other forms."""
    if "b_desc" not in form.operands:
        return
    for slots, constants in variants_of(form):
        yield _multiply_experiment(form, slots, constants)


def _multiply_experiment(form: Form, slots: Slots, constants: Mapping[str, int]) -> Experiment:
    kernel = Kernel(form, slots, _WARPGROUP)
    kernel.operands["memory"] = _operand_memory(slots["btype"])
    texts: list[str] = []
    for pattern in present_operands(form, slots, optional=False):
        name = pattern.first
        if name in constants:
            texts.append(str(constants[name]))
        elif name.endswith("_desc"):
            texts.append(_descriptor(kernel, name, slots, bool(constants.get(f"imm_trans_{name[0]}"))))
        elif name == "scale_d":
            make = _uniform_predicate
            texts.append(kernel.add(name, access="read", type_word="pred", count=0, make=make))
        else:
            texts.append(add_register(kernel, name))
    statements = [
        instruction(opcode_words(FENCE, {}), []),
        instruction(opcode_words(form, slots), texts),
        instruction(opcode_words(COMMIT, {}), []),
        instruction(opcode_words(WAIT, {}), ["0"]),
    ]
    fixed = {"extent": _MULTIPLY_MEMORY, "stride": _WARPGROUP * _LINE}
    body = [*kernel.loads, *(f"    {statement}" for statement in statements), *kernel.stores]
    shown = [f"{name}={value}" for name, value in constants.items()]
    return Experiment(
        form.name,
        instruction(opcode_words(form, slots), shown),
        _shared_kernel(kernel, body, fixed),
        kernel.operands,
        tuple(kernel.outputs),
        threads=_WARPGROUP,
        shared=_MULTIPLY_MEMORY,
    )


def _operand_memory(element: str) -> Operand:
    bits = TYPE_BITS[element]
    if bits < 8:
        return Operand("u8", (_MULTIPLY_MEMORY // 8,), (_MULTIPLY_MEMORY // 8,), lambda _, raw: raw)
    count = _MULTIPLY_MEMORY * 8 // bits

    def make(kind: str, raw: patterns.Raw) -> Array:
        return patterns.registers(element, kind, bits, raw[..., None])

    return Operand(f"u{bits // 8}", (count,), (count,), make)


def _uniform_predicate(_: str, raw: patterns.Raw) -> Array:
    return np.broadcast_to((raw[:, :1] & np.uint64(3)) != 0, raw.shape)


def _descriptor(kernel: Kernel, name: str, slots: Slots, transposed: bool) -> str:
    """Add a register with the descriptor of a random matrix. Return the register's name.

    `name` is the operand's name. If `transposed`, K is not the contiguous axis of the matrix.
    """
    element = slots[f"{name[0]}type"]
    rows = 64 if name[0] == "a" else int(slots["n"])
    line = k_of(slots["shape"]) * TYPE_BITS[element] // 8
    groups = max(rows // 8, line // _LINE, k_of(slots["shape"]) // 8 if transposed else 1)
    most = (_MULTIPLY_MEMORY // 4 - _SWIZZLE_PERIOD) // groups // _LINE
    starts = _MULTIPLY_MEMORY // 4 // _LINE

    def make(_: str, raw: patterns.Raw) -> Array:
        start, leading, stride = (
            (raw >> np.uint64(shift)) % np.uint64(count) for shift, count in ((0, starts), (12, most), (24, most))
        )
        swizzle = raw >> np.uint64(62)
        base = np.where(raw >> np.uint64(56) & np.uint64(3), np.uint64(0), raw >> np.uint64(48) & np.uint64(7))
        base = np.where(swizzle, base, np.uint64(0))
        encoded = (
            start
            | leading << np.uint64(16)
            | stride << np.uint64(32)
            | base << np.uint64(49)
            | swizzle << np.uint64(62)
        )
        return np.broadcast_to(encoded[:, :, None], (len(raw), _WARPGROUP, 1))

    return _wide_register(kernel, name, Operand("u8", (_WARPGROUP, 1), (1,), make), "descriptor", 8)
