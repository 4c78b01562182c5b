"""PTX text of kernels that call device services."""

from __future__ import annotations

from emulator.texts import HEADER

DECLARED = """
.extern .func (.param .b32 count) vprintf(.param .b64 format, .param .b64 arguments);
.extern .func __assertfail(.param .b64 message, .param .b64 file, .param .b32 line, .param .b64 function,
    .param .b64 size);
.extern .func (.param .b64 pointer) malloc(.param .b64 size);
.extern .func (.param .b64 pointer) __nv_aligned_device_malloc_impl(.param .b64 size, .param .b64 align);
.extern .func free(.param .b64 pointer);
"""


def string(name: str, text: bytes) -> str:
    """Declare a variable with a zero-terminated string."""
    return f".global .align 1 .b8 {name}[{len(text) + 1}] = {{{', '.join(map(str, (*text, 0)))}}};\n"


def module(body: str, *strings: str, entry: str = ".param .u64 out", local: int = 64) -> str:
    """A module with one kernel `k`. %rd0 is `out`, %r0 is %tid.x, %r1 is %ctaid.x, %rd9 is a generic local address."""
    return f"""{HEADER}{DECLARED}{"".join(strings)}
.visible .entry k({entry}) {{
.local .align 8 .b8 depot[{local}];
.reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f64 %fd<4>; .reg .pred %p<4>;
ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;
mov.u64 %rd8, depot; cvta.local.u64 %rd9, %rd8;
{body}
ret; }}
"""


def printf(format: str = "%rd10", arguments: str = "%rd9", result: str = "%r10") -> str:
    """Call vprintf. The arguments are registers or numbers."""
    return f"""{{ .param .b64 a; .param .b64 b; .param .b32 r;
st.param.b64 [a], {format}; st.param.b64 [b], {arguments};
call.uni (r), vprintf, (a, b); ld.param.b32 {result}, [r]; }}"""


def malloc(size: str, pointer: str) -> str:
    """Call malloc."""
    return f"""{{ .param .b64 s; .param .b64 p; st.param.b64 [s], {size};
call.uni (p), malloc, (s); ld.param.b64 {pointer}, [p]; }}"""


def free(pointer: str) -> str:
    """Call free."""
    return f"{{ .param .b64 p; st.param.b64 [p], {pointer}; call.uni free, (p); }}"
