llvm.mlir.global internal @tile() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<256 x i16>
llvm.func @k(%x: !llvm.ptr, %y: !llvm.ptr) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %px = llvm.getelementptr %x[%t] : (!llvm.ptr, i32) -> !llvm.ptr, vector<4xi32>
  %v = llvm.load %px : !llvm.ptr -> vector<4xi32>
  %row = llvm.getelementptr %tile[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, vector<4xi32>
  llvm.store %v, %row : vector<4xi32>, !llvm.ptr<3>
  %all = llvm.mlir.constant(-1 : i32) : i32
  nvvm.bar.warp.sync %all : i32
  %m = nvvm.ldmatrix %row {num = 4 : i32, layout = #nvvm.mma_layout<col>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
  %a = llvm.extractvalue %m[0] : !llvm.struct<(i32, i32, i32, i32)>
  %b = llvm.extractvalue %m[1] : !llvm.struct<(i32, i32, i32, i32)>
  %c = llvm.extractvalue %m[2] : !llvm.struct<(i32, i32, i32, i32)>
  %d = llvm.extractvalue %m[3] : !llvm.struct<(i32, i32, i32, i32)>
  nvvm.bar.warp.sync %all : i32
  nvvm.stmatrix %row, %a, %b, %c, %d {layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : !llvm.ptr<3>, i32, i32, i32, i32
  nvvm.bar.warp.sync %all : i32
  %w = llvm.load %row : !llvm.ptr<3> -> vector<4xi32>
  %py = llvm.getelementptr %y[%t] : (!llvm.ptr, i32) -> !llvm.ptr, vector<4xi32>
  llvm.store %w, %py : vector<4xi32>, !llvm.ptr
  llvm.return
}
