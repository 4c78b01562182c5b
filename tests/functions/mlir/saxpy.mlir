llvm.func @k(%n: i32, %a: f32, %x: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %y: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 128, 1, 1>} {
  %b = nvvm.read.ptx.sreg.ctaid.x : i32
  %d = nvvm.read.ptx.sreg.ntid.x : i32
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %m = llvm.mul %b, %d overflow<nsw> : i32
  %i = llvm.add %m, %t : i32
  %p = llvm.icmp "slt" %i, %n : i32
  llvm.cond_br %p, ^bb1, ^bb2
^bb1:
  %w = llvm.sext %i : i32 to i64
  %px = llvm.getelementptr inbounds %x[%w] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
  %py = llvm.getelementptr inbounds %y[%w] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
  %vx = llvm.load %px invariant {alignment = 4 : i64} : !llvm.ptr<1> -> f32
  %vy = llvm.load %py : !llvm.ptr<1> -> f32
  %f = llvm.intr.fma(%a, %vx, %vy) : (f32, f32, f32) -> f32
  llvm.store %f, %py : f32, !llvm.ptr<1>
  llvm.br ^bb2
^bb2:
  llvm.return
}
