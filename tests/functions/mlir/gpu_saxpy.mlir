gpu.module @module {
  gpu.func @k(%n: i32, %a: f32, %x: !llvm.ptr, %y: !llvm.ptr) kernel attributes {nvvm.maxntid = array<i32: 64>} {
    %b = gpu.block_id x
    %d = gpu.block_dim x
    %t = gpu.thread_id x
    %m = arith.muli %b, %d : index
    %i = arith.addi %m, %t : index
    %limit = arith.index_cast %n : i32 to index
    %inside = arith.cmpi slt, %i, %limit : index
    scf.if %inside {
      %w = arith.index_cast %i : index to i64
      %px = llvm.getelementptr %x[%w] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %py = llvm.getelementptr %y[%w] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %vx = llvm.load %px : !llvm.ptr -> f32
      %vy = llvm.load %py : !llvm.ptr -> f32
      %p = arith.mulf %a, %vx : f32
      %s = arith.addf %p, %vy : f32
      llvm.store %s, %py : f32, !llvm.ptr
    }
    gpu.return
  }
}
