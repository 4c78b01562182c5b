llvm.func @k(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %px = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  %v = llvm.load %px : !llvm.ptr<1> -> i32
  %0 = llvm.atomicrmw add %y, %v monotonic : !llvm.ptr<1>, i32
  %p1 = llvm.getelementptr %y[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
  %1 = llvm.atomicrmw max %p1, %v syncscope("block") monotonic : !llvm.ptr<1>, i32
  %p2 = llvm.getelementptr %y[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
  %2 = llvm.atomicrmw _xor %p2, %v syncscope("device") acq_rel : !llvm.ptr<1>, i32
  %p3 = llvm.getelementptr %y[3] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
  %f = llvm.sitofp %v : i32 to f32
  %3 = llvm.atomicrmw fadd %p3, %f monotonic : !llvm.ptr<1>, f32
  %p4 = llvm.getelementptr %y[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
  %old = llvm.load %p4 atomic monotonic {alignment = 4 : i64} : !llvm.ptr<1> -> i32
  llvm.br ^retry(%old : i32)
^retry(%e: i32):
  %n = llvm.add %e, %t : i32
  %r = llvm.cmpxchg %p4, %e, %n acq_rel monotonic : !llvm.ptr<1>, i32
  %seen = llvm.extractvalue %r[0] : !llvm.struct<(i32, i1)>
  %done = llvm.extractvalue %r[1] : !llvm.struct<(i32, i1)>
  llvm.cond_br %done weights([99, 1]), ^end, ^retry(%seen : i32)
^end:
  llvm.fence syncscope("device") seq_cst
  llvm.return
}
