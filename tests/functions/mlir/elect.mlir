llvm.func @k(%y: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %p = nvvm.elect.sync -> i1
  llvm.cond_br %p, ^bb1, ^bb2
^bb1:
  %0 = llvm.atomicrmw add %y, %one monotonic : !llvm.ptr<1>, i32
  llvm.br ^bb2
^bb2:
  llvm.return
}
