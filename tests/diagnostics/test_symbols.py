"""Readable names of C++ symbols."""

import pytest

from warploom.diagnostics.symbols import readable_name

DEVICE_KERNEL = (
    "_ZN7cutlass13device_kernelINS_4gemm13GemmUniversalIN4cute5tupleIJNS3_1CILi128EEENS5_ILi64EEENS5_ILi1EEEEEE"
    "6__halfEEEEvNT_6ParamsE"
)


@pytest.mark.parametrize(
    ("mangled", "expected"),
    [
        (DEVICE_KERNEL, "cutlass::device_kernel<…>"),
        (f"{DEVICE_KERNEL}_param_0", "cutlass::device_kernel<…>_param_0"),
        ("_ZN4demo6rotateIfLi128EEEvPKT_PS1_", "demo::rotate<float, 128>"),
        ("_ZZN4demo6rotateIfLi128EEEvPKT_PS1_E4tile", "demo::rotate<float, 128>::tile"),
        ("_ZNK4demo4TileIfLi128EE4loadEi", "demo::Tile<float, 128>::load"),
        ("_ZN5OuterIiE6kernelIfEEvv", "Outer<int>::kernel<float>"),
        ("_ZN12_GLOBAL__N_13fooIN1a1bEEEvv", "(anonymous namespace)::foo<a::b>"),
        ("_Z1gI3EnuLS0_1EEvv", "g<Enu, (Enu)1>"),
        ("_ZN1AltERKS_", "A::operator<"),
        ("_ZN1AcvbEv", "A::operator bool"),
        ("_ZZNK1A1fEvE1x", "A::f::x"),
        ("_ZZ4mainENKUlvE_clEv", "main::'lambda'::operator()"),
        ("gemm_kernel", "gemm_kernel"),
        ("_Zbad", "_Zbad"),
        ("_Z", "_Z"),
        ("", ""),
    ],
)
def test_readable_name(mangled: str, expected: str) -> None:
    assert readable_name(mangled) == expected
