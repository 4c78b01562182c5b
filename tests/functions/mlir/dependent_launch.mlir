llvm.func @k(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.minctasm = 2 : i32, nvvm.maxntid = array<i32: 64>} {
  nvvm.griddepcontrol wait
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %px = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  %v = llvm.load %px : !llvm.ptr<1> -> i32
  nvvm.griddepcontrol launch_dependents
  %w = llvm.mul %v, %v : i32
  %py = llvm.getelementptr %y[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  llvm.store %w, %py : i32, !llvm.ptr<1>
  llvm.return
}
