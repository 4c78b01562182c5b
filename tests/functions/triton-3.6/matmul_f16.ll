; Triton 3.6.0: 128 threads, 16384 bytes of dynamic shared memory
; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

@global_smem = external addrspace(3) global [0 x i8], align 16

; Function Attrs: nounwind
define ptx_kernel void @matmul(ptr addrspace(1) %0, ptr addrspace(1) %1, ptr addrspace(1) %2, i32 %3, ptr addrspace(1) readnone captures(none) %4, ptr addrspace(1) readnone captures(none) %5) local_unnamed_addr #0 !dbg !4 {
  %7 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !7
  %8 = and i32 %7, 64, !dbg !7
  %.not = icmp eq i32 %8, 0, !dbg !7
  %.lobit = lshr exact i32 %8, 6, !dbg !7
  %9 = or disjoint i32 %.lobit, 2, !dbg !7
  %10 = or disjoint i32 %.lobit, 4, !dbg !7
  %11 = or disjoint i32 %.lobit, 6, !dbg !7
  %12 = or disjoint i32 %.lobit, 8, !dbg !7
  %13 = or disjoint i32 %.lobit, 10, !dbg !7
  %14 = or disjoint i32 %.lobit, 12, !dbg !7
  %15 = or disjoint i32 %.lobit, 14, !dbg !7
  %16 = or disjoint i32 %.lobit, 16, !dbg !7
  %17 = or disjoint i32 %.lobit, 18, !dbg !7
  %18 = or disjoint i32 %.lobit, 20, !dbg !7
  %19 = or disjoint i32 %.lobit, 22, !dbg !7
  %20 = or disjoint i32 %.lobit, 24, !dbg !7
  %21 = or disjoint i32 %.lobit, 26, !dbg !7
  %22 = or disjoint i32 %.lobit, 28, !dbg !7
  %23 = or disjoint i32 %.lobit, 30, !dbg !7
  %24 = or disjoint i32 %.lobit, 32, !dbg !7
  %25 = or disjoint i32 %.lobit, 34, !dbg !7
  %26 = or disjoint i32 %.lobit, 36, !dbg !7
  %27 = or disjoint i32 %.lobit, 38, !dbg !7
  %28 = or disjoint i32 %.lobit, 40, !dbg !7
  %29 = or disjoint i32 %.lobit, 42, !dbg !7
  %30 = or disjoint i32 %.lobit, 44, !dbg !7
  %31 = or disjoint i32 %.lobit, 46, !dbg !7
  %32 = or disjoint i32 %.lobit, 48, !dbg !7
  %33 = or disjoint i32 %.lobit, 50, !dbg !7
  %34 = or disjoint i32 %.lobit, 52, !dbg !7
  %35 = or disjoint i32 %.lobit, 54, !dbg !7
  %36 = or disjoint i32 %.lobit, 56, !dbg !7
  %37 = or disjoint i32 %.lobit, 58, !dbg !7
  %38 = or disjoint i32 %.lobit, 60, !dbg !7
  %39 = or disjoint i32 %.lobit, 62, !dbg !7
  %40 = and i32 %7, 63, !dbg !8
  %41 = icmp sgt i32 %3, 0, !dbg !9
  br i1 %41, label %.lr.ph, label %.._crit_edge_crit_edge, !dbg !9

.._crit_edge_crit_edge:                           ; preds = %6
  %.pre = zext nneg i32 %40 to i64, !dbg !10
  br label %._crit_edge, !dbg !9

.lr.ph:                                           ; preds = %6
  %42 = mul i32 %3, %39, !dbg !11
  %43 = sext i32 %42 to i64, !dbg !12
  %44 = getelementptr half, ptr addrspace(1) %0, i64 %43, !dbg !12
  %45 = mul i32 %3, %38, !dbg !11
  %46 = sext i32 %45 to i64, !dbg !12
  %47 = getelementptr half, ptr addrspace(1) %0, i64 %46, !dbg !12
  %48 = mul i32 %3, %37, !dbg !11
  %49 = sext i32 %48 to i64, !dbg !12
  %50 = getelementptr half, ptr addrspace(1) %0, i64 %49, !dbg !12
  %51 = mul i32 %3, %36, !dbg !11
  %52 = sext i32 %51 to i64, !dbg !12
  %53 = getelementptr half, ptr addrspace(1) %0, i64 %52, !dbg !12
  %54 = mul i32 %3, %35, !dbg !11
  %55 = sext i32 %54 to i64, !dbg !12
  %56 = getelementptr half, ptr addrspace(1) %0, i64 %55, !dbg !12
  %57 = mul i32 %3, %34, !dbg !11
  %58 = sext i32 %57 to i64, !dbg !12
  %59 = getelementptr half, ptr addrspace(1) %0, i64 %58, !dbg !12
  %60 = mul i32 %3, %33, !dbg !11
  %61 = sext i32 %60 to i64, !dbg !12
  %62 = getelementptr half, ptr addrspace(1) %0, i64 %61, !dbg !12
  %63 = mul i32 %3, %32, !dbg !11
  %64 = sext i32 %63 to i64, !dbg !12
  %65 = getelementptr half, ptr addrspace(1) %0, i64 %64, !dbg !12
  %66 = mul i32 %3, %31, !dbg !11
  %67 = sext i32 %66 to i64, !dbg !12
  %68 = getelementptr half, ptr addrspace(1) %0, i64 %67, !dbg !12
  %69 = mul i32 %3, %30, !dbg !11
  %70 = sext i32 %69 to i64, !dbg !12
  %71 = getelementptr half, ptr addrspace(1) %0, i64 %70, !dbg !12
  %72 = mul i32 %3, %29, !dbg !11
  %73 = sext i32 %72 to i64, !dbg !12
  %74 = getelementptr half, ptr addrspace(1) %0, i64 %73, !dbg !12
  %75 = mul i32 %3, %28, !dbg !11
  %76 = sext i32 %75 to i64, !dbg !12
  %77 = getelementptr half, ptr addrspace(1) %0, i64 %76, !dbg !12
  %78 = mul i32 %3, %27, !dbg !11
  %79 = sext i32 %78 to i64, !dbg !12
  %80 = getelementptr half, ptr addrspace(1) %0, i64 %79, !dbg !12
  %81 = mul i32 %3, %26, !dbg !11
  %82 = sext i32 %81 to i64, !dbg !12
  %83 = getelementptr half, ptr addrspace(1) %0, i64 %82, !dbg !12
  %84 = mul i32 %3, %25, !dbg !11
  %85 = sext i32 %84 to i64, !dbg !12
  %86 = getelementptr half, ptr addrspace(1) %0, i64 %85, !dbg !12
  %87 = mul i32 %3, %24, !dbg !11
  %88 = sext i32 %87 to i64, !dbg !12
  %89 = getelementptr half, ptr addrspace(1) %0, i64 %88, !dbg !12
  %90 = mul i32 %3, %23, !dbg !11
  %91 = sext i32 %90 to i64, !dbg !12
  %92 = getelementptr half, ptr addrspace(1) %0, i64 %91, !dbg !12
  %93 = mul i32 %3, %22, !dbg !11
  %94 = sext i32 %93 to i64, !dbg !12
  %95 = getelementptr half, ptr addrspace(1) %0, i64 %94, !dbg !12
  %96 = mul i32 %3, %21, !dbg !11
  %97 = sext i32 %96 to i64, !dbg !12
  %98 = getelementptr half, ptr addrspace(1) %0, i64 %97, !dbg !12
  %99 = mul i32 %3, %20, !dbg !11
  %100 = sext i32 %99 to i64, !dbg !12
  %101 = getelementptr half, ptr addrspace(1) %0, i64 %100, !dbg !12
  %102 = mul i32 %3, %19, !dbg !11
  %103 = sext i32 %102 to i64, !dbg !12
  %104 = getelementptr half, ptr addrspace(1) %0, i64 %103, !dbg !12
  %105 = mul i32 %3, %18, !dbg !11
  %106 = sext i32 %105 to i64, !dbg !12
  %107 = getelementptr half, ptr addrspace(1) %0, i64 %106, !dbg !12
  %108 = mul i32 %3, %17, !dbg !11
  %109 = sext i32 %108 to i64, !dbg !12
  %110 = getelementptr half, ptr addrspace(1) %0, i64 %109, !dbg !12
  %111 = mul i32 %3, %16, !dbg !11
  %112 = sext i32 %111 to i64, !dbg !12
  %113 = getelementptr half, ptr addrspace(1) %0, i64 %112, !dbg !12
  %114 = mul i32 %3, %15, !dbg !11
  %115 = sext i32 %114 to i64, !dbg !12
  %116 = getelementptr half, ptr addrspace(1) %0, i64 %115, !dbg !12
  %117 = mul i32 %3, %14, !dbg !11
  %118 = sext i32 %117 to i64, !dbg !12
  %119 = getelementptr half, ptr addrspace(1) %0, i64 %118, !dbg !12
  %120 = mul i32 %3, %13, !dbg !11
  %121 = sext i32 %120 to i64, !dbg !12
  %122 = getelementptr half, ptr addrspace(1) %0, i64 %121, !dbg !12
  %123 = mul i32 %3, %12, !dbg !11
  %124 = sext i32 %123 to i64, !dbg !12
  %125 = getelementptr half, ptr addrspace(1) %0, i64 %124, !dbg !12
  %126 = mul i32 %3, %11, !dbg !11
  %127 = sext i32 %126 to i64, !dbg !12
  %128 = getelementptr half, ptr addrspace(1) %0, i64 %127, !dbg !12
  %129 = mul i32 %3, %10, !dbg !11
  %130 = sext i32 %129 to i64, !dbg !12
  %131 = getelementptr half, ptr addrspace(1) %0, i64 %130, !dbg !12
  %132 = mul i32 %3, %9, !dbg !11
  %133 = sext i32 %132 to i64, !dbg !12
  %134 = getelementptr half, ptr addrspace(1) %0, i64 %133, !dbg !12
  %135 = mul nuw nsw i32 %3, %.lobit, !dbg !11
  %136 = zext nneg i32 %135 to i64, !dbg !12
  %137 = getelementptr half, ptr addrspace(1) %0, i64 %136, !dbg !12
  %138 = zext nneg i32 %40 to i64
  %invariant.gep = getelementptr half, ptr addrspace(1) %137, i64 %138, !dbg !9
  %invariant.gep63 = getelementptr half, ptr addrspace(1) %134, i64 %138, !dbg !9
  %invariant.gep65 = getelementptr half, ptr addrspace(1) %131, i64 %138, !dbg !9
  %invariant.gep67 = getelementptr half, ptr addrspace(1) %128, i64 %138, !dbg !9
  %invariant.gep69 = getelementptr half, ptr addrspace(1) %125, i64 %138, !dbg !9
  %invariant.gep71 = getelementptr half, ptr addrspace(1) %122, i64 %138, !dbg !9
  %invariant.gep73 = getelementptr half, ptr addrspace(1) %119, i64 %138, !dbg !9
  %invariant.gep75 = getelementptr half, ptr addrspace(1) %116, i64 %138, !dbg !9
  %invariant.gep77 = getelementptr half, ptr addrspace(1) %113, i64 %138, !dbg !9
  %invariant.gep79 = getelementptr half, ptr addrspace(1) %110, i64 %138, !dbg !9
  %invariant.gep81 = getelementptr half, ptr addrspace(1) %107, i64 %138, !dbg !9
  %invariant.gep83 = getelementptr half, ptr addrspace(1) %104, i64 %138, !dbg !9
  %invariant.gep85 = getelementptr half, ptr addrspace(1) %101, i64 %138, !dbg !9
  %invariant.gep87 = getelementptr half, ptr addrspace(1) %98, i64 %138, !dbg !9
  %invariant.gep89 = getelementptr half, ptr addrspace(1) %95, i64 %138, !dbg !9
  %invariant.gep91 = getelementptr half, ptr addrspace(1) %92, i64 %138, !dbg !9
  %invariant.gep93 = getelementptr half, ptr addrspace(1) %89, i64 %138, !dbg !9
  %invariant.gep95 = getelementptr half, ptr addrspace(1) %86, i64 %138, !dbg !9
  %invariant.gep97 = getelementptr half, ptr addrspace(1) %83, i64 %138, !dbg !9
  %invariant.gep99 = getelementptr half, ptr addrspace(1) %80, i64 %138, !dbg !9
  %invariant.gep101 = getelementptr half, ptr addrspace(1) %77, i64 %138, !dbg !9
  %invariant.gep103 = getelementptr half, ptr addrspace(1) %74, i64 %138, !dbg !9
  %invariant.gep105 = getelementptr half, ptr addrspace(1) %71, i64 %138, !dbg !9
  %invariant.gep107 = getelementptr half, ptr addrspace(1) %68, i64 %138, !dbg !9
  %invariant.gep109 = getelementptr half, ptr addrspace(1) %65, i64 %138, !dbg !9
  %invariant.gep111 = getelementptr half, ptr addrspace(1) %62, i64 %138, !dbg !9
  %invariant.gep113 = getelementptr half, ptr addrspace(1) %59, i64 %138, !dbg !9
  %invariant.gep115 = getelementptr half, ptr addrspace(1) %56, i64 %138, !dbg !9
  %invariant.gep117 = getelementptr half, ptr addrspace(1) %53, i64 %138, !dbg !9
  %invariant.gep119 = getelementptr half, ptr addrspace(1) %50, i64 %138, !dbg !9
  %invariant.gep121 = getelementptr half, ptr addrspace(1) %47, i64 %138, !dbg !9
  %invariant.gep123 = getelementptr half, ptr addrspace(1) %44, i64 %138, !dbg !9
  %139 = shl nuw nsw i32 %40, 1
  %140 = select i1 %.not, i32 0, i32 144
  %141 = xor i32 %140, %139
  %142 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %141
  %143 = or disjoint i32 %141, 1024
  %144 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %143
  %145 = or disjoint i32 %141, 2048
  %146 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %145
  %147 = or disjoint i32 %141, 3072
  %148 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %147
  %149 = or disjoint i32 %141, 4096
  %150 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %149
  %151 = or disjoint i32 %141, 5120
  %152 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %151
  %153 = or disjoint i32 %141, 6144
  %154 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %153
  %155 = or disjoint i32 %141, 7168
  %156 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %155
  %157 = xor i32 %141, 288
  %158 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %157
  %159 = or disjoint i32 %157, 1024
  %160 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %159
  %161 = or disjoint i32 %157, 2048
  %162 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %161
  %163 = or disjoint i32 %157, 3072
  %164 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %163
  %165 = or disjoint i32 %157, 4096
  %166 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %165
  %167 = or disjoint i32 %157, 5120
  %168 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %167
  %169 = or disjoint i32 %157, 6144
  %170 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %169
  %171 = or disjoint i32 %157, 7168
  %172 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %171
  %173 = xor i32 %141, 576
  %174 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %173
  %175 = or disjoint i32 %173, 1024
  %176 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %175
  %177 = or disjoint i32 %173, 2048
  %178 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %177
  %179 = or disjoint i32 %173, 3072
  %180 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %179
  %181 = or disjoint i32 %173, 4096
  %182 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %181
  %183 = or disjoint i32 %173, 5120
  %184 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %183
  %185 = or disjoint i32 %173, 6144
  %186 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %185
  %187 = or disjoint i32 %173, 7168
  %188 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %187
  %189 = xor i32 %141, 864
  %190 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %189
  %191 = or disjoint i32 %189, 1024
  %192 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %191
  %193 = or disjoint i32 %189, 2048
  %194 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %193
  %195 = or disjoint i32 %189, 3072
  %196 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %195
  %197 = or disjoint i32 %189, 4096
  %198 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %197
  %199 = or disjoint i32 %189, 5120
  %200 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %199
  %201 = or disjoint i32 %189, 6144
  %202 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %201
  %203 = or disjoint i32 %189, 7168
  %204 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %203
  %invariant.gep125 = getelementptr half, ptr addrspace(1) %1, i64 %138, !dbg !9
  %205 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %141
  %206 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %143
  %207 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %145
  %208 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %147
  %209 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %149
  %210 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %151
  %211 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %153
  %212 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %155
  %213 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %157
  %214 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %159
  %215 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %161
  %216 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %163
  %217 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %165
  %218 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %167
  %219 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %169
  %220 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %171
  %221 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %173
  %222 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %175
  %223 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %177
  %224 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %179
  %225 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %181
  %226 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %183
  %227 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %185
  %228 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %187
  %229 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %189
  %230 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %191
  %231 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %193
  %232 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %195
  %233 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %197
  %234 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %199
  %235 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %201
  %236 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %203
  %237 = lshr exact i32 ptrtoint (ptr addrspace(3) @global_smem to i32), 4
  %238 = and i32 %237, 16383
  %239 = zext nneg i32 %238 to i64
  %240 = lshr exact i32 ptrtoint (ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192) to i32), 4
  %241 = and i32 %240, 16383
  %242 = zext nneg i32 %241 to i64
  %243 = or disjoint i64 %239, 4611686293305294848
  %244 = or disjoint i64 %242, 4611686293305294848
  %245 = add nuw nsw i64 %239, 4611686293305294850
  %246 = add nuw nsw i64 %242, 4611686293305294976
  %247 = add nuw nsw i64 %239, 4611686293305294852
  %248 = add nuw nsw i64 %242, 4611686293305295104
  %249 = add nuw nsw i64 %239, 4611686293305294854
  %250 = add nuw nsw i64 %242, 4611686293305295232
  br label %251, !dbg !9

251:                                              ; preds = %.lr.ph, %251
  %252 = phi float [ 0.000000e+00, %.lr.ph ], [ %643, %251 ]
  %253 = phi float [ 0.000000e+00, %.lr.ph ], [ %644, %251 ]
  %254 = phi float [ 0.000000e+00, %.lr.ph ], [ %645, %251 ]
  %255 = phi float [ 0.000000e+00, %.lr.ph ], [ %646, %251 ]
  %256 = phi float [ 0.000000e+00, %.lr.ph ], [ %647, %251 ]
  %257 = phi float [ 0.000000e+00, %.lr.ph ], [ %648, %251 ]
  %258 = phi float [ 0.000000e+00, %.lr.ph ], [ %649, %251 ]
  %259 = phi float [ 0.000000e+00, %.lr.ph ], [ %650, %251 ]
  %260 = phi float [ 0.000000e+00, %.lr.ph ], [ %651, %251 ]
  %261 = phi float [ 0.000000e+00, %.lr.ph ], [ %652, %251 ]
  %262 = phi float [ 0.000000e+00, %.lr.ph ], [ %653, %251 ]
  %263 = phi float [ 0.000000e+00, %.lr.ph ], [ %654, %251 ]
  %264 = phi float [ 0.000000e+00, %.lr.ph ], [ %655, %251 ]
  %265 = phi float [ 0.000000e+00, %.lr.ph ], [ %656, %251 ]
  %266 = phi float [ 0.000000e+00, %.lr.ph ], [ %657, %251 ]
  %267 = phi float [ 0.000000e+00, %.lr.ph ], [ %658, %251 ]
  %268 = phi float [ 0.000000e+00, %.lr.ph ], [ %659, %251 ]
  %269 = phi float [ 0.000000e+00, %.lr.ph ], [ %660, %251 ]
  %270 = phi float [ 0.000000e+00, %.lr.ph ], [ %661, %251 ]
  %271 = phi float [ 0.000000e+00, %.lr.ph ], [ %662, %251 ]
  %272 = phi float [ 0.000000e+00, %.lr.ph ], [ %663, %251 ]
  %273 = phi float [ 0.000000e+00, %.lr.ph ], [ %664, %251 ]
  %274 = phi float [ 0.000000e+00, %.lr.ph ], [ %665, %251 ]
  %275 = phi float [ 0.000000e+00, %.lr.ph ], [ %666, %251 ]
  %276 = phi float [ 0.000000e+00, %.lr.ph ], [ %667, %251 ]
  %277 = phi float [ 0.000000e+00, %.lr.ph ], [ %668, %251 ]
  %278 = phi float [ 0.000000e+00, %.lr.ph ], [ %669, %251 ]
  %279 = phi float [ 0.000000e+00, %.lr.ph ], [ %670, %251 ]
  %280 = phi float [ 0.000000e+00, %.lr.ph ], [ %671, %251 ]
  %281 = phi float [ 0.000000e+00, %.lr.ph ], [ %672, %251 ]
  %282 = phi float [ 0.000000e+00, %.lr.ph ], [ %673, %251 ]
  %283 = phi float [ 0.000000e+00, %.lr.ph ], [ %674, %251 ]
  %284 = phi i32 [ 0, %.lr.ph ], [ %675, %251 ]
  %285 = sext i32 %284 to i64, !dbg !13
  %gep = getelementptr half, ptr addrspace(1) %invariant.gep, i64 %285, !dbg !14
  %gep64 = getelementptr half, ptr addrspace(1) %invariant.gep63, i64 %285, !dbg !14
  %gep66 = getelementptr half, ptr addrspace(1) %invariant.gep65, i64 %285, !dbg !14
  %gep68 = getelementptr half, ptr addrspace(1) %invariant.gep67, i64 %285, !dbg !14
  %gep70 = getelementptr half, ptr addrspace(1) %invariant.gep69, i64 %285, !dbg !14
  %gep72 = getelementptr half, ptr addrspace(1) %invariant.gep71, i64 %285, !dbg !14
  %gep74 = getelementptr half, ptr addrspace(1) %invariant.gep73, i64 %285, !dbg !14
  %gep76 = getelementptr half, ptr addrspace(1) %invariant.gep75, i64 %285, !dbg !14
  %gep78 = getelementptr half, ptr addrspace(1) %invariant.gep77, i64 %285, !dbg !14
  %gep80 = getelementptr half, ptr addrspace(1) %invariant.gep79, i64 %285, !dbg !14
  %gep82 = getelementptr half, ptr addrspace(1) %invariant.gep81, i64 %285, !dbg !14
  %gep84 = getelementptr half, ptr addrspace(1) %invariant.gep83, i64 %285, !dbg !14
  %gep86 = getelementptr half, ptr addrspace(1) %invariant.gep85, i64 %285, !dbg !14
  %gep88 = getelementptr half, ptr addrspace(1) %invariant.gep87, i64 %285, !dbg !14
  %gep90 = getelementptr half, ptr addrspace(1) %invariant.gep89, i64 %285, !dbg !14
  %gep92 = getelementptr half, ptr addrspace(1) %invariant.gep91, i64 %285, !dbg !14
  %gep94 = getelementptr half, ptr addrspace(1) %invariant.gep93, i64 %285, !dbg !14
  %gep96 = getelementptr half, ptr addrspace(1) %invariant.gep95, i64 %285, !dbg !14
  %gep98 = getelementptr half, ptr addrspace(1) %invariant.gep97, i64 %285, !dbg !14
  %gep100 = getelementptr half, ptr addrspace(1) %invariant.gep99, i64 %285, !dbg !14
  %gep102 = getelementptr half, ptr addrspace(1) %invariant.gep101, i64 %285, !dbg !14
  %gep104 = getelementptr half, ptr addrspace(1) %invariant.gep103, i64 %285, !dbg !14
  %gep106 = getelementptr half, ptr addrspace(1) %invariant.gep105, i64 %285, !dbg !14
  %gep108 = getelementptr half, ptr addrspace(1) %invariant.gep107, i64 %285, !dbg !14
  %gep110 = getelementptr half, ptr addrspace(1) %invariant.gep109, i64 %285, !dbg !14
  %gep112 = getelementptr half, ptr addrspace(1) %invariant.gep111, i64 %285, !dbg !14
  %gep114 = getelementptr half, ptr addrspace(1) %invariant.gep113, i64 %285, !dbg !14
  %gep116 = getelementptr half, ptr addrspace(1) %invariant.gep115, i64 %285, !dbg !14
  %gep118 = getelementptr half, ptr addrspace(1) %invariant.gep117, i64 %285, !dbg !14
  %gep120 = getelementptr half, ptr addrspace(1) %invariant.gep119, i64 %285, !dbg !14
  %gep122 = getelementptr half, ptr addrspace(1) %invariant.gep121, i64 %285, !dbg !14
  %gep124 = getelementptr half, ptr addrspace(1) %invariant.gep123, i64 %285, !dbg !14
  %286 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep) #4, !dbg !15
  %287 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep64) #4, !dbg !15
  %288 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep66) #4, !dbg !15
  %289 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep68) #4, !dbg !15
  %290 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep70) #4, !dbg !15
  %291 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep72) #4, !dbg !15
  %292 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep74) #4, !dbg !15
  %293 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep76) #4, !dbg !15
  %294 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep78) #4, !dbg !15
  %295 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep80) #4, !dbg !15
  %296 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep82) #4, !dbg !15
  %297 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep84) #4, !dbg !15
  %298 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep86) #4, !dbg !15
  %299 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep88) #4, !dbg !15
  %300 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep90) #4, !dbg !15
  %301 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep92) #4, !dbg !15
  %302 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep94) #4, !dbg !15
  %303 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep96) #4, !dbg !15
  %304 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep98) #4, !dbg !15
  %305 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep100) #4, !dbg !15
  %306 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep102) #4, !dbg !15
  %307 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep104) #4, !dbg !15
  %308 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep106) #4, !dbg !15
  %309 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep108) #4, !dbg !15
  %310 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep110) #4, !dbg !15
  %311 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep112) #4, !dbg !15
  %312 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep114) #4, !dbg !15
  %313 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep116) #4, !dbg !15
  %314 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep118) #4, !dbg !15
  %315 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep120) #4, !dbg !15
  %316 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep122) #4, !dbg !15
  %317 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep124) #4, !dbg !15
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !15
  %318 = insertelement <1 x i16> poison, i16 %286, i64 0, !dbg !15
  store <1 x i16> %318, ptr addrspace(3) %142, align 2, !dbg !15
  %319 = insertelement <1 x i16> poison, i16 %290, i64 0, !dbg !15
  store <1 x i16> %319, ptr addrspace(3) %144, align 2, !dbg !15
  %320 = insertelement <1 x i16> poison, i16 %294, i64 0, !dbg !15
  store <1 x i16> %320, ptr addrspace(3) %146, align 2, !dbg !15
  %321 = insertelement <1 x i16> poison, i16 %298, i64 0, !dbg !15
  store <1 x i16> %321, ptr addrspace(3) %148, align 2, !dbg !15
  %322 = insertelement <1 x i16> poison, i16 %302, i64 0, !dbg !15
  store <1 x i16> %322, ptr addrspace(3) %150, align 2, !dbg !15
  %323 = insertelement <1 x i16> poison, i16 %306, i64 0, !dbg !15
  store <1 x i16> %323, ptr addrspace(3) %152, align 2, !dbg !15
  %324 = insertelement <1 x i16> poison, i16 %310, i64 0, !dbg !15
  store <1 x i16> %324, ptr addrspace(3) %154, align 2, !dbg !15
  %325 = insertelement <1 x i16> poison, i16 %314, i64 0, !dbg !15
  store <1 x i16> %325, ptr addrspace(3) %156, align 2, !dbg !15
  %326 = insertelement <1 x i16> poison, i16 %287, i64 0, !dbg !15
  store <1 x i16> %326, ptr addrspace(3) %158, align 2, !dbg !15
  %327 = insertelement <1 x i16> poison, i16 %291, i64 0, !dbg !15
  store <1 x i16> %327, ptr addrspace(3) %160, align 2, !dbg !15
  %328 = insertelement <1 x i16> poison, i16 %295, i64 0, !dbg !15
  store <1 x i16> %328, ptr addrspace(3) %162, align 2, !dbg !15
  %329 = insertelement <1 x i16> poison, i16 %299, i64 0, !dbg !15
  store <1 x i16> %329, ptr addrspace(3) %164, align 2, !dbg !15
  %330 = insertelement <1 x i16> poison, i16 %303, i64 0, !dbg !15
  store <1 x i16> %330, ptr addrspace(3) %166, align 2, !dbg !15
  %331 = insertelement <1 x i16> poison, i16 %307, i64 0, !dbg !15
  store <1 x i16> %331, ptr addrspace(3) %168, align 2, !dbg !15
  %332 = insertelement <1 x i16> poison, i16 %311, i64 0, !dbg !15
  store <1 x i16> %332, ptr addrspace(3) %170, align 2, !dbg !15
  %333 = insertelement <1 x i16> poison, i16 %315, i64 0, !dbg !15
  store <1 x i16> %333, ptr addrspace(3) %172, align 2, !dbg !15
  %334 = insertelement <1 x i16> poison, i16 %288, i64 0, !dbg !15
  store <1 x i16> %334, ptr addrspace(3) %174, align 2, !dbg !15
  %335 = insertelement <1 x i16> poison, i16 %292, i64 0, !dbg !15
  store <1 x i16> %335, ptr addrspace(3) %176, align 2, !dbg !15
  %336 = insertelement <1 x i16> poison, i16 %296, i64 0, !dbg !15
  store <1 x i16> %336, ptr addrspace(3) %178, align 2, !dbg !15
  %337 = insertelement <1 x i16> poison, i16 %300, i64 0, !dbg !15
  store <1 x i16> %337, ptr addrspace(3) %180, align 2, !dbg !15
  %338 = insertelement <1 x i16> poison, i16 %304, i64 0, !dbg !15
  store <1 x i16> %338, ptr addrspace(3) %182, align 2, !dbg !15
  %339 = insertelement <1 x i16> poison, i16 %308, i64 0, !dbg !15
  store <1 x i16> %339, ptr addrspace(3) %184, align 2, !dbg !15
  %340 = insertelement <1 x i16> poison, i16 %312, i64 0, !dbg !15
  store <1 x i16> %340, ptr addrspace(3) %186, align 2, !dbg !15
  %341 = insertelement <1 x i16> poison, i16 %316, i64 0, !dbg !15
  store <1 x i16> %341, ptr addrspace(3) %188, align 2, !dbg !15
  %342 = insertelement <1 x i16> poison, i16 %289, i64 0, !dbg !15
  store <1 x i16> %342, ptr addrspace(3) %190, align 2, !dbg !15
  %343 = insertelement <1 x i16> poison, i16 %293, i64 0, !dbg !15
  store <1 x i16> %343, ptr addrspace(3) %192, align 2, !dbg !15
  %344 = insertelement <1 x i16> poison, i16 %297, i64 0, !dbg !15
  store <1 x i16> %344, ptr addrspace(3) %194, align 2, !dbg !15
  %345 = insertelement <1 x i16> poison, i16 %301, i64 0, !dbg !15
  store <1 x i16> %345, ptr addrspace(3) %196, align 2, !dbg !15
  %346 = insertelement <1 x i16> poison, i16 %305, i64 0, !dbg !15
  store <1 x i16> %346, ptr addrspace(3) %198, align 2, !dbg !15
  %347 = insertelement <1 x i16> poison, i16 %309, i64 0, !dbg !15
  store <1 x i16> %347, ptr addrspace(3) %200, align 2, !dbg !15
  %348 = insertelement <1 x i16> poison, i16 %313, i64 0, !dbg !15
  store <1 x i16> %348, ptr addrspace(3) %202, align 2, !dbg !15
  %349 = insertelement <1 x i16> poison, i16 %317, i64 0, !dbg !15
  store <1 x i16> %349, ptr addrspace(3) %204, align 2, !dbg !15
  %350 = or disjoint i32 %284, %.lobit, !dbg !16
  %351 = or disjoint i32 %284, %9, !dbg !16
  %352 = or disjoint i32 %284, %10, !dbg !16
  %353 = or disjoint i32 %284, %11, !dbg !16
  %354 = or disjoint i32 %284, %12, !dbg !16
  %355 = or disjoint i32 %284, %13, !dbg !16
  %356 = or disjoint i32 %284, %14, !dbg !16
  %357 = or disjoint i32 %284, %15, !dbg !16
  %358 = or disjoint i32 %284, %16, !dbg !16
  %359 = or disjoint i32 %284, %17, !dbg !16
  %360 = or disjoint i32 %284, %18, !dbg !16
  %361 = or disjoint i32 %284, %19, !dbg !16
  %362 = or disjoint i32 %284, %20, !dbg !16
  %363 = or disjoint i32 %284, %21, !dbg !16
  %364 = or disjoint i32 %284, %22, !dbg !16
  %365 = or disjoint i32 %284, %23, !dbg !16
  %366 = or disjoint i32 %284, %24, !dbg !16
  %367 = or disjoint i32 %284, %25, !dbg !16
  %368 = or disjoint i32 %284, %26, !dbg !16
  %369 = or disjoint i32 %284, %27, !dbg !16
  %370 = or disjoint i32 %284, %28, !dbg !16
  %371 = or disjoint i32 %284, %29, !dbg !16
  %372 = or disjoint i32 %284, %30, !dbg !16
  %373 = or disjoint i32 %284, %31, !dbg !16
  %374 = or disjoint i32 %284, %32, !dbg !16
  %375 = or disjoint i32 %284, %33, !dbg !16
  %376 = or disjoint i32 %284, %34, !dbg !16
  %377 = or disjoint i32 %284, %35, !dbg !16
  %378 = or disjoint i32 %284, %36, !dbg !16
  %379 = or disjoint i32 %284, %37, !dbg !16
  %380 = or disjoint i32 %284, %38, !dbg !16
  %381 = or disjoint i32 %284, %39, !dbg !16
  %382 = shl i32 %350, 6, !dbg !17
  %383 = shl i32 %351, 6, !dbg !17
  %384 = shl i32 %352, 6, !dbg !17
  %385 = shl i32 %353, 6, !dbg !17
  %386 = shl i32 %354, 6, !dbg !17
  %387 = shl i32 %355, 6, !dbg !17
  %388 = shl i32 %356, 6, !dbg !17
  %389 = shl i32 %357, 6, !dbg !17
  %390 = shl i32 %358, 6, !dbg !17
  %391 = shl i32 %359, 6, !dbg !17
  %392 = shl i32 %360, 6, !dbg !17
  %393 = shl i32 %361, 6, !dbg !17
  %394 = shl i32 %362, 6, !dbg !17
  %395 = shl i32 %363, 6, !dbg !17
  %396 = shl i32 %364, 6, !dbg !17
  %397 = shl i32 %365, 6, !dbg !17
  %398 = shl i32 %366, 6, !dbg !17
  %399 = shl i32 %367, 6, !dbg !17
  %400 = shl i32 %368, 6, !dbg !17
  %401 = shl i32 %369, 6, !dbg !17
  %402 = shl i32 %370, 6, !dbg !17
  %403 = shl i32 %371, 6, !dbg !17
  %404 = shl i32 %372, 6, !dbg !17
  %405 = shl i32 %373, 6, !dbg !17
  %406 = shl i32 %374, 6, !dbg !17
  %407 = shl i32 %375, 6, !dbg !17
  %408 = shl i32 %376, 6, !dbg !17
  %409 = shl i32 %377, 6, !dbg !17
  %410 = shl i32 %378, 6, !dbg !17
  %411 = shl i32 %379, 6, !dbg !17
  %412 = shl i32 %380, 6, !dbg !17
  %413 = shl i32 %381, 6, !dbg !17
  %414 = sext i32 %382 to i64, !dbg !18
  %415 = sext i32 %383 to i64, !dbg !18
  %416 = sext i32 %384 to i64, !dbg !18
  %417 = sext i32 %385 to i64, !dbg !18
  %418 = sext i32 %386 to i64, !dbg !18
  %419 = sext i32 %387 to i64, !dbg !18
  %420 = sext i32 %388 to i64, !dbg !18
  %421 = sext i32 %389 to i64, !dbg !18
  %422 = sext i32 %390 to i64, !dbg !18
  %423 = sext i32 %391 to i64, !dbg !18
  %424 = sext i32 %392 to i64, !dbg !18
  %425 = sext i32 %393 to i64, !dbg !18
  %426 = sext i32 %394 to i64, !dbg !18
  %427 = sext i32 %395 to i64, !dbg !18
  %428 = sext i32 %396 to i64, !dbg !18
  %429 = sext i32 %397 to i64, !dbg !18
  %430 = sext i32 %398 to i64, !dbg !18
  %431 = sext i32 %399 to i64, !dbg !18
  %432 = sext i32 %400 to i64, !dbg !18
  %433 = sext i32 %401 to i64, !dbg !18
  %434 = sext i32 %402 to i64, !dbg !18
  %435 = sext i32 %403 to i64, !dbg !18
  %436 = sext i32 %404 to i64, !dbg !18
  %437 = sext i32 %405 to i64, !dbg !18
  %438 = sext i32 %406 to i64, !dbg !18
  %439 = sext i32 %407 to i64, !dbg !18
  %440 = sext i32 %408 to i64, !dbg !18
  %441 = sext i32 %409 to i64, !dbg !18
  %442 = sext i32 %410 to i64, !dbg !18
  %443 = sext i32 %411 to i64, !dbg !18
  %444 = sext i32 %412 to i64, !dbg !18
  %445 = sext i32 %413 to i64, !dbg !18
  %gep126 = getelementptr half, ptr addrspace(1) %invariant.gep125, i64 %414, !dbg !19
  %gep128 = getelementptr half, ptr addrspace(1) %invariant.gep125, i64 %415, !dbg !19
  %gep130 = getelementptr half, ptr addrspace(1) %invariant.gep125, i64 %416, !dbg !19
  %gep132 = getelementptr half, ptr addrspace(1) %invariant.gep125, i64 %417, !dbg !19
  %gep134 = getelementptr half, ptr addrspace(1) %invariant.gep125, i64 %418, !dbg !19
  %gep136 = getelementptr half, ptr addrspace(1) %invariant.gep125, i64 %419, !dbg !19
  %gep138 = getelementptr half, ptr addrspace(1) %invariant.gep125, i64 %420, !dbg !19
  %gep140 = getelementptr half, ptr addrspace(1) %invariant.gep125, i64 %421, !dbg !19
  %gep142 = getelementptr half, ptr addrspace(1) %invariant.gep125, i64 %422, !dbg !19
  %gep144 = getelementptr half, ptr addrspace(1) %invariant.gep125, i64 %423, !dbg !19
  %gep146 = getelementptr half, ptr addrspace(1) %invariant.gep125, i64 %424, !dbg !19
  %gep148 = getelementptr half, ptr addrspace(1) %invariant.gep125, i64 %425, !dbg !19
  %gep150 = getelementptr half, ptr addrspace(1) %invariant.gep125, i64 %426, !dbg !19
  %gep152 = getelementptr half, ptr addrspace(1) %invariant.gep125, i64 %427, !dbg !19
  %gep154 = getelementptr half, ptr addrspace(1) %invariant.gep125, i64 %428, !dbg !19
  %gep156 = getelementptr half, ptr addrspace(1) %invariant.gep125, i64 %429, !dbg !19
  %gep158 = getelementptr half, ptr addrspace(1) %invariant.gep125, i64 %430, !dbg !19
  %gep160 = getelementptr half, ptr addrspace(1) %invariant.gep125, i64 %431, !dbg !19
  %gep162 = getelementptr half, ptr addrspace(1) %invariant.gep125, i64 %432, !dbg !19
  %gep164 = getelementptr half, ptr addrspace(1) %invariant.gep125, i64 %433, !dbg !19
  %gep166 = getelementptr half, ptr addrspace(1) %invariant.gep125, i64 %434, !dbg !19
  %gep168 = getelementptr half, ptr addrspace(1) %invariant.gep125, i64 %435, !dbg !19
  %gep170 = getelementptr half, ptr addrspace(1) %invariant.gep125, i64 %436, !dbg !19
  %gep172 = getelementptr half, ptr addrspace(1) %invariant.gep125, i64 %437, !dbg !19
  %gep174 = getelementptr half, ptr addrspace(1) %invariant.gep125, i64 %438, !dbg !19
  %gep176 = getelementptr half, ptr addrspace(1) %invariant.gep125, i64 %439, !dbg !19
  %gep178 = getelementptr half, ptr addrspace(1) %invariant.gep125, i64 %440, !dbg !19
  %gep180 = getelementptr half, ptr addrspace(1) %invariant.gep125, i64 %441, !dbg !19
  %gep182 = getelementptr half, ptr addrspace(1) %invariant.gep125, i64 %442, !dbg !19
  %gep184 = getelementptr half, ptr addrspace(1) %invariant.gep125, i64 %443, !dbg !19
  %gep186 = getelementptr half, ptr addrspace(1) %invariant.gep125, i64 %444, !dbg !19
  %gep188 = getelementptr half, ptr addrspace(1) %invariant.gep125, i64 %445, !dbg !19
  %446 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep126) #4, !dbg !20
  %447 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep128) #4, !dbg !20
  %448 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep130) #4, !dbg !20
  %449 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep132) #4, !dbg !20
  %450 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep134) #4, !dbg !20
  %451 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep136) #4, !dbg !20
  %452 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep138) #4, !dbg !20
  %453 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep140) #4, !dbg !20
  %454 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep142) #4, !dbg !20
  %455 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep144) #4, !dbg !20
  %456 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep146) #4, !dbg !20
  %457 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep148) #4, !dbg !20
  %458 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep150) #4, !dbg !20
  %459 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep152) #4, !dbg !20
  %460 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep154) #4, !dbg !20
  %461 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep156) #4, !dbg !20
  %462 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep158) #4, !dbg !20
  %463 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep160) #4, !dbg !20
  %464 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep162) #4, !dbg !20
  %465 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep164) #4, !dbg !20
  %466 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep166) #4, !dbg !20
  %467 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep168) #4, !dbg !20
  %468 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep170) #4, !dbg !20
  %469 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep172) #4, !dbg !20
  %470 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep174) #4, !dbg !20
  %471 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep176) #4, !dbg !20
  %472 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep178) #4, !dbg !20
  %473 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep180) #4, !dbg !20
  %474 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep182) #4, !dbg !20
  %475 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep184) #4, !dbg !20
  %476 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep186) #4, !dbg !20
  %477 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep188) #4, !dbg !20
  %478 = insertelement <1 x i16> poison, i16 %446, i64 0, !dbg !20
  store <1 x i16> %478, ptr addrspace(3) %205, align 2, !dbg !20
  %479 = insertelement <1 x i16> poison, i16 %450, i64 0, !dbg !20
  store <1 x i16> %479, ptr addrspace(3) %206, align 2, !dbg !20
  %480 = insertelement <1 x i16> poison, i16 %454, i64 0, !dbg !20
  store <1 x i16> %480, ptr addrspace(3) %207, align 2, !dbg !20
  %481 = insertelement <1 x i16> poison, i16 %458, i64 0, !dbg !20
  store <1 x i16> %481, ptr addrspace(3) %208, align 2, !dbg !20
  %482 = insertelement <1 x i16> poison, i16 %462, i64 0, !dbg !20
  store <1 x i16> %482, ptr addrspace(3) %209, align 2, !dbg !20
  %483 = insertelement <1 x i16> poison, i16 %466, i64 0, !dbg !20
  store <1 x i16> %483, ptr addrspace(3) %210, align 2, !dbg !20
  %484 = insertelement <1 x i16> poison, i16 %470, i64 0, !dbg !20
  store <1 x i16> %484, ptr addrspace(3) %211, align 2, !dbg !20
  %485 = insertelement <1 x i16> poison, i16 %474, i64 0, !dbg !20
  store <1 x i16> %485, ptr addrspace(3) %212, align 2, !dbg !20
  %486 = insertelement <1 x i16> poison, i16 %447, i64 0, !dbg !20
  store <1 x i16> %486, ptr addrspace(3) %213, align 2, !dbg !20
  %487 = insertelement <1 x i16> poison, i16 %451, i64 0, !dbg !20
  store <1 x i16> %487, ptr addrspace(3) %214, align 2, !dbg !20
  %488 = insertelement <1 x i16> poison, i16 %455, i64 0, !dbg !20
  store <1 x i16> %488, ptr addrspace(3) %215, align 2, !dbg !20
  %489 = insertelement <1 x i16> poison, i16 %459, i64 0, !dbg !20
  store <1 x i16> %489, ptr addrspace(3) %216, align 2, !dbg !20
  %490 = insertelement <1 x i16> poison, i16 %463, i64 0, !dbg !20
  store <1 x i16> %490, ptr addrspace(3) %217, align 2, !dbg !20
  %491 = insertelement <1 x i16> poison, i16 %467, i64 0, !dbg !20
  store <1 x i16> %491, ptr addrspace(3) %218, align 2, !dbg !20
  %492 = insertelement <1 x i16> poison, i16 %471, i64 0, !dbg !20
  store <1 x i16> %492, ptr addrspace(3) %219, align 2, !dbg !20
  %493 = insertelement <1 x i16> poison, i16 %475, i64 0, !dbg !20
  store <1 x i16> %493, ptr addrspace(3) %220, align 2, !dbg !20
  %494 = insertelement <1 x i16> poison, i16 %448, i64 0, !dbg !20
  store <1 x i16> %494, ptr addrspace(3) %221, align 2, !dbg !20
  %495 = insertelement <1 x i16> poison, i16 %452, i64 0, !dbg !20
  store <1 x i16> %495, ptr addrspace(3) %222, align 2, !dbg !20
  %496 = insertelement <1 x i16> poison, i16 %456, i64 0, !dbg !20
  store <1 x i16> %496, ptr addrspace(3) %223, align 2, !dbg !20
  %497 = insertelement <1 x i16> poison, i16 %460, i64 0, !dbg !20
  store <1 x i16> %497, ptr addrspace(3) %224, align 2, !dbg !20
  %498 = insertelement <1 x i16> poison, i16 %464, i64 0, !dbg !20
  store <1 x i16> %498, ptr addrspace(3) %225, align 2, !dbg !20
  %499 = insertelement <1 x i16> poison, i16 %468, i64 0, !dbg !20
  store <1 x i16> %499, ptr addrspace(3) %226, align 2, !dbg !20
  %500 = insertelement <1 x i16> poison, i16 %472, i64 0, !dbg !20
  store <1 x i16> %500, ptr addrspace(3) %227, align 2, !dbg !20
  %501 = insertelement <1 x i16> poison, i16 %476, i64 0, !dbg !20
  store <1 x i16> %501, ptr addrspace(3) %228, align 2, !dbg !20
  %502 = insertelement <1 x i16> poison, i16 %449, i64 0, !dbg !20
  store <1 x i16> %502, ptr addrspace(3) %229, align 2, !dbg !20
  %503 = insertelement <1 x i16> poison, i16 %453, i64 0, !dbg !20
  store <1 x i16> %503, ptr addrspace(3) %230, align 2, !dbg !20
  %504 = insertelement <1 x i16> poison, i16 %457, i64 0, !dbg !20
  store <1 x i16> %504, ptr addrspace(3) %231, align 2, !dbg !20
  %505 = insertelement <1 x i16> poison, i16 %461, i64 0, !dbg !20
  store <1 x i16> %505, ptr addrspace(3) %232, align 2, !dbg !20
  %506 = insertelement <1 x i16> poison, i16 %465, i64 0, !dbg !20
  store <1 x i16> %506, ptr addrspace(3) %233, align 2, !dbg !20
  %507 = insertelement <1 x i16> poison, i16 %469, i64 0, !dbg !20
  store <1 x i16> %507, ptr addrspace(3) %234, align 2, !dbg !20
  %508 = insertelement <1 x i16> poison, i16 %473, i64 0, !dbg !20
  store <1 x i16> %508, ptr addrspace(3) %235, align 2, !dbg !20
  %509 = insertelement <1 x i16> poison, i16 %477, i64 0, !dbg !20
  store <1 x i16> %509, ptr addrspace(3) %236, align 2, !dbg !20
  tail call void asm sideeffect "fence.proxy.async.shared::cta;", ""() #4, !dbg !21
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !21
  tail call void @llvm.nvvm.wgmma.fence.sync.aligned(), !dbg !21
  %510 = tail call { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } asm sideeffect "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {$0,$1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,$20,$21,$22,$23,$24,$25,$26,$27,$28,$29,$30,$31}, $64, $65, $66, 1, 1, 0, 1;", "=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,l,l,b"(float %252, float %253, float %254, float %255, float %256, float %257, float %258, float %259, float %260, float %261, float %262, float %263, float %264, float %265, float %266, float %267, float %268, float %269, float %270, float %271, float %272, float %273, float %274, float %275, float %276, float %277, float %278, float %279, float %280, float %281, float %282, float %283, i64 %243, i64 %244, i1 true) #4, !dbg !21
  %511 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %510, 0, !dbg !21
  %512 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %510, 1, !dbg !21
  %513 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %510, 2, !dbg !21
  %514 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %510, 3, !dbg !21
  %515 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %510, 4, !dbg !21
  %516 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %510, 5, !dbg !21
  %517 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %510, 6, !dbg !21
  %518 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %510, 7, !dbg !21
  %519 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %510, 8, !dbg !21
  %520 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %510, 9, !dbg !21
  %521 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %510, 10, !dbg !21
  %522 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %510, 11, !dbg !21
  %523 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %510, 12, !dbg !21
  %524 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %510, 13, !dbg !21
  %525 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %510, 14, !dbg !21
  %526 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %510, 15, !dbg !21
  %527 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %510, 16, !dbg !21
  %528 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %510, 17, !dbg !21
  %529 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %510, 18, !dbg !21
  %530 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %510, 19, !dbg !21
  %531 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %510, 20, !dbg !21
  %532 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %510, 21, !dbg !21
  %533 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %510, 22, !dbg !21
  %534 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %510, 23, !dbg !21
  %535 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %510, 24, !dbg !21
  %536 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %510, 25, !dbg !21
  %537 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %510, 26, !dbg !21
  %538 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %510, 27, !dbg !21
  %539 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %510, 28, !dbg !21
  %540 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %510, 29, !dbg !21
  %541 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %510, 30, !dbg !21
  %542 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %510, 31, !dbg !21
  %543 = tail call { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } asm sideeffect "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {$0,$1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,$20,$21,$22,$23,$24,$25,$26,$27,$28,$29,$30,$31}, $64, $65, $66, 1, 1, 0, 1;", "=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,l,l,b"(float %511, float %512, float %513, float %514, float %515, float %516, float %517, float %518, float %519, float %520, float %521, float %522, float %523, float %524, float %525, float %526, float %527, float %528, float %529, float %530, float %531, float %532, float %533, float %534, float %535, float %536, float %537, float %538, float %539, float %540, float %541, float %542, i64 %245, i64 %246, i1 true) #4, !dbg !21
  %544 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %543, 0, !dbg !21
  %545 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %543, 1, !dbg !21
  %546 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %543, 2, !dbg !21
  %547 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %543, 3, !dbg !21
  %548 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %543, 4, !dbg !21
  %549 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %543, 5, !dbg !21
  %550 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %543, 6, !dbg !21
  %551 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %543, 7, !dbg !21
  %552 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %543, 8, !dbg !21
  %553 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %543, 9, !dbg !21
  %554 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %543, 10, !dbg !21
  %555 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %543, 11, !dbg !21
  %556 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %543, 12, !dbg !21
  %557 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %543, 13, !dbg !21
  %558 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %543, 14, !dbg !21
  %559 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %543, 15, !dbg !21
  %560 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %543, 16, !dbg !21
  %561 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %543, 17, !dbg !21
  %562 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %543, 18, !dbg !21
  %563 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %543, 19, !dbg !21
  %564 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %543, 20, !dbg !21
  %565 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %543, 21, !dbg !21
  %566 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %543, 22, !dbg !21
  %567 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %543, 23, !dbg !21
  %568 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %543, 24, !dbg !21
  %569 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %543, 25, !dbg !21
  %570 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %543, 26, !dbg !21
  %571 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %543, 27, !dbg !21
  %572 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %543, 28, !dbg !21
  %573 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %543, 29, !dbg !21
  %574 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %543, 30, !dbg !21
  %575 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %543, 31, !dbg !21
  %576 = tail call { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } asm sideeffect "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {$0,$1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,$20,$21,$22,$23,$24,$25,$26,$27,$28,$29,$30,$31}, $64, $65, $66, 1, 1, 0, 1;", "=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,l,l,b"(float %544, float %545, float %546, float %547, float %548, float %549, float %550, float %551, float %552, float %553, float %554, float %555, float %556, float %557, float %558, float %559, float %560, float %561, float %562, float %563, float %564, float %565, float %566, float %567, float %568, float %569, float %570, float %571, float %572, float %573, float %574, float %575, i64 %247, i64 %248, i1 true) #4, !dbg !21
  %577 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %576, 0, !dbg !21
  %578 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %576, 1, !dbg !21
  %579 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %576, 2, !dbg !21
  %580 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %576, 3, !dbg !21
  %581 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %576, 4, !dbg !21
  %582 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %576, 5, !dbg !21
  %583 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %576, 6, !dbg !21
  %584 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %576, 7, !dbg !21
  %585 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %576, 8, !dbg !21
  %586 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %576, 9, !dbg !21
  %587 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %576, 10, !dbg !21
  %588 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %576, 11, !dbg !21
  %589 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %576, 12, !dbg !21
  %590 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %576, 13, !dbg !21
  %591 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %576, 14, !dbg !21
  %592 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %576, 15, !dbg !21
  %593 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %576, 16, !dbg !21
  %594 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %576, 17, !dbg !21
  %595 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %576, 18, !dbg !21
  %596 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %576, 19, !dbg !21
  %597 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %576, 20, !dbg !21
  %598 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %576, 21, !dbg !21
  %599 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %576, 22, !dbg !21
  %600 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %576, 23, !dbg !21
  %601 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %576, 24, !dbg !21
  %602 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %576, 25, !dbg !21
  %603 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %576, 26, !dbg !21
  %604 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %576, 27, !dbg !21
  %605 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %576, 28, !dbg !21
  %606 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %576, 29, !dbg !21
  %607 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %576, 30, !dbg !21
  %608 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %576, 31, !dbg !21
  %609 = tail call { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } asm sideeffect "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {$0,$1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,$20,$21,$22,$23,$24,$25,$26,$27,$28,$29,$30,$31}, $64, $65, $66, 1, 1, 0, 1;", "=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,l,l,b"(float %577, float %578, float %579, float %580, float %581, float %582, float %583, float %584, float %585, float %586, float %587, float %588, float %589, float %590, float %591, float %592, float %593, float %594, float %595, float %596, float %597, float %598, float %599, float %600, float %601, float %602, float %603, float %604, float %605, float %606, float %607, float %608, i64 %249, i64 %250, i1 true) #4, !dbg !21
  %610 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %609, 0, !dbg !21
  %611 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %609, 1, !dbg !21
  %612 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %609, 2, !dbg !21
  %613 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %609, 3, !dbg !21
  %614 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %609, 4, !dbg !21
  %615 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %609, 5, !dbg !21
  %616 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %609, 6, !dbg !21
  %617 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %609, 7, !dbg !21
  %618 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %609, 8, !dbg !21
  %619 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %609, 9, !dbg !21
  %620 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %609, 10, !dbg !21
  %621 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %609, 11, !dbg !21
  %622 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %609, 12, !dbg !21
  %623 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %609, 13, !dbg !21
  %624 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %609, 14, !dbg !21
  %625 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %609, 15, !dbg !21
  %626 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %609, 16, !dbg !21
  %627 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %609, 17, !dbg !21
  %628 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %609, 18, !dbg !21
  %629 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %609, 19, !dbg !21
  %630 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %609, 20, !dbg !21
  %631 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %609, 21, !dbg !21
  %632 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %609, 22, !dbg !21
  %633 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %609, 23, !dbg !21
  %634 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %609, 24, !dbg !21
  %635 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %609, 25, !dbg !21
  %636 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %609, 26, !dbg !21
  %637 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %609, 27, !dbg !21
  %638 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %609, 28, !dbg !21
  %639 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %609, 29, !dbg !21
  %640 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %609, 30, !dbg !21
  %641 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %609, 31, !dbg !21
  tail call void @llvm.nvvm.wgmma.commit_group.sync.aligned(), !dbg !21
  %642 = tail call { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } asm sideeffect "// wait for regs: $0,$1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,$20,$21,$22,$23,$24,$25,$26,$27,$28,$29,$30,$31,$32,$33,$34,$35,$36,$37\0A\09wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=l,=r,=r,=l,=r,=r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37"(float %610, float %611, float %612, float %613, float %614, float %615, float %616, float %617, float %618, float %619, float %620, float %621, float %622, float %623, float %624, float %625, float %626, float %627, float %628, float %629, float %630, float %631, float %632, float %633, float %634, float %635, float %636, float %637, float %638, float %639, float %640, float %641, ptr addrspace(3) @global_smem, i32 0, i32 0, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 0, i32 0) #4, !dbg !21
  %643 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %642, 0, !dbg !21
  %644 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %642, 1, !dbg !21
  %645 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %642, 2, !dbg !21
  %646 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %642, 3, !dbg !21
  %647 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %642, 4, !dbg !21
  %648 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %642, 5, !dbg !21
  %649 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %642, 6, !dbg !21
  %650 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %642, 7, !dbg !21
  %651 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %642, 8, !dbg !21
  %652 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %642, 9, !dbg !21
  %653 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %642, 10, !dbg !21
  %654 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %642, 11, !dbg !21
  %655 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %642, 12, !dbg !21
  %656 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %642, 13, !dbg !21
  %657 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %642, 14, !dbg !21
  %658 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %642, 15, !dbg !21
  %659 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %642, 16, !dbg !21
  %660 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %642, 17, !dbg !21
  %661 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %642, 18, !dbg !21
  %662 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %642, 19, !dbg !21
  %663 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %642, 20, !dbg !21
  %664 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %642, 21, !dbg !21
  %665 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %642, 22, !dbg !21
  %666 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %642, 23, !dbg !21
  %667 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %642, 24, !dbg !21
  %668 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %642, 25, !dbg !21
  %669 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %642, 26, !dbg !21
  %670 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %642, 27, !dbg !21
  %671 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %642, 28, !dbg !21
  %672 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %642, 29, !dbg !21
  %673 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %642, 30, !dbg !21
  %674 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %642, 31, !dbg !21
  %675 = add i32 %284, 64, !dbg !9
  %676 = icmp slt i32 %675, %3, !dbg !9
  br i1 %676, label %251, label %._crit_edge, !dbg !9

._crit_edge:                                      ; preds = %251, %.._crit_edge_crit_edge
  %.pre-phi = phi i64 [ %.pre, %.._crit_edge_crit_edge ], [ %138, %251 ], !dbg !10
  %677 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %643, %251 ]
  %678 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %644, %251 ]
  %679 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %645, %251 ]
  %680 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %646, %251 ]
  %681 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %647, %251 ]
  %682 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %648, %251 ]
  %683 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %649, %251 ]
  %684 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %650, %251 ]
  %685 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %651, %251 ]
  %686 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %652, %251 ]
  %687 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %653, %251 ]
  %688 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %654, %251 ]
  %689 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %655, %251 ]
  %690 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %656, %251 ]
  %691 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %657, %251 ]
  %692 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %658, %251 ]
  %693 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %659, %251 ]
  %694 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %660, %251 ]
  %695 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %661, %251 ]
  %696 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %662, %251 ]
  %697 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %663, %251 ]
  %698 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %664, %251 ]
  %699 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %665, %251 ]
  %700 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %666, %251 ]
  %701 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %667, %251 ]
  %702 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %668, %251 ]
  %703 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %669, %251 ]
  %704 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %670, %251 ]
  %705 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %671, %251 ]
  %706 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %672, %251 ]
  %707 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %673, %251 ]
  %708 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %674, %251 ]
  %709 = shl nuw nsw i32 %9, 6, !dbg !22
  %710 = shl nuw nsw i32 %10, 6, !dbg !22
  %711 = shl nuw nsw i32 %11, 6, !dbg !22
  %712 = shl nuw nsw i32 %12, 6, !dbg !22
  %713 = shl nuw nsw i32 %13, 6, !dbg !22
  %714 = shl nuw nsw i32 %14, 6, !dbg !22
  %715 = shl nuw nsw i32 %15, 6, !dbg !22
  %716 = shl nuw nsw i32 %16, 6, !dbg !22
  %717 = shl nuw nsw i32 %17, 6, !dbg !22
  %718 = shl nuw nsw i32 %18, 6, !dbg !22
  %719 = shl nuw nsw i32 %19, 6, !dbg !22
  %720 = shl nuw nsw i32 %20, 6, !dbg !22
  %721 = shl nuw nsw i32 %21, 6, !dbg !22
  %722 = shl nuw nsw i32 %22, 6, !dbg !22
  %723 = shl nuw nsw i32 %23, 6, !dbg !22
  %724 = shl nuw nsw i32 %24, 6, !dbg !22
  %725 = shl nuw nsw i32 %25, 6, !dbg !22
  %726 = shl nuw nsw i32 %26, 6, !dbg !22
  %727 = shl nuw nsw i32 %27, 6, !dbg !22
  %728 = shl nuw nsw i32 %28, 6, !dbg !22
  %729 = shl nuw nsw i32 %29, 6, !dbg !22
  %730 = shl nuw nsw i32 %30, 6, !dbg !22
  %731 = shl nuw nsw i32 %31, 6, !dbg !22
  %732 = shl nuw nsw i32 %32, 6, !dbg !22
  %733 = shl nuw nsw i32 %33, 6, !dbg !22
  %734 = shl nuw nsw i32 %34, 6, !dbg !22
  %735 = shl nuw nsw i32 %35, 6, !dbg !22
  %736 = shl nuw nsw i32 %36, 6, !dbg !22
  %737 = shl nuw nsw i32 %37, 6, !dbg !22
  %738 = shl nuw nsw i32 %38, 6, !dbg !22
  %739 = shl nuw nsw i32 %39, 6, !dbg !22
  %740 = zext nneg i32 %8 to i64, !dbg !23
  %741 = getelementptr float, ptr addrspace(1) %2, i64 %740, !dbg !23
  %742 = zext nneg i32 %709 to i64, !dbg !23
  %743 = getelementptr float, ptr addrspace(1) %2, i64 %742, !dbg !23
  %744 = zext nneg i32 %710 to i64, !dbg !23
  %745 = getelementptr float, ptr addrspace(1) %2, i64 %744, !dbg !23
  %746 = zext nneg i32 %711 to i64, !dbg !23
  %747 = getelementptr float, ptr addrspace(1) %2, i64 %746, !dbg !23
  %748 = zext nneg i32 %712 to i64, !dbg !23
  %749 = getelementptr float, ptr addrspace(1) %2, i64 %748, !dbg !23
  %750 = zext nneg i32 %713 to i64, !dbg !23
  %751 = getelementptr float, ptr addrspace(1) %2, i64 %750, !dbg !23
  %752 = zext nneg i32 %714 to i64, !dbg !23
  %753 = getelementptr float, ptr addrspace(1) %2, i64 %752, !dbg !23
  %754 = zext nneg i32 %715 to i64, !dbg !23
  %755 = getelementptr float, ptr addrspace(1) %2, i64 %754, !dbg !23
  %756 = zext nneg i32 %716 to i64, !dbg !23
  %757 = getelementptr float, ptr addrspace(1) %2, i64 %756, !dbg !23
  %758 = zext nneg i32 %717 to i64, !dbg !23
  %759 = getelementptr float, ptr addrspace(1) %2, i64 %758, !dbg !23
  %760 = zext nneg i32 %718 to i64, !dbg !23
  %761 = getelementptr float, ptr addrspace(1) %2, i64 %760, !dbg !23
  %762 = zext nneg i32 %719 to i64, !dbg !23
  %763 = getelementptr float, ptr addrspace(1) %2, i64 %762, !dbg !23
  %764 = zext nneg i32 %720 to i64, !dbg !23
  %765 = getelementptr float, ptr addrspace(1) %2, i64 %764, !dbg !23
  %766 = zext nneg i32 %721 to i64, !dbg !23
  %767 = getelementptr float, ptr addrspace(1) %2, i64 %766, !dbg !23
  %768 = zext nneg i32 %722 to i64, !dbg !23
  %769 = getelementptr float, ptr addrspace(1) %2, i64 %768, !dbg !23
  %770 = zext nneg i32 %723 to i64, !dbg !23
  %771 = getelementptr float, ptr addrspace(1) %2, i64 %770, !dbg !23
  %772 = zext nneg i32 %724 to i64, !dbg !23
  %773 = getelementptr float, ptr addrspace(1) %2, i64 %772, !dbg !23
  %774 = zext nneg i32 %725 to i64, !dbg !23
  %775 = getelementptr float, ptr addrspace(1) %2, i64 %774, !dbg !23
  %776 = zext nneg i32 %726 to i64, !dbg !23
  %777 = getelementptr float, ptr addrspace(1) %2, i64 %776, !dbg !23
  %778 = zext nneg i32 %727 to i64, !dbg !23
  %779 = getelementptr float, ptr addrspace(1) %2, i64 %778, !dbg !23
  %780 = zext nneg i32 %728 to i64, !dbg !23
  %781 = getelementptr float, ptr addrspace(1) %2, i64 %780, !dbg !23
  %782 = zext nneg i32 %729 to i64, !dbg !23
  %783 = getelementptr float, ptr addrspace(1) %2, i64 %782, !dbg !23
  %784 = zext nneg i32 %730 to i64, !dbg !23
  %785 = getelementptr float, ptr addrspace(1) %2, i64 %784, !dbg !23
  %786 = zext nneg i32 %731 to i64, !dbg !23
  %787 = getelementptr float, ptr addrspace(1) %2, i64 %786, !dbg !23
  %788 = zext nneg i32 %732 to i64, !dbg !23
  %789 = getelementptr float, ptr addrspace(1) %2, i64 %788, !dbg !23
  %790 = zext nneg i32 %733 to i64, !dbg !23
  %791 = getelementptr float, ptr addrspace(1) %2, i64 %790, !dbg !23
  %792 = zext nneg i32 %734 to i64, !dbg !23
  %793 = getelementptr float, ptr addrspace(1) %2, i64 %792, !dbg !23
  %794 = zext nneg i32 %735 to i64, !dbg !23
  %795 = getelementptr float, ptr addrspace(1) %2, i64 %794, !dbg !23
  %796 = zext nneg i32 %736 to i64, !dbg !23
  %797 = getelementptr float, ptr addrspace(1) %2, i64 %796, !dbg !23
  %798 = zext nneg i32 %737 to i64, !dbg !23
  %799 = getelementptr float, ptr addrspace(1) %2, i64 %798, !dbg !23
  %800 = zext nneg i32 %738 to i64, !dbg !23
  %801 = getelementptr float, ptr addrspace(1) %2, i64 %800, !dbg !23
  %802 = zext nneg i32 %739 to i64, !dbg !23
  %803 = getelementptr float, ptr addrspace(1) %2, i64 %802, !dbg !23
  %804 = getelementptr float, ptr addrspace(1) %741, i64 %.pre-phi, !dbg !10
  %805 = getelementptr float, ptr addrspace(1) %743, i64 %.pre-phi, !dbg !10
  %806 = getelementptr float, ptr addrspace(1) %745, i64 %.pre-phi, !dbg !10
  %807 = getelementptr float, ptr addrspace(1) %747, i64 %.pre-phi, !dbg !10
  %808 = getelementptr float, ptr addrspace(1) %749, i64 %.pre-phi, !dbg !10
  %809 = getelementptr float, ptr addrspace(1) %751, i64 %.pre-phi, !dbg !10
  %810 = getelementptr float, ptr addrspace(1) %753, i64 %.pre-phi, !dbg !10
  %811 = getelementptr float, ptr addrspace(1) %755, i64 %.pre-phi, !dbg !10
  %812 = getelementptr float, ptr addrspace(1) %757, i64 %.pre-phi, !dbg !10
  %813 = getelementptr float, ptr addrspace(1) %759, i64 %.pre-phi, !dbg !10
  %814 = getelementptr float, ptr addrspace(1) %761, i64 %.pre-phi, !dbg !10
  %815 = getelementptr float, ptr addrspace(1) %763, i64 %.pre-phi, !dbg !10
  %816 = getelementptr float, ptr addrspace(1) %765, i64 %.pre-phi, !dbg !10
  %817 = getelementptr float, ptr addrspace(1) %767, i64 %.pre-phi, !dbg !10
  %818 = getelementptr float, ptr addrspace(1) %769, i64 %.pre-phi, !dbg !10
  %819 = getelementptr float, ptr addrspace(1) %771, i64 %.pre-phi, !dbg !10
  %820 = getelementptr float, ptr addrspace(1) %773, i64 %.pre-phi, !dbg !10
  %821 = getelementptr float, ptr addrspace(1) %775, i64 %.pre-phi, !dbg !10
  %822 = getelementptr float, ptr addrspace(1) %777, i64 %.pre-phi, !dbg !10
  %823 = getelementptr float, ptr addrspace(1) %779, i64 %.pre-phi, !dbg !10
  %824 = getelementptr float, ptr addrspace(1) %781, i64 %.pre-phi, !dbg !10
  %825 = getelementptr float, ptr addrspace(1) %783, i64 %.pre-phi, !dbg !10
  %826 = getelementptr float, ptr addrspace(1) %785, i64 %.pre-phi, !dbg !10
  %827 = getelementptr float, ptr addrspace(1) %787, i64 %.pre-phi, !dbg !10
  %828 = getelementptr float, ptr addrspace(1) %789, i64 %.pre-phi, !dbg !10
  %829 = getelementptr float, ptr addrspace(1) %791, i64 %.pre-phi, !dbg !10
  %830 = getelementptr float, ptr addrspace(1) %793, i64 %.pre-phi, !dbg !10
  %831 = getelementptr float, ptr addrspace(1) %795, i64 %.pre-phi, !dbg !10
  %832 = getelementptr float, ptr addrspace(1) %797, i64 %.pre-phi, !dbg !10
  %833 = getelementptr float, ptr addrspace(1) %799, i64 %.pre-phi, !dbg !10
  %834 = getelementptr float, ptr addrspace(1) %801, i64 %.pre-phi, !dbg !10
  %835 = getelementptr float, ptr addrspace(1) %803, i64 %.pre-phi, !dbg !10
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !24
  %836 = and i32 %7, 12, !dbg !24
  %837 = shl nuw nsw i32 %836, 10, !dbg !24
  %838 = shl nuw nsw i32 %7, 5, !dbg !24
  %839 = and i32 %838, 96, !dbg !24
  %840 = shl nuw nsw i32 %7, 3, !dbg !24
  %841 = and i32 %840, 896, !dbg !24
  %842 = shl nuw nsw i32 %836, 1, !dbg !24
  %843 = or disjoint i32 %837, %839, !dbg !24
  %844 = or disjoint i32 %843, %842, !dbg !24
  %845 = or disjoint i32 %844, %841, !dbg !24
  %846 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %845, !dbg !24
  %847 = insertelement <2 x float> poison, float %677, i64 0, !dbg !24
  %848 = insertelement <2 x float> %847, float %679, i64 1, !dbg !24
  store <2 x float> %848, ptr addrspace(3) %846, align 8, !dbg !24
  %849 = getelementptr inbounds nuw i8, ptr addrspace(3) %846, i32 1024, !dbg !24
  %850 = insertelement <2 x float> poison, float %685, i64 0, !dbg !24
  %851 = insertelement <2 x float> %850, float %687, i64 1, !dbg !24
  store <2 x float> %851, ptr addrspace(3) %849, align 8, !dbg !24
  %852 = getelementptr inbounds nuw i8, ptr addrspace(3) %846, i32 2048, !dbg !24
  %853 = insertelement <2 x float> poison, float %693, i64 0, !dbg !24
  %854 = insertelement <2 x float> %853, float %695, i64 1, !dbg !24
  store <2 x float> %854, ptr addrspace(3) %852, align 8, !dbg !24
  %855 = getelementptr inbounds nuw i8, ptr addrspace(3) %846, i32 3072, !dbg !24
  %856 = insertelement <2 x float> poison, float %701, i64 0, !dbg !24
  %857 = insertelement <2 x float> %856, float %703, i64 1, !dbg !24
  store <2 x float> %857, ptr addrspace(3) %855, align 8, !dbg !24
  %858 = xor i32 %845, 8, !dbg !24
  %859 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %858, !dbg !24
  %860 = insertelement <2 x float> poison, float %678, i64 0, !dbg !24
  %861 = insertelement <2 x float> %860, float %680, i64 1, !dbg !24
  store <2 x float> %861, ptr addrspace(3) %859, align 8, !dbg !24
  %862 = getelementptr inbounds nuw i8, ptr addrspace(3) %859, i32 1024, !dbg !24
  %863 = insertelement <2 x float> poison, float %686, i64 0, !dbg !24
  %864 = insertelement <2 x float> %863, float %688, i64 1, !dbg !24
  store <2 x float> %864, ptr addrspace(3) %862, align 8, !dbg !24
  %865 = getelementptr inbounds nuw i8, ptr addrspace(3) %859, i32 2048, !dbg !24
  %866 = insertelement <2 x float> poison, float %694, i64 0, !dbg !24
  %867 = insertelement <2 x float> %866, float %696, i64 1, !dbg !24
  store <2 x float> %867, ptr addrspace(3) %865, align 8, !dbg !24
  %868 = getelementptr inbounds nuw i8, ptr addrspace(3) %859, i32 3072, !dbg !24
  %869 = insertelement <2 x float> poison, float %702, i64 0, !dbg !24
  %870 = insertelement <2 x float> %869, float %704, i64 1, !dbg !24
  store <2 x float> %870, ptr addrspace(3) %868, align 8, !dbg !24
  %871 = xor i32 %845, 16, !dbg !24
  %872 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %871, !dbg !24
  %873 = insertelement <2 x float> poison, float %681, i64 0, !dbg !24
  %874 = insertelement <2 x float> %873, float %683, i64 1, !dbg !24
  store <2 x float> %874, ptr addrspace(3) %872, align 8, !dbg !24
  %875 = getelementptr inbounds nuw i8, ptr addrspace(3) %872, i32 1024, !dbg !24
  %876 = insertelement <2 x float> poison, float %689, i64 0, !dbg !24
  %877 = insertelement <2 x float> %876, float %691, i64 1, !dbg !24
  store <2 x float> %877, ptr addrspace(3) %875, align 8, !dbg !24
  %878 = getelementptr inbounds nuw i8, ptr addrspace(3) %872, i32 2048, !dbg !24
  %879 = insertelement <2 x float> poison, float %697, i64 0, !dbg !24
  %880 = insertelement <2 x float> %879, float %699, i64 1, !dbg !24
  store <2 x float> %880, ptr addrspace(3) %878, align 8, !dbg !24
  %881 = getelementptr inbounds nuw i8, ptr addrspace(3) %872, i32 3072, !dbg !24
  %882 = insertelement <2 x float> poison, float %705, i64 0, !dbg !24
  %883 = insertelement <2 x float> %882, float %707, i64 1, !dbg !24
  store <2 x float> %883, ptr addrspace(3) %881, align 8, !dbg !24
  %884 = xor i32 %845, 24, !dbg !24
  %885 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %884, !dbg !24
  %886 = insertelement <2 x float> poison, float %682, i64 0, !dbg !24
  %887 = insertelement <2 x float> %886, float %684, i64 1, !dbg !24
  store <2 x float> %887, ptr addrspace(3) %885, align 8, !dbg !24
  %888 = getelementptr inbounds nuw i8, ptr addrspace(3) %885, i32 1024, !dbg !24
  %889 = insertelement <2 x float> poison, float %690, i64 0, !dbg !24
  %890 = insertelement <2 x float> %889, float %692, i64 1, !dbg !24
  store <2 x float> %890, ptr addrspace(3) %888, align 8, !dbg !24
  %891 = getelementptr inbounds nuw i8, ptr addrspace(3) %885, i32 2048, !dbg !24
  %892 = insertelement <2 x float> poison, float %698, i64 0, !dbg !24
  %893 = insertelement <2 x float> %892, float %700, i64 1, !dbg !24
  store <2 x float> %893, ptr addrspace(3) %891, align 8, !dbg !24
  %894 = getelementptr inbounds nuw i8, ptr addrspace(3) %885, i32 3072, !dbg !24
  %895 = insertelement <2 x float> poison, float %706, i64 0, !dbg !24
  %896 = insertelement <2 x float> %895, float %708, i64 1, !dbg !24
  store <2 x float> %896, ptr addrspace(3) %894, align 8, !dbg !24
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !24
  %897 = shl nuw nsw i32 %7, 6, !dbg !24
  %898 = and i32 %897, 3072, !dbg !24
  %899 = shl nuw nsw i32 %7, 4, !dbg !24
  %900 = and i32 %899, 96, !dbg !24
  %901 = and i32 %840, 8, !dbg !24
  %902 = shl nuw nsw i32 %7, 1, !dbg !24
  %903 = and i32 %902, 16, !dbg !24
  %904 = select i1 %.not, i32 0, i32 4104, !dbg !24
  %905 = or disjoint i32 %898, %900, !dbg !24
  %906 = xor i32 %904, %901, !dbg !24
  %907 = or disjoint i32 %905, %903, !dbg !24
  %908 = or disjoint i32 %907, %906, !dbg !24
  %909 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %908, !dbg !24
  %910 = load <2 x i32>, ptr addrspace(3) %909, align 8, !dbg !24
  %911 = getelementptr inbounds nuw i8, ptr addrspace(3) %909, i32 128, !dbg !24
  %912 = load <2 x i32>, ptr addrspace(3) %911, align 8, !dbg !24
  %913 = getelementptr inbounds nuw i8, ptr addrspace(3) %909, i32 256, !dbg !24
  %914 = load <2 x i32>, ptr addrspace(3) %913, align 8, !dbg !24
  %915 = getelementptr inbounds nuw i8, ptr addrspace(3) %909, i32 384, !dbg !24
  %916 = load <2 x i32>, ptr addrspace(3) %915, align 8, !dbg !24
  %917 = getelementptr inbounds nuw i8, ptr addrspace(3) %909, i32 512, !dbg !24
  %918 = load <2 x i32>, ptr addrspace(3) %917, align 8, !dbg !24
  %919 = getelementptr inbounds nuw i8, ptr addrspace(3) %909, i32 640, !dbg !24
  %920 = load <2 x i32>, ptr addrspace(3) %919, align 8, !dbg !24
  %921 = getelementptr inbounds nuw i8, ptr addrspace(3) %909, i32 768, !dbg !24
  %922 = load <2 x i32>, ptr addrspace(3) %921, align 8, !dbg !24
  %923 = getelementptr inbounds nuw i8, ptr addrspace(3) %909, i32 896, !dbg !24
  %924 = load <2 x i32>, ptr addrspace(3) %923, align 8, !dbg !24
  %925 = xor i32 %908, 8208, !dbg !24
  %926 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %925, !dbg !24
  %927 = load <2 x i32>, ptr addrspace(3) %926, align 8, !dbg !24
  %928 = getelementptr inbounds nuw i8, ptr addrspace(3) %926, i32 128, !dbg !24
  %929 = load <2 x i32>, ptr addrspace(3) %928, align 8, !dbg !24
  %930 = getelementptr inbounds nuw i8, ptr addrspace(3) %926, i32 256, !dbg !24
  %931 = load <2 x i32>, ptr addrspace(3) %930, align 8, !dbg !24
  %932 = getelementptr inbounds nuw i8, ptr addrspace(3) %926, i32 384, !dbg !24
  %933 = load <2 x i32>, ptr addrspace(3) %932, align 8, !dbg !24
  %934 = getelementptr inbounds nuw i8, ptr addrspace(3) %926, i32 512, !dbg !24
  %935 = load <2 x i32>, ptr addrspace(3) %934, align 8, !dbg !24
  %936 = getelementptr inbounds nuw i8, ptr addrspace(3) %926, i32 640, !dbg !24
  %937 = load <2 x i32>, ptr addrspace(3) %936, align 8, !dbg !24
  %938 = getelementptr inbounds nuw i8, ptr addrspace(3) %926, i32 768, !dbg !24
  %939 = load <2 x i32>, ptr addrspace(3) %938, align 8, !dbg !24
  %940 = getelementptr inbounds nuw i8, ptr addrspace(3) %926, i32 896, !dbg !24
  %941 = load <2 x i32>, ptr addrspace(3) %940, align 8, !dbg !24
  %.extract = extractelement <2 x i32> %910, i64 0, !dbg !24
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract, ptr addrspace(1) %804) #4, !dbg !24
  %.extract32 = extractelement <2 x i32> %927, i64 0, !dbg !24
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract32, ptr addrspace(1) %805) #4, !dbg !24
  %.extract33 = extractelement <2 x i32> %912, i64 0, !dbg !24
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract33, ptr addrspace(1) %806) #4, !dbg !24
  %.extract34 = extractelement <2 x i32> %929, i64 0, !dbg !24
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract34, ptr addrspace(1) %807) #4, !dbg !24
  %.extract35 = extractelement <2 x i32> %910, i64 1, !dbg !24
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract35, ptr addrspace(1) %808) #4, !dbg !24
  %.extract36 = extractelement <2 x i32> %927, i64 1, !dbg !24
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract36, ptr addrspace(1) %809) #4, !dbg !24
  %.extract37 = extractelement <2 x i32> %912, i64 1, !dbg !24
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract37, ptr addrspace(1) %810) #4, !dbg !24
  %.extract38 = extractelement <2 x i32> %929, i64 1, !dbg !24
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract38, ptr addrspace(1) %811) #4, !dbg !24
  %.extract39 = extractelement <2 x i32> %914, i64 0, !dbg !24
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract39, ptr addrspace(1) %812) #4, !dbg !24
  %.extract40 = extractelement <2 x i32> %931, i64 0, !dbg !24
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract40, ptr addrspace(1) %813) #4, !dbg !24
  %.extract41 = extractelement <2 x i32> %916, i64 0, !dbg !24
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract41, ptr addrspace(1) %814) #4, !dbg !24
  %.extract42 = extractelement <2 x i32> %933, i64 0, !dbg !24
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract42, ptr addrspace(1) %815) #4, !dbg !24
  %.extract43 = extractelement <2 x i32> %914, i64 1, !dbg !24
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract43, ptr addrspace(1) %816) #4, !dbg !24
  %.extract44 = extractelement <2 x i32> %931, i64 1, !dbg !24
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract44, ptr addrspace(1) %817) #4, !dbg !24
  %.extract45 = extractelement <2 x i32> %916, i64 1, !dbg !24
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract45, ptr addrspace(1) %818) #4, !dbg !24
  %.extract46 = extractelement <2 x i32> %933, i64 1, !dbg !24
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract46, ptr addrspace(1) %819) #4, !dbg !24
  %.extract47 = extractelement <2 x i32> %918, i64 0, !dbg !24
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract47, ptr addrspace(1) %820) #4, !dbg !24
  %.extract48 = extractelement <2 x i32> %935, i64 0, !dbg !24
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract48, ptr addrspace(1) %821) #4, !dbg !24
  %.extract49 = extractelement <2 x i32> %920, i64 0, !dbg !24
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract49, ptr addrspace(1) %822) #4, !dbg !24
  %.extract50 = extractelement <2 x i32> %937, i64 0, !dbg !24
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract50, ptr addrspace(1) %823) #4, !dbg !24
  %.extract51 = extractelement <2 x i32> %918, i64 1, !dbg !24
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract51, ptr addrspace(1) %824) #4, !dbg !24
  %.extract52 = extractelement <2 x i32> %935, i64 1, !dbg !24
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract52, ptr addrspace(1) %825) #4, !dbg !24
  %.extract53 = extractelement <2 x i32> %920, i64 1, !dbg !24
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract53, ptr addrspace(1) %826) #4, !dbg !24
  %.extract54 = extractelement <2 x i32> %937, i64 1, !dbg !24
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract54, ptr addrspace(1) %827) #4, !dbg !24
  %.extract55 = extractelement <2 x i32> %922, i64 0, !dbg !24
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract55, ptr addrspace(1) %828) #4, !dbg !24
  %.extract56 = extractelement <2 x i32> %939, i64 0, !dbg !24
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract56, ptr addrspace(1) %829) #4, !dbg !24
  %.extract57 = extractelement <2 x i32> %924, i64 0, !dbg !24
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract57, ptr addrspace(1) %830) #4, !dbg !24
  %.extract58 = extractelement <2 x i32> %941, i64 0, !dbg !24
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract58, ptr addrspace(1) %831) #4, !dbg !24
  %.extract59 = extractelement <2 x i32> %922, i64 1, !dbg !24
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract59, ptr addrspace(1) %832) #4, !dbg !24
  %.extract60 = extractelement <2 x i32> %939, i64 1, !dbg !24
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract60, ptr addrspace(1) %833) #4, !dbg !24
  %.extract61 = extractelement <2 x i32> %924, i64 1, !dbg !24
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract61, ptr addrspace(1) %834) #4, !dbg !24
  %.extract62 = extractelement <2 x i32> %941, i64 1, !dbg !24
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract62, ptr addrspace(1) %835) #4, !dbg !24
  ret void, !dbg !25
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #2

; Function Attrs: convergent nounwind
declare void @llvm.nvvm.wgmma.fence.sync.aligned() #3

; Function Attrs: convergent nounwind
declare void @llvm.nvvm.wgmma.commit_group.sync.aligned() #3

attributes #0 = { nounwind "nvvm.reqntid"="128" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { convergent nocallback nounwind }
attributes #3 = { convergent nounwind }
attributes #4 = { nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}

!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, producer: "triton", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "triton_kernels.py", directory: "/work/w-h5/lab/src/warploom_lab/functions")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 4, !"nvvm-reflect-ftz", i32 1}
!4 = distinct !DISubprogram(name: "matmul", linkageName: "matmul", scope: !1, file: !1, line: 31, type: !5, scopeLine: 31, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!5 = !DISubroutineType(cc: DW_CC_normal, types: !6)
!6 = !{}
!7 = !DILocation(line: 35, column: 36, scope: !4)
!8 = !DILocation(line: 35, column: 57, scope: !4)
!9 = !DILocation(line: 34, column: 25, scope: !4)
!10 = !DILocation(line: 36, column: 34, scope: !4)
!11 = !DILocation(line: 35, column: 47, scope: !4)
!12 = !DILocation(line: 35, column: 34, scope: !4)
!13 = !DILocation(line: 35, column: 51, scope: !4)
!14 = !DILocation(line: 35, column: 55, scope: !4)
!15 = !DILocation(line: 35, column: 30, scope: !4)
!16 = !DILocation(line: 35, column: 85, scope: !4)
!17 = !DILocation(line: 35, column: 99, scope: !4)
!18 = !DILocation(line: 35, column: 80, scope: !4)
!19 = !DILocation(line: 35, column: 103, scope: !4)
!20 = !DILocation(line: 35, column: 76, scope: !4)
!21 = !DILocation(line: 35, column: 68, scope: !4)
!22 = !DILocation(line: 36, column: 30, scope: !4)
!23 = !DILocation(line: 36, column: 17, scope: !4)
!24 = !DILocation(line: 36, column: 46, scope: !4)
!25 = !DILocation(line: 36, column: 4, scope: !4)
