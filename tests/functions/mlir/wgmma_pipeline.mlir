// D (64 x 8) = A (64 x K) * B (8 x K) transposed: tensor copies with a 128-byte swizzle, an mbarrier and wgmma.
llvm.mlir.global internal @a() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<4096 x f16>
llvm.mlir.global internal @b() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<512 x f16>
llvm.mlir.global internal @bar() {addr_space = 3 : i32, alignment = 8 : i64} : i64
llvm.func @k(%ma: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant},
    %mb: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}, %d: !llvm.ptr<1>, %n: i32)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, nvvm.maxnreg = 128 : i32} {
  %pa = llvm.mlir.addressof @a : !llvm.ptr<3>
  %pb = llvm.mlir.addressof @b : !llvm.ptr<3>
  %bar = llvm.mlir.addressof @bar : !llvm.ptr<3>
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %six = llvm.mlir.constant(6 : i32) : i32
  %bytes = llvm.mlir.constant(9216 : i32) : i32
  %ticks = llvm.mlir.constant(10000000 : i32) : i32
  %four = llvm.mlir.constant(4 : i64) : i64
  %mask = llvm.mlir.constant(16383 : i64) : i64
  %rest = llvm.mlir.constant(4611686293305294848 : i64) : i64
  %ia = llvm.ptrtoint %pa : !llvm.ptr<3> to i64
  %ib = llvm.ptrtoint %pb : !llvm.ptr<3> to i64
  %sa = llvm.lshr %ia, %four : i64
  %sb = llvm.lshr %ib, %four : i64
  %fa = llvm.and %sa, %mask : i64
  %fb = llvm.and %sb, %mask : i64
  %da = llvm.or %fa, %rest : i64
  %db = llvm.or %fb, %rest : i64
  %f = llvm.mlir.constant(0.0 : f32) : f32
  %u = llvm.mlir.undef : !llvm.struct<(f32, f32, f32, f32)>
  %u0 = llvm.insertvalue %f, %u[0] : !llvm.struct<(f32, f32, f32, f32)>
  %u1 = llvm.insertvalue %f, %u0[1] : !llvm.struct<(f32, f32, f32, f32)>
  %u2 = llvm.insertvalue %f, %u1[2] : !llvm.struct<(f32, f32, f32, f32)>
  %u3 = llvm.insertvalue %f, %u2[3] : !llvm.struct<(f32, f32, f32, f32)>
  %first = llvm.icmp "eq" %t, %zero : i32
  llvm.cond_br %first, ^init, ^start
^init:
  nvvm.mbarrier.init %bar, %one : !llvm.ptr<3>, i32
  nvvm.fence.mbarrier.init
  llvm.br ^start
^start:
  nvvm.barrier0
  llvm.br ^loop(%zero, %u3 : i32, !llvm.struct<(f32, f32, f32, f32)>)
^loop(%i: i32, %acc: !llvm.struct<(f32, f32, f32, f32)>):
  llvm.cond_br %first, ^copy, ^wait
^copy:
  %c = llvm.shl %i, %six : i32
  nvvm.mbarrier.arrive.expect_tx %bar, %bytes : !llvm.ptr<3>, i32
  %ga = llvm.addrspacecast %pa : !llvm.ptr<3> to !llvm.ptr<7>
  %gb = llvm.addrspacecast %pb : !llvm.ptr<3> to !llvm.ptr<7>
  nvvm.cp.async.bulk.tensor.shared.cluster.global %ga, %ma, %bar, box [%c, %zero] : !llvm.ptr<7>, !llvm.ptr
  nvvm.cp.async.bulk.tensor.shared.cluster.global %gb, %mb, %bar, box [%c, %zero] : !llvm.ptr<7>, !llvm.ptr
  llvm.br ^wait
^wait:
  %parity = llvm.and %i, %one : i32
  nvvm.mbarrier.try_wait.parity %bar, %parity, %ticks : !llvm.ptr<3>, i32, i32
  nvvm.wgmma.fence.aligned
  %m0 = nvvm.wgmma.mma_async %da, %db, %acc, <m = 64, n = 8, k = 16>, D[<f32>, <one>, <wrapped>],
    A[<f16>, <one>, <row>], B[<f16>, <one>, <col>] : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
  %o1 = llvm.mlir.constant(2 : i64) : i64
  %a1 = llvm.add %da, %o1 : i64
  %b1 = llvm.add %db, %o1 : i64
  %m1 = nvvm.wgmma.mma_async %a1, %b1, %m0, <m = 64, n = 8, k = 16>, D[<f32>, <one>, <wrapped>],
    A[<f16>, <one>, <row>], B[<f16>, <one>, <col>] : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
  %o2 = llvm.mlir.constant(4 : i64) : i64
  %a2 = llvm.add %da, %o2 : i64
  %b2 = llvm.add %db, %o2 : i64
  %m2 = nvvm.wgmma.mma_async %a2, %b2, %m1, <m = 64, n = 8, k = 16>, D[<f32>, <one>, <wrapped>],
    A[<f16>, <one>, <row>], B[<f16>, <one>, <col>] : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
  %o3 = llvm.mlir.constant(6 : i64) : i64
  %a3 = llvm.add %da, %o3 : i64
  %b3 = llvm.add %db, %o3 : i64
  %m3 = nvvm.wgmma.mma_async %a3, %b3, %m2, <m = 64, n = 8, k = 16>, D[<f32>, <one>, <wrapped>],
    A[<f16>, <one>, <row>], B[<f16>, <one>, <col>] : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
  nvvm.wgmma.commit.group.sync.aligned
  nvvm.wgmma.wait.group.sync.aligned 0
  nvvm.barrier0
  %j = llvm.add %i, %one : i32
  %more = llvm.icmp "slt" %j, %n : i32
  llvm.cond_br %more, ^loop(%j, %m3 : i32, !llvm.struct<(f32, f32, f32, f32)>), ^end
^end:
  %y = llvm.getelementptr %d[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.struct<(f32, f32, f32, f32)>
  llvm.store %m3, %y : !llvm.struct<(f32, f32, f32, f32)>, !llvm.ptr<1>
  llvm.return
}
