llvm.mlir.global internal constant @table(dense<[3, 1, 4, 1, 5, 9, 2, 6]> : tensor<8xi32>) {addr_space = 4 : i32, alignment = 4 : i64} : !llvm.array<8 x i32>
llvm.mlir.global external @counter(0 : i32) {addr_space = 1 : i32} : i32
llvm.mlir.global private unnamed_addr constant @text("abcdefgh") {addr_space = 1 : i32}
llvm.mlir.global internal @pair() {addr_space = 1 : i32} : !llvm.struct<(i32, f32)> {
  %0 = llvm.mlir.undef : !llvm.struct<(i32, f32)>
  %1 = llvm.mlir.constant(17 : i32) : i32
  %2 = llvm.insertvalue %1, %0[0] : !llvm.struct<(i32, f32)>
  %3 = llvm.mlir.constant(2.5 : f32) : f32
  %4 = llvm.insertvalue %3, %2[1] : !llvm.struct<(i32, f32)>
  llvm.return %4 : !llvm.struct<(i32, f32)>
}
llvm.func @k(%y: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %seven = llvm.mlir.constant(7 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %table = llvm.mlir.addressof @table : !llvm.ptr<4>
  %text = llvm.mlir.addressof @text : !llvm.ptr<1>
  %counter = llvm.mlir.addressof @counter : !llvm.ptr<1>
  %pair = llvm.mlir.addressof @pair : !llvm.ptr<1>
  %i = llvm.and %t, %seven : i32
  %p = llvm.getelementptr inbounds %table[0, %i] : (!llvm.ptr<4>, i32) -> !llvm.ptr<4>, !llvm.array<8 x i32>
  %a = llvm.load %p : !llvm.ptr<4> -> i32
  %q = llvm.getelementptr inbounds %text[0, %i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<8 x i8>
  %b = llvm.load %q : !llvm.ptr<1> -> i8
  %c = llvm.zext nneg %b : i8 to i32
  %r = llvm.getelementptr inbounds %pair[0, 0] : (!llvm.ptr<1>) -> !llvm.ptr<1>, !llvm.struct<(i32, f32)>
  %d = llvm.load volatile %r : !llvm.ptr<1> -> i32
  %old = llvm.atomicrmw add %counter, %one monotonic : !llvm.ptr<1>, i32
  %ab = llvm.add %a, %c : i32
  %abc = llvm.add %ab, %d : i32
  %py = llvm.getelementptr %y[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  llvm.store %abc, %py : i32, !llvm.ptr<1>
  llvm.return
}
