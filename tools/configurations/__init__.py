"""Every kind of GEMM kernel that the library can emit: which there are, a few that cover them, and their trial."""
