; Triton 3.9.0: 128 threads, 16384 bytes of dynamic shared memory
; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-p101:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

@global_smem = external addrspace(3) global [0 x i8], align 16

; Function Attrs: nounwind
define ptx_kernel void @matmul(ptr addrspace(1) %0, ptr addrspace(1) %1, ptr addrspace(1) %2, i32 %3, ptr addrspace(1) nofree readnone captures(none) %4, ptr addrspace(1) nofree readnone captures(none) %5) local_unnamed_addr #0 !dbg !4 {
  %7 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !14
  %8 = and i32 %7, 64, !dbg !14
  %9 = lshr exact i32 %8, 6, !dbg !14
  %10 = or disjoint i32 %9, 2, !dbg !14
  %11 = or disjoint i32 %9, 4, !dbg !14
  %12 = or disjoint i32 %9, 6, !dbg !14
  %13 = or disjoint i32 %9, 8, !dbg !14
  %14 = or disjoint i32 %9, 10, !dbg !14
  %15 = or disjoint i32 %9, 12, !dbg !14
  %16 = or disjoint i32 %9, 14, !dbg !14
  %17 = or disjoint i32 %9, 16, !dbg !14
  %18 = or disjoint i32 %9, 18, !dbg !14
  %19 = or disjoint i32 %9, 20, !dbg !14
  %20 = or disjoint i32 %9, 22, !dbg !14
  %21 = or disjoint i32 %9, 24, !dbg !14
  %22 = or disjoint i32 %9, 26, !dbg !14
  %23 = or disjoint i32 %9, 28, !dbg !14
  %24 = or disjoint i32 %9, 30, !dbg !14
  %25 = or disjoint i32 %9, 32, !dbg !14
  %26 = or disjoint i32 %9, 34, !dbg !14
  %27 = or disjoint i32 %9, 36, !dbg !14
  %28 = or disjoint i32 %9, 38, !dbg !14
  %29 = or disjoint i32 %9, 40, !dbg !14
  %30 = or disjoint i32 %9, 42, !dbg !14
  %31 = or disjoint i32 %9, 44, !dbg !14
  %32 = or disjoint i32 %9, 46, !dbg !14
  %33 = or disjoint i32 %9, 48, !dbg !14
  %34 = or disjoint i32 %9, 50, !dbg !14
  %35 = or disjoint i32 %9, 52, !dbg !14
  %36 = or disjoint i32 %9, 54, !dbg !14
  %37 = or disjoint i32 %9, 56, !dbg !14
  %38 = or disjoint i32 %9, 58, !dbg !14
  %39 = or disjoint i32 %9, 60, !dbg !14
  %40 = or disjoint i32 %9, 62, !dbg !14
  %41 = and i32 %7, 63, !dbg !15
  %42 = icmp sgt i32 %3, 0, !dbg !16
  br i1 %42, label %.lr.ph, label %.._crit_edge_crit_edge, !dbg !16

.._crit_edge_crit_edge:                           ; preds = %6
  %.pre = zext nneg i32 %41 to i64, !dbg !17
  br label %._crit_edge, !dbg !16

.lr.ph:                                           ; preds = %6
  %43 = mul i32 %3, %40, !dbg !14
  %44 = sext i32 %43 to i64, !dbg !18
  %45 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %44, !dbg !18
  %46 = mul i32 %3, %39, !dbg !14
  %47 = sext i32 %46 to i64, !dbg !18
  %48 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %47, !dbg !18
  %49 = mul i32 %3, %38, !dbg !14
  %50 = sext i32 %49 to i64, !dbg !18
  %51 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %50, !dbg !18
  %52 = mul i32 %3, %37, !dbg !14
  %53 = sext i32 %52 to i64, !dbg !18
  %54 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %53, !dbg !18
  %55 = mul i32 %3, %36, !dbg !14
  %56 = sext i32 %55 to i64, !dbg !18
  %57 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %56, !dbg !18
  %58 = mul i32 %3, %35, !dbg !14
  %59 = sext i32 %58 to i64, !dbg !18
  %60 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %59, !dbg !18
  %61 = mul i32 %3, %34, !dbg !14
  %62 = sext i32 %61 to i64, !dbg !18
  %63 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %62, !dbg !18
  %64 = mul i32 %3, %33, !dbg !14
  %65 = sext i32 %64 to i64, !dbg !18
  %66 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %65, !dbg !18
  %67 = mul i32 %3, %32, !dbg !14
  %68 = sext i32 %67 to i64, !dbg !18
  %69 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %68, !dbg !18
  %70 = mul i32 %3, %31, !dbg !14
  %71 = sext i32 %70 to i64, !dbg !18
  %72 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %71, !dbg !18
  %73 = mul i32 %3, %30, !dbg !14
  %74 = sext i32 %73 to i64, !dbg !18
  %75 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %74, !dbg !18
  %76 = mul i32 %3, %29, !dbg !14
  %77 = sext i32 %76 to i64, !dbg !18
  %78 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %77, !dbg !18
  %79 = mul i32 %3, %28, !dbg !14
  %80 = sext i32 %79 to i64, !dbg !18
  %81 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %80, !dbg !18
  %82 = mul i32 %3, %27, !dbg !14
  %83 = sext i32 %82 to i64, !dbg !18
  %84 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %83, !dbg !18
  %85 = mul i32 %3, %26, !dbg !14
  %86 = sext i32 %85 to i64, !dbg !18
  %87 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %86, !dbg !18
  %88 = mul i32 %3, %25, !dbg !14
  %89 = sext i32 %88 to i64, !dbg !18
  %90 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %89, !dbg !18
  %91 = mul i32 %3, %24, !dbg !14
  %92 = sext i32 %91 to i64, !dbg !18
  %93 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %92, !dbg !18
  %94 = mul i32 %3, %23, !dbg !14
  %95 = sext i32 %94 to i64, !dbg !18
  %96 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %95, !dbg !18
  %97 = mul i32 %3, %22, !dbg !14
  %98 = sext i32 %97 to i64, !dbg !18
  %99 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %98, !dbg !18
  %100 = mul i32 %3, %21, !dbg !14
  %101 = sext i32 %100 to i64, !dbg !18
  %102 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %101, !dbg !18
  %103 = mul i32 %3, %20, !dbg !14
  %104 = sext i32 %103 to i64, !dbg !18
  %105 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %104, !dbg !18
  %106 = mul i32 %3, %19, !dbg !14
  %107 = sext i32 %106 to i64, !dbg !18
  %108 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %107, !dbg !18
  %109 = mul i32 %3, %18, !dbg !14
  %110 = sext i32 %109 to i64, !dbg !18
  %111 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %110, !dbg !18
  %112 = mul i32 %3, %17, !dbg !14
  %113 = sext i32 %112 to i64, !dbg !18
  %114 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %113, !dbg !18
  %115 = mul i32 %3, %16, !dbg !14
  %116 = sext i32 %115 to i64, !dbg !18
  %117 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %116, !dbg !18
  %118 = mul i32 %3, %15, !dbg !14
  %119 = sext i32 %118 to i64, !dbg !18
  %120 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %119, !dbg !18
  %121 = mul i32 %3, %14, !dbg !14
  %122 = sext i32 %121 to i64, !dbg !18
  %123 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %122, !dbg !18
  %124 = mul i32 %3, %13, !dbg !14
  %125 = sext i32 %124 to i64, !dbg !18
  %126 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %125, !dbg !18
  %127 = mul i32 %3, %12, !dbg !14
  %128 = sext i32 %127 to i64, !dbg !18
  %129 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %128, !dbg !18
  %130 = mul i32 %3, %11, !dbg !14
  %131 = sext i32 %130 to i64, !dbg !18
  %132 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %131, !dbg !18
  %133 = mul i32 %3, %10, !dbg !14
  %134 = sext i32 %133 to i64, !dbg !18
  %135 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %134, !dbg !18
  %136 = mul nuw nsw i32 %3, %9, !dbg !14
  %137 = zext nneg i32 %136 to i64, !dbg !18
  %138 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %137, !dbg !18
  %139 = zext nneg i32 %41 to i64
  %invariant.gep = getelementptr [2 x i8], ptr addrspace(1) %138, i64 %139, !dbg !16
  %invariant.gep63 = getelementptr [2 x i8], ptr addrspace(1) %135, i64 %139, !dbg !16
  %invariant.gep65 = getelementptr [2 x i8], ptr addrspace(1) %132, i64 %139, !dbg !16
  %invariant.gep67 = getelementptr [2 x i8], ptr addrspace(1) %129, i64 %139, !dbg !16
  %invariant.gep69 = getelementptr [2 x i8], ptr addrspace(1) %126, i64 %139, !dbg !16
  %invariant.gep71 = getelementptr [2 x i8], ptr addrspace(1) %123, i64 %139, !dbg !16
  %invariant.gep73 = getelementptr [2 x i8], ptr addrspace(1) %120, i64 %139, !dbg !16
  %invariant.gep75 = getelementptr [2 x i8], ptr addrspace(1) %117, i64 %139, !dbg !16
  %invariant.gep77 = getelementptr [2 x i8], ptr addrspace(1) %114, i64 %139, !dbg !16
  %invariant.gep79 = getelementptr [2 x i8], ptr addrspace(1) %111, i64 %139, !dbg !16
  %invariant.gep81 = getelementptr [2 x i8], ptr addrspace(1) %108, i64 %139, !dbg !16
  %invariant.gep83 = getelementptr [2 x i8], ptr addrspace(1) %105, i64 %139, !dbg !16
  %invariant.gep85 = getelementptr [2 x i8], ptr addrspace(1) %102, i64 %139, !dbg !16
  %invariant.gep87 = getelementptr [2 x i8], ptr addrspace(1) %99, i64 %139, !dbg !16
  %invariant.gep89 = getelementptr [2 x i8], ptr addrspace(1) %96, i64 %139, !dbg !16
  %invariant.gep91 = getelementptr [2 x i8], ptr addrspace(1) %93, i64 %139, !dbg !16
  %invariant.gep93 = getelementptr [2 x i8], ptr addrspace(1) %90, i64 %139, !dbg !16
  %invariant.gep95 = getelementptr [2 x i8], ptr addrspace(1) %87, i64 %139, !dbg !16
  %invariant.gep97 = getelementptr [2 x i8], ptr addrspace(1) %84, i64 %139, !dbg !16
  %invariant.gep99 = getelementptr [2 x i8], ptr addrspace(1) %81, i64 %139, !dbg !16
  %invariant.gep101 = getelementptr [2 x i8], ptr addrspace(1) %78, i64 %139, !dbg !16
  %invariant.gep103 = getelementptr [2 x i8], ptr addrspace(1) %75, i64 %139, !dbg !16
  %invariant.gep105 = getelementptr [2 x i8], ptr addrspace(1) %72, i64 %139, !dbg !16
  %invariant.gep107 = getelementptr [2 x i8], ptr addrspace(1) %69, i64 %139, !dbg !16
  %invariant.gep109 = getelementptr [2 x i8], ptr addrspace(1) %66, i64 %139, !dbg !16
  %invariant.gep111 = getelementptr [2 x i8], ptr addrspace(1) %63, i64 %139, !dbg !16
  %invariant.gep113 = getelementptr [2 x i8], ptr addrspace(1) %60, i64 %139, !dbg !16
  %invariant.gep115 = getelementptr [2 x i8], ptr addrspace(1) %57, i64 %139, !dbg !16
  %invariant.gep117 = getelementptr [2 x i8], ptr addrspace(1) %54, i64 %139, !dbg !16
  %invariant.gep119 = getelementptr [2 x i8], ptr addrspace(1) %51, i64 %139, !dbg !16
  %invariant.gep121 = getelementptr [2 x i8], ptr addrspace(1) %48, i64 %139, !dbg !16
  %invariant.gep123 = getelementptr [2 x i8], ptr addrspace(1) %45, i64 %139, !dbg !16
  %140 = shl nuw nsw i32 %41, 1
  %141 = icmp eq i32 %8, 0
  %142 = select i1 %141, i32 0, i32 144
  %143 = xor i32 %142, %140
  %144 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %143
  %145 = or disjoint i32 %143, 1024
  %146 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %145
  %147 = or disjoint i32 %143, 2048
  %148 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %147
  %149 = or disjoint i32 %143, 3072
  %150 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %149
  %151 = or disjoint i32 %143, 4096
  %152 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %151
  %153 = or disjoint i32 %143, 5120
  %154 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %153
  %155 = or disjoint i32 %143, 6144
  %156 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %155
  %157 = or disjoint i32 %143, 7168
  %158 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %157
  %159 = xor i32 %143, 288
  %160 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %159
  %161 = or disjoint i32 %159, 1024
  %162 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %161
  %163 = or disjoint i32 %159, 2048
  %164 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %163
  %165 = or disjoint i32 %159, 3072
  %166 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %165
  %167 = or disjoint i32 %159, 4096
  %168 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %167
  %169 = or disjoint i32 %159, 5120
  %170 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %169
  %171 = or disjoint i32 %159, 6144
  %172 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %171
  %173 = or disjoint i32 %159, 7168
  %174 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %173
  %175 = xor i32 %143, 576
  %176 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %175
  %177 = or disjoint i32 %175, 1024
  %178 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %177
  %179 = or disjoint i32 %175, 2048
  %180 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %179
  %181 = or disjoint i32 %175, 3072
  %182 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %181
  %183 = or disjoint i32 %175, 4096
  %184 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %183
  %185 = or disjoint i32 %175, 5120
  %186 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %185
  %187 = or disjoint i32 %175, 6144
  %188 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %187
  %189 = or disjoint i32 %175, 7168
  %190 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %189
  %191 = xor i32 %143, 864
  %192 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %191
  %193 = or disjoint i32 %191, 1024
  %194 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %193
  %195 = or disjoint i32 %191, 2048
  %196 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %195
  %197 = or disjoint i32 %191, 3072
  %198 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %197
  %199 = or disjoint i32 %191, 4096
  %200 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %199
  %201 = or disjoint i32 %191, 5120
  %202 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %201
  %203 = or disjoint i32 %191, 6144
  %204 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %203
  %205 = or disjoint i32 %191, 7168
  %206 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %205
  %invariant.gep125 = getelementptr [2 x i8], ptr addrspace(1) %1, i64 %139, !dbg !16
  %207 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %143
  %208 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %145
  %209 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %147
  %210 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %149
  %211 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %151
  %212 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %153
  %213 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %155
  %214 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %157
  %215 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %159
  %216 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %161
  %217 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %163
  %218 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %165
  %219 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %167
  %220 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %169
  %221 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %171
  %222 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %173
  %223 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %175
  %224 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %177
  %225 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %179
  %226 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %181
  %227 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %183
  %228 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %185
  %229 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %187
  %230 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %189
  %231 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %191
  %232 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %193
  %233 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %195
  %234 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %197
  %235 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %199
  %236 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %201
  %237 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %203
  %238 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %205
  %239 = lshr exact i32 ptrtoint (ptr addrspace(3) @global_smem to i32), 4
  %240 = and i32 %239, 32767
  %241 = lshr exact i32 ptrtoint (ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192) to i32), 4
  %242 = and i32 %241, 32767
  %243 = insertelement <2 x i32> <i32 poison, i32 1073741888>, i32 %240, i64 0
  %244 = bitcast <2 x i32> %243 to i64
  %245 = insertelement <2 x i32> <i32 poison, i32 1073741888>, i32 %242, i64 0
  %246 = bitcast <2 x i32> %245 to i64
  %247 = add nuw nsw i32 %240, 2
  %248 = insertelement <2 x i32> <i32 poison, i32 1073741888>, i32 %247, i64 0
  %249 = bitcast <2 x i32> %248 to i64
  %250 = add nuw nsw i32 %242, 128
  %251 = insertelement <2 x i32> <i32 poison, i32 1073741888>, i32 %250, i64 0
  %252 = bitcast <2 x i32> %251 to i64
  %253 = add nuw nsw i32 %240, 4
  %254 = insertelement <2 x i32> <i32 poison, i32 1073741888>, i32 %253, i64 0
  %255 = bitcast <2 x i32> %254 to i64
  %256 = add nuw nsw i32 %242, 256
  %257 = insertelement <2 x i32> <i32 poison, i32 1073741888>, i32 %256, i64 0
  %258 = bitcast <2 x i32> %257 to i64
  %259 = add nuw nsw i32 %240, 6
  %260 = insertelement <2 x i32> <i32 poison, i32 1073741888>, i32 %259, i64 0
  %261 = bitcast <2 x i32> %260 to i64
  %262 = add nuw nsw i32 %242, 384
  %263 = insertelement <2 x i32> <i32 poison, i32 1073741888>, i32 %262, i64 0
  %264 = bitcast <2 x i32> %263 to i64
  br label %265, !dbg !16

265:                                              ; preds = %.lr.ph, %265
  %266 = phi float [ 0.000000e+00, %.lr.ph ], [ %657, %265 ]
  %267 = phi float [ 0.000000e+00, %.lr.ph ], [ %658, %265 ]
  %268 = phi float [ 0.000000e+00, %.lr.ph ], [ %659, %265 ]
  %269 = phi float [ 0.000000e+00, %.lr.ph ], [ %660, %265 ]
  %270 = phi float [ 0.000000e+00, %.lr.ph ], [ %661, %265 ]
  %271 = phi float [ 0.000000e+00, %.lr.ph ], [ %662, %265 ]
  %272 = phi float [ 0.000000e+00, %.lr.ph ], [ %663, %265 ]
  %273 = phi float [ 0.000000e+00, %.lr.ph ], [ %664, %265 ]
  %274 = phi float [ 0.000000e+00, %.lr.ph ], [ %665, %265 ]
  %275 = phi float [ 0.000000e+00, %.lr.ph ], [ %666, %265 ]
  %276 = phi float [ 0.000000e+00, %.lr.ph ], [ %667, %265 ]
  %277 = phi float [ 0.000000e+00, %.lr.ph ], [ %668, %265 ]
  %278 = phi float [ 0.000000e+00, %.lr.ph ], [ %669, %265 ]
  %279 = phi float [ 0.000000e+00, %.lr.ph ], [ %670, %265 ]
  %280 = phi float [ 0.000000e+00, %.lr.ph ], [ %671, %265 ]
  %281 = phi float [ 0.000000e+00, %.lr.ph ], [ %672, %265 ]
  %282 = phi float [ 0.000000e+00, %.lr.ph ], [ %673, %265 ]
  %283 = phi float [ 0.000000e+00, %.lr.ph ], [ %674, %265 ]
  %284 = phi float [ 0.000000e+00, %.lr.ph ], [ %675, %265 ]
  %285 = phi float [ 0.000000e+00, %.lr.ph ], [ %676, %265 ]
  %286 = phi float [ 0.000000e+00, %.lr.ph ], [ %677, %265 ]
  %287 = phi float [ 0.000000e+00, %.lr.ph ], [ %678, %265 ]
  %288 = phi float [ 0.000000e+00, %.lr.ph ], [ %679, %265 ]
  %289 = phi float [ 0.000000e+00, %.lr.ph ], [ %680, %265 ]
  %290 = phi float [ 0.000000e+00, %.lr.ph ], [ %681, %265 ]
  %291 = phi float [ 0.000000e+00, %.lr.ph ], [ %682, %265 ]
  %292 = phi float [ 0.000000e+00, %.lr.ph ], [ %683, %265 ]
  %293 = phi float [ 0.000000e+00, %.lr.ph ], [ %684, %265 ]
  %294 = phi float [ 0.000000e+00, %.lr.ph ], [ %685, %265 ]
  %295 = phi float [ 0.000000e+00, %.lr.ph ], [ %686, %265 ]
  %296 = phi float [ 0.000000e+00, %.lr.ph ], [ %687, %265 ]
  %297 = phi float [ 0.000000e+00, %.lr.ph ], [ %688, %265 ]
  %298 = phi i32 [ 0, %.lr.ph ], [ %689, %265 ]
  %299 = sext i32 %298 to i64, !dbg !18
  %gep = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep, i64 %299, !dbg !18
  %gep64 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep63, i64 %299, !dbg !18
  %gep66 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep65, i64 %299, !dbg !18
  %gep68 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep67, i64 %299, !dbg !18
  %gep70 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep69, i64 %299, !dbg !18
  %gep72 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep71, i64 %299, !dbg !18
  %gep74 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep73, i64 %299, !dbg !18
  %gep76 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep75, i64 %299, !dbg !18
  %gep78 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep77, i64 %299, !dbg !18
  %gep80 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep79, i64 %299, !dbg !18
  %gep82 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep81, i64 %299, !dbg !18
  %gep84 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep83, i64 %299, !dbg !18
  %gep86 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep85, i64 %299, !dbg !18
  %gep88 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep87, i64 %299, !dbg !18
  %gep90 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep89, i64 %299, !dbg !18
  %gep92 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep91, i64 %299, !dbg !18
  %gep94 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep93, i64 %299, !dbg !18
  %gep96 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep95, i64 %299, !dbg !18
  %gep98 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep97, i64 %299, !dbg !18
  %gep100 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep99, i64 %299, !dbg !18
  %gep102 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep101, i64 %299, !dbg !18
  %gep104 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep103, i64 %299, !dbg !18
  %gep106 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep105, i64 %299, !dbg !18
  %gep108 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep107, i64 %299, !dbg !18
  %gep110 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep109, i64 %299, !dbg !18
  %gep112 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep111, i64 %299, !dbg !18
  %gep114 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep113, i64 %299, !dbg !18
  %gep116 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep115, i64 %299, !dbg !18
  %gep118 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep117, i64 %299, !dbg !18
  %gep120 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep119, i64 %299, !dbg !18
  %gep122 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep121, i64 %299, !dbg !18
  %gep124 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep123, i64 %299, !dbg !18
  %300 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep) #6, !dbg !19
  %301 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep64) #6, !dbg !19
  %302 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep66) #6, !dbg !19
  %303 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep68) #6, !dbg !19
  %304 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep70) #6, !dbg !19
  %305 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep72) #6, !dbg !19
  %306 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep74) #6, !dbg !19
  %307 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep76) #6, !dbg !19
  %308 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep78) #6, !dbg !19
  %309 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep80) #6, !dbg !19
  %310 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep82) #6, !dbg !19
  %311 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep84) #6, !dbg !19
  %312 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep86) #6, !dbg !19
  %313 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep88) #6, !dbg !19
  %314 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep90) #6, !dbg !19
  %315 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep92) #6, !dbg !19
  %316 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep94) #6, !dbg !19
  %317 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep96) #6, !dbg !19
  %318 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep98) #6, !dbg !19
  %319 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep100) #6, !dbg !19
  %320 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep102) #6, !dbg !19
  %321 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep104) #6, !dbg !19
  %322 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep106) #6, !dbg !19
  %323 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep108) #6, !dbg !19
  %324 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep110) #6, !dbg !19
  %325 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep112) #6, !dbg !19
  %326 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep114) #6, !dbg !19
  %327 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep116) #6, !dbg !19
  %328 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep118) #6, !dbg !19
  %329 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep120) #6, !dbg !19
  %330 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep122) #6, !dbg !19
  %331 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep124) #6, !dbg !19
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !19
  %332 = insertelement <1 x i16> poison, i16 %300, i64 0, !dbg !19
  store <1 x i16> %332, ptr addrspace(3) %144, align 2, !dbg !19
  %333 = insertelement <1 x i16> poison, i16 %304, i64 0, !dbg !19
  store <1 x i16> %333, ptr addrspace(3) %146, align 2, !dbg !19
  %334 = insertelement <1 x i16> poison, i16 %308, i64 0, !dbg !19
  store <1 x i16> %334, ptr addrspace(3) %148, align 2, !dbg !19
  %335 = insertelement <1 x i16> poison, i16 %312, i64 0, !dbg !19
  store <1 x i16> %335, ptr addrspace(3) %150, align 2, !dbg !19
  %336 = insertelement <1 x i16> poison, i16 %316, i64 0, !dbg !19
  store <1 x i16> %336, ptr addrspace(3) %152, align 2, !dbg !19
  %337 = insertelement <1 x i16> poison, i16 %320, i64 0, !dbg !19
  store <1 x i16> %337, ptr addrspace(3) %154, align 2, !dbg !19
  %338 = insertelement <1 x i16> poison, i16 %324, i64 0, !dbg !19
  store <1 x i16> %338, ptr addrspace(3) %156, align 2, !dbg !19
  %339 = insertelement <1 x i16> poison, i16 %328, i64 0, !dbg !19
  store <1 x i16> %339, ptr addrspace(3) %158, align 2, !dbg !19
  %340 = insertelement <1 x i16> poison, i16 %301, i64 0, !dbg !19
  store <1 x i16> %340, ptr addrspace(3) %160, align 2, !dbg !19
  %341 = insertelement <1 x i16> poison, i16 %305, i64 0, !dbg !19
  store <1 x i16> %341, ptr addrspace(3) %162, align 2, !dbg !19
  %342 = insertelement <1 x i16> poison, i16 %309, i64 0, !dbg !19
  store <1 x i16> %342, ptr addrspace(3) %164, align 2, !dbg !19
  %343 = insertelement <1 x i16> poison, i16 %313, i64 0, !dbg !19
  store <1 x i16> %343, ptr addrspace(3) %166, align 2, !dbg !19
  %344 = insertelement <1 x i16> poison, i16 %317, i64 0, !dbg !19
  store <1 x i16> %344, ptr addrspace(3) %168, align 2, !dbg !19
  %345 = insertelement <1 x i16> poison, i16 %321, i64 0, !dbg !19
  store <1 x i16> %345, ptr addrspace(3) %170, align 2, !dbg !19
  %346 = insertelement <1 x i16> poison, i16 %325, i64 0, !dbg !19
  store <1 x i16> %346, ptr addrspace(3) %172, align 2, !dbg !19
  %347 = insertelement <1 x i16> poison, i16 %329, i64 0, !dbg !19
  store <1 x i16> %347, ptr addrspace(3) %174, align 2, !dbg !19
  %348 = insertelement <1 x i16> poison, i16 %302, i64 0, !dbg !19
  store <1 x i16> %348, ptr addrspace(3) %176, align 2, !dbg !19
  %349 = insertelement <1 x i16> poison, i16 %306, i64 0, !dbg !19
  store <1 x i16> %349, ptr addrspace(3) %178, align 2, !dbg !19
  %350 = insertelement <1 x i16> poison, i16 %310, i64 0, !dbg !19
  store <1 x i16> %350, ptr addrspace(3) %180, align 2, !dbg !19
  %351 = insertelement <1 x i16> poison, i16 %314, i64 0, !dbg !19
  store <1 x i16> %351, ptr addrspace(3) %182, align 2, !dbg !19
  %352 = insertelement <1 x i16> poison, i16 %318, i64 0, !dbg !19
  store <1 x i16> %352, ptr addrspace(3) %184, align 2, !dbg !19
  %353 = insertelement <1 x i16> poison, i16 %322, i64 0, !dbg !19
  store <1 x i16> %353, ptr addrspace(3) %186, align 2, !dbg !19
  %354 = insertelement <1 x i16> poison, i16 %326, i64 0, !dbg !19
  store <1 x i16> %354, ptr addrspace(3) %188, align 2, !dbg !19
  %355 = insertelement <1 x i16> poison, i16 %330, i64 0, !dbg !19
  store <1 x i16> %355, ptr addrspace(3) %190, align 2, !dbg !19
  %356 = insertelement <1 x i16> poison, i16 %303, i64 0, !dbg !19
  store <1 x i16> %356, ptr addrspace(3) %192, align 2, !dbg !19
  %357 = insertelement <1 x i16> poison, i16 %307, i64 0, !dbg !19
  store <1 x i16> %357, ptr addrspace(3) %194, align 2, !dbg !19
  %358 = insertelement <1 x i16> poison, i16 %311, i64 0, !dbg !19
  store <1 x i16> %358, ptr addrspace(3) %196, align 2, !dbg !19
  %359 = insertelement <1 x i16> poison, i16 %315, i64 0, !dbg !19
  store <1 x i16> %359, ptr addrspace(3) %198, align 2, !dbg !19
  %360 = insertelement <1 x i16> poison, i16 %319, i64 0, !dbg !19
  store <1 x i16> %360, ptr addrspace(3) %200, align 2, !dbg !19
  %361 = insertelement <1 x i16> poison, i16 %323, i64 0, !dbg !19
  store <1 x i16> %361, ptr addrspace(3) %202, align 2, !dbg !19
  %362 = insertelement <1 x i16> poison, i16 %327, i64 0, !dbg !19
  store <1 x i16> %362, ptr addrspace(3) %204, align 2, !dbg !19
  %363 = insertelement <1 x i16> poison, i16 %331, i64 0, !dbg !19
  store <1 x i16> %363, ptr addrspace(3) %206, align 2, !dbg !19
  %364 = or disjoint i32 %298, %9, !dbg !20
  %365 = or disjoint i32 %298, %10, !dbg !20
  %366 = or disjoint i32 %298, %11, !dbg !20
  %367 = or disjoint i32 %298, %12, !dbg !20
  %368 = or disjoint i32 %298, %13, !dbg !20
  %369 = or disjoint i32 %298, %14, !dbg !20
  %370 = or disjoint i32 %298, %15, !dbg !20
  %371 = or disjoint i32 %298, %16, !dbg !20
  %372 = or disjoint i32 %298, %17, !dbg !20
  %373 = or disjoint i32 %298, %18, !dbg !20
  %374 = or disjoint i32 %298, %19, !dbg !20
  %375 = or disjoint i32 %298, %20, !dbg !20
  %376 = or disjoint i32 %298, %21, !dbg !20
  %377 = or disjoint i32 %298, %22, !dbg !20
  %378 = or disjoint i32 %298, %23, !dbg !20
  %379 = or disjoint i32 %298, %24, !dbg !20
  %380 = or disjoint i32 %298, %25, !dbg !20
  %381 = or disjoint i32 %298, %26, !dbg !20
  %382 = or disjoint i32 %298, %27, !dbg !20
  %383 = or disjoint i32 %298, %28, !dbg !20
  %384 = or disjoint i32 %298, %29, !dbg !20
  %385 = or disjoint i32 %298, %30, !dbg !20
  %386 = or disjoint i32 %298, %31, !dbg !20
  %387 = or disjoint i32 %298, %32, !dbg !20
  %388 = or disjoint i32 %298, %33, !dbg !20
  %389 = or disjoint i32 %298, %34, !dbg !20
  %390 = or disjoint i32 %298, %35, !dbg !20
  %391 = or disjoint i32 %298, %36, !dbg !20
  %392 = or disjoint i32 %298, %37, !dbg !20
  %393 = or disjoint i32 %298, %38, !dbg !20
  %394 = or disjoint i32 %298, %39, !dbg !20
  %395 = or disjoint i32 %298, %40, !dbg !20
  %396 = shl i32 %364, 6, !dbg !21
  %397 = shl i32 %365, 6, !dbg !21
  %398 = shl i32 %366, 6, !dbg !21
  %399 = shl i32 %367, 6, !dbg !21
  %400 = shl i32 %368, 6, !dbg !21
  %401 = shl i32 %369, 6, !dbg !21
  %402 = shl i32 %370, 6, !dbg !21
  %403 = shl i32 %371, 6, !dbg !21
  %404 = shl i32 %372, 6, !dbg !21
  %405 = shl i32 %373, 6, !dbg !21
  %406 = shl i32 %374, 6, !dbg !21
  %407 = shl i32 %375, 6, !dbg !21
  %408 = shl i32 %376, 6, !dbg !21
  %409 = shl i32 %377, 6, !dbg !21
  %410 = shl i32 %378, 6, !dbg !21
  %411 = shl i32 %379, 6, !dbg !21
  %412 = shl i32 %380, 6, !dbg !21
  %413 = shl i32 %381, 6, !dbg !21
  %414 = shl i32 %382, 6, !dbg !21
  %415 = shl i32 %383, 6, !dbg !21
  %416 = shl i32 %384, 6, !dbg !21
  %417 = shl i32 %385, 6, !dbg !21
  %418 = shl i32 %386, 6, !dbg !21
  %419 = shl i32 %387, 6, !dbg !21
  %420 = shl i32 %388, 6, !dbg !21
  %421 = shl i32 %389, 6, !dbg !21
  %422 = shl i32 %390, 6, !dbg !21
  %423 = shl i32 %391, 6, !dbg !21
  %424 = shl i32 %392, 6, !dbg !21
  %425 = shl i32 %393, 6, !dbg !21
  %426 = shl i32 %394, 6, !dbg !21
  %427 = shl i32 %395, 6, !dbg !21
  %428 = sext i32 %396 to i64, !dbg !22
  %429 = sext i32 %397 to i64, !dbg !22
  %430 = sext i32 %398 to i64, !dbg !22
  %431 = sext i32 %399 to i64, !dbg !22
  %432 = sext i32 %400 to i64, !dbg !22
  %433 = sext i32 %401 to i64, !dbg !22
  %434 = sext i32 %402 to i64, !dbg !22
  %435 = sext i32 %403 to i64, !dbg !22
  %436 = sext i32 %404 to i64, !dbg !22
  %437 = sext i32 %405 to i64, !dbg !22
  %438 = sext i32 %406 to i64, !dbg !22
  %439 = sext i32 %407 to i64, !dbg !22
  %440 = sext i32 %408 to i64, !dbg !22
  %441 = sext i32 %409 to i64, !dbg !22
  %442 = sext i32 %410 to i64, !dbg !22
  %443 = sext i32 %411 to i64, !dbg !22
  %444 = sext i32 %412 to i64, !dbg !22
  %445 = sext i32 %413 to i64, !dbg !22
  %446 = sext i32 %414 to i64, !dbg !22
  %447 = sext i32 %415 to i64, !dbg !22
  %448 = sext i32 %416 to i64, !dbg !22
  %449 = sext i32 %417 to i64, !dbg !22
  %450 = sext i32 %418 to i64, !dbg !22
  %451 = sext i32 %419 to i64, !dbg !22
  %452 = sext i32 %420 to i64, !dbg !22
  %453 = sext i32 %421 to i64, !dbg !22
  %454 = sext i32 %422 to i64, !dbg !22
  %455 = sext i32 %423 to i64, !dbg !22
  %456 = sext i32 %424 to i64, !dbg !22
  %457 = sext i32 %425 to i64, !dbg !22
  %458 = sext i32 %426 to i64, !dbg !22
  %459 = sext i32 %427 to i64, !dbg !22
  %gep126 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep125, i64 %428, !dbg !22
  %gep128 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep125, i64 %429, !dbg !22
  %gep130 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep125, i64 %430, !dbg !22
  %gep132 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep125, i64 %431, !dbg !22
  %gep134 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep125, i64 %432, !dbg !22
  %gep136 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep125, i64 %433, !dbg !22
  %gep138 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep125, i64 %434, !dbg !22
  %gep140 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep125, i64 %435, !dbg !22
  %gep142 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep125, i64 %436, !dbg !22
  %gep144 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep125, i64 %437, !dbg !22
  %gep146 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep125, i64 %438, !dbg !22
  %gep148 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep125, i64 %439, !dbg !22
  %gep150 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep125, i64 %440, !dbg !22
  %gep152 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep125, i64 %441, !dbg !22
  %gep154 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep125, i64 %442, !dbg !22
  %gep156 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep125, i64 %443, !dbg !22
  %gep158 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep125, i64 %444, !dbg !22
  %gep160 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep125, i64 %445, !dbg !22
  %gep162 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep125, i64 %446, !dbg !22
  %gep164 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep125, i64 %447, !dbg !22
  %gep166 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep125, i64 %448, !dbg !22
  %gep168 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep125, i64 %449, !dbg !22
  %gep170 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep125, i64 %450, !dbg !22
  %gep172 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep125, i64 %451, !dbg !22
  %gep174 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep125, i64 %452, !dbg !22
  %gep176 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep125, i64 %453, !dbg !22
  %gep178 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep125, i64 %454, !dbg !22
  %gep180 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep125, i64 %455, !dbg !22
  %gep182 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep125, i64 %456, !dbg !22
  %gep184 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep125, i64 %457, !dbg !22
  %gep186 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep125, i64 %458, !dbg !22
  %gep188 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep125, i64 %459, !dbg !22
  %460 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep126) #6, !dbg !23
  %461 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep128) #6, !dbg !23
  %462 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep130) #6, !dbg !23
  %463 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep132) #6, !dbg !23
  %464 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep134) #6, !dbg !23
  %465 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep136) #6, !dbg !23
  %466 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep138) #6, !dbg !23
  %467 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep140) #6, !dbg !23
  %468 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep142) #6, !dbg !23
  %469 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep144) #6, !dbg !23
  %470 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep146) #6, !dbg !23
  %471 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep148) #6, !dbg !23
  %472 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep150) #6, !dbg !23
  %473 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep152) #6, !dbg !23
  %474 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep154) #6, !dbg !23
  %475 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep156) #6, !dbg !23
  %476 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep158) #6, !dbg !23
  %477 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep160) #6, !dbg !23
  %478 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep162) #6, !dbg !23
  %479 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep164) #6, !dbg !23
  %480 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep166) #6, !dbg !23
  %481 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep168) #6, !dbg !23
  %482 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep170) #6, !dbg !23
  %483 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep172) #6, !dbg !23
  %484 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep174) #6, !dbg !23
  %485 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep176) #6, !dbg !23
  %486 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep178) #6, !dbg !23
  %487 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep180) #6, !dbg !23
  %488 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep182) #6, !dbg !23
  %489 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep184) #6, !dbg !23
  %490 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep186) #6, !dbg !23
  %491 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %gep188) #6, !dbg !23
  %492 = insertelement <1 x i16> poison, i16 %460, i64 0, !dbg !23
  store <1 x i16> %492, ptr addrspace(3) %207, align 2, !dbg !23
  %493 = insertelement <1 x i16> poison, i16 %464, i64 0, !dbg !23
  store <1 x i16> %493, ptr addrspace(3) %208, align 2, !dbg !23
  %494 = insertelement <1 x i16> poison, i16 %468, i64 0, !dbg !23
  store <1 x i16> %494, ptr addrspace(3) %209, align 2, !dbg !23
  %495 = insertelement <1 x i16> poison, i16 %472, i64 0, !dbg !23
  store <1 x i16> %495, ptr addrspace(3) %210, align 2, !dbg !23
  %496 = insertelement <1 x i16> poison, i16 %476, i64 0, !dbg !23
  store <1 x i16> %496, ptr addrspace(3) %211, align 2, !dbg !23
  %497 = insertelement <1 x i16> poison, i16 %480, i64 0, !dbg !23
  store <1 x i16> %497, ptr addrspace(3) %212, align 2, !dbg !23
  %498 = insertelement <1 x i16> poison, i16 %484, i64 0, !dbg !23
  store <1 x i16> %498, ptr addrspace(3) %213, align 2, !dbg !23
  %499 = insertelement <1 x i16> poison, i16 %488, i64 0, !dbg !23
  store <1 x i16> %499, ptr addrspace(3) %214, align 2, !dbg !23
  %500 = insertelement <1 x i16> poison, i16 %461, i64 0, !dbg !23
  store <1 x i16> %500, ptr addrspace(3) %215, align 2, !dbg !23
  %501 = insertelement <1 x i16> poison, i16 %465, i64 0, !dbg !23
  store <1 x i16> %501, ptr addrspace(3) %216, align 2, !dbg !23
  %502 = insertelement <1 x i16> poison, i16 %469, i64 0, !dbg !23
  store <1 x i16> %502, ptr addrspace(3) %217, align 2, !dbg !23
  %503 = insertelement <1 x i16> poison, i16 %473, i64 0, !dbg !23
  store <1 x i16> %503, ptr addrspace(3) %218, align 2, !dbg !23
  %504 = insertelement <1 x i16> poison, i16 %477, i64 0, !dbg !23
  store <1 x i16> %504, ptr addrspace(3) %219, align 2, !dbg !23
  %505 = insertelement <1 x i16> poison, i16 %481, i64 0, !dbg !23
  store <1 x i16> %505, ptr addrspace(3) %220, align 2, !dbg !23
  %506 = insertelement <1 x i16> poison, i16 %485, i64 0, !dbg !23
  store <1 x i16> %506, ptr addrspace(3) %221, align 2, !dbg !23
  %507 = insertelement <1 x i16> poison, i16 %489, i64 0, !dbg !23
  store <1 x i16> %507, ptr addrspace(3) %222, align 2, !dbg !23
  %508 = insertelement <1 x i16> poison, i16 %462, i64 0, !dbg !23
  store <1 x i16> %508, ptr addrspace(3) %223, align 2, !dbg !23
  %509 = insertelement <1 x i16> poison, i16 %466, i64 0, !dbg !23
  store <1 x i16> %509, ptr addrspace(3) %224, align 2, !dbg !23
  %510 = insertelement <1 x i16> poison, i16 %470, i64 0, !dbg !23
  store <1 x i16> %510, ptr addrspace(3) %225, align 2, !dbg !23
  %511 = insertelement <1 x i16> poison, i16 %474, i64 0, !dbg !23
  store <1 x i16> %511, ptr addrspace(3) %226, align 2, !dbg !23
  %512 = insertelement <1 x i16> poison, i16 %478, i64 0, !dbg !23
  store <1 x i16> %512, ptr addrspace(3) %227, align 2, !dbg !23
  %513 = insertelement <1 x i16> poison, i16 %482, i64 0, !dbg !23
  store <1 x i16> %513, ptr addrspace(3) %228, align 2, !dbg !23
  %514 = insertelement <1 x i16> poison, i16 %486, i64 0, !dbg !23
  store <1 x i16> %514, ptr addrspace(3) %229, align 2, !dbg !23
  %515 = insertelement <1 x i16> poison, i16 %490, i64 0, !dbg !23
  store <1 x i16> %515, ptr addrspace(3) %230, align 2, !dbg !23
  %516 = insertelement <1 x i16> poison, i16 %463, i64 0, !dbg !23
  store <1 x i16> %516, ptr addrspace(3) %231, align 2, !dbg !23
  %517 = insertelement <1 x i16> poison, i16 %467, i64 0, !dbg !23
  store <1 x i16> %517, ptr addrspace(3) %232, align 2, !dbg !23
  %518 = insertelement <1 x i16> poison, i16 %471, i64 0, !dbg !23
  store <1 x i16> %518, ptr addrspace(3) %233, align 2, !dbg !23
  %519 = insertelement <1 x i16> poison, i16 %475, i64 0, !dbg !23
  store <1 x i16> %519, ptr addrspace(3) %234, align 2, !dbg !23
  %520 = insertelement <1 x i16> poison, i16 %479, i64 0, !dbg !23
  store <1 x i16> %520, ptr addrspace(3) %235, align 2, !dbg !23
  %521 = insertelement <1 x i16> poison, i16 %483, i64 0, !dbg !23
  store <1 x i16> %521, ptr addrspace(3) %236, align 2, !dbg !23
  %522 = insertelement <1 x i16> poison, i16 %487, i64 0, !dbg !23
  store <1 x i16> %522, ptr addrspace(3) %237, align 2, !dbg !23
  %523 = insertelement <1 x i16> poison, i16 %491, i64 0, !dbg !23
  store <1 x i16> %523, ptr addrspace(3) %238, align 2, !dbg !23
  tail call void @llvm.nvvm.fence.proxy.async.shared_cta(), !dbg !24
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !24
  tail call void @llvm.nvvm.wgmma.fence.sync.aligned(), !dbg !24
  %524 = tail call { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } asm sideeffect "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {$0,$1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,$20,$21,$22,$23,$24,$25,$26,$27,$28,$29,$30,$31}, $64, $65, $66, 1, 1, 0, 1;", "=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,l,l,b"(float %266, float %267, float %268, float %269, float %270, float %271, float %272, float %273, float %274, float %275, float %276, float %277, float %278, float %279, float %280, float %281, float %282, float %283, float %284, float %285, float %286, float %287, float %288, float %289, float %290, float %291, float %292, float %293, float %294, float %295, float %296, float %297, i64 %244, i64 %246, i1 true) #6, !dbg !24
  %525 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %524, 0, !dbg !24
  %526 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %524, 1, !dbg !24
  %527 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %524, 2, !dbg !24
  %528 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %524, 3, !dbg !24
  %529 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %524, 4, !dbg !24
  %530 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %524, 5, !dbg !24
  %531 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %524, 6, !dbg !24
  %532 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %524, 7, !dbg !24
  %533 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %524, 8, !dbg !24
  %534 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %524, 9, !dbg !24
  %535 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %524, 10, !dbg !24
  %536 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %524, 11, !dbg !24
  %537 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %524, 12, !dbg !24
  %538 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %524, 13, !dbg !24
  %539 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %524, 14, !dbg !24
  %540 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %524, 15, !dbg !24
  %541 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %524, 16, !dbg !24
  %542 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %524, 17, !dbg !24
  %543 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %524, 18, !dbg !24
  %544 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %524, 19, !dbg !24
  %545 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %524, 20, !dbg !24
  %546 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %524, 21, !dbg !24
  %547 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %524, 22, !dbg !24
  %548 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %524, 23, !dbg !24
  %549 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %524, 24, !dbg !24
  %550 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %524, 25, !dbg !24
  %551 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %524, 26, !dbg !24
  %552 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %524, 27, !dbg !24
  %553 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %524, 28, !dbg !24
  %554 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %524, 29, !dbg !24
  %555 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %524, 30, !dbg !24
  %556 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %524, 31, !dbg !24
  %557 = tail call { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } asm sideeffect "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {$0,$1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,$20,$21,$22,$23,$24,$25,$26,$27,$28,$29,$30,$31}, $64, $65, $66, 1, 1, 0, 1;", "=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,l,l,b"(float %525, float %526, float %527, float %528, float %529, float %530, float %531, float %532, float %533, float %534, float %535, float %536, float %537, float %538, float %539, float %540, float %541, float %542, float %543, float %544, float %545, float %546, float %547, float %548, float %549, float %550, float %551, float %552, float %553, float %554, float %555, float %556, i64 %249, i64 %252, i1 true) #6, !dbg !24
  %558 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %557, 0, !dbg !24
  %559 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %557, 1, !dbg !24
  %560 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %557, 2, !dbg !24
  %561 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %557, 3, !dbg !24
  %562 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %557, 4, !dbg !24
  %563 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %557, 5, !dbg !24
  %564 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %557, 6, !dbg !24
  %565 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %557, 7, !dbg !24
  %566 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %557, 8, !dbg !24
  %567 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %557, 9, !dbg !24
  %568 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %557, 10, !dbg !24
  %569 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %557, 11, !dbg !24
  %570 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %557, 12, !dbg !24
  %571 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %557, 13, !dbg !24
  %572 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %557, 14, !dbg !24
  %573 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %557, 15, !dbg !24
  %574 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %557, 16, !dbg !24
  %575 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %557, 17, !dbg !24
  %576 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %557, 18, !dbg !24
  %577 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %557, 19, !dbg !24
  %578 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %557, 20, !dbg !24
  %579 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %557, 21, !dbg !24
  %580 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %557, 22, !dbg !24
  %581 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %557, 23, !dbg !24
  %582 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %557, 24, !dbg !24
  %583 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %557, 25, !dbg !24
  %584 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %557, 26, !dbg !24
  %585 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %557, 27, !dbg !24
  %586 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %557, 28, !dbg !24
  %587 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %557, 29, !dbg !24
  %588 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %557, 30, !dbg !24
  %589 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %557, 31, !dbg !24
  %590 = tail call { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } asm sideeffect "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {$0,$1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,$20,$21,$22,$23,$24,$25,$26,$27,$28,$29,$30,$31}, $64, $65, $66, 1, 1, 0, 1;", "=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,l,l,b"(float %558, float %559, float %560, float %561, float %562, float %563, float %564, float %565, float %566, float %567, float %568, float %569, float %570, float %571, float %572, float %573, float %574, float %575, float %576, float %577, float %578, float %579, float %580, float %581, float %582, float %583, float %584, float %585, float %586, float %587, float %588, float %589, i64 %255, i64 %258, i1 true) #6, !dbg !24
  %591 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %590, 0, !dbg !24
  %592 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %590, 1, !dbg !24
  %593 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %590, 2, !dbg !24
  %594 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %590, 3, !dbg !24
  %595 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %590, 4, !dbg !24
  %596 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %590, 5, !dbg !24
  %597 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %590, 6, !dbg !24
  %598 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %590, 7, !dbg !24
  %599 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %590, 8, !dbg !24
  %600 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %590, 9, !dbg !24
  %601 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %590, 10, !dbg !24
  %602 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %590, 11, !dbg !24
  %603 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %590, 12, !dbg !24
  %604 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %590, 13, !dbg !24
  %605 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %590, 14, !dbg !24
  %606 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %590, 15, !dbg !24
  %607 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %590, 16, !dbg !24
  %608 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %590, 17, !dbg !24
  %609 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %590, 18, !dbg !24
  %610 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %590, 19, !dbg !24
  %611 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %590, 20, !dbg !24
  %612 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %590, 21, !dbg !24
  %613 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %590, 22, !dbg !24
  %614 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %590, 23, !dbg !24
  %615 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %590, 24, !dbg !24
  %616 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %590, 25, !dbg !24
  %617 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %590, 26, !dbg !24
  %618 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %590, 27, !dbg !24
  %619 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %590, 28, !dbg !24
  %620 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %590, 29, !dbg !24
  %621 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %590, 30, !dbg !24
  %622 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %590, 31, !dbg !24
  %623 = tail call { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } asm sideeffect "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {$0,$1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,$20,$21,$22,$23,$24,$25,$26,$27,$28,$29,$30,$31}, $64, $65, $66, 1, 1, 0, 1;", "=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,l,l,b"(float %591, float %592, float %593, float %594, float %595, float %596, float %597, float %598, float %599, float %600, float %601, float %602, float %603, float %604, float %605, float %606, float %607, float %608, float %609, float %610, float %611, float %612, float %613, float %614, float %615, float %616, float %617, float %618, float %619, float %620, float %621, float %622, i64 %261, i64 %264, i1 true) #6, !dbg !24
  %624 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %623, 0, !dbg !24
  %625 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %623, 1, !dbg !24
  %626 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %623, 2, !dbg !24
  %627 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %623, 3, !dbg !24
  %628 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %623, 4, !dbg !24
  %629 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %623, 5, !dbg !24
  %630 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %623, 6, !dbg !24
  %631 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %623, 7, !dbg !24
  %632 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %623, 8, !dbg !24
  %633 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %623, 9, !dbg !24
  %634 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %623, 10, !dbg !24
  %635 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %623, 11, !dbg !24
  %636 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %623, 12, !dbg !24
  %637 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %623, 13, !dbg !24
  %638 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %623, 14, !dbg !24
  %639 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %623, 15, !dbg !24
  %640 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %623, 16, !dbg !24
  %641 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %623, 17, !dbg !24
  %642 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %623, 18, !dbg !24
  %643 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %623, 19, !dbg !24
  %644 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %623, 20, !dbg !24
  %645 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %623, 21, !dbg !24
  %646 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %623, 22, !dbg !24
  %647 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %623, 23, !dbg !24
  %648 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %623, 24, !dbg !24
  %649 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %623, 25, !dbg !24
  %650 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %623, 26, !dbg !24
  %651 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %623, 27, !dbg !24
  %652 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %623, 28, !dbg !24
  %653 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %623, 29, !dbg !24
  %654 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %623, 30, !dbg !24
  %655 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %623, 31, !dbg !24
  tail call void @llvm.nvvm.wgmma.commit_group.sync.aligned(), !dbg !24
  %656 = tail call { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } asm sideeffect "// wait for regs: $0,$1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,$20,$21,$22,$23,$24,$25,$26,$27,$28,$29,$30,$31,$32,$33,$34,$35,$36,$37\0A\09wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=l,=r,=r,=l,=r,=r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37"(float %624, float %625, float %626, float %627, float %628, float %629, float %630, float %631, float %632, float %633, float %634, float %635, float %636, float %637, float %638, float %639, float %640, float %641, float %642, float %643, float %644, float %645, float %646, float %647, float %648, float %649, float %650, float %651, float %652, float %653, float %654, float %655, ptr addrspace(3) @global_smem, i32 0, i32 0, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 0, i32 0) #6, !dbg !24
  %657 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %656, 0, !dbg !24
  %658 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %656, 1, !dbg !24
  %659 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %656, 2, !dbg !24
  %660 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %656, 3, !dbg !24
  %661 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %656, 4, !dbg !24
  %662 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %656, 5, !dbg !24
  %663 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %656, 6, !dbg !24
  %664 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %656, 7, !dbg !24
  %665 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %656, 8, !dbg !24
  %666 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %656, 9, !dbg !24
  %667 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %656, 10, !dbg !24
  %668 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %656, 11, !dbg !24
  %669 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %656, 12, !dbg !24
  %670 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %656, 13, !dbg !24
  %671 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %656, 14, !dbg !24
  %672 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %656, 15, !dbg !24
  %673 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %656, 16, !dbg !24
  %674 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %656, 17, !dbg !24
  %675 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %656, 18, !dbg !24
  %676 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %656, 19, !dbg !24
  %677 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %656, 20, !dbg !24
  %678 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %656, 21, !dbg !24
  %679 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %656, 22, !dbg !24
  %680 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %656, 23, !dbg !24
  %681 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %656, 24, !dbg !24
  %682 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %656, 25, !dbg !24
  %683 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %656, 26, !dbg !24
  %684 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %656, 27, !dbg !24
  %685 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %656, 28, !dbg !24
  %686 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %656, 29, !dbg !24
  %687 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %656, 30, !dbg !24
  %688 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, ptr addrspace(3), i32, i32, ptr addrspace(3), i32, i32 } %656, 31, !dbg !24
  %689 = add i32 %298, 64, !dbg !16
  %690 = icmp slt i32 %689, %3, !dbg !16
  br i1 %690, label %265, label %._crit_edge, !dbg !16

._crit_edge:                                      ; preds = %265, %.._crit_edge_crit_edge
  %.pre-phi = phi i64 [ %.pre, %.._crit_edge_crit_edge ], [ %139, %265 ], !dbg !17
  %691 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %657, %265 ], !dbg !25
  %692 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %658, %265 ], !dbg !25
  %693 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %659, %265 ], !dbg !25
  %694 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %660, %265 ], !dbg !25
  %695 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %661, %265 ], !dbg !25
  %696 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %662, %265 ], !dbg !25
  %697 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %663, %265 ], !dbg !25
  %698 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %664, %265 ], !dbg !25
  %699 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %665, %265 ], !dbg !25
  %700 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %666, %265 ], !dbg !25
  %701 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %667, %265 ], !dbg !25
  %702 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %668, %265 ], !dbg !25
  %703 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %669, %265 ], !dbg !25
  %704 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %670, %265 ], !dbg !25
  %705 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %671, %265 ], !dbg !25
  %706 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %672, %265 ], !dbg !25
  %707 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %673, %265 ], !dbg !25
  %708 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %674, %265 ], !dbg !25
  %709 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %675, %265 ], !dbg !25
  %710 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %676, %265 ], !dbg !25
  %711 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %677, %265 ], !dbg !25
  %712 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %678, %265 ], !dbg !25
  %713 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %679, %265 ], !dbg !25
  %714 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %680, %265 ], !dbg !25
  %715 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %681, %265 ], !dbg !25
  %716 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %682, %265 ], !dbg !25
  %717 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %683, %265 ], !dbg !25
  %718 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %684, %265 ], !dbg !25
  %719 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %685, %265 ], !dbg !25
  %720 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %686, %265 ], !dbg !25
  %721 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %687, %265 ], !dbg !25
  %722 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %688, %265 ], !dbg !25
  %723 = shl nuw nsw i32 %10, 6, !dbg !26
  %724 = shl nuw nsw i32 %11, 6, !dbg !26
  %725 = shl nuw nsw i32 %12, 6, !dbg !26
  %726 = shl nuw nsw i32 %13, 6, !dbg !26
  %727 = shl nuw nsw i32 %14, 6, !dbg !26
  %728 = shl nuw nsw i32 %15, 6, !dbg !26
  %729 = shl nuw nsw i32 %16, 6, !dbg !26
  %730 = shl nuw nsw i32 %17, 6, !dbg !26
  %731 = shl nuw nsw i32 %18, 6, !dbg !26
  %732 = shl nuw nsw i32 %19, 6, !dbg !26
  %733 = shl nuw nsw i32 %20, 6, !dbg !26
  %734 = shl nuw nsw i32 %21, 6, !dbg !26
  %735 = shl nuw nsw i32 %22, 6, !dbg !26
  %736 = shl nuw nsw i32 %23, 6, !dbg !26
  %737 = shl nuw nsw i32 %24, 6, !dbg !26
  %738 = shl nuw nsw i32 %25, 6, !dbg !26
  %739 = shl nuw nsw i32 %26, 6, !dbg !26
  %740 = shl nuw nsw i32 %27, 6, !dbg !26
  %741 = shl nuw nsw i32 %28, 6, !dbg !26
  %742 = shl nuw nsw i32 %29, 6, !dbg !26
  %743 = shl nuw nsw i32 %30, 6, !dbg !26
  %744 = shl nuw nsw i32 %31, 6, !dbg !26
  %745 = shl nuw nsw i32 %32, 6, !dbg !26
  %746 = shl nuw nsw i32 %33, 6, !dbg !26
  %747 = shl nuw nsw i32 %34, 6, !dbg !26
  %748 = shl nuw nsw i32 %35, 6, !dbg !26
  %749 = shl nuw nsw i32 %36, 6, !dbg !26
  %750 = shl nuw nsw i32 %37, 6, !dbg !26
  %751 = shl nuw nsw i32 %38, 6, !dbg !26
  %752 = shl nuw nsw i32 %39, 6, !dbg !26
  %753 = shl nuw nsw i32 %40, 6, !dbg !26
  %754 = zext nneg i32 %8 to i64, !dbg !17
  %755 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %754, !dbg !17
  %756 = zext nneg i32 %723 to i64, !dbg !17
  %757 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %756, !dbg !17
  %758 = zext nneg i32 %724 to i64, !dbg !17
  %759 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %758, !dbg !17
  %760 = zext nneg i32 %725 to i64, !dbg !17
  %761 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %760, !dbg !17
  %762 = zext nneg i32 %726 to i64, !dbg !17
  %763 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %762, !dbg !17
  %764 = zext nneg i32 %727 to i64, !dbg !17
  %765 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %764, !dbg !17
  %766 = zext nneg i32 %728 to i64, !dbg !17
  %767 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %766, !dbg !17
  %768 = zext nneg i32 %729 to i64, !dbg !17
  %769 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %768, !dbg !17
  %770 = zext nneg i32 %730 to i64, !dbg !17
  %771 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %770, !dbg !17
  %772 = zext nneg i32 %731 to i64, !dbg !17
  %773 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %772, !dbg !17
  %774 = zext nneg i32 %732 to i64, !dbg !17
  %775 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %774, !dbg !17
  %776 = zext nneg i32 %733 to i64, !dbg !17
  %777 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %776, !dbg !17
  %778 = zext nneg i32 %734 to i64, !dbg !17
  %779 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %778, !dbg !17
  %780 = zext nneg i32 %735 to i64, !dbg !17
  %781 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %780, !dbg !17
  %782 = zext nneg i32 %736 to i64, !dbg !17
  %783 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %782, !dbg !17
  %784 = zext nneg i32 %737 to i64, !dbg !17
  %785 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %784, !dbg !17
  %786 = zext nneg i32 %738 to i64, !dbg !17
  %787 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %786, !dbg !17
  %788 = zext nneg i32 %739 to i64, !dbg !17
  %789 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %788, !dbg !17
  %790 = zext nneg i32 %740 to i64, !dbg !17
  %791 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %790, !dbg !17
  %792 = zext nneg i32 %741 to i64, !dbg !17
  %793 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %792, !dbg !17
  %794 = zext nneg i32 %742 to i64, !dbg !17
  %795 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %794, !dbg !17
  %796 = zext nneg i32 %743 to i64, !dbg !17
  %797 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %796, !dbg !17
  %798 = zext nneg i32 %744 to i64, !dbg !17
  %799 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %798, !dbg !17
  %800 = zext nneg i32 %745 to i64, !dbg !17
  %801 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %800, !dbg !17
  %802 = zext nneg i32 %746 to i64, !dbg !17
  %803 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %802, !dbg !17
  %804 = zext nneg i32 %747 to i64, !dbg !17
  %805 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %804, !dbg !17
  %806 = zext nneg i32 %748 to i64, !dbg !17
  %807 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %806, !dbg !17
  %808 = zext nneg i32 %749 to i64, !dbg !17
  %809 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %808, !dbg !17
  %810 = zext nneg i32 %750 to i64, !dbg !17
  %811 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %810, !dbg !17
  %812 = zext nneg i32 %751 to i64, !dbg !17
  %813 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %812, !dbg !17
  %814 = zext nneg i32 %752 to i64, !dbg !17
  %815 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %814, !dbg !17
  %816 = zext nneg i32 %753 to i64, !dbg !17
  %817 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %816, !dbg !17
  %818 = getelementptr [4 x i8], ptr addrspace(1) %755, i64 %.pre-phi, !dbg !17
  %819 = getelementptr [4 x i8], ptr addrspace(1) %757, i64 %.pre-phi, !dbg !17
  %820 = getelementptr [4 x i8], ptr addrspace(1) %759, i64 %.pre-phi, !dbg !17
  %821 = getelementptr [4 x i8], ptr addrspace(1) %761, i64 %.pre-phi, !dbg !17
  %822 = getelementptr [4 x i8], ptr addrspace(1) %763, i64 %.pre-phi, !dbg !17
  %823 = getelementptr [4 x i8], ptr addrspace(1) %765, i64 %.pre-phi, !dbg !17
  %824 = getelementptr [4 x i8], ptr addrspace(1) %767, i64 %.pre-phi, !dbg !17
  %825 = getelementptr [4 x i8], ptr addrspace(1) %769, i64 %.pre-phi, !dbg !17
  %826 = getelementptr [4 x i8], ptr addrspace(1) %771, i64 %.pre-phi, !dbg !17
  %827 = getelementptr [4 x i8], ptr addrspace(1) %773, i64 %.pre-phi, !dbg !17
  %828 = getelementptr [4 x i8], ptr addrspace(1) %775, i64 %.pre-phi, !dbg !17
  %829 = getelementptr [4 x i8], ptr addrspace(1) %777, i64 %.pre-phi, !dbg !17
  %830 = getelementptr [4 x i8], ptr addrspace(1) %779, i64 %.pre-phi, !dbg !17
  %831 = getelementptr [4 x i8], ptr addrspace(1) %781, i64 %.pre-phi, !dbg !17
  %832 = getelementptr [4 x i8], ptr addrspace(1) %783, i64 %.pre-phi, !dbg !17
  %833 = getelementptr [4 x i8], ptr addrspace(1) %785, i64 %.pre-phi, !dbg !17
  %834 = getelementptr [4 x i8], ptr addrspace(1) %787, i64 %.pre-phi, !dbg !17
  %835 = getelementptr [4 x i8], ptr addrspace(1) %789, i64 %.pre-phi, !dbg !17
  %836 = getelementptr [4 x i8], ptr addrspace(1) %791, i64 %.pre-phi, !dbg !17
  %837 = getelementptr [4 x i8], ptr addrspace(1) %793, i64 %.pre-phi, !dbg !17
  %838 = getelementptr [4 x i8], ptr addrspace(1) %795, i64 %.pre-phi, !dbg !17
  %839 = getelementptr [4 x i8], ptr addrspace(1) %797, i64 %.pre-phi, !dbg !17
  %840 = getelementptr [4 x i8], ptr addrspace(1) %799, i64 %.pre-phi, !dbg !17
  %841 = getelementptr [4 x i8], ptr addrspace(1) %801, i64 %.pre-phi, !dbg !17
  %842 = getelementptr [4 x i8], ptr addrspace(1) %803, i64 %.pre-phi, !dbg !17
  %843 = getelementptr [4 x i8], ptr addrspace(1) %805, i64 %.pre-phi, !dbg !17
  %844 = getelementptr [4 x i8], ptr addrspace(1) %807, i64 %.pre-phi, !dbg !17
  %845 = getelementptr [4 x i8], ptr addrspace(1) %809, i64 %.pre-phi, !dbg !17
  %846 = getelementptr [4 x i8], ptr addrspace(1) %811, i64 %.pre-phi, !dbg !17
  %847 = getelementptr [4 x i8], ptr addrspace(1) %813, i64 %.pre-phi, !dbg !17
  %848 = getelementptr [4 x i8], ptr addrspace(1) %815, i64 %.pre-phi, !dbg !17
  %849 = getelementptr [4 x i8], ptr addrspace(1) %817, i64 %.pre-phi, !dbg !17
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !27
  %850 = and i32 %7, 12, !dbg !27
  %851 = shl nuw nsw i32 %850, 10, !dbg !27
  %852 = shl nuw nsw i32 %7, 5, !dbg !27
  %853 = and i32 %852, 96, !dbg !27
  %854 = shl nuw nsw i32 %7, 3, !dbg !27
  %855 = and i32 %854, 896, !dbg !27
  %856 = shl nuw nsw i32 %850, 1, !dbg !27
  %857 = or disjoint i32 %851, %853, !dbg !27
  %858 = or disjoint i32 %857, %856, !dbg !27
  %859 = or disjoint i32 %858, %855, !dbg !27
  %860 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %859, !dbg !27
  %861 = insertelement <2 x float> poison, float %691, i64 0, !dbg !27
  %862 = insertelement <2 x float> %861, float %693, i64 1, !dbg !27
  store <2 x float> %862, ptr addrspace(3) %860, align 8, !dbg !27
  %863 = getelementptr inbounds nuw i8, ptr addrspace(3) %860, i32 1024, !dbg !27
  %864 = insertelement <2 x float> poison, float %699, i64 0, !dbg !27
  %865 = insertelement <2 x float> %864, float %701, i64 1, !dbg !27
  store <2 x float> %865, ptr addrspace(3) %863, align 8, !dbg !27
  %866 = getelementptr inbounds nuw i8, ptr addrspace(3) %860, i32 2048, !dbg !27
  %867 = insertelement <2 x float> poison, float %707, i64 0, !dbg !27
  %868 = insertelement <2 x float> %867, float %709, i64 1, !dbg !27
  store <2 x float> %868, ptr addrspace(3) %866, align 8, !dbg !27
  %869 = getelementptr inbounds nuw i8, ptr addrspace(3) %860, i32 3072, !dbg !27
  %870 = insertelement <2 x float> poison, float %715, i64 0, !dbg !27
  %871 = insertelement <2 x float> %870, float %717, i64 1, !dbg !27
  store <2 x float> %871, ptr addrspace(3) %869, align 8, !dbg !27
  %872 = xor i32 %859, 8, !dbg !27
  %873 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %872, !dbg !27
  %874 = insertelement <2 x float> poison, float %692, i64 0, !dbg !27
  %875 = insertelement <2 x float> %874, float %694, i64 1, !dbg !27
  store <2 x float> %875, ptr addrspace(3) %873, align 8, !dbg !27
  %876 = getelementptr inbounds nuw i8, ptr addrspace(3) %873, i32 1024, !dbg !27
  %877 = insertelement <2 x float> poison, float %700, i64 0, !dbg !27
  %878 = insertelement <2 x float> %877, float %702, i64 1, !dbg !27
  store <2 x float> %878, ptr addrspace(3) %876, align 8, !dbg !27
  %879 = getelementptr inbounds nuw i8, ptr addrspace(3) %873, i32 2048, !dbg !27
  %880 = insertelement <2 x float> poison, float %708, i64 0, !dbg !27
  %881 = insertelement <2 x float> %880, float %710, i64 1, !dbg !27
  store <2 x float> %881, ptr addrspace(3) %879, align 8, !dbg !27
  %882 = getelementptr inbounds nuw i8, ptr addrspace(3) %873, i32 3072, !dbg !27
  %883 = insertelement <2 x float> poison, float %716, i64 0, !dbg !27
  %884 = insertelement <2 x float> %883, float %718, i64 1, !dbg !27
  store <2 x float> %884, ptr addrspace(3) %882, align 8, !dbg !27
  %885 = xor i32 %859, 16, !dbg !27
  %886 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %885, !dbg !27
  %887 = insertelement <2 x float> poison, float %695, i64 0, !dbg !27
  %888 = insertelement <2 x float> %887, float %697, i64 1, !dbg !27
  store <2 x float> %888, ptr addrspace(3) %886, align 8, !dbg !27
  %889 = getelementptr inbounds nuw i8, ptr addrspace(3) %886, i32 1024, !dbg !27
  %890 = insertelement <2 x float> poison, float %703, i64 0, !dbg !27
  %891 = insertelement <2 x float> %890, float %705, i64 1, !dbg !27
  store <2 x float> %891, ptr addrspace(3) %889, align 8, !dbg !27
  %892 = getelementptr inbounds nuw i8, ptr addrspace(3) %886, i32 2048, !dbg !27
  %893 = insertelement <2 x float> poison, float %711, i64 0, !dbg !27
  %894 = insertelement <2 x float> %893, float %713, i64 1, !dbg !27
  store <2 x float> %894, ptr addrspace(3) %892, align 8, !dbg !27
  %895 = getelementptr inbounds nuw i8, ptr addrspace(3) %886, i32 3072, !dbg !27
  %896 = insertelement <2 x float> poison, float %719, i64 0, !dbg !27
  %897 = insertelement <2 x float> %896, float %721, i64 1, !dbg !27
  store <2 x float> %897, ptr addrspace(3) %895, align 8, !dbg !27
  %898 = xor i32 %859, 24, !dbg !27
  %899 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %898, !dbg !27
  %900 = insertelement <2 x float> poison, float %696, i64 0, !dbg !27
  %901 = insertelement <2 x float> %900, float %698, i64 1, !dbg !27
  store <2 x float> %901, ptr addrspace(3) %899, align 8, !dbg !27
  %902 = getelementptr inbounds nuw i8, ptr addrspace(3) %899, i32 1024, !dbg !27
  %903 = insertelement <2 x float> poison, float %704, i64 0, !dbg !27
  %904 = insertelement <2 x float> %903, float %706, i64 1, !dbg !27
  store <2 x float> %904, ptr addrspace(3) %902, align 8, !dbg !27
  %905 = getelementptr inbounds nuw i8, ptr addrspace(3) %899, i32 2048, !dbg !27
  %906 = insertelement <2 x float> poison, float %712, i64 0, !dbg !27
  %907 = insertelement <2 x float> %906, float %714, i64 1, !dbg !27
  store <2 x float> %907, ptr addrspace(3) %905, align 8, !dbg !27
  %908 = getelementptr inbounds nuw i8, ptr addrspace(3) %899, i32 3072, !dbg !27
  %909 = insertelement <2 x float> poison, float %720, i64 0, !dbg !27
  %910 = insertelement <2 x float> %909, float %722, i64 1, !dbg !27
  store <2 x float> %910, ptr addrspace(3) %908, align 8, !dbg !27
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !27
  %911 = icmp eq i32 %8, 0, !dbg !27
  %912 = select i1 %911, i32 0, i32 4104, !dbg !27
  %913 = and i32 %854, 8, !dbg !27
  %914 = insertelement <4 x i32> poison, i32 %7, i64 0, !dbg !27
  %915 = insertelement <4 x i32> %914, i32 %913, i64 1, !dbg !27
  %916 = shufflevector <4 x i32> %915, <4 x i32> poison, <4 x i32> <i32 0, i32 0, i32 0, i32 1>, !dbg !27
  %917 = shl nuw nsw <4 x i32> %916, <i32 6, i32 4, i32 1, i32 0>, !dbg !27
  %918 = insertelement <4 x i32> <i32 3072, i32 96, i32 16, i32 poison>, i32 %912, i64 3, !dbg !27
  %919 = and <4 x i32> %918, %917, !dbg !27
  %920 = xor <4 x i32> %918, %917, !dbg !27
  %921 = shufflevector <4 x i32> %919, <4 x i32> %920, <4 x i32> <i32 0, i32 1, i32 2, i32 7>, !dbg !27
  %922 = tail call i32 @llvm.vector.reduce.or.v4i32(<4 x i32> %921), !dbg !27
  %923 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %922, !dbg !27
  %924 = load <2 x i32>, ptr addrspace(3) %923, align 8, !dbg !27
  %925 = getelementptr inbounds nuw i8, ptr addrspace(3) %923, i32 128, !dbg !27
  %926 = load <2 x i32>, ptr addrspace(3) %925, align 8, !dbg !27
  %927 = getelementptr inbounds nuw i8, ptr addrspace(3) %923, i32 256, !dbg !27
  %928 = load <2 x i32>, ptr addrspace(3) %927, align 8, !dbg !27
  %929 = getelementptr inbounds nuw i8, ptr addrspace(3) %923, i32 384, !dbg !27
  %930 = load <2 x i32>, ptr addrspace(3) %929, align 8, !dbg !27
  %931 = getelementptr inbounds nuw i8, ptr addrspace(3) %923, i32 512, !dbg !27
  %932 = load <2 x i32>, ptr addrspace(3) %931, align 8, !dbg !27
  %933 = getelementptr inbounds nuw i8, ptr addrspace(3) %923, i32 640, !dbg !27
  %934 = load <2 x i32>, ptr addrspace(3) %933, align 8, !dbg !27
  %935 = getelementptr inbounds nuw i8, ptr addrspace(3) %923, i32 768, !dbg !27
  %936 = load <2 x i32>, ptr addrspace(3) %935, align 8, !dbg !27
  %937 = getelementptr inbounds nuw i8, ptr addrspace(3) %923, i32 896, !dbg !27
  %938 = load <2 x i32>, ptr addrspace(3) %937, align 8, !dbg !27
  %939 = xor i32 %922, 8208, !dbg !27
  %940 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %939, !dbg !27
  %941 = load <2 x i32>, ptr addrspace(3) %940, align 8, !dbg !27
  %942 = getelementptr inbounds nuw i8, ptr addrspace(3) %940, i32 128, !dbg !27
  %943 = load <2 x i32>, ptr addrspace(3) %942, align 8, !dbg !27
  %944 = getelementptr inbounds nuw i8, ptr addrspace(3) %940, i32 256, !dbg !27
  %945 = load <2 x i32>, ptr addrspace(3) %944, align 8, !dbg !27
  %946 = getelementptr inbounds nuw i8, ptr addrspace(3) %940, i32 384, !dbg !27
  %947 = load <2 x i32>, ptr addrspace(3) %946, align 8, !dbg !27
  %948 = getelementptr inbounds nuw i8, ptr addrspace(3) %940, i32 512, !dbg !27
  %949 = load <2 x i32>, ptr addrspace(3) %948, align 8, !dbg !27
  %950 = getelementptr inbounds nuw i8, ptr addrspace(3) %940, i32 640, !dbg !27
  %951 = load <2 x i32>, ptr addrspace(3) %950, align 8, !dbg !27
  %952 = getelementptr inbounds nuw i8, ptr addrspace(3) %940, i32 768, !dbg !27
  %953 = load <2 x i32>, ptr addrspace(3) %952, align 8, !dbg !27
  %954 = getelementptr inbounds nuw i8, ptr addrspace(3) %940, i32 896, !dbg !27
  %955 = load <2 x i32>, ptr addrspace(3) %954, align 8, !dbg !27
  %.extract = extractelement <2 x i32> %924, i64 0, !dbg !27
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract, ptr addrspace(1) %818) #6, !dbg !27
  %.extract32 = extractelement <2 x i32> %941, i64 0, !dbg !27
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract32, ptr addrspace(1) %819) #6, !dbg !27
  %.extract33 = extractelement <2 x i32> %926, i64 0, !dbg !27
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract33, ptr addrspace(1) %820) #6, !dbg !27
  %.extract34 = extractelement <2 x i32> %943, i64 0, !dbg !27
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract34, ptr addrspace(1) %821) #6, !dbg !27
  %.extract35 = extractelement <2 x i32> %924, i64 1, !dbg !27
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract35, ptr addrspace(1) %822) #6, !dbg !27
  %.extract36 = extractelement <2 x i32> %941, i64 1, !dbg !27
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract36, ptr addrspace(1) %823) #6, !dbg !27
  %.extract37 = extractelement <2 x i32> %926, i64 1, !dbg !27
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract37, ptr addrspace(1) %824) #6, !dbg !27
  %.extract38 = extractelement <2 x i32> %943, i64 1, !dbg !27
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract38, ptr addrspace(1) %825) #6, !dbg !27
  %.extract39 = extractelement <2 x i32> %928, i64 0, !dbg !27
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract39, ptr addrspace(1) %826) #6, !dbg !27
  %.extract40 = extractelement <2 x i32> %945, i64 0, !dbg !27
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract40, ptr addrspace(1) %827) #6, !dbg !27
  %.extract41 = extractelement <2 x i32> %930, i64 0, !dbg !27
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract41, ptr addrspace(1) %828) #6, !dbg !27
  %.extract42 = extractelement <2 x i32> %947, i64 0, !dbg !27
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract42, ptr addrspace(1) %829) #6, !dbg !27
  %.extract43 = extractelement <2 x i32> %928, i64 1, !dbg !27
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract43, ptr addrspace(1) %830) #6, !dbg !27
  %.extract44 = extractelement <2 x i32> %945, i64 1, !dbg !27
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract44, ptr addrspace(1) %831) #6, !dbg !27
  %.extract45 = extractelement <2 x i32> %930, i64 1, !dbg !27
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract45, ptr addrspace(1) %832) #6, !dbg !27
  %.extract46 = extractelement <2 x i32> %947, i64 1, !dbg !27
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract46, ptr addrspace(1) %833) #6, !dbg !27
  %.extract47 = extractelement <2 x i32> %932, i64 0, !dbg !27
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract47, ptr addrspace(1) %834) #6, !dbg !27
  %.extract48 = extractelement <2 x i32> %949, i64 0, !dbg !27
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract48, ptr addrspace(1) %835) #6, !dbg !27
  %.extract49 = extractelement <2 x i32> %934, i64 0, !dbg !27
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract49, ptr addrspace(1) %836) #6, !dbg !27
  %.extract50 = extractelement <2 x i32> %951, i64 0, !dbg !27
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract50, ptr addrspace(1) %837) #6, !dbg !27
  %.extract51 = extractelement <2 x i32> %932, i64 1, !dbg !27
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract51, ptr addrspace(1) %838) #6, !dbg !27
  %.extract52 = extractelement <2 x i32> %949, i64 1, !dbg !27
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract52, ptr addrspace(1) %839) #6, !dbg !27
  %.extract53 = extractelement <2 x i32> %934, i64 1, !dbg !27
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract53, ptr addrspace(1) %840) #6, !dbg !27
  %.extract54 = extractelement <2 x i32> %951, i64 1, !dbg !27
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract54, ptr addrspace(1) %841) #6, !dbg !27
  %.extract55 = extractelement <2 x i32> %936, i64 0, !dbg !27
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract55, ptr addrspace(1) %842) #6, !dbg !27
  %.extract56 = extractelement <2 x i32> %953, i64 0, !dbg !27
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract56, ptr addrspace(1) %843) #6, !dbg !27
  %.extract57 = extractelement <2 x i32> %938, i64 0, !dbg !27
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract57, ptr addrspace(1) %844) #6, !dbg !27
  %.extract58 = extractelement <2 x i32> %955, i64 0, !dbg !27
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract58, ptr addrspace(1) %845) #6, !dbg !27
  %.extract59 = extractelement <2 x i32> %936, i64 1, !dbg !27
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract59, ptr addrspace(1) %846) #6, !dbg !27
  %.extract60 = extractelement <2 x i32> %953, i64 1, !dbg !27
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract60, ptr addrspace(1) %847) #6, !dbg !27
  %.extract61 = extractelement <2 x i32> %938, i64 1, !dbg !27
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract61, ptr addrspace(1) %848) #6, !dbg !27
  %.extract62 = extractelement <2 x i32> %955, i64 1, !dbg !27
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract62, ptr addrspace(1) %849) #6, !dbg !27
  ret void, !dbg !28
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #2

; Function Attrs: nocallback nounwind
declare void @llvm.nvvm.fence.proxy.async.shared_cta() #3

; Function Attrs: convergent nounwind
declare void @llvm.nvvm.wgmma.fence.sync.aligned() #4

; Function Attrs: convergent nounwind
declare void @llvm.nvvm.wgmma.commit_group.sync.aligned() #4

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.vector.reduce.or.v4i32(<4 x i32>) #5

attributes #0 = { nounwind "nvvm.reqntid"="128" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { convergent nocallback nounwind }
attributes #3 = { nocallback nounwind }
attributes #4 = { convergent nounwind }
attributes #5 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #6 = { nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}

!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, producer: "triton", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "triton_kernels.py", directory: "/work/w-h5/lab/src/warploom_lab/functions")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 4, !"nvvm-reflect-ftz", i32 1}
!4 = distinct !DISubprogram(name: "matmul", linkageName: "matmul", scope: !1, file: !1, line: 31, type: !5, scopeLine: 31, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!5 = !DISubroutineType(cc: DW_CC_normal, types: !6)
!6 = !{null, !7, !7, !9, !11, !12, !12}
!7 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "pointer", baseType: !8, size: 64, dwarfAddressSpace: 1)
!8 = !DIBasicType(name: "half", size: 16, encoding: DW_ATE_float)
!9 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "pointer", baseType: !10, size: 64, dwarfAddressSpace: 1)
!10 = !DIBasicType(name: "float", size: 32, encoding: DW_ATE_float)
!11 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!12 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "pointer", baseType: !13, size: 64, dwarfAddressSpace: 1)
!13 = !DIBasicType(name: "unknown_type", encoding: DW_ATE_signed)
!14 = !DILocation(line: 35, column: 35, scope: !4)
!15 = !DILocation(line: 35, column: 56, scope: !4)
!16 = !DILocation(line: 34, column: 5, scope: !4)
!17 = !DILocation(line: 36, column: 14, scope: !4)
!18 = !DILocation(line: 35, column: 31, scope: !4)
!19 = !DILocation(line: 35, column: 23, scope: !4)
!20 = !DILocation(line: 35, column: 82, scope: !4)
!21 = !DILocation(line: 35, column: 81, scope: !4)
!22 = !DILocation(line: 35, column: 77, scope: !4)
!23 = !DILocation(line: 35, column: 69, scope: !4)
!24 = !DILocation(line: 35, column: 16, scope: !4)
!25 = !DILocation(line: 33, column: 11, scope: !4)
!26 = !DILocation(line: 36, column: 18, scope: !4)
!27 = !DILocation(line: 36, column: 5, scope: !4)
!28 = !DILocation(line: 31, column: 1, scope: !4)
