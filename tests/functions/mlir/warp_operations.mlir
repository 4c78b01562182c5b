llvm.func @k(%x: !llvm.ptr, %y: !llvm.ptr) attributes {nvvm.kernel} {
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %all = llvm.mlir.constant(-1 : i32) : i32
  %zero = llvm.mlir.constant(0 : i32) : i32
  %px = llvm.getelementptr %x[%t] : (!llvm.ptr, i32) -> !llvm.ptr, i32
  %v = llvm.load %px : !llvm.ptr -> i32
  %p = llvm.icmp "sgt" %v, %zero : i32
  %sum = nvvm.redux.sync add %v, %all : i32 -> i32
  %top = nvvm.redux.sync max %v, %all : i32 -> i32
  %same = nvvm.match.sync any %all, %v : i32 -> i32
  %votes = nvvm.vote.sync ballot %all, %p -> i32
  %any = nvvm.vote.sync any %all, %p -> i1
  %wide = llvm.zext %any : i1 to i32
  %py = llvm.getelementptr %y[%t, 0] : (!llvm.ptr, i32) -> !llvm.ptr, !llvm.array<5 x i32>
  llvm.store %sum, %py : i32, !llvm.ptr
  %p1 = llvm.getelementptr %py[1] : (!llvm.ptr) -> !llvm.ptr, i32
  llvm.store %top, %p1 : i32, !llvm.ptr
  %p2 = llvm.getelementptr %py[2] : (!llvm.ptr) -> !llvm.ptr, i32
  llvm.store %same, %p2 : i32, !llvm.ptr
  %p3 = llvm.getelementptr %py[3] : (!llvm.ptr) -> !llvm.ptr, i32
  llvm.store %votes, %p3 : i32, !llvm.ptr
  %p4 = llvm.getelementptr %py[4] : (!llvm.ptr) -> !llvm.ptr, i32
  llvm.store %wide, %p4 : i32, !llvm.ptr
  llvm.return
}
