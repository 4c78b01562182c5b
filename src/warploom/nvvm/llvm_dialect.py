"""Operations of MLIR's llvm dialect that xDSL lacks."""

from xdsl.dialects.builtin import AnyFloatConstr, SignlessIntegerConstraint
from xdsl.dialects.llvm import GenericCastOp, LLVMPointerType
from xdsl.irdl import irdl_op_definition, operand_def, result_def


@irdl_op_definition
class AddrSpaceCast(GenericCastOp):
    """Conversion of a pointer to another address space."""

    name = "llvm.addrspacecast"
    arg = operand_def(LLVMPointerType)
    result = result_def(LLVMPointerType)


@irdl_op_definition
class FloatToSigned(GenericCastOp):
    """Conversion of a floating-point value to a signed integer."""

    name = "llvm.fptosi"
    arg = operand_def(AnyFloatConstr)
    result = result_def(SignlessIntegerConstraint)


@irdl_op_definition
class FloatToUnsigned(GenericCastOp):
    """Conversion of a floating-point value to an unsigned integer."""

    name = "llvm.fptoui"
    arg = operand_def(AnyFloatConstr)
    result = result_def(SignlessIntegerConstraint)


@irdl_op_definition
class UnsignedToFloat(GenericCastOp):
    """Conversion of an unsigned integer to a floating-point value."""

    name = "llvm.uitofp"
    arg = operand_def(SignlessIntegerConstraint)
    result = result_def(AnyFloatConstr)


OPERATIONS = (AddrSpaceCast, FloatToSigned, FloatToUnsigned, UnsignedToFloat)
"""Operations that xDSL's dialect lacks."""
