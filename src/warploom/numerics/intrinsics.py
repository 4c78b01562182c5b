"""Intrinsics for instructions of the host CPU."""

# pyright: reportUnknownMemberType=false, reportUntypedFunctionDecorator=false, reportMissingTypeStubs=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownParameterType=false
# pyright: reportMissingParameterType=false, reportCallIssue=false

from typing import Any

from warploom.numerics._numba import cgutils, intrinsic, ir, types

ROUNDING = {"rz": 0, "rn": 1, "rp": 2, "rm": 3}
"""Operand of `llvm.set.rounding` for each rounding mode of PTX."""

_F64, _METADATA = ir.DoubleType(), ir.MetaDataType()


@intrinsic
def fma(context, a, b, c):
    """Return a * b + c of f32 or f64, rounded once to nearest even."""

    def generate(context, builder, signature, arguments):
        return builder.fma(*arguments)

    return a(a, a, a), generate


@intrinsic
def set_rounding(context, mode):
    """Set the rounding mode of this thread to a value of `ROUNDING`. The caller must restore "rn"."""

    def generate(context, builder, signature, arguments):
        kind = ir.FunctionType(ir.VoidType(), [ir.IntType(32)])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.set.rounding")
        builder.call(function, [builder.trunc(arguments[0], ir.IntType(32))])
        return context.get_dummy_value()

    return types.none(types.int64), generate


def _directed(name: str) -> Any:
    """Return the code generator of an f64 operation that rounds in the mode of `set_rounding`."""

    def generate(context, builder, signature, arguments):
        kind = ir.FunctionType(_F64, [_F64] * len(arguments) + [_METADATA] * 2)
        full_name = f"llvm.experimental.constrained.{name}.f64"
        operation = cgutils.get_or_insert_function(builder.module, kind, full_name)
        options = [ir.MetaDataString(builder.module, text) for text in ("round.dynamic", "fpexcept.strict")]
        return builder.call(operation, [*arguments, *options])

    return generate


@intrinsic
def directed_fma(context, a, b, c):
    """Return a * b + c of f64, rounded in the mode of `set_rounding`."""
    return types.float64(types.float64, types.float64, types.float64), _directed("fma")


@intrinsic
def directed_div(context, a, b):
    """Return a / b of f64, rounded in the mode of `set_rounding`."""
    return types.float64(types.float64, types.float64), _directed("fdiv")


@intrinsic
def directed_sqrt(context, a):
    """Return the square root of f64, rounded in the mode of `set_rounding`."""
    return types.float64(types.float64), _directed("sqrt")


@intrinsic
def popcount(context, word):
    """Return the number of ones in a 32-bit word."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint32(types.uint32), generate


@intrinsic
def count_leading_zeros(context, word):
    """Return the number of leading zeros of an unsigned integer, in its type."""

    def generate(context, builder, signature, arguments):
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return word(word), generate


@intrinsic
def reverse_bits(context, word):
    """Return the bits of an unsigned integer in reverse order."""

    def generate(context, builder, signature, arguments):
        return builder.bitreverse(arguments[0])

    return word(word), generate
