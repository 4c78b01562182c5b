// Collatz steps of each value, with integer arithmetic, a loop and nested conditions.
gpu.module @module {
  gpu.func @k(%x: !llvm.ptr, %y: !llvm.ptr) kernel attributes {nvvm.reqntid = array<i32: 32>} {
    %i = gpu.global_id x
    %w = arith.index_cast %i : index to i64
    %p = llvm.getelementptr %x[%w] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %v = llvm.load %p : !llvm.ptr -> i32
    %lower = arith.constant 0 : index
    %upper = arith.constant 20 : index
    %step = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %three = arith.constant 3 : i32
    %zero = arith.constant 0 : i32
    %last, %steps = scf.for %k = %lower to %upper step %step iter_args(%a = %v, %n = %zero) -> (i32, i32) {
      %open = arith.cmpi ne, %a, %one : i32
      %b, %m = scf.if %open -> (i32, i32) {
        %odd = arith.andi %a, %one : i32
        %is_odd = arith.cmpi ne, %odd, %zero : i32
        %c = scf.if %is_odd -> (i32) {
          %t = arith.muli %a, %three : i32
          %u = arith.addi %t, %one : i32
          scf.yield %u : i32
        } else {
          %h = arith.shrui %a, %one : i32
          scf.yield %h : i32
        }
        %next = arith.addi %n, %one : i32
        scf.yield %c, %next : i32, i32
      } else {
        scf.yield %a, %n : i32, i32
      }
      scf.yield %b, %m : i32, i32
    }
    %big = arith.maxsi %last, %steps : i32
    %ok = arith.cmpi eq, %last, %one : i32
    %r = arith.select %ok, %steps, %big : i32
    %q = llvm.getelementptr %y[%w] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    llvm.store %r, %q : i32, !llvm.ptr
    gpu.return
  }
}
