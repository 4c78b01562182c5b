"""Explanation of an element of a result, by second runs of the launch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.diagnostics.wording import did_you_mean
from warploom.display import Displayed
from warploom.emulator.address_space import GLOBAL_BASE
from warploom.lazy_dataclass import dataclass
from warploom.observe.provenance.alignment import Expected
from warploom.observe.provenance.explanation import Explainer, Explanation, Line
from warploom.observe.provenance.recorder import ProvenanceRecorder
from warploom.observe.provenance.terms import Element, Region, Regions
from warploom.observe.provenance.trace import ExecutionTrace, Location
from warploom.observe.provenance.unwritten import unwritten_cause
from warploom.observe.writers import WriterRecorder, Writers
from warploom.runtime import cpu
from warploom.runtime.patterns import find_pattern
from warploom.runtime.references import REFERENCES, Options
from warploom.runtime.references import Expected as ExpectedValues

if TYPE_CHECKING:
    from warploom.emulator.stats import Progress
    from warploom.isa.model.signature import Signature
    from warploom.runtime.device_buffers import DeviceBuffers

Array = NDArray[Any]

_EAGER = "eager"
_FEW = 8  # CTAs of a grid that is recorded as a whole


@dataclass(frozen=True, slots=True)
class Expectation:
    """Expected contents of the array `result`: a reference computation with its operands by role.

    `values` has the expected values and the bounds of their errors.
    """

    result: str
    values: ExpectedValues
    reference: str = ""
    operands: Mapping[str, str] = field(default_factory=dict[str, str])
    options: Options = field(default_factory=Options)

    def of(self, index: tuple[int, ...], regions: Regions) -> Expected:
        """Return the expected value of an element, with the products of a matrix multiplication."""
        value = float(self.values.values[index])
        bound = float(np.broadcast_to(self.values.bound, self.values.values.shape)[index])
        if self.reference != "matmul" or len(index) < 2:
            return Expected(value, bound, elements=self._elements(index, regions))
        initial = regions.value(Element(self.result, index)) if self.options.add_initial else 0.0
        a, b = (regions.array(self.operands[role]) for role in "ab")
        k_axis = -2 if self.options.transpose_a else -1
        products = tuple(
            (
                _element(a, index[:-2], index[-2], k, self.options.transpose_a),
                _element(b, index[:-2], k, index[-1], self.options.transpose_b),
            )
            for k in range(a.contents.shape[k_axis])
        )
        return Expected(value, bound, products, self.options.alpha, initial)

    def _elements(self, index: tuple[int, ...], regions: Regions) -> frozenset[Element]:
        """Return the elements on which an element of the result depends, or nothing if they are not known."""
        if self.reference not in ("add", "subtract", "multiply", "copy", "softmax"):
            return frozenset()
        arrays = {regions.array(name) for name in self.operands.values()}
        if any(each.contents.shape != self.values.values.shape for each in arrays):
            return frozenset()
        rows = self.values.values.shape[-1]
        columns = range(rows) if self.reference == "softmax" else [index[-1]]
        return frozenset(Element(each.name, (*index[:-1], column)) for each in arrays for column in columns)


def _element(region: Region, outer: Sequence[int], row: int, column: int, transposed: bool) -> Element:
    shape = region.contents.shape[:-2]
    matched = tuple(
        0 if extent == 1 else at for extent, at in zip(shape, outer[len(outer) - len(shape) :], strict=True)
    )
    return Element(region.name, (*matched, column, row) if transposed else (*matched, row, column))


@dataclass(frozen=True, slots=True)
class Why(Displayed):
    """Explanation of an element of an array after a launch.

    `schedule` is that of the runs. `expected` is None if no value is expected.
    """

    display_kind: ClassVar[str] = "why"

    name: str
    index: tuple[int, ...]
    value: float
    schedule: str
    explanation: Explanation
    expected: Expected | None = None
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])

    @property
    def element(self) -> str:
        """Name of the element, such as "c[5, 7]"."""
        return str(Element(self.name, self.index))

    @property
    def cause(self) -> str:
        """Cause of the wrong result in one sentence, or "" if no rule found one."""
        return "" if self.explanation.cause is None else str(self.explanation.cause)

    def text(self) -> str:
        """Return the explanation as lines of text: the tree, the first wrong step, and the cause."""
        head = f"{self.element} = {self.value:.9g}"
        if self.expected is not None:
            head += f", expected {self.expected.value:.9g} ± {self.expected.bound:.3g}"
        if self.schedule != "eager":
            head += f" (schedule {self.schedule})"
        found = self.explanation
        lines = [head, *map(_branch, found.tree)]
        if found.wrong_step:
            lines.append(f"first wrong step: {found.wrong_step}")
        lines += [f"   {each}" for each in found.details]
        if self.cause:
            lines.append(f"cause: {self.cause}")
        elif self.expected is not None and not abs(self.value - self.expected.value) <= self.expected.bound:
            lines.append("cause: not found")
        return "\n".join(lines)

    def data(self) -> dict[str, object]:
        """Return the explanation as data for JSON."""
        found = self.explanation
        return {
            "array": self.name, "index": list(self.index), "value": self.value, "schedule": self.schedule,
            "expected": None if self.expected is None else self.expected.value,
            "tree": [{"depth": each.depth, "text": each.text} for each in found.tree],
            "first_wrong_step": found.wrong_step, "details": list(found.details), "cause": self.cause,
            "missing": list(found.missing),
            "products": [
                {"a": one and str(one), "b": other and str(other), "k": k, "right": right}
                for one, other, k, right in found.products
            ],
        }  # fmt: skip

    def __str__(self) -> str:
        return self.text()


def _branch(line: Line) -> str:
    """Return a line of a tree as text."""
    if line.text.startswith("not written"):
        return line.text
    return f"{'   ' * line.depth}{'   ' if line.text.startswith('<- ') else '`- '}{line.text}"


@dataclass(frozen=True, slots=True)
class Question:
    """Launch whose result is explained.

    `prepare` returns the launch with its inputs under a schedule. `names` has its arrays by name, which are in
    `buffers`. `schedule` is that of the runs, and `progress` is called repeatedly with their progress.
    """

    prepare: Callable[[str], cpu.EmulatorLaunch]
    names: Mapping[str, Array]
    buffers: DeviceBuffers
    signature: Signature
    schedule: str
    progress: Callable[[Progress], None] | None = None

    def array_name(self, array: str | Array) -> str:
        """Return the name of an array. Errors: UsageError why.array."""
        if isinstance(array, str):
            if array in self.names:
                return array
            raise UsageError(
                f"there is no array '{array}'", code="why.array", hint=did_you_mean(array, self.names, "'")
            )
        name = next((name for name, each in self.names.items() if each is array), None)
        if name is None:
            raise UsageError("the array is not an argument of the launch", code="why.array")
        return name

    def regions(self, launch: cpu.EmulatorLaunch) -> Regions:
        """Return the arrays of a launch that has not run, and the parameters of its kernel."""
        arrays = tuple(
            Region(name, self.buffers.address(array) - GLOBAL_BASE, self.buffers.contents(array, launch.arena).copy())
            for name, array in self.names.items()
        )
        first = launch.segments[""] - GLOBAL_BASE
        parameters = tuple((first + each.offset, each.size, each.readable_name) for each in self.signature.parameters)
        return Regions(arrays, parameters)

    def record(self, cta: int) -> ExecutionTrace:
        """Run again, and return the record of the cluster of a CTA, or of all CTAs of a small grid."""
        launch = self.prepare(self.schedule)
        width, height, depth = launch.request.grid
        sizes = launch.request.cluster
        at = cta % width, cta // width % height, cta // (width * height)
        x, y, z = (each // size * size for each, size in zip(at, sizes, strict=True))
        numbers = {
            ((z + dz) * height + y + dy) * width + x + dx
            for dx in range(sizes[0]) for dy in range(sizes[1]) for dz in range(sizes[2])
        }  # fmt: skip
        if width * height * depth <= _FEW:
            numbers = set(range(width * height * depth))
        recorder = ProvenanceRecorder(numbers)
        cpu.run(launch, observer=recorder, progress=self.progress)
        return recorder.trace()


def explain(question: Question, array: str | Array, index: int | tuple[int, ...], expect: object) -> Why:
    """Explain an element of an array after a launch.

    `Run.why` describes `expect`. Errors: UsageError why.array, why.index, why.expect.
    """
    launch, name = question.prepare(question.schedule), question.array_name(array)
    regions = question.regions(launch)
    region = regions.array(name)
    at = _checked(index, region.contents.shape, name)
    expectation = None if expect is None else _read_expectation(expect, name, question.names, regions)
    expected = expectation.of(at, regions) if expectation is not None and expectation.result == name else None
    size = region.contents.itemsize
    recorder = WriterRecorder(region.start, region.contents.nbytes // size, size)
    cpu.run(launch, observer=recorder, progress=question.progress)
    writers = recorder.writers()
    number = (region.offset(at) - region.start) // size
    value = float(_array_at(launch, region)[at])
    shapes = {each.name: each.contents.shape for each in regions.arrays}
    if writers.pcs[number] < 0:
        found = _not_written(region, at, writers)
    else:
        trace = question.record(int(writers.ctas[number]))
        place = Location("global", 0, region.offset(at), 0, size)
        explainer = Explainer(trace, regions)
        found = explainer.explain(place, value, expected, Element(name, at))
        is_wrong = expected is not None and not abs(value - expected.value) <= expected.bound
        if found.cause is None and is_wrong and question.schedule != _EAGER:
            eager = Explainer(replace(question, schedule=_EAGER).record(int(writers.ctas[number])), regions)
            found = replace(found, cause=explainer.difference(eager, place, _EAGER))
    return Why(name, at, value, question.schedule, found, expected, shapes)


def _array_at(launch: cpu.EmulatorLaunch, region: Region) -> Array:
    """Return the contents of an array after a run."""
    contents = region.contents
    octets = launch.arena.bytes[region.start : region.start + contents.nbytes]
    return np.ndarray(contents.shape, contents.dtype, np.ascontiguousarray(octets), 0, contents.strides)


def _checked(index: int | tuple[int, ...], shape: tuple[int, ...], name: str) -> tuple[int, ...]:
    at = (index,) if isinstance(index, int | np.integer) else tuple(index)
    if len(at) != len(shape) or not all(0 <= each < extent for each, extent in zip(at, shape, strict=True)):
        shown = ", ".join(map(str, at))
        raise UsageError(f"{name} has the shape {shape} and no element [{shown}]", code="why.index")
    return tuple(int(each) for each in at)


def _not_written(region: Region, index: tuple[int, ...], writers: Writers) -> Explanation:
    shape = region.contents.shape
    unwritten = (writers.pcs < 0).reshape(shape)
    line = f"not written: {find_pattern(unwritten).describe()} of {region.name} keep their initial values"
    return Explanation((Line(0, line),), cause=unwritten_cause(region.name, shape, index, writers))


def _read_expectation(
    expect: object, result: str, names: Mapping[str, Array], regions: Regions
) -> Expectation:  # fmt: skip
    """Return the expectation that a caller states: an array of values, or a reference computation.

    Errors: UsageError why.expect.
    """
    if isinstance(expect, Expectation):
        return expect
    before = {each.name: each.contents for each in regions.arrays}
    if not isinstance(expect, Mapping):
        values = np.broadcast_to(np.asarray(expect, np.float64), before[result].shape)
        return Expectation(result, ExpectedValues(values, np.zeros(values.shape)))
    given: dict[str, Any] = dict(expect)  # pyright: ignore[reportUnknownArgumentType] - checked below
    reference = given.pop("reference", "matmul")
    if reference not in REFERENCES:
        raise UsageError(
            f"expect has the reference {reference!r}; expected one of {', '.join(REFERENCES)}", code="why.expect"
        )
    roles = REFERENCES[reference].operands
    operands: dict[str, str] = {}
    for role in roles:
        array = given.pop(role, None)
        found = array if isinstance(array, str) else next((key for key, each in names.items() if each is array), None)
        if found is None or found not in names:
            raise UsageError(f"expect lacks the operand '{role}', an array of the launch", code="why.expect")
        operands[role] = found
    unknown = [name for name in given if name not in REFERENCES[reference].options]
    if unknown:
        raise UsageError(f"expect has an unknown option '{unknown[0]}'", code="why.expect")
    options = replace(Options(), **given)
    values = REFERENCES[reference].compute(
        {role: before[name] for role, name in operands.items()}, before[result], options
    )
    return Expectation(result, values, reference, operands, options)
