; Triton 3.6.0: 128 threads, 16 bytes of dynamic shared memory
; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

@global_smem = external addrspace(3) global [0 x i8], align 16
@.str = private unnamed_addr constant [11 x i8] c"__CUDA_FTZ\00", align 1

; Function Attrs: nounwind
define ptx_kernel void @normalize(ptr addrspace(1) %0, ptr addrspace(1) %1, i32 %2, ptr addrspace(1) readnone captures(none) %3, ptr addrspace(1) readnone captures(none) %4) local_unnamed_addr #0 !dbg !5 {
  %6 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !8
  %7 = and i32 %6, 127, !dbg !8
  %8 = and i32 %6, 31, !dbg !8
  %9 = lshr i32 %7, 5, !dbg !8
  %10 = or disjoint i32 %7, 128, !dbg !8
  %11 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !dbg !9
  %12 = mul i32 %2, %11, !dbg !10
  %13 = icmp slt i32 %7, %2, !dbg !11
  %14 = icmp slt i32 %10, %2, !dbg !11
  %15 = sext i32 %12 to i64, !dbg !12
  %16 = getelementptr float, ptr addrspace(1) %0, i64 %15, !dbg !12
  %17 = zext nneg i32 %7 to i64, !dbg !13
  %18 = getelementptr float, ptr addrspace(1) %16, i64 %17, !dbg !13
  %19 = zext nneg i32 %10 to i64, !dbg !13
  %20 = getelementptr float, ptr addrspace(1) %16, i64 %19, !dbg !13
  %21 = tail call i32 asm sideeffect "mov.u32 $0, $1;\0A\09@$3 ld.global.b32 { $0 }, [ $2 + 0 ];", "=r,r,l,b"(i32 0, ptr addrspace(1) %18, i1 %13) #6, !dbg !14
  %22 = bitcast i32 %21 to float, !dbg !14
  %23 = tail call i32 asm sideeffect "mov.u32 $0, $1;\0A\09@$3 ld.global.b32 { $0 }, [ $2 + 0 ];", "=r,r,l,b"(i32 0, ptr addrspace(1) %20, i1 %14) #6, !dbg !14
  %24 = bitcast i32 %23 to float, !dbg !14
  %25 = fadd float %22, %24, !dbg !15
  %26 = bitcast float %25 to i32, !dbg !18
  %27 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %26, i32 16, i32 31), !dbg !18
  %28 = bitcast i32 %27 to float, !dbg !18
  %29 = fadd float %25, %28, !dbg !15
  %30 = bitcast float %29 to i32, !dbg !18
  %31 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %30, i32 8, i32 31), !dbg !18
  %32 = bitcast i32 %31 to float, !dbg !18
  %33 = fadd float %29, %32, !dbg !15
  %34 = bitcast float %33 to i32, !dbg !18
  %35 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %34, i32 4, i32 31), !dbg !18
  %36 = bitcast i32 %35 to float, !dbg !18
  %37 = fadd float %33, %36, !dbg !15
  %38 = bitcast float %37 to i32, !dbg !18
  %39 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %38, i32 2, i32 31), !dbg !18
  %40 = bitcast i32 %39 to float, !dbg !18
  %41 = fadd float %37, %40, !dbg !15
  %42 = bitcast float %41 to i32, !dbg !18
  %43 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %42, i32 1, i32 31), !dbg !18
  %44 = bitcast i32 %43 to float, !dbg !18
  %45 = fadd float %41, %44, !dbg !15
  %46 = icmp eq i32 %8, 0, !dbg !18
  %47 = getelementptr float, ptr addrspace(3) @global_smem, i32 %9, !dbg !18
  %48 = bitcast float %45 to <1 x i32>, !dbg !18
  tail call void asm sideeffect "@$2 st.shared.b32 [ $0 + 0 ], $1;", "r,r,b"(ptr addrspace(3) %47, <1 x i32> %48, i1 %46) #6, !dbg !18
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !18
  %49 = icmp samesign ult i32 %7, 4, !dbg !18
  %50 = getelementptr float, ptr addrspace(3) @global_smem, i32 %7, !dbg !18
  %51 = tail call i32 asm sideeffect "@$2 ld.shared.b32 $0, [ $1 + 0 ];", "=r,r,b"(ptr addrspace(3) %50, i1 %49) #6, !dbg !18
  %52 = bitcast i32 %51 to float, !dbg !18
  %53 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %51, i32 2, i32 31), !dbg !18
  %54 = bitcast i32 %53 to float, !dbg !18
  %55 = fadd float %52, %54, !dbg !15
  %56 = bitcast float %55 to i32, !dbg !18
  %57 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %56, i32 1, i32 31), !dbg !18
  %58 = bitcast i32 %57 to float, !dbg !18
  %59 = fadd float %55, %58, !dbg !15
  %60 = and i32 %6, 3, !dbg !18
  %61 = icmp eq i32 %60, 0, !dbg !18
  %62 = and i1 %49, %61, !dbg !18
  %63 = bitcast float %59 to <1 x i32>, !dbg !18
  tail call void asm sideeffect "@$2 st.shared.b32 [ $0 + 0 ], $1;", "r,r,b"(ptr addrspace(3) %50, <1 x i32> %63, i1 %62) #6, !dbg !18
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !18
  %64 = load float, ptr addrspace(3) @global_smem, align 16, !dbg !18
  %65 = sitofp i32 %2 to float, !dbg !21
  %66 = tail call float @llvm.nvvm.div.full(float %64, float %65), !dbg !21
  %67 = fsub float %22, %66, !dbg !22
  %68 = fsub float %24, %66, !dbg !22
  %69 = select i1 %13, float %67, float 0.000000e+00, !dbg !23
  %70 = select i1 %14, float %68, float 0.000000e+00, !dbg !23
  %71 = fmul float %69, %69, !dbg !24
  %72 = fmul float %70, %70, !dbg !24
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !25
  %73 = fadd float %71, %72, !dbg !27
  %74 = bitcast float %73 to i32, !dbg !25
  %75 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %74, i32 16, i32 31), !dbg !25
  %76 = bitcast i32 %75 to float, !dbg !25
  %77 = fadd float %73, %76, !dbg !27
  %78 = bitcast float %77 to i32, !dbg !25
  %79 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %78, i32 8, i32 31), !dbg !25
  %80 = bitcast i32 %79 to float, !dbg !25
  %81 = fadd float %77, %80, !dbg !27
  %82 = bitcast float %81 to i32, !dbg !25
  %83 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %82, i32 4, i32 31), !dbg !25
  %84 = bitcast i32 %83 to float, !dbg !25
  %85 = fadd float %81, %84, !dbg !27
  %86 = bitcast float %85 to i32, !dbg !25
  %87 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %86, i32 2, i32 31), !dbg !25
  %88 = bitcast i32 %87 to float, !dbg !25
  %89 = fadd float %85, %88, !dbg !27
  %90 = bitcast float %89 to i32, !dbg !25
  %91 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %90, i32 1, i32 31), !dbg !25
  %92 = bitcast i32 %91 to float, !dbg !25
  %93 = fadd float %89, %92, !dbg !27
  %94 = bitcast float %93 to <1 x i32>, !dbg !25
  tail call void asm sideeffect "@$2 st.shared.b32 [ $0 + 0 ], $1;", "r,r,b"(ptr addrspace(3) %47, <1 x i32> %94, i1 %46) #6, !dbg !25
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !25
  %95 = tail call i32 asm sideeffect "@$2 ld.shared.b32 $0, [ $1 + 0 ];", "=r,r,b"(ptr addrspace(3) %50, i1 %49) #6, !dbg !25
  %96 = bitcast i32 %95 to float, !dbg !25
  %97 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %95, i32 2, i32 31), !dbg !25
  %98 = bitcast i32 %97 to float, !dbg !25
  %99 = fadd float %96, %98, !dbg !27
  %100 = bitcast float %99 to i32, !dbg !25
  %101 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %100, i32 1, i32 31), !dbg !25
  %102 = bitcast i32 %101 to float, !dbg !25
  %103 = fadd float %99, %102, !dbg !27
  %104 = bitcast float %103 to <1 x i32>, !dbg !25
  tail call void asm sideeffect "@$2 st.shared.b32 [ $0 + 0 ], $1;", "r,r,b"(ptr addrspace(3) %50, <1 x i32> %104, i1 %62) #6, !dbg !25
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !25
  %105 = load float, ptr addrspace(3) @global_smem, align 16, !dbg !25
  %106 = tail call float @llvm.nvvm.div.full(float %105, float %65), !dbg !28
  %107 = fadd float %106, 0x3EE4F8B580000000, !dbg !29
  %108 = tail call i32 @__nvvm_reflect(ptr nonnull @.str) #6, !dbg !30
  %.not.i = icmp eq i32 %108, 0, !dbg !30
  br i1 %.not.i, label %111, label %109, !dbg !30

109:                                              ; preds = %5
  %110 = tail call float @llvm.nvvm.rsqrt.approx.ftz.f(float %107), !dbg !30
  br label %__nv_rsqrtf.exit, !dbg !30

111:                                              ; preds = %5
  %112 = tail call float @llvm.nvvm.rsqrt.approx.f(float %107), !dbg !30
  br label %__nv_rsqrtf.exit, !dbg !30

__nv_rsqrtf.exit:                                 ; preds = %109, %111
  %.0.i = phi float [ %110, %109 ], [ %112, %111 ], !dbg !30
  %113 = getelementptr float, ptr addrspace(1) %1, i64 %15, !dbg !31
  %114 = getelementptr float, ptr addrspace(1) %113, i64 %19, !dbg !32
  %115 = getelementptr float, ptr addrspace(1) %113, i64 %17, !dbg !32
  %116 = fmul float %69, %.0.i, !dbg !33
  %117 = fmul float %70, %.0.i, !dbg !33
  %118 = bitcast float %116 to i32, !dbg !34
  tail call void asm sideeffect "@$2 st.global.b32 [ $1 + 0 ], { $0 };", "r,l,b"(i32 %118, ptr addrspace(1) %115, i1 %13) #6, !dbg !34
  %119 = bitcast float %117 to i32, !dbg !34
  tail call void asm sideeffect "@$2 st.global.b32 [ $1 + 0 ], { $0 };", "r,l,b"(i32 %119, ptr addrspace(1) %114, i1 %14) #6, !dbg !34
  ret void, !dbg !35
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: convergent nocallback nounwind memory(inaccessiblemem: readwrite)
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32) #2

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #3

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(none)
declare float @llvm.nvvm.div.full(float, float) #4

declare i32 @__nvvm_reflect(ptr) local_unnamed_addr #5

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(none)
declare float @llvm.nvvm.rsqrt.approx.ftz.f(float) #4

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(none)
declare float @llvm.nvvm.rsqrt.approx.f(float) #4

attributes #0 = { nounwind "nvvm.reqntid"="128" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { convergent nocallback nounwind memory(inaccessiblemem: readwrite) }
attributes #3 = { convergent nocallback nounwind }
attributes #4 = { mustprogress nocallback nofree nosync nounwind willreturn memory(none) }
attributes #5 = { "disable-tail-calls"="false" "frame-pointer"="all" "less-precise-fpmad"="false" "no-infs-fp-math"="false" "no-nans-fp-math"="false" "stack-protector-buffer-size"="8" "unsafe-fp-math"="false" "use-soft-float"="false" }
attributes #6 = { nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}
!llvm.ident = !{!4}

!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, producer: "triton", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "triton_kernels.py", directory: "")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 4, !"nvvm-reflect-ftz", i32 1}
!4 = !{!"clang version 3.8.0 (tags/RELEASE_380/final)"}
!5 = distinct !DISubprogram(name: "normalize", linkageName: "normalize", scope: !1, file: !1, line: 59, type: !6, scopeLine: 59, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!6 = !DISubroutineType(cc: DW_CC_normal, types: !7)
!7 = !{}
!8 = !DILocation(line: 60, column: 21, scope: !5)
!9 = !DILocation(line: 61, column: 24, scope: !5)
!10 = !DILocation(line: 61, column: 29, scope: !5)
!11 = !DILocation(line: 62, column: 38, scope: !5)
!12 = !DILocation(line: 62, column: 20, scope: !5)
!13 = !DILocation(line: 62, column: 26, scope: !5)
!14 = !DILocation(line: 62, column: 16, scope: !5)
!15 = !DILocation(line: 263, column: 15, scope: !16, inlinedAt: !18)
!16 = distinct !DILexicalBlockFile(scope: !5, file: !17, discriminator: 0)
!17 = !DIFile(filename: "standard.py", directory: "")
!18 = !DILocation(line: 293, column: 36, scope: !16, inlinedAt: !19)
!19 = !DILocation(line: 63, column: 21, scope: !20)
!20 = distinct !DILexicalBlockFile(scope: !5, file: !1, discriminator: 0)
!21 = !DILocation(line: 63, column: 26, scope: !5)
!22 = !DILocation(line: 64, column: 28, scope: !5)
!23 = !DILocation(line: 64, column: 34, scope: !5)
!24 = !DILocation(line: 65, column: 50, scope: !5)
!25 = !DILocation(line: 293, column: 36, scope: !16, inlinedAt: !26)
!26 = !DILocation(line: 65, column: 53, scope: !20)
!27 = !DILocation(line: 263, column: 15, scope: !16, inlinedAt: !25)
!28 = !DILocation(line: 65, column: 58, scope: !5)
!29 = !DILocation(line: 65, column: 62, scope: !5)
!30 = !DILocation(line: 65, column: 39, scope: !5)
!31 = !DILocation(line: 65, column: 17, scope: !5)
!32 = !DILocation(line: 65, column: 23, scope: !5)
!33 = !DILocation(line: 65, column: 30, scope: !5)
!34 = !DILocation(line: 65, column: 26, scope: !5)
!35 = !DILocation(line: 65, column: 4, scope: !5)
