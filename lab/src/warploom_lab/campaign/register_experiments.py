"""Experiments for instructions whose operands are registers, predicates and constants.

A `Slots` maps the name of each modifier of an opcode to its word in one instruction.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice, product

import numpy as np

from warploom.isa.model.availability import read_target, unmet_by_row
from warploom.isa.model.effects import Collective, Flow, Multiply
from warploom.isa.model.form import Form
from warploom.isa.model.operands import OperandSpec
from warploom.isa.model.types import TYPES, bits_of
from warploom.layout import metadata as metadata_map
from warploom_lab.campaign import patterns
from warploom_lab.campaign.experiment import Array, Experiment, Operand
from warploom_lab.campaign.harness import part
from warploom_lab.ptxas.instruction_text import Slots, combinations_of, instruction, opcode_words, present_operands

ARCH = "sm_90a"
PTX = (9, 0)
WARP = 32
_VARIANTS = 4  # choices of constants for one opcode
_BLOCK = 4  # warps in a CTA


def slots_of(form: Form) -> Iterator[Slots]:
    """Yield the legal combinations of a form's modifier words on sm_90a.

    Yield none if the emulator cannot execute the form.
    """
    target = read_target(ARCH)
    assert target is not None
    if not form.is_executable:
        return
    seen: set[str] = set()
    for row in form.rows:
        if unmet_by_row(row, target, PTX) is not None:
            continue
        for slots in combinations_of(form, row):
            opcode = ".".join(opcode_words(form, slots))
            if opcode not in seen and not form.unsupported(ARCH, slots):
                seen.add(opcode)
                yield slots


def variants_of(form: Form) -> Iterator[tuple[Slots, dict[str, int]]]:
    """Yield (modifier words, values of the immediate operands) for each legal opcode of a form.

    Each opcode occurs with up to four choices of values.
    """
    names = [name for name, spec in form.operands.items() if spec.kind == "immediate"]
    for number, slots in enumerate(slots_of(form)):
        allowed = [list(islice(form.operands[name].constants(slots) or range(256), 256)) for name in names]
        every = list(islice(product(*allowed), 4096))
        step = max(1, len(every) // _VARIANTS) | 1
        for k in range(min(_VARIANTS, len(every))):
            yield slots, dict(zip(names, every[(number + k * step) % len(every)], strict=True))


def element(form: Form, name: str, slots: Slots) -> str:
    """Return the type of one element of an operand, such as f16 for a register that holds two f16."""
    spec = form.operands[name]
    is_factor = spec.is_fragment and form.multiplies
    word = slots.get(f"{name[0]}type", "f16") if is_factor else spec.type_word(slots)
    return patterns.element_of(word)


def declared(type_word: str) -> str:
    """Return the type of the `.reg` declaration for a value: pred, or untyped bits of the same width."""
    return "pred" if type_word == "pred" else f"b{max(bits_of(type_word), 8)}"


def metadata(form: Form, slots: Slots) -> Callable[[str, patterns.Raw], Array]:
    """Return a function from random words to sparse metadata words. All metadata are legal."""
    engine = "wgmma" if form.family == "wgmma" else "mma"
    found = metadata_map(engine, slots["shape"], slots["atype"], 0)
    words = np.arange(16, dtype=np.uint32) * np.uint32(0x11111111)
    lanes = np.broadcast_to(words[:, None], (16, max(found.lanes) + 1))
    ordered = slots.get("spvariant") != "sp"
    legal = np.flatnonzero(found.defined_nibbles(ordered=ordered)[found.nibbles(lanes)].all(axis=(1, 2))).astype(
        np.uint64
    )

    def make(_: str, raw: patterns.Raw) -> Array:
        places = np.arange(8, dtype=np.uint64) * np.uint64(4)
        chosen = legal[(raw[..., None] >> (places * np.uint64(2)) & np.uint64(63)).astype(np.int64) % len(legal)]
        return np.bitwise_or.reduce(chosen << places, axis=-1).astype(np.uint32)

    return make


def filler(
    spec: OperandSpec, element_word: str, slots: Slots
) -> tuple[tuple[int, ...], Callable[[str, patterns.Raw], Array]]:
    """Return (shape, function) for random values of one register of the operand `spec`.

    The function turns random words of this shape into the bits of the register. `element_word` is the element type.
    """
    if spec.type_word(slots) == "pred":
        return (), lambda _, raw: (raw & np.uint64(1)).astype(np.uint8)
    bits = max(bits_of(spec.type_word(slots)), 8)
    per_register = max(bits // patterns.container_bits(element_word), 1)

    def make(kind: str, raw: patterns.Raw) -> Array:
        return patterns.registers(element_word, kind, bits, raw)

    return (per_register,), make


class Kernel:
    """Builder of a kernel around one instruction."""

    def __init__(self, form: Form, slots: Slots, threads: int) -> None:
        self.form, self.slots, self.threads = form, slots, threads
        self.operands: dict[str, Operand] = {}
        self.outputs: list[str] = []
        self.declarations: list[str] = ["    .reg .b16 %byte;", "    .reg .b32 %offset;"]
        self.loads: list[str] = []
        self.stores: list[str] = []

    def add(
        self,
        name: str,
        *,
        access: str,
        type_word: str,
        count: int,
        draws: tuple[int, ...] = (),
        make: Callable[[str, patterns.Raw], Array] | None = None,
        load: str = "load",
    ) -> str:
        """Add an operand to the kernel. Return its text in the instruction.

        The operand has `count` registers of `type_word` in braces, or one register without braces if `count` is 0. With
        `access` "read" the kernel loads the registers from an array, with "write" it stores them to the array, and with
        "both" it does both. `make` turns random words into the initial array. `draws` is the shape of the words for one
        register. `load` names the section of `harness.ptx` that loads a register.
        """
        predicate = type_word == "pred"
        bits = 8 if predicate else TYPES[type_word].bits
        size = bits // 8
        number = max(count, 1)
        self.declarations.append(f"    .reg .{type_word} %{name}<{number}>;")
        self.declarations.append(f"    .reg .b64 %at_{name};")
        kind = " predicate" if predicate else ""
        self.loads.append(part("pointer", operand=name, bytes=number * size))
        words = [
            {"operand": name, "offset": k * size, "register": f"%{name}{k}", "type": type_word} for k in range(number)
        ]
        if access != "write":
            self.loads += [part(f"{load}{kind}", **word) for word in words]
        if access != "read":
            self.stores += [part(f"store{kind}", **word) for word in words]
            self.outputs.append(name)
        shape = (self.threads, number)
        filled = None if access == "write" else make
        self.operands[name] = Operand(f"u{size}", shape, (*shape, *draws), filled)
        registers = ", ".join(f"%{name}{k}" for k in range(number))
        return f"{{{registers}}}" if count else registers

    @property
    def parameters(self) -> str:
        """Text of the kernel's parameter list: one pointer for each array."""
        return ", ".join(f".param .u64 {name}" for name in self.operands)


def add_register(kernel: Kernel, name: str) -> str:
    """Add an operand of random registers to the kernel. Return its text in the instruction.

    `name` is the name of the operand in the Form.
    """
    form, slots = kernel.form, kernel.slots
    spec = form.operands[name]
    draws, make = filler(spec, element(form, name, slots), slots)
    if name in ("e", "sp_meta") and "atype" in slots and form.operands[name].type == "b32":
        draws, make = (), metadata(form, slots)
    type_word = declared(spec.type_word(slots))
    count = spec.registers(slots)
    return kernel.add(name, access=spec.access, type_word=type_word, count=count, draws=draws, make=make)


def experiments(form: Form) -> Iterator[Experiment]:
    """Yield experiments for a form whose operands are registers, predicates and constants.

    Yield none for other forms, forms without an output, and forms that the emulator cannot execute.
    """
    kinds = {spec.kind for spec in form.operands.values()}
    moved = {spec.access for spec in form.operands.values()}
    at_once = all(isinstance(each, (Collective, Flow, Multiply)) for each in form.effects)
    if not at_once or not kinds <= {"register", "predicate", "immediate"} or not moved & {"write", "both"}:
        return
    for slots, constants in variants_of(form):
        yield _experiment(form, slots, constants)


def _experiment(form: Form, slots: Slots, constants: Mapping[str, int]) -> Experiment:
    kernel = Kernel(form, slots, WARP)
    texts = {
        name: str(constants[name]) if name in constants else add_register(kernel, name)
        for pattern in present_operands(form, slots, optional=False)
        for name in pattern.names
    }
    texts_in_order: list[str] = []
    for pattern in present_operands(form, slots, optional=False):
        words = [texts[name] for name in pattern.names]
        texts_in_order.append(
            f"{{{', '.join(words)}}}" if pattern.parts else words[0] if pattern.second_optional else "|".join(words)
        )
    statement = instruction(opcode_words(form, slots), texts_in_order)
    text = part(
        "registers",
        parameters=kernel.parameters,
        threads=WARP * _BLOCK,
        declarations="\n".join(kernel.declarations),
        body="\n".join([*kernel.loads, f"    {statement}", *kernel.stores]),
    )
    shown = instruction(opcode_words(form, slots), [f"{name}={value}" for name, value in constants.items()])
    return Experiment(form.name, shown, text, kernel.operands, tuple(kernel.outputs), cases_of_block=_BLOCK)
