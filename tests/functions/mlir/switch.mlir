llvm.func @k(%x: !llvm.ptr, %y: !llvm.ptr) attributes {nvvm.kernel} {
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %px = llvm.getelementptr %x[%t] : (!llvm.ptr, i32) -> !llvm.ptr, i32
  %v = llvm.load %px : !llvm.ptr -> i32
  %three = llvm.mlir.constant(3 : i32) : i32
  %minus = llvm.mlir.constant(-1 : i32) : i32
  %kind = llvm.and %v, %three : i32
  llvm.switch %kind : i32, ^end(%minus : i32) [
    0: ^end(%v : i32),
    1: ^square,
    2: ^end(%t : i32)
  ]
^square:
  %s = llvm.mul %v, %v : i32
  llvm.br ^end(%s : i32)
^end(%r: i32):
  %py = llvm.getelementptr %y[%t] : (!llvm.ptr, i32) -> !llvm.ptr, i32
  llvm.store %r, %py : i32, !llvm.ptr
  llvm.return
}
