"""CUDA program that links PTX with nvJitLink. Its argument is the number of PTX texts."""

# ruff: noqa: T201

import sys

import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Linker, LinkerOptions, ObjectCode, launch

PTX = """
.version 8.0
.target sm_90
.address_size 64

.visible .entry KERNEL(.param .u64 value)
{
    .reg .b64 %address;
    .reg .b32 %value;
    ld.param.u64 %address, [value];
    ld.global.u32 %value, [%address];
    add.u32 %value, %value, 1;
    st.global.u32 [%address], %value;
    ret;
}
"""

device = Device()
device.set_current()
stream = device.create_stream()
names = [f"add{i}" for i in range(int(sys.argv[1]))]
inputs = [ObjectCode.from_ptx(PTX.replace("KERNEL", name).encode()) for name in names]
module = Linker(*inputs, options=LinkerOptions(arch="sm_90")).link("cubin")
memory = LegacyPinnedMemoryResource().allocate(4)
value = np.from_dlpack(memory).view(np.uint32)
value[:] = 41
launch(stream, LaunchConfig(grid=1, block=1), module.get_kernel("add0"), memory)
stream.sync()
print(*value)
memory.close()
