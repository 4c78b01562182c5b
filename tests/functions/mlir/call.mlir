llvm.func internal @power(%x: f32, %n: i32) -> f32 attributes {no_inline, no_unwind} {
  %one = llvm.mlir.constant(1.0 : f32) : f32
  %zero = llvm.mlir.constant(0 : i32) : i32
  %step = llvm.mlir.constant(-1 : i32) : i32
  llvm.br ^test(%one, %n : f32, i32)
^test(%r: f32, %i: i32):
  %done = llvm.icmp "sle" %i, %zero : i32
  llvm.cond_br %done, ^end, ^body
^body:
  %p = llvm.fmul %r, %x : f32
  %j = llvm.add %i, %step : i32
  llvm.br ^test(%p, %j : f32, i32)
^end:
  llvm.return %r : f32
}
llvm.func @pair(%x: f32) -> !llvm.struct<(f32, i32)> attributes {no_inline} {
  %i = llvm.fptosi %x : f32 to i32
  %u = llvm.mlir.undef : !llvm.struct<(f32, i32)>
  %a = llvm.insertvalue %x, %u[0] : !llvm.struct<(f32, i32)>
  %b = llvm.insertvalue %i, %a[1] : !llvm.struct<(f32, i32)>
  llvm.return %b : !llvm.struct<(f32, i32)>
}
llvm.func @k(%x: !llvm.ptr, %y: !llvm.ptr, %n: i32) attributes {nvvm.kernel} {
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %px = llvm.getelementptr %x[%t] : (!llvm.ptr, i32) -> !llvm.ptr, f32
  %v = llvm.load %px : !llvm.ptr -> f32
  %p = llvm.call @power(%v, %n) : (f32, i32) -> f32
  %s = llvm.call @pair(%p) : (f32) -> !llvm.struct<(f32, i32)>
  %i = llvm.extractvalue %s[1] : !llvm.struct<(f32, i32)>
  %f = llvm.sitofp %i : i32 to f32
  %r = llvm.fsub %p, %f : f32
  %py = llvm.getelementptr %y[%t] : (!llvm.ptr, i32) -> !llvm.ptr, f32
  llvm.store %r, %py : f32, !llvm.ptr
  llvm.return
}
