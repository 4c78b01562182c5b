; Triton 3.9.0: 128 threads, 16384 bytes of dynamic shared memory
; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-p101:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

@global_smem = external addrspace(3) global [0 x i8], align 16

; Function Attrs: nounwind
define ptx_kernel void @matmul(ptr addrspace(1) %0, ptr addrspace(1) %1, ptr addrspace(1) %2, i32 %3, ptr addrspace(1) nofree readnone captures(none) %4, ptr addrspace(1) nofree readnone captures(none) %5) local_unnamed_addr #0 !dbg !4 {
  %7 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !12
  %8 = and i32 %7, 96, !dbg !12
  %9 = lshr exact i32 %8, 5, !dbg !12
  %10 = or disjoint i32 %9, 4, !dbg !12
  %11 = or disjoint i32 %9, 8, !dbg !12
  %12 = or disjoint i32 %9, 12, !dbg !12
  %13 = or disjoint i32 %9, 16, !dbg !12
  %14 = or disjoint i32 %9, 20, !dbg !12
  %15 = or disjoint i32 %9, 24, !dbg !12
  %16 = or disjoint i32 %9, 28, !dbg !12
  %17 = mul i32 %3, %9, !dbg !12
  %18 = mul i32 %3, %10, !dbg !12
  %19 = mul i32 %3, %11, !dbg !12
  %20 = mul i32 %3, %12, !dbg !12
  %21 = mul i32 %3, %13, !dbg !12
  %22 = mul i32 %3, %14, !dbg !12
  %23 = mul i32 %3, %15, !dbg !12
  %24 = mul i32 %3, %16, !dbg !12
  %25 = sext i32 %17 to i64, !dbg !13
  %26 = getelementptr [4 x i8], ptr addrspace(1) %0, i64 %25, !dbg !13
  %27 = sext i32 %18 to i64, !dbg !13
  %28 = getelementptr [4 x i8], ptr addrspace(1) %0, i64 %27, !dbg !13
  %29 = sext i32 %19 to i64, !dbg !13
  %30 = getelementptr [4 x i8], ptr addrspace(1) %0, i64 %29, !dbg !13
  %31 = sext i32 %20 to i64, !dbg !13
  %32 = getelementptr [4 x i8], ptr addrspace(1) %0, i64 %31, !dbg !13
  %33 = sext i32 %21 to i64, !dbg !13
  %34 = getelementptr [4 x i8], ptr addrspace(1) %0, i64 %33, !dbg !13
  %35 = sext i32 %22 to i64, !dbg !13
  %36 = getelementptr [4 x i8], ptr addrspace(1) %0, i64 %35, !dbg !13
  %37 = sext i32 %23 to i64, !dbg !13
  %38 = getelementptr [4 x i8], ptr addrspace(1) %0, i64 %37, !dbg !13
  %39 = sext i32 %24 to i64, !dbg !13
  %40 = getelementptr [4 x i8], ptr addrspace(1) %0, i64 %39, !dbg !13
  %41 = and i32 %7, 31, !dbg !14
  %42 = icmp sgt i32 %3, 0, !dbg !15
  %43 = zext nneg i32 %41 to i64, !dbg !13
  %44 = getelementptr [4 x i8], ptr addrspace(1) %26, i64 %43, !dbg !13
  %45 = getelementptr [4 x i8], ptr addrspace(1) %28, i64 %43, !dbg !13
  %46 = getelementptr [4 x i8], ptr addrspace(1) %30, i64 %43, !dbg !13
  %47 = getelementptr [4 x i8], ptr addrspace(1) %32, i64 %43, !dbg !13
  %48 = getelementptr [4 x i8], ptr addrspace(1) %34, i64 %43, !dbg !13
  %49 = getelementptr [4 x i8], ptr addrspace(1) %36, i64 %43, !dbg !13
  %50 = getelementptr [4 x i8], ptr addrspace(1) %38, i64 %43, !dbg !13
  %51 = getelementptr [4 x i8], ptr addrspace(1) %40, i64 %43, !dbg !13
  %52 = shl nuw nsw i32 %7, 2, !dbg !16
  %53 = and i32 %52, 508, !dbg !16
  %54 = lshr exact i32 %8, 1, !dbg !16
  %55 = xor i32 %53, %54, !dbg !16
  %56 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %55, !dbg !16
  %57 = select i1 %42, i32 4, i32 0, !dbg !16
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) %56, ptr addrspace(1) %44, i32 %57) #2, !dbg !16
  %58 = or disjoint i32 %55, 1024, !dbg !16
  %59 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %58, !dbg !16
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %59, ptr addrspace(1) %46, i32 %57) #2, !dbg !16
  %60 = or disjoint i32 %55, 2048, !dbg !16
  %61 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %60, !dbg !16
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %61, ptr addrspace(1) %48, i32 %57) #2, !dbg !16
  %62 = or disjoint i32 %55, 3072, !dbg !16
  %63 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %62, !dbg !16
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %63, ptr addrspace(1) %50, i32 %57) #2, !dbg !16
  %64 = xor i32 %55, 576, !dbg !16
  %65 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %64, !dbg !16
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %65, ptr addrspace(1) %45, i32 %57) #2, !dbg !16
  %66 = or disjoint i32 %64, 1024, !dbg !16
  %67 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %66, !dbg !16
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %67, ptr addrspace(1) %47, i32 %57) #2, !dbg !16
  %68 = or disjoint i32 %64, 2048, !dbg !16
  %69 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %68, !dbg !16
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %69, ptr addrspace(1) %49, i32 %57) #2, !dbg !16
  %70 = or disjoint i32 %64, 3072, !dbg !16
  %71 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %70, !dbg !16
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %71, ptr addrspace(1) %51, i32 %57) #2, !dbg !16
  tail call void @llvm.nvvm.cp.async.commit.group(), !dbg !16
  %72 = shl nuw nsw i32 %10, 5, !dbg !17
  %73 = shl nuw nsw i32 %11, 5, !dbg !17
  %74 = shl nuw nsw i32 %12, 5, !dbg !17
  %75 = shl nuw nsw i32 %13, 5, !dbg !17
  %76 = shl nuw nsw i32 %14, 5, !dbg !17
  %77 = shl nuw nsw i32 %15, 5, !dbg !17
  %78 = shl nuw nsw i32 %16, 5, !dbg !17
  %79 = zext nneg i32 %8 to i64, !dbg !18
  %80 = getelementptr [4 x i8], ptr addrspace(1) %1, i64 %79, !dbg !18
  %81 = zext nneg i32 %72 to i64, !dbg !18
  %82 = getelementptr [4 x i8], ptr addrspace(1) %1, i64 %81, !dbg !18
  %83 = zext nneg i32 %73 to i64, !dbg !18
  %84 = getelementptr [4 x i8], ptr addrspace(1) %1, i64 %83, !dbg !18
  %85 = zext nneg i32 %74 to i64, !dbg !18
  %86 = getelementptr [4 x i8], ptr addrspace(1) %1, i64 %85, !dbg !18
  %87 = zext nneg i32 %75 to i64, !dbg !18
  %88 = getelementptr [4 x i8], ptr addrspace(1) %1, i64 %87, !dbg !18
  %89 = zext nneg i32 %76 to i64, !dbg !18
  %90 = getelementptr [4 x i8], ptr addrspace(1) %1, i64 %89, !dbg !18
  %91 = zext nneg i32 %77 to i64, !dbg !18
  %92 = getelementptr [4 x i8], ptr addrspace(1) %1, i64 %91, !dbg !18
  %93 = zext nneg i32 %78 to i64, !dbg !18
  %94 = getelementptr [4 x i8], ptr addrspace(1) %1, i64 %93, !dbg !18
  %95 = getelementptr [4 x i8], ptr addrspace(1) %80, i64 %43, !dbg !18
  %96 = getelementptr [4 x i8], ptr addrspace(1) %82, i64 %43, !dbg !18
  %97 = getelementptr [4 x i8], ptr addrspace(1) %84, i64 %43, !dbg !18
  %98 = getelementptr [4 x i8], ptr addrspace(1) %86, i64 %43, !dbg !18
  %99 = getelementptr [4 x i8], ptr addrspace(1) %88, i64 %43, !dbg !18
  %100 = getelementptr [4 x i8], ptr addrspace(1) %90, i64 %43, !dbg !18
  %101 = getelementptr [4 x i8], ptr addrspace(1) %92, i64 %43, !dbg !18
  %102 = getelementptr [4 x i8], ptr addrspace(1) %94, i64 %43, !dbg !18
  %103 = xor i32 %53, %8, !dbg !19
  %104 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %103, !dbg !19
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) %104, ptr addrspace(1) %95, i32 %57) #2, !dbg !19
  %105 = or disjoint i32 %103, 512, !dbg !19
  %106 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %105, !dbg !19
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %106, ptr addrspace(1) %96, i32 %57) #2, !dbg !19
  %107 = or disjoint i32 %103, 1024, !dbg !19
  %108 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %107, !dbg !19
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %108, ptr addrspace(1) %97, i32 %57) #2, !dbg !19
  %109 = or disjoint i32 %103, 1536, !dbg !19
  %110 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %109, !dbg !19
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %110, ptr addrspace(1) %98, i32 %57) #2, !dbg !19
  %111 = or disjoint i32 %103, 2048, !dbg !19
  %112 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %111, !dbg !19
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %112, ptr addrspace(1) %99, i32 %57) #2, !dbg !19
  %113 = or disjoint i32 %103, 2560, !dbg !19
  %114 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %113, !dbg !19
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %114, ptr addrspace(1) %100, i32 %57) #2, !dbg !19
  %115 = or disjoint i32 %103, 3072, !dbg !19
  %116 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %115, !dbg !19
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %116, ptr addrspace(1) %101, i32 %57) #2, !dbg !19
  %117 = or disjoint i32 %103, 3584, !dbg !19
  %118 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %117, !dbg !19
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %118, ptr addrspace(1) %102, i32 %57) #2, !dbg !19
  tail call void @llvm.nvvm.cp.async.commit.group(), !dbg !19
  %119 = icmp sgt i32 %3, 32, !dbg !15
  %120 = getelementptr i8, ptr addrspace(1) %26, i64 128, !dbg !13
  %121 = getelementptr i8, ptr addrspace(1) %28, i64 128, !dbg !13
  %122 = getelementptr i8, ptr addrspace(1) %30, i64 128, !dbg !13
  %123 = getelementptr i8, ptr addrspace(1) %32, i64 128, !dbg !13
  %124 = getelementptr i8, ptr addrspace(1) %34, i64 128, !dbg !13
  %125 = getelementptr i8, ptr addrspace(1) %36, i64 128, !dbg !13
  %126 = getelementptr i8, ptr addrspace(1) %38, i64 128, !dbg !13
  %127 = getelementptr i8, ptr addrspace(1) %40, i64 128, !dbg !13
  %128 = getelementptr [4 x i8], ptr addrspace(1) %120, i64 %43, !dbg !13
  %129 = getelementptr [4 x i8], ptr addrspace(1) %121, i64 %43, !dbg !13
  %130 = getelementptr [4 x i8], ptr addrspace(1) %122, i64 %43, !dbg !13
  %131 = getelementptr [4 x i8], ptr addrspace(1) %123, i64 %43, !dbg !13
  %132 = getelementptr [4 x i8], ptr addrspace(1) %124, i64 %43, !dbg !13
  %133 = getelementptr [4 x i8], ptr addrspace(1) %125, i64 %43, !dbg !13
  %134 = getelementptr [4 x i8], ptr addrspace(1) %126, i64 %43, !dbg !13
  %135 = getelementptr [4 x i8], ptr addrspace(1) %127, i64 %43, !dbg !13
  %136 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 4096), i32 %55, !dbg !16
  %137 = select i1 %119, i32 4, i32 0, !dbg !16
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) %136, ptr addrspace(1) %128, i32 %137) #2, !dbg !16
  %138 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 4096), i32 %58, !dbg !16
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %138, ptr addrspace(1) %130, i32 %137) #2, !dbg !16
  %139 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 4096), i32 %60, !dbg !16
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %139, ptr addrspace(1) %132, i32 %137) #2, !dbg !16
  %140 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 4096), i32 %62, !dbg !16
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %140, ptr addrspace(1) %134, i32 %137) #2, !dbg !16
  %141 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 4096), i32 %64, !dbg !16
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %141, ptr addrspace(1) %129, i32 %137) #2, !dbg !16
  %142 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 4096), i32 %66, !dbg !16
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %142, ptr addrspace(1) %131, i32 %137) #2, !dbg !16
  %143 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 4096), i32 %68, !dbg !16
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %143, ptr addrspace(1) %133, i32 %137) #2, !dbg !16
  %144 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 4096), i32 %70, !dbg !16
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %144, ptr addrspace(1) %135, i32 %137) #2, !dbg !16
  tail call void @llvm.nvvm.cp.async.commit.group(), !dbg !16
  %145 = getelementptr i8, ptr addrspace(1) %80, i64 4096, !dbg !18
  %146 = getelementptr i8, ptr addrspace(1) %80, i64 4608, !dbg !18
  %147 = getelementptr i8, ptr addrspace(1) %80, i64 5120, !dbg !18
  %148 = getelementptr i8, ptr addrspace(1) %80, i64 5632, !dbg !18
  %149 = getelementptr i8, ptr addrspace(1) %80, i64 6144, !dbg !18
  %150 = getelementptr i8, ptr addrspace(1) %80, i64 6656, !dbg !18
  %151 = getelementptr i8, ptr addrspace(1) %80, i64 7168, !dbg !18
  %152 = getelementptr i8, ptr addrspace(1) %80, i64 7680, !dbg !18
  %153 = getelementptr [4 x i8], ptr addrspace(1) %145, i64 %43, !dbg !18
  %154 = getelementptr [4 x i8], ptr addrspace(1) %146, i64 %43, !dbg !18
  %155 = getelementptr [4 x i8], ptr addrspace(1) %147, i64 %43, !dbg !18
  %156 = getelementptr [4 x i8], ptr addrspace(1) %148, i64 %43, !dbg !18
  %157 = getelementptr [4 x i8], ptr addrspace(1) %149, i64 %43, !dbg !18
  %158 = getelementptr [4 x i8], ptr addrspace(1) %150, i64 %43, !dbg !18
  %159 = getelementptr [4 x i8], ptr addrspace(1) %151, i64 %43, !dbg !18
  %160 = getelementptr [4 x i8], ptr addrspace(1) %152, i64 %43, !dbg !18
  %161 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 12288), i32 %103, !dbg !19
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) %161, ptr addrspace(1) %153, i32 %137) #2, !dbg !19
  %162 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 12288), i32 %105, !dbg !19
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %162, ptr addrspace(1) %154, i32 %137) #2, !dbg !19
  %163 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 12288), i32 %107, !dbg !19
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %163, ptr addrspace(1) %155, i32 %137) #2, !dbg !19
  %164 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 12288), i32 %109, !dbg !19
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %164, ptr addrspace(1) %156, i32 %137) #2, !dbg !19
  %165 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 12288), i32 %111, !dbg !19
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %165, ptr addrspace(1) %157, i32 %137) #2, !dbg !19
  %166 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 12288), i32 %113, !dbg !19
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %166, ptr addrspace(1) %158, i32 %137) #2, !dbg !19
  %167 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 12288), i32 %115, !dbg !19
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %167, ptr addrspace(1) %159, i32 %137) #2, !dbg !19
  %168 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 12288), i32 %117, !dbg !19
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %168, ptr addrspace(1) %160, i32 %137) #2, !dbg !19
  tail call void @llvm.nvvm.cp.async.commit.group(), !dbg !19
  %invariant.gep30 = getelementptr [4 x i8], ptr addrspace(1) %1, i64 %43, !dbg !15
  br i1 %42, label %.lr.ph, label %.._crit_edge_crit_edge, !dbg !15

.._crit_edge_crit_edge:                           ; preds = %6
  %.pre = shl nuw nsw i32 %7, 4, !dbg !20
  %.pre47 = shl nuw nsw i32 %7, 5, !dbg !20
  br label %._crit_edge, !dbg !15

.lr.ph:                                           ; preds = %6
  %169 = add nsw i32 %3, -64
  %170 = shl nuw nsw i32 %7, 7
  %171 = and i32 %170, 1920
  %172 = shl nuw nsw i32 %7, 4
  %173 = and i32 %172, 112
  %174 = and i32 %7, 16
  %175 = shl nuw nsw i32 %7, 5
  %176 = and i32 %175, 2048
  %177 = or disjoint i32 %171, %176
  %178 = xor i32 %173, %174
  %179 = or disjoint i32 %177, %178
  %180 = xor i32 %179, 32
  %181 = xor i32 %179, 64
  %182 = xor i32 %179, 96
  %183 = and i32 %7, 3
  %184 = and i32 %7, 60
  %185 = mul nuw nsw i32 %183, 160
  %186 = xor i32 %185, %184
  %187 = xor i32 %186, 64
  br label %188, !dbg !15

188:                                              ; preds = %.lr.ph, %188
  %189 = phi i32 [ -1, %.lr.ph ], [ %203, %188 ]
  %190 = phi i32 [ 1, %.lr.ph ], [ %305, %188 ]
  %191 = phi float [ 0.000000e+00, %.lr.ph ], [ %294, %188 ]
  %192 = phi float [ 0.000000e+00, %.lr.ph ], [ %295, %188 ]
  %193 = phi float [ 0.000000e+00, %.lr.ph ], [ %296, %188 ]
  %194 = phi float [ 0.000000e+00, %.lr.ph ], [ %297, %188 ]
  %195 = phi float [ 0.000000e+00, %.lr.ph ], [ %299, %188 ]
  %196 = phi float [ 0.000000e+00, %.lr.ph ], [ %300, %188 ]
  %197 = phi float [ 0.000000e+00, %.lr.ph ], [ %301, %188 ]
  %198 = phi float [ 0.000000e+00, %.lr.ph ], [ %302, %188 ]
  %199 = phi i32 [ 0, %.lr.ph ], [ %352, %188 ]
  %200 = icmp slt i32 %199, %169, !dbg !15
  %201 = add i32 %189, 1, !dbg !15
  %202 = icmp sgt i32 %201, 1, !dbg !15
  %203 = select i1 %202, i32 0, i32 %201, !dbg !15
  tail call void @llvm.nvvm.cp.async.wait.group(i32 2), !dbg !16
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !16
  %204 = shl i32 %203, 10, !dbg !16
  %205 = getelementptr [4 x i8], ptr addrspace(3) @global_smem, i32 %204, !dbg !16
  %206 = getelementptr inbounds nuw i8, ptr addrspace(3) %205, i32 %179, !dbg !16
  %207 = tail call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %206), !dbg !16
  %208 = extractvalue { i32, i32, i32, i32 } %207, 0, !dbg !16
  %209 = extractvalue { i32, i32, i32, i32 } %207, 1, !dbg !16
  %210 = extractvalue { i32, i32, i32, i32 } %207, 2, !dbg !16
  %211 = extractvalue { i32, i32, i32, i32 } %207, 3, !dbg !16
  %212 = getelementptr inbounds nuw i8, ptr addrspace(3) %205, i32 %180, !dbg !16
  %213 = tail call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %212), !dbg !16
  %214 = extractvalue { i32, i32, i32, i32 } %213, 0, !dbg !16
  %215 = extractvalue { i32, i32, i32, i32 } %213, 1, !dbg !16
  %216 = extractvalue { i32, i32, i32, i32 } %213, 2, !dbg !16
  %217 = extractvalue { i32, i32, i32, i32 } %213, 3, !dbg !16
  %218 = getelementptr inbounds nuw i8, ptr addrspace(3) %205, i32 %181, !dbg !16
  %219 = tail call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %218), !dbg !16
  %220 = extractvalue { i32, i32, i32, i32 } %219, 0, !dbg !16
  %221 = extractvalue { i32, i32, i32, i32 } %219, 1, !dbg !16
  %222 = extractvalue { i32, i32, i32, i32 } %219, 2, !dbg !16
  %223 = extractvalue { i32, i32, i32, i32 } %219, 3, !dbg !16
  %224 = getelementptr inbounds nuw i8, ptr addrspace(3) %205, i32 %182, !dbg !16
  %225 = tail call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %224), !dbg !16
  %226 = extractvalue { i32, i32, i32, i32 } %225, 0, !dbg !16
  %227 = extractvalue { i32, i32, i32, i32 } %225, 1, !dbg !16
  %228 = extractvalue { i32, i32, i32, i32 } %225, 2, !dbg !16
  %229 = extractvalue { i32, i32, i32, i32 } %225, 3, !dbg !16
  %230 = getelementptr [4 x i8], ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %204, !dbg !19
  %231 = getelementptr inbounds nuw i8, ptr addrspace(3) %230, i32 %186, !dbg !19
  %232 = load i32, ptr addrspace(3) %231, align 4, !dbg !19
  %233 = getelementptr inbounds nuw i8, ptr addrspace(3) %231, i32 512, !dbg !19
  %234 = load i32, ptr addrspace(3) %233, align 4, !dbg !19
  %235 = getelementptr inbounds nuw i8, ptr addrspace(3) %231, i32 1024, !dbg !19
  %236 = load i32, ptr addrspace(3) %235, align 4, !dbg !19
  %237 = getelementptr inbounds nuw i8, ptr addrspace(3) %231, i32 1536, !dbg !19
  %238 = load i32, ptr addrspace(3) %237, align 4, !dbg !19
  %239 = getelementptr inbounds nuw i8, ptr addrspace(3) %231, i32 2048, !dbg !19
  %240 = load i32, ptr addrspace(3) %239, align 4, !dbg !19
  %241 = getelementptr inbounds nuw i8, ptr addrspace(3) %231, i32 2560, !dbg !19
  %242 = load i32, ptr addrspace(3) %241, align 4, !dbg !19
  %243 = getelementptr inbounds nuw i8, ptr addrspace(3) %231, i32 3072, !dbg !19
  %244 = load i32, ptr addrspace(3) %243, align 4, !dbg !19
  %245 = getelementptr inbounds nuw i8, ptr addrspace(3) %231, i32 3584, !dbg !19
  %246 = load i32, ptr addrspace(3) %245, align 4, !dbg !19
  %247 = getelementptr inbounds nuw i8, ptr addrspace(3) %230, i32 %187, !dbg !19
  %248 = load i32, ptr addrspace(3) %247, align 4, !dbg !19
  %249 = getelementptr inbounds nuw i8, ptr addrspace(3) %247, i32 512, !dbg !19
  %250 = load i32, ptr addrspace(3) %249, align 4, !dbg !19
  %251 = getelementptr inbounds nuw i8, ptr addrspace(3) %247, i32 1024, !dbg !19
  %252 = load i32, ptr addrspace(3) %251, align 4, !dbg !19
  %253 = getelementptr inbounds nuw i8, ptr addrspace(3) %247, i32 1536, !dbg !19
  %254 = load i32, ptr addrspace(3) %253, align 4, !dbg !19
  %255 = getelementptr inbounds nuw i8, ptr addrspace(3) %247, i32 2048, !dbg !19
  %256 = load i32, ptr addrspace(3) %255, align 4, !dbg !19
  %257 = getelementptr inbounds nuw i8, ptr addrspace(3) %247, i32 2560, !dbg !19
  %258 = load i32, ptr addrspace(3) %257, align 4, !dbg !19
  %259 = getelementptr inbounds nuw i8, ptr addrspace(3) %247, i32 3072, !dbg !19
  %260 = load i32, ptr addrspace(3) %259, align 4, !dbg !19
  %261 = getelementptr inbounds nuw i8, ptr addrspace(3) %247, i32 3584, !dbg !19
  %262 = load i32, ptr addrspace(3) %261, align 4, !dbg !19
  %263 = tail call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 { $0, $1, $2, $3 }, { $8, $9, $10, $11 }, { $12, $13 }, { $4, $5, $6, $7 };", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,r,r"(float %191, float %192, float %193, float %194, i32 %208, i32 %209, i32 %210, i32 %211, i32 %232, i32 %234) #2, !dbg !21
  %264 = extractvalue { float, float, float, float } %263, 0, !dbg !21
  %265 = extractvalue { float, float, float, float } %263, 1, !dbg !21
  %266 = extractvalue { float, float, float, float } %263, 2, !dbg !21
  %267 = extractvalue { float, float, float, float } %263, 3, !dbg !21
  %268 = tail call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 { $0, $1, $2, $3 }, { $8, $9, $10, $11 }, { $12, $13 }, { $4, $5, $6, $7 };", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,r,r"(float %195, float %196, float %197, float %198, i32 %208, i32 %209, i32 %210, i32 %211, i32 %248, i32 %250) #2, !dbg !21
  %269 = extractvalue { float, float, float, float } %268, 0, !dbg !21
  %270 = extractvalue { float, float, float, float } %268, 1, !dbg !21
  %271 = extractvalue { float, float, float, float } %268, 2, !dbg !21
  %272 = extractvalue { float, float, float, float } %268, 3, !dbg !21
  %273 = tail call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 { $0, $1, $2, $3 }, { $8, $9, $10, $11 }, { $12, $13 }, { $4, $5, $6, $7 };", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,r,r"(float %264, float %265, float %266, float %267, i32 %214, i32 %215, i32 %216, i32 %217, i32 %236, i32 %238) #2, !dbg !21
  %274 = extractvalue { float, float, float, float } %273, 0, !dbg !21
  %275 = extractvalue { float, float, float, float } %273, 1, !dbg !21
  %276 = extractvalue { float, float, float, float } %273, 2, !dbg !21
  %277 = extractvalue { float, float, float, float } %273, 3, !dbg !21
  %278 = tail call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 { $0, $1, $2, $3 }, { $8, $9, $10, $11 }, { $12, $13 }, { $4, $5, $6, $7 };", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,r,r"(float %269, float %270, float %271, float %272, i32 %214, i32 %215, i32 %216, i32 %217, i32 %252, i32 %254) #2, !dbg !21
  %279 = extractvalue { float, float, float, float } %278, 0, !dbg !21
  %280 = extractvalue { float, float, float, float } %278, 1, !dbg !21
  %281 = extractvalue { float, float, float, float } %278, 2, !dbg !21
  %282 = extractvalue { float, float, float, float } %278, 3, !dbg !21
  %283 = tail call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 { $0, $1, $2, $3 }, { $8, $9, $10, $11 }, { $12, $13 }, { $4, $5, $6, $7 };", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,r,r"(float %274, float %275, float %276, float %277, i32 %220, i32 %221, i32 %222, i32 %223, i32 %240, i32 %242) #2, !dbg !21
  %284 = extractvalue { float, float, float, float } %283, 0, !dbg !21
  %285 = extractvalue { float, float, float, float } %283, 1, !dbg !21
  %286 = extractvalue { float, float, float, float } %283, 2, !dbg !21
  %287 = extractvalue { float, float, float, float } %283, 3, !dbg !21
  %288 = tail call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 { $0, $1, $2, $3 }, { $8, $9, $10, $11 }, { $12, $13 }, { $4, $5, $6, $7 };", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,r,r"(float %279, float %280, float %281, float %282, i32 %220, i32 %221, i32 %222, i32 %223, i32 %256, i32 %258) #2, !dbg !21
  %289 = extractvalue { float, float, float, float } %288, 0, !dbg !21
  %290 = extractvalue { float, float, float, float } %288, 1, !dbg !21
  %291 = extractvalue { float, float, float, float } %288, 2, !dbg !21
  %292 = extractvalue { float, float, float, float } %288, 3, !dbg !21
  %293 = tail call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 { $0, $1, $2, $3 }, { $8, $9, $10, $11 }, { $12, $13 }, { $4, $5, $6, $7 };", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,r,r"(float %284, float %285, float %286, float %287, i32 %226, i32 %227, i32 %228, i32 %229, i32 %244, i32 %246) #2, !dbg !21
  %294 = extractvalue { float, float, float, float } %293, 0, !dbg !21
  %295 = extractvalue { float, float, float, float } %293, 1, !dbg !21
  %296 = extractvalue { float, float, float, float } %293, 2, !dbg !21
  %297 = extractvalue { float, float, float, float } %293, 3, !dbg !21
  %298 = tail call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 { $0, $1, $2, $3 }, { $8, $9, $10, $11 }, { $12, $13 }, { $4, $5, $6, $7 };", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,r,r"(float %289, float %290, float %291, float %292, i32 %226, i32 %227, i32 %228, i32 %229, i32 %260, i32 %262) #2, !dbg !21
  %299 = extractvalue { float, float, float, float } %298, 0, !dbg !21
  %300 = extractvalue { float, float, float, float } %298, 1, !dbg !21
  %301 = extractvalue { float, float, float, float } %298, 2, !dbg !21
  %302 = extractvalue { float, float, float, float } %298, 3, !dbg !21
  %303 = add i32 %190, 1, !dbg !15
  %304 = icmp sgt i32 %303, 1, !dbg !15
  %305 = select i1 %304, i32 0, i32 %303, !dbg !15
  %306 = add i32 %199, 64, !dbg !15
  %307 = sext i32 %306 to i64, !dbg !13
  %gep = getelementptr [4 x i8], ptr addrspace(1) %44, i64 %307, !dbg !13
  %gep17 = getelementptr [4 x i8], ptr addrspace(1) %45, i64 %307, !dbg !13
  %gep19 = getelementptr [4 x i8], ptr addrspace(1) %46, i64 %307, !dbg !13
  %gep21 = getelementptr [4 x i8], ptr addrspace(1) %47, i64 %307, !dbg !13
  %gep23 = getelementptr [4 x i8], ptr addrspace(1) %48, i64 %307, !dbg !13
  %gep25 = getelementptr [4 x i8], ptr addrspace(1) %49, i64 %307, !dbg !13
  %gep27 = getelementptr [4 x i8], ptr addrspace(1) %50, i64 %307, !dbg !13
  %gep29 = getelementptr [4 x i8], ptr addrspace(1) %51, i64 %307, !dbg !13
  %308 = shl i32 %305, 10, !dbg !16
  %309 = getelementptr [4 x i8], ptr addrspace(3) @global_smem, i32 %308, !dbg !16
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !16
  %310 = getelementptr inbounds nuw i8, ptr addrspace(3) %309, i32 %55, !dbg !16
  %311 = select i1 %200, i32 4, i32 0, !dbg !16
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) %310, ptr addrspace(1) %gep, i32 %311) #2, !dbg !16
  %312 = getelementptr inbounds nuw i8, ptr addrspace(3) %309, i32 %58, !dbg !16
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %312, ptr addrspace(1) %gep19, i32 %311) #2, !dbg !16
  %313 = getelementptr inbounds nuw i8, ptr addrspace(3) %309, i32 %60, !dbg !16
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %313, ptr addrspace(1) %gep23, i32 %311) #2, !dbg !16
  %314 = getelementptr inbounds nuw i8, ptr addrspace(3) %309, i32 %62, !dbg !16
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %314, ptr addrspace(1) %gep27, i32 %311) #2, !dbg !16
  %315 = getelementptr inbounds nuw i8, ptr addrspace(3) %309, i32 %64, !dbg !16
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %315, ptr addrspace(1) %gep17, i32 %311) #2, !dbg !16
  %316 = getelementptr inbounds nuw i8, ptr addrspace(3) %309, i32 %66, !dbg !16
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %316, ptr addrspace(1) %gep21, i32 %311) #2, !dbg !16
  %317 = getelementptr inbounds nuw i8, ptr addrspace(3) %309, i32 %68, !dbg !16
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %317, ptr addrspace(1) %gep25, i32 %311) #2, !dbg !16
  %318 = getelementptr inbounds nuw i8, ptr addrspace(3) %309, i32 %70, !dbg !16
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %318, ptr addrspace(1) %gep29, i32 %311) #2, !dbg !16
  tail call void @llvm.nvvm.cp.async.commit.group(), !dbg !16
  %319 = or disjoint i32 %306, %9, !dbg !22
  %320 = or disjoint i32 %306, %10, !dbg !22
  %321 = or disjoint i32 %306, %11, !dbg !22
  %322 = or disjoint i32 %306, %12, !dbg !22
  %323 = or disjoint i32 %306, %13, !dbg !22
  %324 = or disjoint i32 %306, %14, !dbg !22
  %325 = or disjoint i32 %306, %15, !dbg !22
  %326 = or disjoint i32 %306, %16, !dbg !22
  %327 = shl i32 %319, 5, !dbg !17
  %328 = shl i32 %320, 5, !dbg !17
  %329 = shl i32 %321, 5, !dbg !17
  %330 = shl i32 %322, 5, !dbg !17
  %331 = shl i32 %323, 5, !dbg !17
  %332 = shl i32 %324, 5, !dbg !17
  %333 = shl i32 %325, 5, !dbg !17
  %334 = shl i32 %326, 5, !dbg !17
  %335 = sext i32 %327 to i64, !dbg !18
  %336 = sext i32 %328 to i64, !dbg !18
  %337 = sext i32 %329 to i64, !dbg !18
  %338 = sext i32 %330 to i64, !dbg !18
  %339 = sext i32 %331 to i64, !dbg !18
  %340 = sext i32 %332 to i64, !dbg !18
  %341 = sext i32 %333 to i64, !dbg !18
  %342 = sext i32 %334 to i64, !dbg !18
  %gep31 = getelementptr [4 x i8], ptr addrspace(1) %invariant.gep30, i64 %335, !dbg !18
  %gep33 = getelementptr [4 x i8], ptr addrspace(1) %invariant.gep30, i64 %336, !dbg !18
  %gep35 = getelementptr [4 x i8], ptr addrspace(1) %invariant.gep30, i64 %337, !dbg !18
  %gep37 = getelementptr [4 x i8], ptr addrspace(1) %invariant.gep30, i64 %338, !dbg !18
  %gep39 = getelementptr [4 x i8], ptr addrspace(1) %invariant.gep30, i64 %339, !dbg !18
  %gep41 = getelementptr [4 x i8], ptr addrspace(1) %invariant.gep30, i64 %340, !dbg !18
  %gep43 = getelementptr [4 x i8], ptr addrspace(1) %invariant.gep30, i64 %341, !dbg !18
  %gep45 = getelementptr [4 x i8], ptr addrspace(1) %invariant.gep30, i64 %342, !dbg !18
  %343 = getelementptr [4 x i8], ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %308, !dbg !19
  %344 = getelementptr inbounds nuw i8, ptr addrspace(3) %343, i32 %103, !dbg !19
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) %344, ptr addrspace(1) %gep31, i32 %311) #2, !dbg !19
  %345 = getelementptr inbounds nuw i8, ptr addrspace(3) %343, i32 %105, !dbg !19
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %345, ptr addrspace(1) %gep33, i32 %311) #2, !dbg !19
  %346 = getelementptr inbounds nuw i8, ptr addrspace(3) %343, i32 %107, !dbg !19
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %346, ptr addrspace(1) %gep35, i32 %311) #2, !dbg !19
  %347 = getelementptr inbounds nuw i8, ptr addrspace(3) %343, i32 %109, !dbg !19
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %347, ptr addrspace(1) %gep37, i32 %311) #2, !dbg !19
  %348 = getelementptr inbounds nuw i8, ptr addrspace(3) %343, i32 %111, !dbg !19
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %348, ptr addrspace(1) %gep39, i32 %311) #2, !dbg !19
  %349 = getelementptr inbounds nuw i8, ptr addrspace(3) %343, i32 %113, !dbg !19
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %349, ptr addrspace(1) %gep41, i32 %311) #2, !dbg !19
  %350 = getelementptr inbounds nuw i8, ptr addrspace(3) %343, i32 %115, !dbg !19
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %350, ptr addrspace(1) %gep43, i32 %311) #2, !dbg !19
  %351 = getelementptr inbounds nuw i8, ptr addrspace(3) %343, i32 %117, !dbg !19
  tail call void asm sideeffect "cp.async.ca.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x4, $2;", "r,l,r"(ptr addrspace(3) nonnull %351, ptr addrspace(1) %gep45, i32 %311) #2, !dbg !19
  tail call void @llvm.nvvm.cp.async.commit.group(), !dbg !19
  %352 = add i32 %199, 32, !dbg !15
  %353 = icmp slt i32 %352, %3, !dbg !15
  br i1 %353, label %188, label %._crit_edge, !dbg !15

._crit_edge:                                      ; preds = %188, %.._crit_edge_crit_edge
  %.pre-phi48 = phi i32 [ %.pre47, %.._crit_edge_crit_edge ], [ %175, %188 ], !dbg !20
  %.pre-phi = phi i32 [ %.pre, %.._crit_edge_crit_edge ], [ %172, %188 ], !dbg !20
  %354 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %294, %188 ]
  %355 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %295, %188 ]
  %356 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %296, %188 ]
  %357 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %297, %188 ]
  %358 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %299, %188 ]
  %359 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %300, %188 ]
  %360 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %301, %188 ]
  %361 = phi float [ 0.000000e+00, %.._crit_edge_crit_edge ], [ %302, %188 ]
  tail call void @llvm.nvvm.cp.async.wait.group(i32 0), !dbg !15
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !15
  %362 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %79, !dbg !23
  %363 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %81, !dbg !23
  %364 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %83, !dbg !23
  %365 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %85, !dbg !23
  %366 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %87, !dbg !23
  %367 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %89, !dbg !23
  %368 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %91, !dbg !23
  %369 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %93, !dbg !23
  %370 = getelementptr [4 x i8], ptr addrspace(1) %362, i64 %43, !dbg !23
  %371 = getelementptr [4 x i8], ptr addrspace(1) %363, i64 %43, !dbg !23
  %372 = getelementptr [4 x i8], ptr addrspace(1) %364, i64 %43, !dbg !23
  %373 = getelementptr [4 x i8], ptr addrspace(1) %365, i64 %43, !dbg !23
  %374 = getelementptr [4 x i8], ptr addrspace(1) %366, i64 %43, !dbg !23
  %375 = getelementptr [4 x i8], ptr addrspace(1) %367, i64 %43, !dbg !23
  %376 = getelementptr [4 x i8], ptr addrspace(1) %368, i64 %43, !dbg !23
  %377 = getelementptr [4 x i8], ptr addrspace(1) %369, i64 %43, !dbg !23
  %378 = shl nuw nsw i32 %7, 8, !dbg !20
  %379 = shl nuw nsw i32 %7, 3, !dbg !20
  %380 = and i32 %379, 192, !dbg !20
  %381 = shl nuw nsw i32 %7, 1, !dbg !20
  %382 = and i32 %381, 72, !dbg !20
  %383 = and i32 %7, 64, !dbg !20
  %384 = shl nuw nsw i32 %383, 2, !dbg !20
  %385 = xor i32 %380, %382, !dbg !20
  %386 = insertelement <4 x i32> poison, i32 %378, i64 0, !dbg !20
  %387 = insertelement <4 x i32> %386, i32 %.pre-phi, i64 1, !dbg !20
  %388 = insertelement <4 x i32> %387, i32 %384, i64 2, !dbg !20
  %389 = insertelement <4 x i32> %388, i32 %385, i64 3, !dbg !20
  %390 = and <4 x i32> %389, <i32 3072, i32 48, i32 -1, i32 -1>, !dbg !20
  %391 = tail call i32 @llvm.vector.reduce.or.v4i32(<4 x i32> %390), !dbg !20
  %392 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %391, !dbg !20
  %393 = insertelement <2 x float> poison, float %354, i64 0, !dbg !20
  %394 = insertelement <2 x float> %393, float %356, i64 1, !dbg !20
  store <2 x float> %394, ptr addrspace(3) %392, align 8, !dbg !20
  %395 = getelementptr inbounds nuw i8, ptr addrspace(3) %392, i32 512, !dbg !20
  %396 = insertelement <2 x float> poison, float %358, i64 0, !dbg !20
  %397 = insertelement <2 x float> %396, float %360, i64 1, !dbg !20
  store <2 x float> %397, ptr addrspace(3) %395, align 8, !dbg !20
  %398 = xor i32 %391, 8, !dbg !20
  %399 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %398, !dbg !20
  %400 = insertelement <2 x float> poison, float %355, i64 0, !dbg !20
  %401 = insertelement <2 x float> %400, float %357, i64 1, !dbg !20
  store <2 x float> %401, ptr addrspace(3) %399, align 8, !dbg !20
  %402 = getelementptr inbounds nuw i8, ptr addrspace(3) %399, i32 512, !dbg !20
  %403 = insertelement <2 x float> poison, float %359, i64 0, !dbg !20
  %404 = insertelement <2 x float> %403, float %361, i64 1, !dbg !20
  store <2 x float> %404, ptr addrspace(3) %402, align 8, !dbg !20
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !20
  %405 = and i32 %379, 120, !dbg !20
  %406 = and i32 %.pre-phi48, 512, !dbg !20
  %407 = and i32 %7, 32, !dbg !20
  %408 = icmp eq i32 %407, 0, !dbg !20
  %409 = select i1 %408, i32 0, i32 1032, !dbg !20
  %410 = icmp eq i32 %383, 0, !dbg !20
  %411 = select i1 %410, i32 0, i32 2112, !dbg !20
  %412 = xor i32 %409, %405, !dbg !20
  %413 = xor i32 %412, %411, !dbg !20
  %414 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %406, !dbg !20
  %415 = getelementptr inbounds nuw i8, ptr addrspace(3) %414, i32 %413, !dbg !20
  %416 = load <2 x i32>, ptr addrspace(3) %415, align 8, !dbg !20
  %417 = getelementptr inbounds nuw i8, ptr addrspace(3) %415, i32 128, !dbg !20
  %418 = load <2 x i32>, ptr addrspace(3) %417, align 8, !dbg !20
  %419 = getelementptr inbounds nuw i8, ptr addrspace(3) %415, i32 256, !dbg !20
  %420 = load <2 x i32>, ptr addrspace(3) %419, align 8, !dbg !20
  %421 = getelementptr inbounds nuw i8, ptr addrspace(3) %415, i32 384, !dbg !20
  %422 = load <2 x i32>, ptr addrspace(3) %421, align 8, !dbg !20
  %.extract = extractelement <2 x i32> %416, i64 0, !dbg !20
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract, ptr addrspace(1) %370) #2, !dbg !20
  %.extract9 = extractelement <2 x i32> %418, i64 0, !dbg !20
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract9, ptr addrspace(1) %371) #2, !dbg !20
  %.extract10 = extractelement <2 x i32> %416, i64 1, !dbg !20
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract10, ptr addrspace(1) %372) #2, !dbg !20
  %.extract11 = extractelement <2 x i32> %418, i64 1, !dbg !20
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract11, ptr addrspace(1) %373) #2, !dbg !20
  %.extract12 = extractelement <2 x i32> %420, i64 0, !dbg !20
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract12, ptr addrspace(1) %374) #2, !dbg !20
  %.extract13 = extractelement <2 x i32> %422, i64 0, !dbg !20
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract13, ptr addrspace(1) %375) #2, !dbg !20
  %.extract14 = extractelement <2 x i32> %420, i64 1, !dbg !20
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract14, ptr addrspace(1) %376) #2, !dbg !20
  %.extract15 = extractelement <2 x i32> %422, i64 1, !dbg !20
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %.extract15, ptr addrspace(1) %377) #2, !dbg !20
  ret void, !dbg !24
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: nounwind
declare void @llvm.nvvm.cp.async.commit.group() #2

; Function Attrs: nounwind
declare void @llvm.nvvm.cp.async.wait.group(i32 immarg) #2

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #3

; Function Attrs: convergent nocallback nofree nounwind memory(argmem: read)
declare { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) readonly captures(none)) #4

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.vector.reduce.or.v4i32(<4 x i32>) #5

attributes #0 = { nounwind "nvvm.reqntid"="128" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nounwind }
attributes #3 = { convergent nocallback nounwind }
attributes #4 = { convergent nocallback nofree nounwind memory(argmem: read) }
attributes #5 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}

!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, producer: "triton", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "triton_kernels.py", directory: "/work/w-h5/lab/src/warploom_lab/functions")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 4, !"nvvm-reflect-ftz", i32 1}
!4 = distinct !DISubprogram(name: "matmul", linkageName: "matmul", scope: !1, file: !1, line: 31, type: !5, scopeLine: 31, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!5 = !DISubroutineType(cc: DW_CC_normal, types: !6)
!6 = !{null, !7, !7, !7, !9, !10, !10}
!7 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "pointer", baseType: !8, size: 64, dwarfAddressSpace: 1)
!8 = !DIBasicType(name: "float", size: 32, encoding: DW_ATE_float)
!9 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!10 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "pointer", baseType: !11, size: 64, dwarfAddressSpace: 1)
!11 = !DIBasicType(name: "unknown_type", encoding: DW_ATE_signed)
!12 = !DILocation(line: 35, column: 35, scope: !4)
!13 = !DILocation(line: 35, column: 31, scope: !4)
!14 = !DILocation(line: 35, column: 56, scope: !4)
!15 = !DILocation(line: 34, column: 5, scope: !4)
!16 = !DILocation(line: 35, column: 23, scope: !4)
!17 = !DILocation(line: 35, column: 81, scope: !4)
!18 = !DILocation(line: 35, column: 77, scope: !4)
!19 = !DILocation(line: 35, column: 69, scope: !4)
!20 = !DILocation(line: 36, column: 5, scope: !4)
!21 = !DILocation(line: 35, column: 16, scope: !4)
!22 = !DILocation(line: 35, column: 82, scope: !4)
!23 = !DILocation(line: 36, column: 14, scope: !4)
!24 = !DILocation(line: 31, column: 1, scope: !4)
