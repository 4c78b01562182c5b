// Each CTA of a pair writes its values into the shared memory of the other CTA.
llvm.mlir.global internal @box() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<32 x i32>
llvm.func @k(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.cluster_dim = array<i32: 2, 1, 1>, nvvm.reqntid = array<i32: 32, 1, 1>} {
  %box = llvm.mlir.addressof @box : !llvm.ptr<3>
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %b = nvvm.read.ptx.sreg.ctaid.x : i32
  %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %five = llvm.mlir.constant(5 : i32) : i32
  %peer = llvm.xor %rank, %one : i32
  %base = llvm.shl %b, %five : i32
  %i = llvm.add %base, %t : i32
  %px = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  %v = llvm.load %px : !llvm.ptr<1> -> i32
  nvvm.cluster.arrive.relaxed {aligned}
  nvvm.cluster.wait {aligned}
  %slot = llvm.getelementptr %box[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %far = nvvm.mapa %slot, %peer : !llvm.ptr<3> -> !llvm.ptr<7>
  llvm.store %v, %far : i32, !llvm.ptr<7>
  nvvm.cluster.arrive {aligned}
  nvvm.cluster.wait {aligned}
  %w = llvm.load %slot : !llvm.ptr<3> -> i32
  %py = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  llvm.store %w, %py : i32, !llvm.ptr<1>
  llvm.return
}
