// D = A * B with A (16 x 16) row-major and B (16 x 8) column-major in f16, loaded as pairs from global memory.
llvm.func @k(%a: !llvm.ptr, %b: !llvm.ptr, %d: !llvm.ptr) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %t = nvvm.read.ptx.sreg.laneid : i32
  %two = llvm.mlir.constant(2 : i32) : i32
  %three = llvm.mlir.constant(3 : i32) : i32
  %eight = llvm.mlir.constant(8 : i32) : i32
  %zero = llvm.mlir.constant(0.0 : f32) : f32
  %g = llvm.lshr %t, %two : i32
  %q = llvm.and %t, %three : i32
  %row = llvm.mul %g, %eight : i32
  %i = llvm.add %row, %q : i32
  %p0 = llvm.getelementptr %a[%i] : (!llvm.ptr, i32) -> !llvm.ptr, vector<2xf16>
  %p1 = llvm.getelementptr %p0[64] : (!llvm.ptr) -> !llvm.ptr, vector<2xf16>
  %p2 = llvm.getelementptr %p0[4] : (!llvm.ptr) -> !llvm.ptr, vector<2xf16>
  %p3 = llvm.getelementptr %p0[68] : (!llvm.ptr) -> !llvm.ptr, vector<2xf16>
  %a0 = llvm.load %p0 : !llvm.ptr -> vector<2xf16>
  %a1 = llvm.load %p1 : !llvm.ptr -> vector<2xf16>
  %a2 = llvm.load %p2 : !llvm.ptr -> vector<2xf16>
  %a3 = llvm.load %p3 : !llvm.ptr -> vector<2xf16>
  %r0 = llvm.getelementptr %b[%i] : (!llvm.ptr, i32) -> !llvm.ptr, vector<2xf16>
  %r1 = llvm.getelementptr %r0[4] : (!llvm.ptr) -> !llvm.ptr, vector<2xf16>
  %b0 = llvm.load %r0 : !llvm.ptr -> vector<2xf16>
  %b1 = llvm.load %r1 : !llvm.ptr -> vector<2xf16>
  %m = nvvm.mma.sync A[%a0, %a1, %a2, %a3] B[%b0, %b1] C[%zero, %zero, %zero, %zero]
    {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 16>}
    : (vector<2xf16>, vector<2xf16>, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  %s = llvm.getelementptr %d[%t, 0] : (!llvm.ptr, i32) -> !llvm.ptr, !llvm.array<4 x f32>
  llvm.store %m, %s : !llvm.struct<(f32, f32, f32, f32)>, !llvm.ptr
  llvm.return
}
