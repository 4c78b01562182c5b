// y[block] = sum of n values of the block: strided loop, shuffles, shared memory.
gpu.module @module {
  llvm.mlir.global internal @part() {addr_space = 3 : i32} : !llvm.array<4 x f32>
  gpu.func @k(%x: !llvm.ptr, %y: !llvm.ptr, %n: i32) kernel {
    %zero = arith.constant 0.0 : f32
    %none = arith.constant 0 : index
    %width = arith.constant 32 : i32
    %t = gpu.thread_id x
    %d = gpu.block_dim x
    %b = gpu.block_id x
    %lane = gpu.lane_id
    %size = arith.constant 32 : index
    %warp = arith.divui %t, %size : index
    %count = arith.index_castui %n : i32 to index
    %row = arith.muli %b, %count : index
    %own = scf.for %i = %t to %count step %d iter_args(%s = %zero) -> (f32) {
      %j = arith.addi %row, %i : index
      %w = arith.index_cast %j : index to i64
      %p = llvm.getelementptr %x[%w] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %p : !llvm.ptr -> f32
      %r = arith.addf %s, %v : f32
      scf.yield %r : f32
    }
    %c16 = arith.constant 16 : i32
    %c8 = arith.constant 8 : i32
    %c4 = arith.constant 4 : i32
    %c2 = arith.constant 2 : i32
    %c1 = arith.constant 1 : i32
    %s16, %v16 = gpu.shuffle xor %own, %c16, %width : f32
    %a16 = arith.addf %own, %s16 : f32
    %s8, %v8 = gpu.shuffle xor %a16, %c8, %width : f32
    %a8 = arith.addf %a16, %s8 : f32
    %s4, %v4 = gpu.shuffle xor %a8, %c4, %width : f32
    %a4 = arith.addf %a8, %s4 : f32
    %s2, %v2 = gpu.shuffle xor %a4, %c2, %width : f32
    %a2 = arith.addf %a4, %s2 : f32
    %s1, %v1 = gpu.shuffle xor %a2, %c1, %width : f32
    %a1 = arith.addf %a2, %s1 : f32
    %part = llvm.mlir.addressof @part : !llvm.ptr<3>
    %is_first = arith.cmpi eq, %lane, %none : index
    scf.if %is_first {
      %w = arith.index_cast %warp : index to i64
      %p = llvm.getelementptr %part[%w] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
      llvm.store %a1, %p : f32, !llvm.ptr<3>
    }
    gpu.barrier
    %leads = arith.cmpi eq, %t, %none : index
    scf.if %leads {
      %v = llvm.load %part : !llvm.ptr<3> -> vector<4xf32>
      %e = llvm.mlir.zero : f32
      %sum = "llvm.intr.vector.reduce.fadd"(%e, %v) <{fastmathFlags = #llvm.fastmath<reassoc>}> : (f32, vector<4xf32>) -> f32
      %w = arith.index_cast %b : index to i64
      %p = llvm.getelementptr %y[%w] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %sum, %p : f32, !llvm.ptr
    }
    gpu.return
  }
}
