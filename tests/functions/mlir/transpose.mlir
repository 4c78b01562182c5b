llvm.mlir.global internal @tile() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<32 x array<33 x f32>>
llvm.func @k(%x: !llvm.ptr, %y: !llvm.ptr) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 32>} {
  %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
  %c = nvvm.read.ptx.sreg.tid.x : i32
  %r = nvvm.read.ptx.sreg.tid.y : i32
  %five = llvm.mlir.constant(5 : i32) : i32
  %row = llvm.shl %r, %five overflow<nsw, nuw> : i32
  %i = llvm.or disjoint %row, %c : i32
  %px = llvm.getelementptr %x[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
  %v = llvm.load %px : !llvm.ptr -> f32
  %s = llvm.getelementptr inbounds %tile[0, %r, %c] : (!llvm.ptr<3>, i32, i32) -> !llvm.ptr<3>, !llvm.array<32 x array<33 x f32>>
  llvm.store %v, %s : f32, !llvm.ptr<3>
  nvvm.barrier0
  %q = llvm.getelementptr inbounds %tile[0, %c, %r] : (!llvm.ptr<3>, i32, i32) -> !llvm.ptr<3>, !llvm.array<32 x array<33 x f32>>
  %w = llvm.load %q : !llvm.ptr<3> -> f32
  %py = llvm.getelementptr %y[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
  llvm.store %w, %py : f32, !llvm.ptr
  llvm.return
}
