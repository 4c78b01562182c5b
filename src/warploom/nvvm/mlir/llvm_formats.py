"""Tables of the llvm and gpu dialects of MLIR 22: syntax of operations, and words of enumerations."""

from xdsl.dialects import llvm

ORDERINGS = ("not_atomic", "unordered", "monotonic", "", "acquire", "release", "acq_rel", "seq_cst")
"""Atomic orderings by their number in MLIR."""
ATOMICS = (
    "xchg", "add", "sub", "_and", "nand", "_or", "_xor", "max", "min", "umax", "umin", "fadd", "fsub", "fmax", "fmin",
    "uinc_wrap", "udec_wrap", "usub_cond", "usub_sat", "fmaximum", "fminimum",
)  # fmt: skip
"""Operations of `llvm.atomicrmw` by their number in MLIR."""
INTEGER_COMPARISONS = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
"""Predicates of `llvm.icmp` by their number in MLIR."""
COMPARISONS = tuple(str(flag) for flag in llvm.FCmpPredicateFlag)
"""Predicates of `llvm.fcmp` by their number in MLIR."""
COMDATS = ("any", "exactmatch", "largest", "nodeduplicate", "samesize")
"""Kinds of `llvm.comdat_selector` by their number in MLIR."""
WRAPS = {"inbounds": 3, "nusw": 2, "nuw": 4}
"""Bits of `noWrapFlags` of `llvm.getelementptr` by keyword."""
DYNAMIC = -(2**31)
"""Value in `rawConstantIndices` of `llvm.getelementptr` that stands for the next dynamic index."""
CONVENTIONS = (
    "ccc", "fastcc", "coldcc", "cc_10", "cc_11", "anyregcc", "preserve_mostcc", "preserve_allcc", "swiftcc",
    "cxx_fast_tlscc", "tailcc", "swifttailcc", "ptx_kernelcc", "ptx_devicecc", "spir_funccc", "spir_kernelcc",
    "intel_ocl_bicc",
)  # fmt: skip
"""Calling conventions of MLIR."""
LINKAGES = (
    "private", "internal", "available_externally", "linkonce_odr", "linkonce", "weak_odr", "weak", "common",
    "appending", "extern_weak", "external",
)  # fmt: skip
"""Linkages of MLIR."""

_SYNTAX = {
    "add sub mul shl": "% , % @overflow {} : rtt",
    "udiv sdiv lshr ashr or": "?exact:isExact ?disjoint:isDisjoint % , % {} : rtt",
    "urem srem and xor fadd fsub fmul fdiv frem": "% , % {} : rtt",
    "trunc zext sext fptosi fptoui sitofp uitofp fptrunc fpext addrspacecast inttoptr ptrtoint bitcast": (
        "?nneg:nonNeg % @overflow @dereferenceable {} : t 'to r"
    ),
    "freeze fneg": "% {} : rt",
    "mlir.poison mlir.none mlir.undef mlir.zero": "{} : r",
    "load": "?volatile:volatile_ % @atomic ?invariant:invariant ?invariant_group:invariantGroup @dereferenceable"
    " {} : t -> r",
    "store": "?volatile:volatile_ % , % @atomic ?invariant_group:invariantGroup {} : t , t",
    "getelementptr": "@wraps % @indices {} : @function , @type:elem_type",
    "alloca": "?inalloca:inalloca % 'x @type:elem_type {} : @function",
    "call": "@callee @bundles {} : @called",
    "intr.assume": "% @bundles {} : @condition",
    "intr.expect.with.probability": "% , % , @probability {} : rtt",
    "intr.experimental.noalias.scope.decl": "@attribute:scope {}",
    "br": "@successor {}",
    "call_intrinsic": "@string:intrin @arguments @bundles : @called {}",
    "inline_asm": "?has_side_effects:has_side_effects ?is_align_stack:is_align_stack @assembly @string:asm_string ,"
    " @string:constraints @operands {} : @function",
    "select": "% , % , % {} : t , rtt",
    "fcmp": "@comparison % , % {} : @compared",
    "icmp": "@integer_comparison % , % {} : @compared",
    "cond_br": "% @weights , @successor , @successor @branches {}",
    "switch": "% : t , @successor @cases {}",
    "atomicrmw": "?volatile:volatile_ @atomicrmw:bin_op % , % @scope @ordering:ordering {} : t , rt",
    "cmpxchg": "?weak:weak ?volatile:volatile_ % , % , % @scope @ordering:success_ordering"
    " @ordering:failure_ordering {} : t , @exchanged",
    "fence": "@scope @ordering:ordering {}",
    "extractelement": "% [ % : @position ] {} : @extracted",
    "insertelement": "% , % [ % : @position ] {} : @inserted",
    "extractvalue": "% @positions {} : @element",
    "insertvalue": "% , % @positions {} : @element",
    "shufflevector": "% , % @mask {} : @shuffled",
    "module_flags": "@attribute:flags {}",
    "linker_options": "@attribute:options {}",
    "comdat": "@name @body {}",
    "comdat_selector": "@name @selector {}",
    "mlir.global_ctors": "'ctors = @attribute:ctors , 'priorities = @attribute:priorities , 'data = @attribute:data {}",
    "mlir.global_dtors": "'dtors = @attribute:dtors , 'priorities = @attribute:priorities , 'data = @attribute:data {}",
    "mlir.alias": "@symbol {} : @type:alias_type @body",
    "mlir.global": "@variable {} @variable_type",
    "func": "@symbol @signature @function_attributes @body",
}
"""Syntax by operation, without `llvm.`.

`%` is an operand, and `{}` a dictionary of properties. A word such as `rtt` is one type in the text, which is the type
of the result (r) and of two operands (tt): `% , % {} : rtt` parses `%a, %b {…} : i32`. `?word:name` is a keyword that
sets a property, `'word` a keyword, and `@name` a method of `_Parts`.
"""
_GPU_SYNTAX = {
    "module": "@module @function_attributes @body",
    "func": "@name @signature ?kernel:gpu.kernel @gpu_function @function_attributes @body",
    "return": "@returned {}",
    "barrier": "{}",
    "shuffle": "@gpu_word:mode:shuffle_mode % , % , % {} : @shuffled_values",
    "thread_id block_id block_dim grid_dim global_id cluster_id cluster_dim cluster_block_id cluster_dim_blocks":
        "@gpu_word:dimension:dim @bound {} @index",
    "lane_id subgroup_id num_subgroups subgroup_size": "@bound {} @index",
}  # fmt: skip
FORMATS = {
    f"{dialect}.{name}": text.split()
    for dialect, syntax in (("llvm", _SYNTAX), ("gpu", _GPU_SYNTAX), ("arith", {"index_castui": "% {} : t 'to r"}))
    for names, text in syntax.items()
    for name in names.split()
}
"""Words of the syntax by operation."""
SYNTAX_NAMES = tuple(FORMATS)
"""Names of the operations with a syntax above. Most of `llvm.intr.*` are parsed by `_Parts.intrinsic`."""
BINARY = frozenset(name[5:] for name, text in FORMATS.items() if text[-1] == "rtt" and name != "llvm.select")
CASTS = frozenset(name[5:] for name, text in FORMATS.items() if "'to" in text)
