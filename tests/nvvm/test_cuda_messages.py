"""CUDA C that `lower` refuses: one sentence at the place of the mistake."""

from __future__ import annotations

import pytest

from warploom.cli import main
from warploom.diagnostics import Severity
from warploom.isa.model.availability import read_target
from warploom.nvvm import LowerError, lower, notes
from warploom.nvvm.builtins.lowering import translate

SM_90A = read_target("sm_90a")
C = "; expected C with CUDA's specifiers"
BODIES = [
    # statements of a kernel with the parameters n, p, q and f; the column counts from the first statement
    ("goto end; end: return;", 1, "cannot lower a goto statement; expected a loop or an if"),
    ("std::min(1, 2);", 4, "cannot lower a qualified name; expected a name without ::"),
    ("auto x = 1;", 1, "cannot lower a deduced type; expected a type"),
    ("k<<<1, 32>>>();", 2, "cannot lower the launch of a kernel; expected a launch by `wl.launch` or `warploom run`"),
    ("volatile int x = n;", 1, "cannot lower a volatile access; expected asm volatile for an access that must stay"),
    ("new int;", 1, "cannot lower new; expected an array"),
    ("int &x = n;", 5, "cannot lower a reference; expected a pointer"),
    ("label: n = 1;", 1, "cannot lower a label"),
    ("(int){1};", 1, "cannot lower a compound literal"),
    ("int (*f)(int);", 6, "cannot lower a pointer to a function"),
    ("int x = ;", 9, "expected an expression, got ;"),
    ("1 ? : 2;", 5, "expected an expression, got :"),
    ("int x = 1 int y;", 11, "unexpected int; expected a declaration or a statement"),
    ("if n { }", 4, "unexpected n; expected a declaration or a statement"),
    ("quux x;", 1, "unknown type 'quux' before 'x'"),
    ("int x = (1, 2;", 16, "expected ')', got '}'"),
    ("x = 1;", 1, 'identifier "x" is undefined'),
    ("f[(n]);", 5, "expected ')', got ']'"),
    ("static_cast<quux>(n);", 13, "expected static_cast<TYPE>(VALUE), got quux"),
    ("int x; int x;", 12, "'x' is declared twice"),
    ("void x;", 6, "expected a variable of a complete type, got void"),
    ("long double x;", 1, "cannot lower the type 'long double'"),
    ("int a[0];", 7, "an array's extent must be a positive constant"),
    ("int a[n];", 7, "an array's extent must be a positive constant"),
    ("int a[2] = {1, 2, 3};", 13, "expected at most 2 initializers, got 3"),
    ("int a[2] = 1;", 12, "expected a list of initializers for an array"),
    ("int a[2] = {[1] = 1};", 19, "cannot lower an initializer with a designator"),
    ("int x = {1};", 10, "expected a value of type int, got a list"),
    ("__shared__ int x = 1;", 16, "expected a __shared__ variable without an initializer"),
    ("const int x = n; x = 2;", 18, "cannot assign to a constant; expected a variable"),
    ("*q = 1;", 2, "cannot assign to a constant; expected a variable"),
    ("int x[2]; x = 0;", 11, "cannot assign to an array; expected a variable"),
    ("1 = n;", 1, "expected a variable, got a value"),
    ("(n + 1)++;", 2, "expected a variable, got a value"),
    ("&1;", 2, "expected a variable, got a value"),
    ("int *x = q;", 10, 'expected a value of type "int *", got one of type "const int *"'),
    ("float *x = p;", 12, 'expected a value of type "float *", got one of type "int *"'),
    ("p = 1;", 1, 'expected a value of type "int *", got one of type "int"'),
    ("int x = p;", 9, 'expected a value of type "int", got one of type "int *"'),
    ("int x = nullptr;", 9, 'expected a value of type "int", got one of type "std::nullptr_t"'),
    ("(float *)1.5;", 1, 'cannot convert a value of type "double" to "float *"'),
    ("*n = 1;", 2, "expected a pointer to a complete type, got int"),
    ("n[0];", 1, "expected a pointer to a complete type, got int"),
    ("p[f];", 3, "expected an integer, got float"),
    ("f % 2;", 1, 'operator % is not defined for "float" and "int"'),
    ("~f;", 2, "operator ~ is not defined for float"),
    ("p * 2;", 1, 'operator * is not defined for "int *" and "int"'),
    ("p - &f;", 1, 'operator - is not defined for "int *" and "float *"'),
    ("n ? n : p;", 1, 'expected two values of one type, got "int" and "int *"'),
    ("return 1;", 1, "expected no value in return, got one"),
    ("break;", 1, "expected break in a loop or a switch"),
    ("continue;", 1, "expected continue in a loop"),
    ("switch (f) { case 1: break; }", 9, "expected an integer in switch, got float"),
    ("switch (n) { case n: break; }", 19, "expected a constant after case"),
    ("switch (n) { case 1: case 1: break; }", 27, "case 1 occurs twice in a switch"),
    ("switch (n) { default: if (n) { case 1: ; } }", 32,
     "cannot lower a case inside another statement; expected it in the braces of a switch"),
    ("threadIdx.w;", 1, "unknown member 'w' of threadIdx; expected x, y or z"),
    ("n.x;", 1, "cannot lower the member 'x'; expected threadIdx, blockIdx, blockDim or gridDim"),
    ("'\\q';", 1, "unknown escape sequence in '\\q'; expected \\n, \\t, \\0, \\x41 or the like"),
    ('const char *s = "\\u12";', 17,
     'unknown escape sequence in "\\u12"; expected \\n, \\t, \\0, \\x41 or the like'),
    ('const char *s = "\\xff";', 17, "expected text in UTF-8 in a string"),
    ('const char *s = "abc', 17, "the string is not closed"),
    ("/* abc", 1, "the comment is not closed"),
    ("float gr\u00f6sse = 1;", 9, "unexpected character '\u00f6'"),
    ("n = 99999999999999999999;", 5, "expected an integer of at most 64 bits"),
    (f"n = {'9' * 5000};", 5, "expected an integer of at most 64 bits"),
    (f"n = {'x' * 5000};", 5, f'identifier "{"x" * 60}…" is undefined'),
    ("int n = 1;", 5, "'n' is declared twice"),
    ("const int c = 3; c = 4;", 18, "expected a variable, got the constant 'c'"),
    ("t = 4;", 1, "cannot assign to a variable in constant memory"),
    ("k(n, p, q, f);", 1, "cannot call the kernel 'k'; expected a function"),
    ("int x[2][1048576]; n = x[0][n];", 5, "expected a variable of at most 524288 bytes, got 8388608"),
    ("static int x[1048576] = {1};", 26, "expected at most 65536 elements in an array with an initializer"),
    ('asm("ret; } .entry evil() { ret;");', 5, "expected a closing brace for each opening brace in asm"),
    ('asm("ret; {");', 5, "expected a closing brace for each opening brace in asm"),
    ('asm("ret // done;");', 5, "expected ; at the end of the instructions in asm"),
    ('asm("mov.u32 %0, %5;" : "=r"(n));', 5, "asm has 1 operands, and no operand %5"),
    ("g(1, 2);", 1, "expected 1 arguments of 'g', got 2"),
    ("g(1.5);", 3, 'expected a value of type "int *", got one of type "double"'),
    ("n = g;", 5, 'identifier "g" is undefined'),
    ("n = h();", 1, 'expected a value of type "int", got one of type "void"'),
    ("(&n)(1);", 3, "expected the name of a function before ("),
    ("__syncthreads(1);", 1, "expected 0 arguments of '__syncthreads', got 1"),
    ("max(1.5f, 2);", 1, "expected integers in max; use fmaxf for floating-point values"),
    ("asm(p);", 1, 'expected asm("TEXT" : OUTPUTS : INPUTS : CLOBBERS)'),
    ('asm("x" : "=q"(p));', 11,
     'expected an operand such as "=r"(x), with one of the letters h, r, l, f and d'),
    ("int t[8]; __hmma_m16n16k16_ld_a(t + 1, q, 16, 0);", 33,
     "expected an array with at least 8 registers for 'dst', got 7"),
    ("__hmma_m16n16k16_ld_a(p, q, 16, n);", 33, "unexpected 'rowcol' operand"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "column", "message"), BODIES)
def test_mistake_in_a_function(body: str, column: int, message: str) -> None:
    head = "__constant__ int t; __device__ void h() {} __device__ int g(int *a) { return *a; }\n"
    start = "__global__ void k(int n, int *p, const int *q, float f) { "
    with pytest.raises(LowerError) as refused:
        translate(f"{head}{start}{body} }}", SM_90A, "k.cu")
    (found,) = refused.value.diagnostics
    assert (found.message, found.place) == (message, f"k.cu:2:{len(start) + column}")


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", "1:1", "expected a function or a call of a builtin, got an empty text"),
        ("template <int N> __global__ void k() {}", "1:1",
         "cannot lower a template; expected a function for each type"),
        ("struct A { int x; };", "1:1", "cannot lower a struct; expected a variable for each member"),
        ("#define N 16\n__global__ void k() {}", "1:1",
         "cannot lower the directive #define; expected text after preprocessing"),
        ("__global__ void k(int n, ...) {}", "1:26", "cannot lower a variadic function" + C),
        ("__global__ void k(int n) { } }", "1:30", "unexpected '}'"),
        ("__global__ void k(int n) { if (n) {\n }", "1:26", "'{' is not closed"),
        ("__global__ void k(int n = 1) {}", "1:25", "unexpected =; expected a declaration or a statement"),
        ("__global__ void k(void x) {}", "1:24", "expected a parameter of a complete type, got void"),
        ("__global__ void k(int) {}", "1:17", "expected a name for each parameter"),
        ("__global__ int k() { return 1; }", "1:16", "expected a kernel to return void, got int"),
        ("__device__ int f() { return; }", "1:22", "expected a value in return, got none"),
        ("__global__ void k() {}\n__global__ void k() {}", "2:17", "'k' has a second definition"),
        ("__device__ int f(int); __device__ float f(int a) { return a; }", "1:41",
         "'f' was declared as int (int), got float (int)"),
        ("int x; __global__ void k() {}", "1:5",
         "expected __device__, __constant__ or __shared__ before a variable outside a function"),
        ("__device__ int x = y;\n__global__ void k() {}", "1:20", 'identifier "y" is undefined'),
        ("__device__ int y, x = 1 / 0;\n__global__ void k() {}", "1:23",
         "expected a constant initializer outside a function"),
        ("__device__ int *x;\n__global__ void k() {}", "1:16",
         "cannot lower a pointer variable in global memory; expected a number"),
        ("__global__ void __launch_bounds__(0) k() {}", "1:35", "expected a positive constant in __launch_bounds__"),
        ("__global__ void __launch_bounds__(4096) k() {}", "1:35",
         "expected at most 1024 in __launch_bounds__, got 4096"),
        ("__global__ void __launch_bounds__(99999999999) k() {}", "1:35",
         "expected at most 1024 in __launch_bounds__, got 99999999999"),
        ("__global__ void __launch_bounds__(1, 2, 3, 4) k() {}", "1:47",
         "expected 1 to 3 arguments of __launch_bounds__, got 4"),
        ("__global__ void __maxnreg__(9999) k() {}", "1:29", "expected at most 255 in __maxnreg__, got 9999"),
        ("__global__ void __cluster_dims__(1, 2, 3, 4) k() {}", "1:46",
         "expected 1 to 3 arguments of __cluster_dims__, got 4"),
        ("__global__ void __block_size__(32) k() {}", "1:17",
         "cannot lower __block_size__; expected __launch_bounds__ and __cluster_dims__"),
        ("__device__ __align__(3) int x;", "1:29", "expected a power of two up to 65536 as the alignment, got 3"),
        ("__global__ void k(int a, float a) {}", "1:32", "'a' is declared twice"),
        ("  #  define N", "1:3", "cannot lower the directive #define; expected text after preprocessing"),
        (f"#{'x' * 5000}", "1:1",
         f"cannot lower the directive #{'x' * 59}…; expected text after preprocessing"),
        ("__device__ void __launch_bounds__(32) f() {}", "1:39",
         "expected __global__ with __launch_bounds__, got a device function"),
        ("__device__ void __hmma_m16n16k16_ld_a(int x) {}", "1:17",
         "'__hmma_m16n16k16_ld_a' is a builtin, which a text cannot define"),
    ],
)  # fmt: skip
def test_mistake_outside_a_function(text: str, place: str, message: str) -> None:
    with pytest.raises(LowerError) as refused:
        translate(text, SM_90A, "k.cu")
    (found,) = refused.value.diagnostics
    assert (found.message, found.place) == (message, f"k.cu:{place}")


def test_positions_count_the_characters_before_rewriting() -> None:
    text = (
        "__global__ void k(float *p) {\n  p[0] = reinterpret_cast<int *>(p) /* pointer */ + float(unsigned(2)) + y;\n}"
    )
    with pytest.raises(LowerError) as refused:
        translate(text, SM_90A, "k.cu")
    (found,) = refused.value.diagnostics
    assert found.place == f"k.cu:2:{text.splitlines()[1].index('p)') - 23}"
    assert 'operator + is not defined for "int *" and "float"' in found.message


@pytest.mark.parametrize(
    ("body", "column", "message"),
    [
        ('asm("bogus;");', 1, "unknown instruction 'bogus'"),
        ('asm("mov.u32 %0, 1;" : "=l"(w));', 1, "operand d is the register"),
        ("int *c = t; *c = 3;", 14, "'.const'"),
    ],
)
def test_mistake_that_the_checker_finds_has_the_place_of_the_statement(body: str, column: int, message: str) -> None:
    start = "__constant__ int t[2]; __global__ void k(int n, unsigned long long w) { "
    with pytest.raises(LowerError, match=message) as refused:
        lower(f"{start}{body} }}", source="builtin", name="k.cu")
    assert refused.value.diagnostics[0].place == f"k.cu:1:{len(start) + column}"


def test_long_texts_end_in_time() -> None:
    head = "__global__ void k(int *p) {"
    nested = f"{head} p[0] = {'(' * 2000}1{')' * 2000}; }}"
    for text in ("/*" + "a" * 1000000, '"' + "a" * 1000000, "(" * 100000, "#" * 100000, "0" * 100000, nested):
        with pytest.raises(LowerError) as refused:
            translate(text, SM_90A, "k.cu")
        (found,) = refused.value.diagnostics
        assert found.place.startswith("k.cu:1:")
        assert len(found.message) < 200
        assert found.place != "k.cu:1:1" or text is not nested
    assert translate(f"{head}{'p[0] = 1;' * 2000}}}", SM_90A).module.ops


WGMMA = "__global__ void k(float *d, unsigned long long a) {\n  __wgmma_mma_async_tf32(64, 8, 8, 0, 0, 1, d, a, a);\n}"


def test_notes_state_what_is_added_around_a_call(tmp_path, capsys) -> None:
    (note,) = notes(WGMMA, name="k.cu")
    assert note.severity is Severity.NOTE
    assert note.place == "k.cu:2:3"
    added = "lower adds a wgmma fence before the call, and a commit and a wait after it"
    assert note.message == f"'__wgmma_mma_async_tf32': {added}"
    assert notes("__hmma_m16n16k16_ld_a(d, s, 16, 0);") == []
    path = tmp_path / "k.cu"
    path.write_text(WGMMA)
    assert main(["lower", str(path), "--to", "nvvm"]) == 0
    shown = capsys.readouterr()
    assert f"{path}:2:3: note[builtin.added]: '__wgmma_mma_async_tf32': {added}" in shown.err
    assert "nvvm.wgmma.fence.aligned" in shown.out
