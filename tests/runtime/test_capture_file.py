"""Files of captured launches, and their replay."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import warploom as wl
from warploom.gpu.geometry import Geometry
from warploom.layout.tensormap import TensorMapFields, pad_to_five
from warploom.runtime.captures.capture_file import Allocation, CapturedLaunch, PlacedTensorMap, read_capture
from warploom.runtime.captures.relocation import Relocation
from warploom.runtime.captures.replay import replay

COPY = """
.version 8.0
.target sm_90
.address_size 64

.global .align 8 .u64 where;

.visible .entry follow(.param .u64 table, .param .u32 addend)
{
    .reg .b64 %table, %values, %end, %address;
    .reg .b32 %value, %addend;
    .reg .pred %p;
    ld.param.u64 %table, [table];
    ld.param.u32 %addend, [addend];
    ld.global.u64 %values, [%table];
    ld.global.u64 %end, [%table+8];
    mov.u64 %address, where;
    st.global.u64 [%address], %values;
LOOP:
    setp.ge.u64 %p, %values, %end;
    @%p bra DONE;
    ld.global.u32 %value, [%values];
    add.u32 %value, %value, %addend;
    st.global.u32 [%values], %value;
    add.u64 %values, %values, 4;
    bra LOOP;
DONE:
    st.global.u64 [%table], %values;
    ret;
}
"""
TABLE, VALUES, WHERE = 0x7F00_0000_0200, 0x7F00_0020_0000, 0x7F00_0040_0000


def words(*values: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.array(values, np.uint64).view(np.uint8)


def launch_of(addend: int = 5) -> CapturedLaunch:
    """Return a launch that adds to 16 numbers, from a pointer to the end of their allocation."""
    numbers = np.arange(16, dtype=np.uint32)
    end = VALUES + 64
    return CapturedLaunch(
        COPY, "follow", "sm_90a", Geometry((1, 1, 1), (1, 1, 1)),
        words(TABLE).tobytes() + np.array([addend, 0], np.uint32).tobytes()[:4],
        [
            Allocation(TABLE, words(VALUES, end), words(end, end)),
            Allocation(VALUES, numbers.view(np.uint8), (numbers + np.uint32(5)).view(np.uint8)),
            Allocation(WHERE, words(0), words(VALUES), "where"),
        ],
    )  # fmt: skip


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "launch.wlc"
    launch_of().save(path)
    return path


def test_pointers_in_memory_are_relocated_and_compared(saved: Path) -> None:
    done = replay(saved)
    assert done.equal, done.differences
    assert done.compared == 16 + 64 + 8


def test_a_wrong_result_is_listed_with_its_writer() -> None:
    done = replay(launch_of(addend=6))
    assert not done.equal
    (found,) = done.differences
    assert (found.name, found.count) == ("allocation 2", 16)
    assert found.first[0] == (0, "00000006", "00000005")
    assert [str(each) for each in found.writers] == ["st.global.u32 in line 24"]
    assert not done.depends_on_order


@pytest.mark.parametrize("schedule", ["eager", "lazy"])
def test_a_replay_has_the_findings_of_a_run(saved: Path, schedule: str) -> None:
    done = replay(saved, sanitize=True, schedule=schedule, trace=True, profile=True)
    assert done.equal
    assert done.trace is not None
    assert done.profile is not None
    assert not done.findings


def atomics(instruction: str, before: int, after: int) -> CapturedLaunch:
    text = f"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry sum(.param .u64 target)
{{
    .reg .b64 %a; .reg .f32 %f; .reg .b32 %t;
    ld.param.u64 %a, [target];
    mov.u32 %t, %tid.x;
    cvt.rn.f32.u32 %f, %t;
    {instruction}
    ret;
}}
"""
    content = np.array([before], np.uint32).view(np.uint8)
    result = np.array([after], np.uint32).view(np.uint8)
    geometry = Geometry((1, 1, 1), (32, 1, 1))
    return CapturedLaunch(text, "sum", "sm_90a", geometry, words(TABLE).tobytes(), [Allocation(TABLE, content, result)])


@pytest.mark.parametrize(
    ("instruction", "depends"),
    [
        ("red.global.add.f32 [%a], %f;", True),
        ("atom.global.exch.b32 %t, [%a], %t;", True),
        ("red.global.add.u32 [%a], %t;", False),
        ("st.global.u32 [%a], %t;", False),
    ],
)
def test_differences_by_the_order_of_atomics_are_named(instruction: str, depends: bool) -> None:
    done = replay(atomics(instruction, 0, 1))
    (found,) = done.differences
    (writer,) = found.writers
    assert done.depends_on_order == depends
    assert "line 11" in str(writer)
    assert ("depends on the order" in str(writer)) == depends


def test_atomics_that_return_values_are_named() -> None:
    done = replay(atomics("atom.global.add.u32 %t, [%a], 1;\n    st.global.u32 [%a], %t;", 0, 77))
    assert "the atomics in line 11 return values that depend on the order" in done.differences[0].note
    assert not done.depends_on_order


def test_a_failed_launch_has_no_results_to_compare(tmp_path: Path) -> None:
    launch = launch_of()
    launch.status = 700
    launch.save(tmp_path / "failed.wlc")
    done = replay(tmp_path / "failed.wlc")
    assert (done.status, done.equal, done.compared) == (700, False, 0)
    assert "status 700" in done.sentence


def test_a_file_contains_the_launch_and_nothing_else(saved: Path) -> None:
    with zipfile.ZipFile(saved) as archive:
        assert {each.date_time for each in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert len(archive.namelist()) == 2 + 2 * 3
        header = archive.read("header.json").decode()
    assert str(saved.parent) not in header
    again = saved.with_name("again.wlc")
    launch_of().save(again)
    assert again.read_bytes() == saved.read_bytes()


BYTES = st.integers(0, 255)
fields = TensorMapFields(
    global_address=VALUES, rank=2, global_dim=pad_to_five((4, 4)), global_stride=(16, 0, 0, 0),
    box=pad_to_five((4, 4)), element_stride=pad_to_five((1, 1)), elemtype=7,
)  # fmt: skip


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.integers(1, 20000), st.lists(st.tuples(st.integers(0, 19999), BYTES))), max_size=4),
    st.booleans(), st.integers(0, 2**31 - 1), st.binary(max_size=400),
)  # fmt: skip
def test_reading_returns_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, parts: list[tuple[int, list[tuple[int, int]]]], cooperative: bool,
    status: int, parameters: bytes,
) -> None:  # fmt: skip
    allocations: list[Allocation] = []
    for number, (size, changes) in enumerate(parts):
        before = np.random.default_rng(number).integers(0, 256, size, np.uint8)
        after = before.copy()
        for place, value in changes:
            after[place % size] = value
        allocations.append(Allocation((number + 1) << 21, before, after, f"v{number}" if number % 2 else ""))
    maps = [PlacedTensorMap(-1, 64, fields)] if len(parameters) >= 192 else []
    geometry = Geometry((1, 2, 3), (4, 5, 6), (1, 2, 1), 77, cooperative)
    launch = CapturedLaunch("text é", "k", "sm_90a", geometry, parameters, allocations, maps, status)
    path = tmp_path_factory.mktemp("files") / "launch.wlc"
    launch.save(path)
    found = read_capture(path)
    assert replace(found, allocations=[]).__dict__ == replace(launch, allocations=[]).__dict__
    for one, other in zip(found.allocations, allocations, strict=True):
        assert (one.address, one.variable) == (other.address, other.variable)
        assert np.array_equal(one.before, other.before)
        assert np.array_equal(one.after, other.after)


# Damaged and hostile files ----------------------------------------------------------------------------------------


def rewrite(path: Path, change: dict[str, Any] | None = None, members: dict[str, bytes] | None = None) -> Path:
    """Return a copy of a file with other values in its header, and with other members."""
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(contents["header.json"])
    for key, value in (change or {}).items():
        table: Any = header
        *outer, last = key.split(".")
        for each in outer:
            table = table[int(each) if each.isdigit() else each]
        table[int(last) if last.isdigit() else last] = value
    contents["header.json"] = json.dumps(header).encode()
    contents |= members or {}
    changed = path.with_name("changed.wlc")
    with zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            archive.writestr(name, data)
    return changed


def refused(path: Path, limit: int = 1 << 30) -> str:
    with pytest.raises(wl.UsageError) as caught:
        read_capture(path, limit)
    (found,) = caught.value.diagnostics
    assert found.code == "capture.file"
    return found.message


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"version": 2}, "its format has version 2; this release of Warploom reads version 1"),
        ({"format": "other"}, "its header does not describe a launch"),
        ({"grid": [1, 1]}, "'grid' is not three integers above 0"),
        ({"grid": [0, 1, 1]}, "'grid' is not three integers above 0"),
        ({"block": [1, 1, True]}, "'block' is not three integers above 0"),
        ({"shared": -1}, "'shared' is not an integer"),
        ({"cooperative": 1}, "'cooperative' is neither true nor false"),
        ({"kernel": 1}, "'kernel' is not a string"),
        ({"parameters": "0g"}, "its parameters are not hexadecimal"),
        ({"allocations": {}}, "'allocations' is not a list"),
        ({"allocations.0.size": 0}, "and the size 0; expected an address from 0x0 on, and a size above 0"),
        ({"allocations.0.size": 17}, "its member before/0 has 16 bytes; expected 17"),
        ({"allocations.0.address": -8}, "'address' is not an integer"),
        ({"allocations.1.address": TABLE + 8}, f"allocation 1 has the address {TABLE + 8:#x}"),
        ({"allocations.2.address": 2**64 - 1}, f"allocation 2 has the address {2**64 - 1:#x}"),
        ({"allocations.0.changes": [[-8, 16]]}, "a change of allocation 0 is not a pair"),
        ({"allocations.0.changes": [[8, 16]]}, "the changes of allocation 0 exceed it"),
        ({"allocations.0.changes": [[0, 8]]}, "its member after/0 has 16 bytes; expected 8"),
        ({"allocations.0.changes": [1]}, "a change of allocation 0 is not a pair"),
        ({"tensor_maps": [{"allocation": 0, "offset": 0, "fields": {}}]}, "tensor map 0 exceeds the memory"),
        ({"tensor_maps": [1]}, "tensor map 0 is not a JSON object with fields"),
        ({"tensor_maps": [{"allocation": 9, "offset": 0, "fields": {}}]}, "'allocation' is not an integer"),
    ],
)
def test_wrong_headers_are_refused(saved: Path, change: dict[str, Any], says: str) -> None:
    assert says in refused(rewrite(saved, change))


def test_damaged_archives_are_refused(saved: Path) -> None:
    data = saved.read_bytes()
    for size in (0, 4, len(data) // 2, len(data) - 1):
        saved.write_bytes(data[:size])
        assert "it is not a complete ZIP archive" in refused(saved)
    assert "cannot be read: no such file" in refused(saved.with_name("missing.wlc"))
    assert "its header is not JSON" in refused(rewrite_plain(saved, data, {"header.json": b"[" * 100_000}))
    assert "it has no member header.json" in refused(rewrite_plain(saved, data, {"other": b""}))


def test_archives_in_other_formats_are_refused(saved: Path, tmp_path: Path) -> None:
    assert "'kernel' is not a name of PTX" in refused(rewrite(saved, {"kernel": "\x1b[31mx\nerror: y"}))
    assert "it is not a regular file" in refused(Path("/dev/zero"))
    damaged = tmp_path / "lzma.wlc"
    with zipfile.ZipFile(saved) as archive, zipfile.ZipFile(damaged, "w", zipfile.ZIP_LZMA) as other:
        for name in archive.namelist():
            other.writestr(name, archive.read(name))
    data = bytearray(damaged.read_bytes())
    data[100] ^= 0xFF
    damaged.write_bytes(data)
    assert "it is not a complete ZIP archive" in refused(damaged)
    named = bytearray(saved.read_bytes())
    central = named.rindex(b"PK\x01\x02")
    named[central + 9] |= 8  # names in UTF-8
    named[central + 46] = 0xFF
    damaged.write_bytes(named)
    assert "is not a readable capture" in refused(damaged)


def rewrite_plain(path: Path, data: bytes, members: dict[str, bytes]) -> Path:
    path.write_bytes(data)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_any_changed_byte_is_refused_or_harmless(saved: Path) -> None:
    data = saved.read_bytes()
    generator = np.random.default_rng(0)
    for place in generator.choice(len(data), 150, replace=False):
        changed = bytearray(data)
        changed[place] ^= 1 << int(generator.integers(8))
        saved.write_bytes(changed)
        try:
            read_capture(saved)
        except wl.UsageError as error:
            assert error.diagnostics[0].code == "capture.file"  # noqa: PT017


def test_contents_above_the_limit_are_refused_before_they_are_read(saved: Path) -> None:
    size = 1 << 24
    bomb = rewrite(saved, {"allocations.2.size": size}, {"before/2": bytes(size)})
    assert bomb.stat().st_size < 1 << 17
    assert "are larger than the limit of 1048576 bytes" in refused(bomb, 1 << 20)


def test_a_capture_of_another_module_is_refused(saved: Path) -> None:
    with pytest.raises(wl.UsageError, match="unknown kernel 'other'"):
        replay(rewrite(saved, {"kernel": "other"}))
    with pytest.raises(wl.UsageError, match="the module has no variable who of 8 bytes"):
        replay(rewrite(saved, {"allocations.2.variable": "who"}))


# Relocation -------------------------------------------------------------------------------------------------------


@given(
    st.lists(st.integers(1, 5000), min_size=1, max_size=5), st.lists(st.integers(0, 2**64 - 1), max_size=20),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5000)), max_size=20),
)  # fmt: skip
def test_relocation_moves_addresses_and_nothing_else(
    sizes: list[int], others: list[int], pointers: list[tuple[int, int]]
) -> None:
    starts, targets, start = list[int](), list[int](), 1 << 40
    for number, size in enumerate(sizes):
        starts.append(start)
        targets.append((2 << 45) - number * 8192)
        start += size + 8192
    relocation = Relocation(starts, sizes, targets)
    inside = [(number % len(sizes), offset) for number, offset in pointers]
    inside = [(number, min(offset, sizes[number])) for number, offset in inside]
    values = words(*(starts[number] + offset for number, offset in inside), *others)
    moved = relocation.contents(values)
    expected = [targets[number] + offset for number, offset in inside]
    assert moved.view(np.uint64)[: len(inside)].tolist() == expected
    for old, new in zip(others, moved.view(np.uint64)[len(inside) :].tolist(), strict=True):
        is_address = any(start <= old <= start + size for start, size in zip(starts, sizes, strict=True))
        assert is_address or new == old
    assert np.array_equal(relocation.inverse().contents(moved)[: 8 * len(inside)], values[: 8 * len(inside)])
