llvm.func @k(%x: !llvm.ptr, %y: !llvm.ptr) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %t = nvvm.read.ptx.sreg.tid.x range <i32, 0, 32> : i32
  %all = llvm.mlir.constant(-1 : i32) : i32
  %last = llvm.mlir.constant(31 : i32) : i32
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %half = llvm.mlir.constant(16 : i32) : i32
  %px = llvm.getelementptr %x[%t] : (!llvm.ptr, i32) -> !llvm.ptr, f32
  %v = llvm.load %px : !llvm.ptr -> f32
  llvm.br ^loop(%v, %half : f32, i32)
^loop(%s: f32, %d: i32):
  %o = nvvm.shfl.sync bfly %all, %s, %d, %last : f32 -> f32
  %n = llvm.fadd %s, %o : f32
  %e = llvm.lshr %d, %one : i32
  %more = llvm.icmp "ne" %e, %zero : i32
  llvm.cond_br %more, ^loop(%n, %e : f32, i32), ^end
^end:
  %r = nvvm.shfl.sync up %all, %n, %one, %zero {return_value_and_is_valid} : f32 -> !llvm.struct<(f32, i1)>
  %w = llvm.extractvalue %r[0] : !llvm.struct<(f32, i1)>
  %ok = llvm.extractvalue %r[1] : !llvm.struct<(f32, i1)>
  %neg = llvm.fneg %n : f32
  %z = llvm.select %ok, %w, %neg : i1, f32
  %py = llvm.getelementptr %y[%t] : (!llvm.ptr, i32) -> !llvm.ptr, f32
  llvm.store %z, %py : f32, !llvm.ptr
  llvm.return
}
