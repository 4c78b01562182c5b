"""MLIR modules that each have one attribute of a function, parameter, result, variable, module, call or access."""

from collections.abc import Iterator

from warploom_lab.mlir.instructions import instruction_cases

_FUNCTION = (
    "no_inline", "always_inline", "inline_hint", "no_unwind", "will_return", "optimize_none, no_inline", "convergent",
    "dso_local", "alignment = 16 : i64",
    'section = "code"', 'garbageCollector = "shadow-stack"', "function_entry_count = 4711 : i64",
    ("memory_effects = #llvm.memory_effects<other = none, argMem = read, inaccessibleMem = none, errnoMem = none,"
    " targetMem0 = none, targetMem1 = none>"),
    ("memory_effects = #llvm.memory_effects<other = readwrite, argMem = none, inaccessibleMem = write, errnoMem = read,"
    " targetMem0 = readwrite, targetMem1 = readwrite>"),
    "uwtable_kind = #llvm.uwtableKind<sync>", "uwtable_kind = #llvm.uwtableKind<async>",
    "frame_pointer = #llvm.framePointerKind<all>", 'target_cpu = "sm_90a"', 'tune_cpu = "sm_90"',
    'target_features = #llvm.target_features<["+ptx86", "+sm_90a"]>', 'reciprocal_estimates = "all"',
    'prefer_vector_width = "256"', "no_infs_fp_math = true", "no_nans_fp_math = false",
    "no_signed_zeros_fp_math = true",
    'denormal_fp_math = "preserve-sign"', 'denormal_fp_math_f32 = "preserve-sign,ieee"', 'fp_contract = "fast"',
    'instrument_function_entry = "enter"', 'instrument_function_exit = "leave"',
    "vec_type_hint = #llvm.vec_type_hint<hint = i32>", "vec_type_hint = #llvm.vec_type_hint<hint = vector<4xf32>>",
    "vec_type_hint = #llvm.vec_type_hint<hint = i8, is_signed = true>",
    "work_group_size_hint = array<i32: 128, 2, 1>", "reqd_work_group_size = array<i32: 64, 1, 1>",
    "intel_reqd_sub_group_size = 16 : i32",
    'passthrough = ["nosync", "norecurse", "mustprogress", ["alignstack", "16"], ["no-trapping-math", "true"], "own"]',
)  # fmt: skip
_KERNEL = (
    "", "nvvm.maxntid = array<i32: 256>", "nvvm.maxntid = array<i32: 32, 4, 2>", "nvvm.reqntid = array<i32: 128, 1, 1>",
    "nvvm.cluster_dim = array<i32: 2, 1, 1>", "nvvm.cluster_max_blocks = 8 : i32", "nvvm.minctasm = 2 : i32",
    "nvvm.maxnreg = 96 : i32",
    "nvvm.blocksareclusters, nvvm.reqntid = array<i32: 128>, nvvm.cluster_dim = array<i32: 2>",
)  # fmt: skip
_POINTER = (
    "noalias", "nocapture", "nofree", "nonnull", "readonly", "readnone", "writeonly", "inreg", "nest", "noundef",
    "align = 64 : i64", "dereferenceable = 128 : i64", "dereferenceable_or_null = 8 : i64", "allocptr",
    "byval = !llvm.struct<(i64, i32)>", "byref = i64", "sret = i64", "inalloca = i32", "preallocated = i32",
)  # fmt: skip
_INTEGER = (
    "signext",
    "zeroext",
    "noundef",
    "allocalign",
    "range = #llvm.constant_range<i32, -2, 12>",
    "alignstack = 8 : i64",
)
_RESULT = (
    ("i32", "zeroext"), ("i32", "range = #llvm.constant_range<i32, 0, 64>"), ("!llvm.ptr", "noalias"),
    ("!llvm.ptr", "nonnull"), ("!llvm.ptr", "align = 16 : i64"), ("!llvm.ptr", "dereferenceable = 4 : i64"),
    ("i32", "noundef"), ("i32", "inreg"), ("i32", "signext"), ("!llvm.ptr", "dereferenceable_or_null = 4 : i64"),
)  # fmt: skip
_LINKAGES = (
    "private", "internal", "available_externally", "linkonce", "linkonce_odr", "weak", "weak_odr", "external",
)  # fmt: skip
_CONVENTIONS = ("fastcc", "coldcc", "ptx_kernelcc", "ptx_devicecc", "spir_funccc")
_VARIABLES = (
    "external @g() {addr_space = 3 : i32} : !llvm.array<0 x i8>", "external @g() : i32",
    "internal constant @g(7 : i32) {addr_space = 4 : i32} : i32", "common @g(0 : i32) : i32", "extern_weak @g() : i32",
    "appending @g(dense<[1, 2]> : tensor<2xi32>) : !llvm.array<2 x i32>", "weak @g(1.5 : f32) {dso_local} : f32",
    "external hidden @g(0 : i64) : i64", "external protected @g(0 : i64) {alignment = 32 : i64} : i64",
    "external thread_local @g(0 : i16) : i16", "internal unnamed_addr constant @g(0 : i16) : i16",
    "internal local_unnamed_addr @g(0 : i16) : i16",
    'external @g(0 : i32) {section = "data", externally_initialized, addr_space = 1 : i32} : i32',
    'internal constant @g("a\\0A\\00") {addr_space = 0 : i32}',
    'external @g(0 : i32) {target_specific_attrs = ["own", ["key", "value"]]} : i32',
    ("external @g() : !llvm.struct<packed (i8, i32)> {\n %0 = llvm.mlir.zero : !llvm.struct<packed (i8, i32)>\n"
    " llvm.return %0 : !llvm.struct<packed (i8, i32)>\n}"),
    ('external @g() : !llvm.struct<"pair", (i8, i32)> {\n %0 = llvm.mlir.undef : !llvm.struct<"pair", (i8, i32)>\n'
    ' llvm.return %0 : !llvm.struct<"pair", (i8, i32)>\n}'),
    "external @g(0 : i32) comdat(@c::@any) : i32",
)  # fmt: skip
_MODULE = (
    'llvm.data_layout = "e-p3:32:32-i64:64-n16:32:64"', 'llvm.target_triple = "nvptx64-nvidia-cuda"',
    'llvm.module_asm = ["one", "two"]', 'llvm.ident = "maker 1.0"', 'llvm.commandline = "maker -O2"',
    'llvm.dependent_libraries = #llvm.dependent_libraries<"a", "b">',
)  # fmt: skip
_FLAGS = (
    '#llvm.mlir.module_flag<error, "wchar_size", 4 : i32>',
    '#llvm.mlir.module_flag<override, "nvvm-reflect-ftz", 1 : i32>',
    '#llvm.mlir.module_flag<max, "PIC Level", 2 : i32>',
)  # fmt: skip
_CALLS = (
    "convergent", "no_unwind", "will_return", "no_inline", "always_inline", "inline_hint",
    ("memory_effects = #llvm.memory_effects<other = none, argMem = read, inaccessibleMem = none, errnoMem = none,"
    " targetMem0 = none, targetMem1 = none>"),
    "fastmathFlags = #llvm.fastmath<nnan, contract>",
)  # fmt: skip
_ACCESSES = ("alignment = 8 : i64", "nontemporal")
_LOADS = (
    "volatile %p", "%p invariant", "%p invariant_group", '%p atomic syncscope("block") acquire {alignment = 4 : i64}',
    "%p dereferenceable<bytes = 4>", "%p dereferenceable<bytes = 4, mayBeNull = true>",
)  # fmt: skip
_COMDATS = ("any", "exactmatch", "largest", "nodeduplicate", "samesize")


def cases() -> Iterator[tuple[str, str]]:
    """Yield a name and MLIR text for each attribute."""
    for text in _FUNCTION:
        yield f"function {_short(text)}", _function("@f()", text)
    yield "function vscale_range", _function("@f() vscale_range(1, 4)")
    for kind in _COMDATS:
        selector = f"llvm.comdat @c {{ llvm.comdat_selector @f {kind} }}\n"
        yield f"function comdat {kind}", selector + _function("@f() comdat(@c::@f)")
    for words in (*_LINKAGES, *_CONVENTIONS, "local_unnamed_addr", "unnamed_addr", "hidden", "protected"):
        yield f"function {words}", _function(f"{words} @f()")
    yield "function extern_weak", "llvm.func extern_weak @f()\n"
    yield (
        "declaration",
        'llvm.func @f(!llvm.ptr {llvm.nonnull}, ...) -> (i32 {llvm.zeroext}) attributes {passthrough = ["cold"]}\n',
    )
    for text in _KERNEL:
        yield f"kernel {_short(text)}", _function("@f()", ", ".join(filter(None, ("nvvm.kernel", text))))
    constant = "%p: !llvm.ptr {llvm.byval = !llvm.array<16 x i64>, llvm.align = 64 : i64, nvvm.grid_constant}"
    yield "kernel nvvm.grid_constant", _function(f"@f({constant})", "nvvm.kernel")
    for text in _POINTER:
        yield f"parameter {_short(text)}", _function(f"@f(%p: !llvm.ptr {{llvm.{text}}})")
    for text in _INTEGER:
        yield f"parameter i32 {_short(text)}", _function(f"@f(%p: i32 {{llvm.{text}}})")
    yield "parameter returned", "llvm.func @f(%p: i32 {llvm.returned}) -> i32 { llvm.return %p : i32 }\n"
    yield "parameter !llvm.ptr<5>", _function("@f(%p: !llvm.ptr<5>)")
    for kind, text in _RESULT:
        yield f"result {kind} {_short(text)}", f"llvm.func @f() -> ({kind} {{llvm.{text}}})\n"
    for text in _VARIABLES:
        before = "llvm.comdat @c { llvm.comdat_selector @any any }\n" if "comdat" in text else ""
        yield (
            f"variable {text.partition('(')[0]} {_short(text.partition(') ')[2])}",
            f"{before}llvm.mlir.global {text}\n",
        )
    for word in ("ctors", "dtors"):
        lists = f"{word} = [@f], priorities = [3 : i32], data = [#llvm.zero]"
        yield f"module {word}", f"llvm.mlir.global_{word} {lists}\n{_function('@f()')}"
    alias = "%0 = llvm.mlir.addressof @g : !llvm.ptr\n  llvm.return %0 : !llvm.ptr"
    yield (
        "variable alias",
        f"llvm.mlir.global external @g(0 : i32) : i32\nllvm.mlir.alias external @a : i32 {{\n  {alias}\n}}\n",
    )
    for text in _MODULE:
        yield f"module {_short(text)}", f"module attributes {{{text}}} {{\n}}\n"
    for text in _FLAGS:
        yield f"module flag {text.split(chr(34))[1]}", f"llvm.module_flags [{text}]\n"
    yield "module linker_options", 'llvm.linker_options ["-l", "m"]\n'
    for text in _CALLS:
        call = f"%0 = llvm.call @g(%p) {{{text}}} : (!llvm.ptr) -> f32"
        yield f"call {_short(text)}", f"llvm.func @g(!llvm.ptr) -> f32\n{_with_pointer(call)}"
    for text in ("tail @g(%p)", "notail @g(%p)", "fastcc @g(%p)", "ptx_devicecc @g(%p)"):
        yield (
            f"call {text}",
            f"llvm.func @g(!llvm.ptr) -> f32\n{_with_pointer(f'%0 = llvm.call {text} : (!llvm.ptr) -> f32')}",
        )
    attributes = "(!llvm.ptr {llvm.nonnull, llvm.align = 8 : i64}) -> (f32 {llvm.noundef})"
    yield "call attributes", f"llvm.func @g(!llvm.ptr) -> f32\n{_with_pointer(f'%0 = llvm.call @g(%p) : {attributes}')}"
    bundle = '%0 = llvm.call @g(%p) ["tag"(%p : !llvm.ptr)] : (!llvm.ptr) -> f32'
    yield "call bundle", f"llvm.func @g(!llvm.ptr) -> f32\n{_with_pointer(bundle)}"
    for text in _ACCESSES:
        yield f"load {text}", _with_pointer(f"%0 = llvm.load %p {{{text}}} : !llvm.ptr -> i32")
        yield f"store {text}", _with_pointer(f"llvm.store %p, %p {{{text}}} : !llvm.ptr, !llvm.ptr")
    for text in _LOADS:
        yield (
            f"load {text}",
            _with_pointer(f"%0 = llvm.load {text} : !llvm.ptr -> {'!llvm.ptr' if 'deref' in text else 'i32'}"),
        )
    range_of_result = "() -> (i32 {llvm.range = #llvm.constant_range<i32, 0, 64>})"
    register = f'%0 = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"() : {range_of_result}'
    yield "call range", _with_pointer(register)
    yield from instruction_cases()


def _short(text: str) -> str:
    return text.partition(" = ")[0] if text.count(" = ") == 1 and len(text) > 40 else text[:70]


def _function(head: str, attributes: str = "") -> str:
    words = f" attributes {{{attributes}}}" * bool(attributes)
    return f"llvm.func {head}{words} {{\n  llvm.return\n}}\n"


def _with_pointer(*lines: str) -> str:
    return "llvm.func @f(%p: !llvm.ptr, %i: i32) {\n  " + "\n  ".join([*lines, "llvm.return"]) + "\n}\n"
