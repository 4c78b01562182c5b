// y[t] = sum over n rows of x[row][t], with two buffers.
llvm.mlir.global internal @buffers() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<2 x array<128 x f32>>
llvm.func @k(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %buffers = llvm.mlir.addressof @buffers : !llvm.ptr<3>
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %sum = llvm.mlir.constant(dense<0.0> : vector<4xf32>) : vector<4xf32>
  %from = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xf32>
  %to = llvm.getelementptr %buffers[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, vector<4xf32>
  nvvm.cp.async.shared.global %to, %from, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  nvvm.cp.async.commit.group
  llvm.br ^loop(%zero, %sum : i32, vector<4xf32>)
^loop(%i: i32, %s: vector<4xf32>):
  %next = llvm.add %i, %one : i32
  %more = llvm.icmp "slt" %next, %n : i32
  llvm.cond_br %more, ^fetch, ^wait
^fetch:
  %odd = llvm.and %next, %one : i32
  %src = llvm.getelementptr %from[%next, 0] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<128 x f32>
  %dst = llvm.getelementptr %to[%odd, 0] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<128 x f32>
  nvvm.cp.async.shared.global %dst, %src, 16, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
  llvm.br ^wait
^wait:
  nvvm.cp.async.commit.group
  nvvm.cp.async.wait.group 1
  %even = llvm.and %i, %one : i32
  %at = llvm.getelementptr %to[%even, 0] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<128 x f32>
  %v = llvm.load %at : !llvm.ptr<3> -> vector<4xf32>
  %r = llvm.fadd %s, %v : vector<4xf32>
  llvm.cond_br %more, ^loop(%next, %r : i32, vector<4xf32>), ^end
^end:
  %py = llvm.getelementptr %y[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xf32>
  llvm.store %r, %py : vector<4xf32>, !llvm.ptr<1>
  llvm.return
}
