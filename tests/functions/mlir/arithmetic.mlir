// Intrinsics, vectors, casts, packed structs and inline assembly.
llvm.func @k(%x: !llvm.ptr, %y: !llvm.ptr, %flag: i1) attributes {nvvm.kernel} {
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %p = llvm.getelementptr %x[%t] : (!llvm.ptr, i32) -> !llvm.ptr, vector<2xf32>
  %v = llvm.load %p : !llvm.ptr -> vector<2xf32>
  %i = llvm.mlir.constant(0 : i32) : i32
  %a = llvm.extractelement %v[%i : i32] : vector<2xf32>
  %w = llvm.shufflevector %v, %v [1, 0] : vector<2xf32>
  %s = llvm.fmul %v, %w {fastmathFlags = #llvm.fastmath<contract>} : vector<2xf32>
  %b = llvm.extractelement %s[%i : i32] : vector<2xf32>
  %c = llvm.intr.fabs(%b) : (f32) -> f32
  %d = llvm.intr.sqrt(%c) : (f32) -> f32
  %e = llvm.intr.maxnum(%a, %d) : (f32, f32) -> f32
  %f = llvm.intr.floor(%e) : (f32) -> f32
  %g = llvm.fptosi %f : f32 to i32
  %h = llvm.intr.ctpop(%g) : (i32) -> i32
  %z = "llvm.intr.ctlz"(%g) <{is_zero_poison = false}> : (i32) -> i32
  %hi = llvm.mul %h, %z overflow<nsw> : i32
  %j = llvm.inline_asm has_side_effects "add.s32 $0, $1, $2;", "=r,r,r" %hi, %g : (i32, i32) -> i32
  %half = llvm.fptrunc %e : f32 to f16
  %back = llvm.fpext %half : f16 to f32
  %bits = llvm.bitcast %back : f32 to i32
  %k = llvm.select %flag, %j, %bits : i1, i32
  %q = llvm.getelementptr %y[%t, 1] : (!llvm.ptr, i32) -> !llvm.ptr, !llvm.struct<packed (i8, i32)>
  llvm.store %k, %q {alignment = 1 : i64} : i32, !llvm.ptr
  llvm.return
}
