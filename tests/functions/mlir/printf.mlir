llvm.mlir.global internal constant @format("thread %d has %f\0A\00") {addr_space = 0 : i32}
llvm.func @vprintf(!llvm.ptr, !llvm.ptr) -> i32
llvm.func @k(%x: !llvm.ptr) attributes {nvvm.kernel} {
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %px = llvm.getelementptr %x[%t] : (!llvm.ptr, i32) -> !llvm.ptr, f32
  %v = llvm.load %px : !llvm.ptr -> f32
  %d = llvm.fpext %v : f32 to f64
  %box = llvm.alloca %one x !llvm.struct<(i32, f64)> {alignment = 8 : i64} : (i32) -> !llvm.ptr
  llvm.store %t, %box : i32, !llvm.ptr
  %second = llvm.getelementptr %box[0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i32, f64)>
  llvm.store %d, %second : f64, !llvm.ptr
  %format = llvm.mlir.addressof @format : !llvm.ptr
  %0 = llvm.call @vprintf(%format, %box) : (!llvm.ptr, !llvm.ptr) -> i32
  llvm.return
}
