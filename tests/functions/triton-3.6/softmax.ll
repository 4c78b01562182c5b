; Triton 3.6.0: 128 threads, 16 bytes of dynamic shared memory
; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

@global_smem = external addrspace(3) global [0 x i8], align 16

; Function Attrs: nounwind
define ptx_kernel void @softmax(ptr addrspace(1) %0, ptr addrspace(1) %1, i32 %2, ptr addrspace(1) readnone captures(none) %3, ptr addrspace(1) readnone captures(none) %4) local_unnamed_addr #0 !dbg !4 {
  %6 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !7
  %7 = and i32 %6, 127, !dbg !7
  %8 = and i32 %6, 31, !dbg !7
  %9 = lshr i32 %7, 5, !dbg !7
  %10 = or disjoint i32 %7, 128, !dbg !7
  %11 = icmp slt i32 %7, %2, !dbg !8
  %12 = icmp slt i32 %10, %2, !dbg !8
  %13 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !dbg !9
  %14 = mul i32 %2, %13, !dbg !10
  %15 = sext i32 %14 to i64, !dbg !11
  %16 = getelementptr float, ptr addrspace(1) %0, i64 %15, !dbg !11
  %17 = zext nneg i32 %7 to i64, !dbg !12
  %18 = getelementptr float, ptr addrspace(1) %16, i64 %17, !dbg !12
  %19 = zext nneg i32 %10 to i64, !dbg !12
  %20 = getelementptr float, ptr addrspace(1) %16, i64 %19, !dbg !12
  %21 = tail call i32 asm sideeffect "mov.u32 $0, $1;\0A\09@$3 ld.global.b32 { $0 }, [ $2 + 0 ];", "=r,r,l,b"(i32 -8388608, ptr addrspace(1) %18, i1 %11) #5, !dbg !13
  %22 = bitcast i32 %21 to float, !dbg !13
  %23 = tail call i32 asm sideeffect "mov.u32 $0, $1;\0A\09@$3 ld.global.b32 { $0 }, [ $2 + 0 ];", "=r,r,l,b"(i32 -8388608, ptr addrspace(1) %20, i1 %12) #5, !dbg !13
  %24 = bitcast i32 %23 to float, !dbg !13
  %25 = tail call float @llvm.maxnum.f32(float %22, float %24), !dbg !14
  %26 = bitcast float %25 to i32, !dbg !17
  %27 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %26, i32 16, i32 31), !dbg !17
  %28 = bitcast i32 %27 to float, !dbg !17
  %29 = tail call float @llvm.maxnum.f32(float %25, float %28), !dbg !14
  %30 = bitcast float %29 to i32, !dbg !17
  %31 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %30, i32 8, i32 31), !dbg !17
  %32 = bitcast i32 %31 to float, !dbg !17
  %33 = tail call float @llvm.maxnum.f32(float %29, float %32), !dbg !14
  %34 = bitcast float %33 to i32, !dbg !17
  %35 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %34, i32 4, i32 31), !dbg !17
  %36 = bitcast i32 %35 to float, !dbg !17
  %37 = tail call float @llvm.maxnum.f32(float %33, float %36), !dbg !14
  %38 = bitcast float %37 to i32, !dbg !17
  %39 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %38, i32 2, i32 31), !dbg !17
  %40 = bitcast i32 %39 to float, !dbg !17
  %41 = tail call float @llvm.maxnum.f32(float %37, float %40), !dbg !14
  %42 = bitcast float %41 to i32, !dbg !17
  %43 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %42, i32 1, i32 31), !dbg !17
  %44 = bitcast i32 %43 to float, !dbg !17
  %45 = tail call float @llvm.maxnum.f32(float %41, float %44), !dbg !14
  %46 = icmp eq i32 %8, 0, !dbg !17
  %47 = getelementptr float, ptr addrspace(3) @global_smem, i32 %9, !dbg !17
  %48 = bitcast float %45 to <1 x i32>, !dbg !17
  tail call void asm sideeffect "@$2 st.shared.b32 [ $0 + 0 ], $1;", "r,r,b"(ptr addrspace(3) %47, <1 x i32> %48, i1 %46) #5, !dbg !17
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !17
  %49 = icmp samesign ult i32 %7, 4, !dbg !17
  %50 = getelementptr float, ptr addrspace(3) @global_smem, i32 %7, !dbg !17
  %51 = tail call i32 asm sideeffect "@$2 ld.shared.b32 $0, [ $1 + 0 ];", "=r,r,b"(ptr addrspace(3) %50, i1 %49) #5, !dbg !17
  %52 = bitcast i32 %51 to float, !dbg !17
  %53 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %51, i32 2, i32 31), !dbg !17
  %54 = bitcast i32 %53 to float, !dbg !17
  %55 = tail call float @llvm.maxnum.f32(float %52, float %54), !dbg !14
  %56 = bitcast float %55 to i32, !dbg !17
  %57 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %56, i32 1, i32 31), !dbg !17
  %58 = bitcast i32 %57 to float, !dbg !17
  %59 = tail call float @llvm.maxnum.f32(float %55, float %58), !dbg !14
  %60 = and i32 %6, 3, !dbg !17
  %61 = icmp eq i32 %60, 0, !dbg !17
  %62 = and i1 %49, %61, !dbg !17
  %63 = bitcast float %59 to <1 x i32>, !dbg !17
  tail call void asm sideeffect "@$2 st.shared.b32 [ $0 + 0 ], $1;", "r,r,b"(ptr addrspace(3) %50, <1 x i32> %63, i1 %62) #5, !dbg !17
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !17
  %64 = load float, ptr addrspace(3) @global_smem, align 16, !dbg !17
  %65 = fsub float %22, %64, !dbg !20
  %66 = fsub float %24, %64, !dbg !20
  %67 = fmul float %65, 0x3FF7154760000000, !dbg !21
  %68 = tail call float @llvm.nvvm.ex2.approx.f(float %67), !dbg !21
  %69 = fmul float %66, 0x3FF7154760000000, !dbg !21
  %70 = tail call float @llvm.nvvm.ex2.approx.f(float %69), !dbg !21
  %71 = getelementptr float, ptr addrspace(1) %1, i64 %15, !dbg !22
  %72 = getelementptr float, ptr addrspace(1) %71, i64 %17, !dbg !23
  %73 = getelementptr float, ptr addrspace(1) %71, i64 %19, !dbg !23
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !24
  %74 = fadd float %68, %70, !dbg !26
  %75 = bitcast float %74 to i32, !dbg !24
  %76 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %75, i32 16, i32 31), !dbg !24
  %77 = bitcast i32 %76 to float, !dbg !24
  %78 = fadd float %74, %77, !dbg !26
  %79 = bitcast float %78 to i32, !dbg !24
  %80 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %79, i32 8, i32 31), !dbg !24
  %81 = bitcast i32 %80 to float, !dbg !24
  %82 = fadd float %78, %81, !dbg !26
  %83 = bitcast float %82 to i32, !dbg !24
  %84 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %83, i32 4, i32 31), !dbg !24
  %85 = bitcast i32 %84 to float, !dbg !24
  %86 = fadd float %82, %85, !dbg !26
  %87 = bitcast float %86 to i32, !dbg !24
  %88 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %87, i32 2, i32 31), !dbg !24
  %89 = bitcast i32 %88 to float, !dbg !24
  %90 = fadd float %86, %89, !dbg !26
  %91 = bitcast float %90 to i32, !dbg !24
  %92 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %91, i32 1, i32 31), !dbg !24
  %93 = bitcast i32 %92 to float, !dbg !24
  %94 = fadd float %90, %93, !dbg !26
  %95 = bitcast float %94 to <1 x i32>, !dbg !24
  tail call void asm sideeffect "@$2 st.shared.b32 [ $0 + 0 ], $1;", "r,r,b"(ptr addrspace(3) %47, <1 x i32> %95, i1 %46) #5, !dbg !24
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !24
  %96 = tail call i32 asm sideeffect "@$2 ld.shared.b32 $0, [ $1 + 0 ];", "=r,r,b"(ptr addrspace(3) %50, i1 %49) #5, !dbg !24
  %97 = bitcast i32 %96 to float, !dbg !24
  %98 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %96, i32 2, i32 31), !dbg !24
  %99 = bitcast i32 %98 to float, !dbg !24
  %100 = fadd float %97, %99, !dbg !26
  %101 = bitcast float %100 to i32, !dbg !24
  %102 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %101, i32 1, i32 31), !dbg !24
  %103 = bitcast i32 %102 to float, !dbg !24
  %104 = fadd float %100, %103, !dbg !26
  %105 = bitcast float %104 to <1 x i32>, !dbg !24
  tail call void asm sideeffect "@$2 st.shared.b32 [ $0 + 0 ], $1;", "r,r,b"(ptr addrspace(3) %50, <1 x i32> %105, i1 %62) #5, !dbg !24
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !24
  %106 = load float, ptr addrspace(3) @global_smem, align 16, !dbg !24
  %107 = tail call float @llvm.nvvm.div.full(float %68, float %106), !dbg !27
  %108 = tail call float @llvm.nvvm.div.full(float %70, float %106), !dbg !27
  %109 = bitcast float %107 to i32, !dbg !28
  tail call void asm sideeffect "@$2 st.global.b32 [ $1 + 0 ], { $0 };", "r,l,b"(i32 %109, ptr addrspace(1) %72, i1 %11) #5, !dbg !28
  %110 = bitcast float %108 to i32, !dbg !28
  tail call void asm sideeffect "@$2 st.global.b32 [ $1 + 0 ], { $0 };", "r,l,b"(i32 %110, ptr addrspace(1) %73, i1 %12) #5, !dbg !28
  ret void, !dbg !29
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.maxnum.f32(float, float) #1

; Function Attrs: convergent nocallback nounwind memory(inaccessiblemem: readwrite)
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32) #2

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #3

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(none)
declare float @llvm.nvvm.ex2.approx.f(float) #4

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(none)
declare float @llvm.nvvm.div.full(float, float) #4

attributes #0 = { nounwind "nvvm.reqntid"="128" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { convergent nocallback nounwind memory(inaccessiblemem: readwrite) }
attributes #3 = { convergent nocallback nounwind }
attributes #4 = { mustprogress nocallback nofree nosync nounwind willreturn memory(none) }
attributes #5 = { nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}

!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, producer: "triton", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "triton_kernels.py", directory: "")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 4, !"nvvm-reflect-ftz", i32 1}
!4 = distinct !DISubprogram(name: "softmax", linkageName: "softmax", scope: !1, file: !1, line: 23, type: !5, scopeLine: 23, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!5 = !DISubroutineType(cc: DW_CC_normal, types: !6)
!6 = !{}
!7 = !DILocation(line: 24, column: 21, scope: !4)
!8 = !DILocation(line: 25, column: 55, scope: !4)
!9 = !DILocation(line: 25, column: 34, scope: !4)
!10 = !DILocation(line: 25, column: 39, scope: !4)
!11 = !DILocation(line: 25, column: 20, scope: !4)
!12 = !DILocation(line: 25, column: 43, scope: !4)
!13 = !DILocation(line: 25, column: 16, scope: !4)
!14 = !DILocation(line: 170, column: 27, scope: !15, inlinedAt: !17)
!15 = distinct !DILexicalBlockFile(scope: !4, file: !16, discriminator: 0)
!16 = !DIFile(filename: "standard.py", directory: "")
!17 = !DILocation(line: 191, column: 40, scope: !15, inlinedAt: !18)
!18 = !DILocation(line: 26, column: 29, scope: !19)
!19 = distinct !DILexicalBlockFile(scope: !4, file: !1, discriminator: 0)
!20 = !DILocation(line: 26, column: 19, scope: !4)
!21 = !DILocation(line: 26, column: 15, scope: !4)
!22 = !DILocation(line: 27, column: 17, scope: !4)
!23 = !DILocation(line: 27, column: 40, scope: !4)
!24 = !DILocation(line: 293, column: 36, scope: !15, inlinedAt: !25)
!25 = !DILocation(line: 27, column: 57, scope: !19)
!26 = !DILocation(line: 263, column: 15, scope: !15, inlinedAt: !24)
!27 = !DILocation(line: 27, column: 47, scope: !4)
!28 = !DILocation(line: 27, column: 43, scope: !4)
!29 = !DILocation(line: 27, column: 4, scope: !4)
