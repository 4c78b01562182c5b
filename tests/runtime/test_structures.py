"""Structures whose layout comes from C, ctypes, NumPy or recorded bytes."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from emulator.texts import kernel
from hypothesis import given, settings
from hypothesis import strategies as st

import warploom as wl
from warploom.runtime.c_syntax import parse_structure
from warploom.runtime.c_types import Record

# The structure is { float *x; int n; float scale; }.
SCALED = """
    ld.param.u64 %rd2, [s];
    ld.param.u32 %r1, [s+8];
    ld.param.f32 %f1, [s+12];
    setp.ge.u32 %p1, %r0, %r1;
    @%p1 ret;
    mad.wide.u32 %rd3, %r0, 4, %rd2;
    ld.f32 %f2, [%rd3];
    mul.f32 %f2, %f2, %f1;
    st.f32 [%rd3], %f2;
    ret;"""
TEXT = "struct { float *x; int n; float scale; }"


class Scaled(ctypes.Structure):
    _fields_ = (("x", ctypes.POINTER(ctypes.c_float)), ("n", ctypes.c_int), ("scale", ctypes.c_float))


NUMBERS = np.dtype([("x", "u8"), ("n", "i4"), ("scale", "f4")])
OBJECTS = np.dtype([("x", "O"), ("n", "i4"), ("scale", "f4")])
RECORDED = bytes(range(8)) + np.int32(20).tobytes() + np.float32(0.5).tobytes()


@pytest.mark.parametrize(
    "make",
    [
        lambda x: wl.Struct.c(TEXT, x=x, n=20, scale=0.5),
        lambda x: wl.Struct.c(f"typedef {TEXT} Inner; union U {{ long pad[2]; Inner in; }}", **{"in": (x, 20, 0.5)}),
        lambda x: wl.Struct.of(Scaled(None, 20, 0.5), x=x),
        lambda x: wl.Struct.of(Scaled, x=x, n=20, scale=0.5),
        lambda x: wl.Struct.of(np.array((0, 20, 0.5), NUMBERS), x=x),
        lambda x: wl.Struct.of(np.array([(0, 20, 0.5)], NUMBERS)[0], x=x),
        lambda x: wl.Struct.of(NUMBERS, x=x, n=20, scale=0.5),
        lambda x: wl.Struct.of(np.array([(x, 20, 0.5)], OBJECTS)),
        lambda x: wl.Struct.patched(RECORDED, {0: x}),
        lambda x: wl.Struct.patched(bytes(16), {0: x, 8: np.int32(20), 12: ("f32", 0.5)}),
    ],
)
def test_every_kind_of_structure_has_the_same_bytes(make: Any) -> None:
    x = np.arange(32, dtype=np.float32)
    wl.launch(kernel(SCALED, ".param .align 8 .b8 s[16]"), grid=1, block=32, args=[make(x)])
    np.testing.assert_array_equal(x[:20], np.arange(20) / 2)
    np.testing.assert_array_equal(x[20:], np.arange(20, 32))


def test_a_member_has_its_value_at_its_offset() -> None:
    text = """
        // Comments and qualifiers are allowed.
        struct Inner { signed char a; long long b; };
        struct Outer {
            const __half *__restrict__ x;  /* a pointer */
            std::uint8_t flags[2][3];
            half h; __nv_bfloat16 g; bool yes;
            struct Inner inner[2];
            union { float f; unsigned bits; };
            float4 v;
            alignas(32) int last; int *null;
        };
    """
    made = wl.Struct.c(
        text, x=7, flags=[[1, 2, 3], b"\4\5\6"], h=0.5, g=np.float32(-2), yes=True, inner=[(-1, 2), {"a": 3, "b": -4}],
        bits=0x3F800000, v=(1, 2, 3, 4), last=9, null=None,
    )  # fmt: skip
    raw = made.background
    assert raw is not None
    places: dict[str, tuple[Any, int]] = {
        "x": ("u8", 0), "flags": (("u1", 6), 8), "h": ("f2", 14), "yes": ("?", 18), "a": ("i1", 24), "b": ("i8", 32),
        "a2": ("i1", 40), "b2": ("i8", 48), "f": ("f4", 56), "v": (("f4", 4), 64), "last": ("i4", 96),
        "null": ("u8", 104), "g": (ml_dtypes.bfloat16, 16),
    }  # fmt: skip
    columns = {"names": [*places], "formats": [kind for kind, _ in places.values()]}
    found = np.frombuffer(raw, np.dtype({**columns, "offsets": [at for _, at in places.values()], "itemsize": 128}))[0]
    assert [found[name].tolist() for name in [*places][:-1]] == [
        7, [1, 2, 3, 4, 5, 6], 0.5, True, -1, 2, 3, -4, 1.0, [1, 2, 3, 4], 9, 0,
    ]  # fmt: skip
    assert float(found["g"]) == -2
    assert (made.size, made.align) == (128, 32)


# Layouts ----------------------------------------------------------------------------------------------------------

WORDS = {
    "char": ctypes.c_byte, "unsigned char": ctypes.c_ubyte, "short": ctypes.c_short, "int": ctypes.c_int,
    "unsigned": ctypes.c_uint, "long long": ctypes.c_longlong, "long unsigned int": ctypes.c_ulong,
    "float": ctypes.c_float, "double": ctypes.c_double, "uint16_t": ctypes.c_uint16, "size_t": ctypes.c_size_t,
    "bool": ctypes.c_bool, "void *": ctypes.c_void_p, "const float *const *": ctypes.c_void_p,
}  # fmt: skip


@st.composite
def structures(draw: st.DrawFn, depth: int = 2) -> tuple[str, type[Any]]:
    """Draw a structure or a union: its text, and the equal type of ctypes."""
    is_union = draw(st.booleans()) and depth < 2
    texts, fields = [], []
    for k in range(draw(st.integers(1, 5))):
        if depth and draw(st.integers(0, 3)) == 0:
            word, kind = draw(structures(depth - 1))
        else:
            word, kind = draw(st.sampled_from(sorted(WORDS.items(), key=lambda item: item[0])))
        extents = draw(st.lists(st.integers(1, 3), max_size=2))
        for extent in reversed(extents):
            kind = kind * extent
        texts.append(f"{word} m{k}{''.join(f'[{extent}]' for extent in extents)};")
        fields.append((f"m{k}", kind))
    base = ctypes.Union if is_union else ctypes.Structure
    made = type("S", (base,), {"_fields_": fields})
    return f"{'union' if is_union else 'struct'} {{ {' '.join(texts)} }}", made


def places(kind: Record) -> Iterator[tuple[int, int]]:
    for member in kind.members:
        yield member.offset, member.type.size
        if isinstance(member.type, Record):
            yield from places(member.type)


def places_of(kind: type[Any]) -> Iterator[tuple[int, int]]:
    for name, inner in kind._fields_:
        descriptor = getattr(kind, name)
        yield descriptor.offset, descriptor.size
        if issubclass(inner, (ctypes.Structure, ctypes.Union)):
            yield from places_of(inner)


@given(structures())
def test_a_layout_equals_that_of_ctypes(drawn: tuple[str, type[Any]]) -> None:
    text, expected = drawn
    found = parse_structure(text)
    assert (found.size, found.align) == (ctypes.sizeof(expected), ctypes.alignment(expected))
    assert list(places(found)) == list(places_of(expected))


@st.composite
def declarations(draw: st.DrawFn) -> str:
    """Draw a structure with attributes, which ctypes lacks. Its members are m0, m1, …."""
    power = st.sampled_from([1, 2, 4, 8, 16, 64])
    word = st.sampled_from(sorted(WORDS))
    members = []
    for k in range(draw(st.integers(1, 5))):
        inner = f"struct {{ {draw(word)} a; {draw(word)} b[3]; }}" if draw(st.booleans()) else draw(word)
        before = draw(st.sampled_from(["", "const ", "volatile "]))
        after = draw(st.sampled_from(["", "packed", f"aligned({draw(power)})"]))
        members.append(f"{before}{inner} m{k}{f' __attribute__(({after}))' if after else ''};")
    start = draw(st.sampled_from(["", "__attribute__((packed)) ", f"__attribute__((packed, aligned({draw(power)}))) "]))
    end = "" if "aligned" in start else draw(st.sampled_from(["", f" __attribute__((aligned({draw(power)})))"]))
    return f"struct {start}S {{ {' '.join(members)} }}{end};"


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
@settings(max_examples=3)
@given(st.lists(declarations(), min_size=40, max_size=40))
def test_a_layout_equals_that_of_gcc(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    folder = tmp_path_factory.mktemp("gcc")
    lines = ["#include <stdbool.h>", "#include <stddef.h>", "#include <stdint.h>"]
    for k, text in enumerate(texts):
        found = parse_structure(text)
        name = f"struct S{k}"
        lines.append(text.replace(" S {", f" S{k} {{", 1))
        claims = [f"sizeof({name}) == {found.size}", f"_Alignof({name}) == {found.align}"]
        claims += [f"offsetof({name}, {member.name}) == {member.offset}" for member in found.members]
        lines += [f'_Static_assert({claim}, "{k}");' for claim in claims]
    (folder / "s.c").write_text("\n".join(lines))
    done = subprocess.run(["gcc", "-fsyntax-only", str(folder / "s.c")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + "\n".join(texts)


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
def test_types_of_cuda_have_the_layout_of_nvcc(tmp_path: Path) -> None:
    from warploom.runtime.c_types import NAMED

    other = {
        "ssize_t",
        "half_t",
        "bfloat16_t",
        "tfloat32_t",
        "float_e4m3_t",
        "float_e5m2_t",
        "cuuint32_t",
        "cuuint64_t",
    }
    names = NAMED.keys() - other - {"cuuint64_t", "_Float16", "__bf16", "CUtexObject", "CUtensorMap"}
    headers = ["cuda.h", "cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "cstdint"]
    lines = [f"#include <{header}>" for header in headers]
    lines.append(
        "static_assert(sizeof(CUtensorMap) == 128 && alignof(CUtensorMap) == (CUDA_VERSION < 13000 ? 64 : 128));"
    )
    for name in sorted(names):
        kind = NAMED[name]
        lines.append(f'static_assert(sizeof({name}) == {kind.size} && alignof({name}) == {kind.align}, "{name}");')
    (tmp_path / "s.cu").write_text("\n".join(lines))
    command = ["nvcc", "--ptx", "-arch=sm_90a", "-Wno-deprecated-declarations", "-o", str(tmp_path / "s.ptx")]
    done = subprocess.run([*command, str(tmp_path / "s.cu")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


TOKENS = """struct union typedef { } [ ] ( ) ; , * : = < const int unsigned long float half CUtensorMap S a b 3 0x10
    alignas __attribute__ aligned packed // /* */ enum ::"""


@given(st.lists(st.sampled_from(TOKENS.split()), max_size=30))
def test_any_text_is_a_structure_or_refused(tokens: list[str]) -> None:
    with suppress(wl.UsageError):
        found = parse_structure("struct S { int a; };" + " ".join(tokens))
        assert found.size % found.align == 0


# Mistakes ---------------------------------------------------------------------------------------------------------

X = np.zeros(4, np.float32)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("struct {", r"line 1, column 8 .*: the '}' of the structure is missing"),
        ("struct {\n  int a:3; }", r"line 2, column 8 .*: found ':'; bit-fields and base classes are not supported"),
        ("struct { Foo a; }", "unknown type 'Foo'"),
        ("struct { flaot a; }", "unknown type 'flaot'; did you mean 'float'"),
        ("struct { int (*f)(int); }", "found a pointer to a function or an array"),
        ("struct { int a[0]; }", "the array has 0 elements; expected at least 1"),
        ("struct { int a[n]; }", "found 'n'; expected the number of elements, an integer"),
        ("struct { char a[99999999999]; }", "larger than the parameters of a kernel; expected at most 32764 bytes"),
        ("struct { char a[20000]; char b[20000]; }", "has 40000 bytes; the parameters of a kernel have at most 32764"),
        ("class A { int a; };", "found a class; write it as a struct$"),
        ("struct { unsigned float x; }", "'unsigned float' is no type of a kernel's parameter"),
        ("struct { long double x; }", "'long double' is no type of a kernel's parameter"),
        ("struct { int a; float a; }", "the struct has two members 'a'"),
        ("struct { int a; union { float a; int b; }; }", "the struct has two members 'a'"),
        ("struct { alignas(3) int a; }", "the alignment is 3; expected a power of two"),
        ("struct { int a; } x;", "found 'x'; expected ';'"),
        ("struct { enum E e; }", "found an enum; write its integer type instead"),
        ("struct { Array<int, 3> a; }", "templates are not supported"),
        ("#include <x>\nstruct { int a; }", "without lines of the preprocessor"),
        ("struct { }", "the struct has no members"),
        ("struct S;", "found no structure; expected text such as"),
        ("", "found no structure; expected text such as"),
        ("typedef float T __attribute__((aligned(16))); struct { T a; }", "the alias 'T' has an alignment"),
        ("struct alignas(8) S { int a; } __attribute__((aligned(4)));", "found a second alignment"),
        ("struct {" * 40, "structures are nested more than 16 deep"),
        (5, "the C declaration is a int; expected text such as"),
    ],
)
def test_a_declaration_that_cannot_be_read_is_refused(text: Any, message: str) -> None:
    with pytest.raises(wl.UsageError, match=message) as caught:
        wl.Struct.c(text)
    assert caught.value.diagnostics[0].code == "launch.argument"


RICH = """struct {
    float *x; int n; float s[2]; union { int i; float f; }; half h; bool b; CUtensorMap m; struct P { int a; } p;
}"""
RIGHT = {"x": X, "n": 1, "s": (1, 2), "i": 3, "h": 0.5, "b": True, "m": bytes(128), "p": {"a": 1}}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n": 1.5}, r"field 'n' at byte 8 \(int\) is 1.5; expected an integer from -2147483648 to 2147483647"),
        ({"n": 2**31}, r"field 'n' at byte 8 \(int\) is 2147483648; expected an integer"),
        ({"n": True}, r"field 'n' at byte 8 \(int\) is True; expected an integer"),
        ({"n": X}, r"field 'n' at byte 8 \(int\) is an array of shape \(4,\); expected an integer"),
        ({"x": "a"}, r"field 'x' at byte 0 \(float \*\) is 'a'; expected an array, "),
        ({"x": -1}, r"field 'x' at byte 0 \(float \*\) is -1; expected an array, "),
        ({"x": [X, 3]}, r"field 'x' at byte 0 \(float \*\) is a list of 2 elements; expected an array, "),
        ({"s": (1,)}, r"field 's' at byte 12 \(float\[2\]\) is a tuple of 1 elements; expected a sequence of 2"),
        ({"s": (1, "a")}, r"field 's\[1\]' at byte 16 \(float\) is 'a'; expected a number in the range of float"),
        ({"f": 1.0}, r"the union at byte 20 has values for i and f; expected exactly one of i, f"),
        ({"h": 1e6}, r"field 'h' at byte 24 \(half\) is 1000000.0; expected a number in the range of half"),
        ({"b": 2}, r"field 'b' at byte 26 \(bool\) is 2; expected True, False, 0 or 1"),
        ({"m": X}, r"field 'm' at byte 64 \(CUtensorMap\) is an array .*; expected a TensorMap or 128 bytes"),
        ({"p": {"a": "x"}}, r"field 'p.a' at byte 192 \(int\) is 'x'; expected an integer"),
        ({"p": {"b": 1}}, r"field 'p' \(struct P\) has no field 'b'; expected a"),
        ({"p": 3}, r"field 'p' at byte 192 \(struct P\) is 3; expected a mapping of the names a"),
        ({"p": {}}, r"field 'p' \(struct P\) lacks values for a \(int, byte 192\)"),
        ({"nn": 1}, r"the structure has no field 'nn'; did you mean 'n'"),
    ],
)
def test_a_wrong_value_is_refused_with_its_field(changes: dict[str, Any], message: str) -> None:
    wl.Struct.c(RICH, **RIGHT)
    with pytest.raises(wl.UsageError, match=message) as caught:
        wl.Struct.c(RICH, **{**RIGHT, **changes})
    assert caught.value.diagnostics[0].code == "launch.argument"


def test_missing_values_are_listed_with_their_offsets() -> None:
    with pytest.raises(wl.UsageError, match=r"lacks values for n \(int, byte 8\), i or f \(union, byte 20\)"):
        wl.Struct.c(RICH, **{name: value for name, value in RIGHT.items() if name not in ("n", "i")})


class Big(ctypes.BigEndianStructure):
    _fields_ = (("a", ctypes.c_int),)


class Bits(ctypes.Structure):
    _fields_ = (("a", ctypes.c_int, 3),)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: wl.Struct.of(Scaled(ctypes.pointer(ctypes.c_float(1)), 1, 1)),
            "field 'x' at byte 0 of Scaled points to",
        ),
        (lambda: wl.Struct.of(Scaled, x=X), r"lacks values for n \(c_int, byte 8\), scale"),
        (lambda: wl.Struct.of(Scaled(), y=X), "has no field 'y'"),
        (lambda: wl.Struct.of(Big()), "byte order of another machine"),
        (lambda: wl.Struct.of(Bits()), "field 'a' of Bits is a bit-field"),
        (lambda: wl.Struct.of(np.zeros(2, NUMBERS)), r"the array of structures has shape \(2,\)"),
        (lambda: wl.Struct.of(np.zeros(1)), "has the type float64; expected a structured dtype"),
        (lambda: wl.Struct.of(np.dtype([("a", ">i4")]), a=1), "field 'a' has the type >i4, which a kernel cannot use"),
        (lambda: wl.Struct.of(np.array([("a", 1, 1)], OBJECTS)), r"field 'x' at byte 0 \(object\) is 'a'"),
        (lambda: wl.Struct.of(3), "the structure is a int; expected a ctypes.Structure"),
        (lambda: wl.Struct.patched(bytes(8), {4: X}), "the field at byte 4 has 8 bytes; expected a field within the 8"),
        (lambda: wl.Struct.patched("00", {}), "the bytes of a structure are a str; expected bytes"),
    ],
)
def test_a_structure_of_another_library_is_checked(make: Any, message: str) -> None:
    with pytest.raises(wl.UsageError, match=message) as caught:
        make()
    assert caught.value.diagnostics[0].code == "launch.argument"


def test_none_replaces_a_pointer_of_an_instance() -> None:
    recorded = np.array((b"address!", 20, 0.5), np.dtype([("x", "V8"), ("n", "i4"), ("scale", "f4")]))
    assert wl.Struct.of(recorded).background == recorded.tobytes()
    objects = wl.Struct.of(np.array((None, 20, 0.5), OBJECTS))
    assert objects.background == bytes(8) + RECORDED[8:]  # without the host address of the object


def test_a_structure_of_another_size_is_refused() -> None:
    text = kernel("ret;", ".param .align 8 .b8 s[16]")
    with pytest.raises(wl.UsageError, match=r"argument 0 \(.b8 s\[16\]\) is a Struct of 8 bytes; expected 16 bytes"):
        wl.launch(text, grid=1, block=32, args=[wl.Struct.c("struct { float *x; }", x=X)])


def test_an_array_that_a_kernel_cannot_use_is_refused_with_its_field() -> None:
    text = kernel("ret;", ".param .align 8 .b8 s[16]")
    with pytest.raises(wl.UsageError, match=r"argument 0 \(s\+8, field p.y\) is an array .* not contiguous"):
        wl.launch(text, grid=1, block=32, args=[
            wl.Struct.c("struct { long a; struct { float *y; } p; }", a=1, p={"y": np.zeros(8)[::2]})
        ])  # fmt: skip


def test_tensor_maps_of_cuda_13_have_another_alignment() -> None:
    text = kernel("ret;", ".param .align 128 .b8 s[256]")
    values: dict[str, Any] = {"a": 1, "m": bytes(128), "b": 2}
    with pytest.raises(wl.UsageError, match=r"alignment of 64 bytes; the parameter has 128") as caught:
        wl.launch(text, grid=1, block=32, args=[wl.Struct.c("struct { int a; CUtensorMap m; int b; }", **values)])
    assert "alignas(128) CUtensorMap" in caught.value.diagnostics[0].hint
    text = kernel("ret;", ".param .align 128 .b8 s[384]")
    made = wl.Struct.c("struct { int a; alignas(128) CUtensorMap m; int b; }", **values)
    wl.launch(text, grid=1, block=32, args=[made])
