"""MLIR modules that each have one operation of the llvm dialect with one of its attributes."""

from collections.abc import Iterator

_ALIASES = """\
#group = #llvm.access_group<id = distinct[1]<>>
#group1 = #llvm.access_group<id = distinct[2]<>>
#domain = #llvm.alias_scope_domain<id = distinct[0]<>, description = "domain">
#scope = #llvm.alias_scope<id = distinct[3]<>, domain = #domain, description = "first">
#scope1 = #llvm.alias_scope<id = distinct[4]<>, domain = #domain>
#named = #llvm.alias_scope<id = "named", domain = <id = "other">>
#root = #llvm.tbaa_root<id = "C++ TBAA">
#char = #llvm.tbaa_type_desc<id = "omnipotent char", members = {<#root, 0>}>
#int = #llvm.tbaa_type_desc<id = "int", members = {<#char, 0>}>
#pair = #llvm.tbaa_type_desc<id = "pair", members = {<#int, 0>, <#int, 4>}>
#anonymous_root = #llvm.tbaa_root
#anonymous = #llvm.tbaa_type_desc<id = "x", members = {<#anonymous_root, 0>}>
#tag = #llvm.tbaa_tag<base_type = #int, access_type = #int, offset = 0>
#tag1 = #llvm.tbaa_tag<base_type = #pair, access_type = #int, offset = 4, constant = true>
#tag2 = #llvm.tbaa_tag<base_type = #anonymous, access_type = #anonymous, offset = 0>
"""
_METADATA = (
    "tbaa = [#tag]", "tbaa = [#tag1]", "tbaa = [#tag2]", "alias_scopes = [#scope]", "alias_scopes = [#scope, #scope1]",
    "alias_scopes = [#named]", "noalias_scopes = [#scope1]", "access_groups = [#group]",
    "access_groups = [#group, #group1]",
    "tbaa = [#tag], alias_scopes = [#scope], noalias_scopes = [#scope1, #named], access_groups = [#group1]",
)  # fmt: skip
_ACCESSES = (
    "%0 = llvm.load %p {ATTRIBUTES} : !llvm.ptr -> i32", "llvm.store %i, %p {ATTRIBUTES} : i32, !llvm.ptr",
    "%0 = llvm.atomicrmw add %p, %i acq_rel {ATTRIBUTES} : !llvm.ptr, i32",
    "%0 = llvm.cmpxchg %p, %i, %i acq_rel monotonic {ATTRIBUTES} : !llvm.ptr, i32",
    "%0 = llvm.call @g(%p) {ATTRIBUTES} : (!llvm.ptr) -> f32",
    '"llvm.intr.memcpy"(%p, %q, %i) <{isVolatile = false, ATTRIBUTES}> : (!llvm.ptr, !llvm.ptr, i32) -> ()',
    '"llvm.intr.memset"(%p, %c, %i) <{isVolatile = true, ATTRIBUTES}> : (!llvm.ptr, i8, i32) -> ()',
)  # fmt: skip
_LOOPS = (
    "disableNonforced = true", "mustProgress = true", "mustProgress = false", "isVectorized = true",
    "isVectorized = false", "vectorize = <disable = true>", "vectorize = <disable = false, width = 4 : i32>",
    "vectorize = <predicateEnable = true, scalableEnable = false>", "interleave = <count = 3 : i32>",
    "unroll = <disable = true>", "unroll = <disable = false, count = 8 : i32>",
    "unroll = <runtimeDisable = true, full = true>", "unrollAndJam = <disable = true, count = 2 : i32>",
    "unrollAndJam = <disable = false>", "licm = <disable = true, versioningDisable = true>",
    "distribute = <disable = true>", "distribute = <disable = false>",
    "pipeline = <disable = false, initiationinterval = 2 : i32>", "peeled = <count = 2 : i32>",
    "unswitch = <partialDisable = true>", "parallelAccesses = #group", "parallelAccesses = #group, #group1",
    "disableNonforced = true, unroll = <disable = true>, licm = <disable = true>, parallelAccesses = #group",
    ("vectorize = <width = 2 : i32, followupVectorized = <isVectorized = true>, followupEpilogue ="
     " <mustProgress = true>, followupAll = <disableNonforced = true>>"),
    ("unroll = <followupUnrolled = <mustProgress = true>, followupRemainder = <isVectorized = true>,"
    " followupAll = <mustProgress = true>>"),
    ("unrollAndJam = <followupOuter = <mustProgress = true>, followupInner = <mustProgress = true>,"
    " followupRemainderOuter = <mustProgress = true>, followupRemainderInner = <mustProgress = true>,"
    " followupAll = <mustProgress = true>>"),
    ("distribute = <followupCoincident = <mustProgress = true>, followupSequential = <mustProgress = true>,"
    " followupFallback = <mustProgress = true>, followupAll = <mustProgress = true>>"),
)  # fmt: skip
_BRANCHES = (
    "llvm.br ^head {ATTRIBUTES}", "llvm.cond_br %b, ^head, ^end {ATTRIBUTES}",
    "llvm.cond_br %b weights([3, 5]), ^head, ^end {ATTRIBUTES}",
)  # fmt: skip
_OTHERS = (
    "%0 = llvm.add %i, %i overflow<nsw> : i32", "%0 = llvm.sub %i, %i overflow<nsw, nuw> : i32",
    "%0 = llvm.mul %i, %i overflow<nuw> : i32", "%0 = llvm.shl %i, %i overflow<nsw> : i32",
    "%0 = llvm.trunc %i overflow<nuw> : i32 to i8", "%0 = llvm.zext nneg %i : i32 to i64",
    "%0 = llvm.uitofp nneg %i : i32 to f32", "%0 = llvm.udiv exact %i, %i : i32", "%0 = llvm.sdiv exact %i, %i : i32",
    "%0 = llvm.lshr exact %i, %i : i32", "%0 = llvm.ashr exact %i, %i : i32", "%0 = llvm.or disjoint %i, %i : i32",
    "%0 = llvm.fadd %x, %x {fastmathFlags = #llvm.fastmath<fast>} : f32",
    "%0 = llvm.fsub %x, %x {fastmathFlags = #llvm.fastmath<ninf, nsz>} : f32",
    "%0 = llvm.fmul %x, %x {fastmathFlags = #llvm.fastmath<arcp>} : f32",
    "%0 = llvm.fdiv %x, %x {fastmathFlags = #llvm.fastmath<afn, reassoc>} : f32",
    "%0 = llvm.frem %x, %x {fastmathFlags = #llvm.fastmath<nnan>} : f32",
    "%0 = llvm.fneg %x {fastmathFlags = #llvm.fastmath<nnan>} : f32",
    '%0 = llvm.fcmp "ogt" %x, %x {fastmathFlags = #llvm.fastmath<nnan>} : f32',
    "%0 = llvm.select %b, %x, %x {fastmathFlags = #llvm.fastmath<nnan>} : i1, f32",
    '%0 = llvm.icmp "ule" %i, %i : i32', "%0 = llvm.freeze %x : f32",
    "%0 = llvm.alloca %i x i32 {alignment = 8 : i64} : (i32) -> !llvm.ptr",
    "%0 = llvm.alloca inalloca %i x i32 : (i32) -> !llvm.ptr",
    "%0 = llvm.getelementptr inbounds|nuw %p[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32",
    "%0 = llvm.getelementptr nusw %p[%i, 1] : (!llvm.ptr, i32) -> !llvm.ptr, !llvm.struct<(i8, i32)>",
    '%0 = llvm.atomicrmw volatile fmax %p, %x syncscope("block") release {alignment = 8 : i64} : !llvm.ptr, f32',
    ('%0 = llvm.cmpxchg weak volatile %p, %i, %i syncscope("device") seq_cst acquire {alignment = 8 : i64}'
    " : !llvm.ptr, i32"),
    'llvm.fence syncscope("block") release', "llvm.fence seq_cst",
    "llvm.store volatile %i, %p {nontemporal} : i32, !llvm.ptr", "llvm.store %i, %p invariant_group : i32, !llvm.ptr",
    'llvm.store %i, %p atomic syncscope("device") monotonic {alignment = 4 : i64} : i32, !llvm.ptr',
    "%0 = llvm.inttoptr %i dereferenceable<bytes = 8> : i32 to !llvm.ptr",
    "%0 = llvm.inttoptr %i dereferenceable<bytes = 4, mayBeNull = true> : i32 to !llvm.ptr",
    'llvm.inline_asm has_side_effects is_align_stack "nop;", "" : () -> ()',
    'llvm.inline_asm tail_call_kind = <tail> asm_dialect = intel "nop;", "r" %i : (i32) -> ()',
    "llvm.intr.assume %b : i1",
    '%0 = llvm.mlir.constant(true) : i1\n  llvm.intr.assume %0 ["align"(%p, %i : !llvm.ptr, i32)] : i1',
    "llvm.intr.experimental.noalias.scope.decl #scope",
    ('"llvm.intr.memcpy"(%p, %q, %i) <{isVolatile = false, arg_attrs = [{llvm.align = 4 : i64}, {llvm.align = 8 : i64},'
     " {}]}> : (!llvm.ptr, !llvm.ptr, i32) -> ()"),
    '"llvm.intr.memmove"(%p, %q, %i) <{isVolatile = true}> : (!llvm.ptr, !llvm.ptr, i32) -> ()',
    '"llvm.intr.memcpy.inline"(%p, %q) <{isVolatile = false, len = 16 : i32}> : (!llvm.ptr, !llvm.ptr) -> ()',
    '"llvm.intr.memset.inline"(%p, %c) <{isVolatile = false, len = 16 : i32}> : (!llvm.ptr, i8) -> ()',
    '%0 = "llvm.intr.abs"(%i) <{is_int_min_poison = true}> : (i32) -> i32',
    '%0 = "llvm.intr.ctlz"(%i) <{is_zero_poison = false}> : (i32) -> i32',
    '%0 = "llvm.intr.is.fpclass"(%x) <{bit = 3 : i32}> : (f32) -> i1',
    '"llvm.intr.prefetch"(%p) <{rw = 0 : i32, hint = 3 : i32, cache = 1 : i32}> : (!llvm.ptr) -> ()',
    "%0 = llvm.intr.expect.with.probability %i, %i, 5.000000e-01 : i32",
    '"llvm.intr.ubsantrap"() <{failureKind = 1 : i8}> : () -> ()',
    '%0 = "llvm.intr.fma"(%x, %x, %x) <{fastmathFlags = #llvm.fastmath<contract>}> : (f32, f32, f32) -> f32',
    '%0 = "llvm.intr.invariant.start"(%p) <{size = 8 : i64}> : (!llvm.ptr) -> !llvm.ptr',
    ("%0 = llvm.intr.masked.load %p, %m, %v {alignment = 4 : i32}"
    " : (!llvm.ptr, vector<4xi1>, vector<4xf32>) -> vector<4xf32>"),
    ("%0 = llvm.intr.masked.load %p, %m, %v {alignment = 16 : i32, nontemporal}"
    " : (!llvm.ptr, vector<4xi1>, vector<4xf32>) -> vector<4xf32>"),
    '"llvm.intr.masked.store"(%v, %p, %m) <{alignment = 8 : i32}> : (vector<4xf32>, !llvm.ptr, vector<4xi1>) -> ()',
    ('%0 = "llvm.intr.vector.reduce.fadd"(%x, %v) <{fastmathFlags = #llvm.fastmath<reassoc>}>'
     " : (f32, vector<4xf32>) -> f32"),
    '%0 = "llvm.intr.vector.extract"(%v) <{pos = 2 : i64}> : (vector<4xf32>) -> vector<2xf32>',
    "%0 = llvm.shufflevector %v, %v [3, -1, 4] : vector<4xf32>",
)  # fmt: skip
_PARAMETERS = "%p: !llvm.ptr, %q: !llvm.ptr, %i: i32, %c: i8, %x: f32, %b: i1, %m: vector<4xi1>, %v: vector<4xf32>"


def instruction_cases() -> Iterator[tuple[str, str]]:
    """Yield a name and MLIR text for each attribute of each operation."""
    for access in _ACCESSES:
        for text in _METADATA:
            yield f"{_operation(access)} {text}", _function(access.replace("ATTRIBUTES", text))
    for branch in _BRANCHES:
        for text in _LOOPS:
            attribute = f"loop_annotation = #llvm.loop_annotation<{text}>"
            blocks = ("llvm.br ^head", "^head:", branch.replace("ATTRIBUTES", attribute), "^end:")
            yield f"{_operation(branch)}{' weights' * ('weights' in branch)} {text}", _function(*blocks)
    for text in _OTHERS:
        yield text, _function(text)


def _operation(text: str) -> str:
    return text.removeprefix("%0 = ").partition(" ")[0].partition("(")[0].strip('"')


def _function(*lines: str) -> str:
    body = "\n  ".join([*lines, "llvm.return"])
    return f"{_ALIASES}llvm.func @g(!llvm.ptr) -> f32\nllvm.func @f({_PARAMETERS}) {{\n  {body}\n}}\n"
