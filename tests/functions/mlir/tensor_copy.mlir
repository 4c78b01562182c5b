// Copies a box of 8 x 16 elements through shared memory with a tensor map by value.
llvm.mlir.global internal @box() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<128 x f32>
llvm.mlir.global internal @bar() {addr_space = 3 : i32, alignment = 8 : i64} : i64
llvm.func @k(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}, %y: !llvm.ptr<1>, %c: i32, %r: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %box = llvm.mlir.addressof @box : !llvm.ptr<3>
  %bar = llvm.mlir.addressof @bar : !llvm.ptr<3>
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %bytes = llvm.mlir.constant(512 : i32) : i32
  %ticks = llvm.mlir.constant(10000000 : i32) : i32
  %first = llvm.icmp "eq" %t, %zero : i32
  llvm.cond_br %first, ^copy, ^wait
^copy:
  nvvm.mbarrier.init %bar, %one : !llvm.ptr<3>, i32
  nvvm.fence.mbarrier.init
  nvvm.mbarrier.arrive.expect_tx %bar, %bytes : !llvm.ptr<3>, i32
  %far = llvm.addrspacecast %box : !llvm.ptr<3> to !llvm.ptr<7>
  nvvm.cp.async.bulk.tensor.shared.cluster.global %far, %map, %bar, box [%c, %r] : !llvm.ptr<7>, !llvm.ptr
  llvm.br ^wait
^wait:
  nvvm.barrier0
  nvvm.mbarrier.try_wait.parity %bar, %zero, %ticks : !llvm.ptr<3>, i32, i32
  %s = llvm.getelementptr %box[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, vector<4xf32>
  %v = llvm.load %s : !llvm.ptr<3> -> vector<4xf32>
  %py = llvm.getelementptr %y[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xf32>
  llvm.store %v, %py : vector<4xf32>, !llvm.ptr<1>
  llvm.return
}
