"""Groups of forms that NVVM operations, builtins and intrinsics lower to."""

from types import ModuleType

from warploom.isa.instructions import mma, sparse, wgmma, wmma
from warploom.isa.model.form import Form


def forms_in(*modules: ModuleType) -> tuple[Form, ...]:
    """Return the forms that instruction modules declare, in the order of their declaration."""
    return tuple(each for module in modules for each in vars(module).values() if isinstance(each, Form))


def forms_with(forms: tuple[Form, ...], present: tuple[str, ...], absent: tuple[str, ...] = ()) -> tuple[Form, ...]:
    """Return the forms that have all `present` operands and no `absent` operand."""
    return tuple(
        form for form in forms if set(present) <= form.operands.keys() and not set(absent) & form.operands.keys()
    )


WGMMA_DESCRIPTORS = forms_with(forms_in(wgmma), ("d", "a_desc"), ("sp_meta",))
"""Dense warpgroup multiplications with A in shared memory, which a descriptor locates."""
WGMMA_REGISTERS = forms_with(forms_in(wgmma), ("d", "a"), ("sp_meta",))
"""Dense warpgroup multiplications with A in registers."""
MMA_DENSE = forms_with(forms_in(mma), ("d", "a", "b", "c"), ("scale_a_data",))
"""Dense multiplications of a warp without block scales."""
MMA_SCALED = forms_with(forms_in(mma), ("d", "scale_a_data"))
"""Dense multiplications of a warp with block scales."""
MMA_SPARSE = forms_with(forms_in(sparse), ("d", "a", "b", "c"), ("scale_a_data",))
"""Sparse multiplications of a warp without block scales."""
MMA_SPARSE_SCALED = forms_with(forms_in(sparse), ("d", "scale_a_data"))
"""Sparse multiplications of a warp with block scales."""
WMMA = forms_with(forms_in(wmma), ("d", "a", "b", "c"))
"""Multiplications of opaque fragments."""
