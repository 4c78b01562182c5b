; Triton 3.9.0: 128 threads, 16 bytes of dynamic shared memory
; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-p101:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

@global_smem = external local_unnamed_addr addrspace(3) global [0 x i8], align 16
@.str = private unnamed_addr constant [11 x i8] c"__CUDA_FTZ\00", align 1

; Function Attrs: nounwind
define ptx_kernel void @normalize(ptr addrspace(1) %0, ptr addrspace(1) %1, i32 %2, ptr addrspace(1) nofree readnone captures(none) %3, ptr addrspace(1) nofree readnone captures(none) %4) local_unnamed_addr #0 !dbg !6 {
  %6 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !14
  %7 = and i32 %6, 127, !dbg !14
  %8 = or disjoint i32 %7, 128, !dbg !14
  %9 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !dbg !15
  %10 = mul i32 %2, %9, !dbg !15
  %11 = icmp slt i32 %7, %2, !dbg !16
  %12 = icmp slt i32 %8, %2, !dbg !16
  %13 = sext i32 %10 to i64, !dbg !17
  %14 = getelementptr [4 x i8], ptr addrspace(1) %0, i64 %13, !dbg !17
  %15 = zext nneg i32 %7 to i64, !dbg !17
  %16 = getelementptr [4 x i8], ptr addrspace(1) %14, i64 %15, !dbg !17
  %17 = zext nneg i32 %8 to i64, !dbg !17
  %18 = getelementptr [4 x i8], ptr addrspace(1) %14, i64 %17, !dbg !17
  %19 = tail call i32 asm sideeffect "mov.u32 $0, $1;\0A\09@$3 ld.global.b32 { $0 }, [ $2 + 0 ];", "=r,r,l,b"(i32 0, ptr addrspace(1) %16, i1 %11) #6, !dbg !18
  %20 = bitcast i32 %19 to float, !dbg !18
  %21 = tail call i32 asm sideeffect "mov.u32 $0, $1;\0A\09@$3 ld.global.b32 { $0 }, [ $2 + 0 ];", "=r,r,l,b"(i32 0, ptr addrspace(1) %18, i1 %12) #6, !dbg !18
  %22 = bitcast i32 %21 to float, !dbg !18
  %23 = fadd float %20, %22, !dbg !19
  %24 = bitcast float %23 to i32, !dbg !22
  %25 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %24, i32 16, i32 31), !dbg !22
  %26 = bitcast i32 %25 to float, !dbg !22
  %27 = fadd float %23, %26, !dbg !19
  %28 = bitcast float %27 to i32, !dbg !22
  %29 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %28, i32 8, i32 31), !dbg !22
  %30 = bitcast i32 %29 to float, !dbg !22
  %31 = fadd float %27, %30, !dbg !19
  %32 = bitcast float %31 to i32, !dbg !22
  %33 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %32, i32 4, i32 31), !dbg !22
  %34 = bitcast i32 %33 to float, !dbg !22
  %35 = fadd float %31, %34, !dbg !19
  %36 = bitcast float %35 to i32, !dbg !22
  %37 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %36, i32 2, i32 31), !dbg !22
  %38 = bitcast i32 %37 to float, !dbg !22
  %39 = fadd float %35, %38, !dbg !19
  %40 = bitcast float %39 to i32, !dbg !22
  %41 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %40, i32 1, i32 31), !dbg !22
  %42 = bitcast i32 %41 to float, !dbg !22
  %43 = fadd float %39, %42, !dbg !19
  %44 = lshr i32 %6, 3, !dbg !22
  %45 = and i32 %44, 12, !dbg !22
  %46 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %45, !dbg !22
  store float %43, ptr addrspace(3) %46, align 4, !dbg !22
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !22
  %47 = shl nuw nsw i32 %6, 2, !dbg !22
  %48 = and i32 %47, 12, !dbg !22
  %49 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %48, !dbg !22
  %50 = load i32, ptr addrspace(3) %49, align 4, !dbg !22
  %51 = bitcast i32 %50 to float, !dbg !22
  %52 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %50, i32 2, i32 31), !dbg !22
  %53 = bitcast i32 %52 to float, !dbg !22
  %54 = fadd float %51, %53, !dbg !19
  %55 = bitcast float %54 to i32, !dbg !22
  %56 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %55, i32 1, i32 31), !dbg !22
  %57 = bitcast i32 %56 to float, !dbg !22
  %58 = fadd float %54, %57, !dbg !19
  %59 = sitofp i32 %2 to float, !dbg !25
  %60 = tail call float @llvm.nvvm.div.full(float %58, float %59), !dbg !25
  %61 = fsub float %20, %60, !dbg !26
  %62 = fsub float %22, %60, !dbg !26
  %63 = select i1 %11, float %61, float 0.000000e+00, !dbg !27
  %64 = select i1 %12, float %62, float 0.000000e+00, !dbg !27
  %65 = fmul float %63, %63, !dbg !28
  %66 = fmul float %64, %64, !dbg !28
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !29
  %67 = fadd float %65, %66, !dbg !31
  %68 = bitcast float %67 to i32, !dbg !29
  %69 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %68, i32 16, i32 31), !dbg !29
  %70 = bitcast i32 %69 to float, !dbg !29
  %71 = fadd float %67, %70, !dbg !31
  %72 = bitcast float %71 to i32, !dbg !29
  %73 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %72, i32 8, i32 31), !dbg !29
  %74 = bitcast i32 %73 to float, !dbg !29
  %75 = fadd float %71, %74, !dbg !31
  %76 = bitcast float %75 to i32, !dbg !29
  %77 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %76, i32 4, i32 31), !dbg !29
  %78 = bitcast i32 %77 to float, !dbg !29
  %79 = fadd float %75, %78, !dbg !31
  %80 = bitcast float %79 to i32, !dbg !29
  %81 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %80, i32 2, i32 31), !dbg !29
  %82 = bitcast i32 %81 to float, !dbg !29
  %83 = fadd float %79, %82, !dbg !31
  %84 = bitcast float %83 to i32, !dbg !29
  %85 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %84, i32 1, i32 31), !dbg !29
  %86 = bitcast i32 %85 to float, !dbg !29
  %87 = fadd float %83, %86, !dbg !31
  store float %87, ptr addrspace(3) %46, align 4, !dbg !29
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !29
  %88 = load i32, ptr addrspace(3) %49, align 4, !dbg !29
  %89 = bitcast i32 %88 to float, !dbg !29
  %90 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %88, i32 2, i32 31), !dbg !29
  %91 = bitcast i32 %90 to float, !dbg !29
  %92 = fadd float %89, %91, !dbg !31
  %93 = bitcast float %92 to i32, !dbg !29
  %94 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %93, i32 1, i32 31), !dbg !29
  %95 = bitcast i32 %94 to float, !dbg !29
  %96 = fadd float %92, %95, !dbg !31
  %97 = tail call float @llvm.nvvm.div.full(float %96, float %59), !dbg !32
  %98 = fadd float %97, f0x3727C5AC, !dbg !32
  %99 = tail call i32 @__nvvm_reflect(ptr nonnull @.str) #6, !dbg !33
  %.not.i = icmp eq i32 %99, 0, !dbg !33
  br i1 %.not.i, label %102, label %100, !dbg !33

100:                                              ; preds = %5
  %101 = tail call float @llvm.nvvm.rsqrt.approx.ftz.f(float %98), !dbg !33
  br label %__nv_rsqrtf.exit, !dbg !33

102:                                              ; preds = %5
  %103 = tail call float @llvm.nvvm.rsqrt.approx.f(float %98), !dbg !33
  br label %__nv_rsqrtf.exit, !dbg !33

__nv_rsqrtf.exit:                                 ; preds = %100, %102
  %.0.i = phi float [ %101, %100 ], [ %103, %102 ], !dbg !33
  %104 = getelementptr [4 x i8], ptr addrspace(1) %1, i64 %13, !dbg !34
  %105 = getelementptr [4 x i8], ptr addrspace(1) %104, i64 %17, !dbg !34
  %106 = getelementptr [4 x i8], ptr addrspace(1) %104, i64 %15, !dbg !34
  %107 = fmul float %63, %.0.i, !dbg !35
  %108 = fmul float %64, %.0.i, !dbg !35
  %109 = bitcast float %107 to i32, !dbg !36
  tail call void asm sideeffect "@$2 st.global.b32 [ $1 + 0 ], { $0 };", "r,l,b"(i32 %109, ptr addrspace(1) %106, i1 %11) #6, !dbg !36
  %110 = bitcast float %108 to i32, !dbg !36
  tail call void asm sideeffect "@$2 st.global.b32 [ $1 + 0 ], { $0 };", "r,l,b"(i32 %110, ptr addrspace(1) %105, i1 %12) #6, !dbg !36
  ret void, !dbg !37
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: convergent nocallback nounwind memory(inaccessiblemem: readwrite)
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32) #2

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #3

; Function Attrs: mustprogress nocallback nocreateundeforpoison nofree nosync nounwind willreturn memory(none)
declare float @llvm.nvvm.div.full(float, float) #4

declare i32 @__nvvm_reflect(ptr) local_unnamed_addr #5

; Function Attrs: mustprogress nocallback nocreateundeforpoison nofree nosync nounwind willreturn memory(none)
declare float @llvm.nvvm.rsqrt.approx.ftz.f(float) #4

; Function Attrs: mustprogress nocallback nocreateundeforpoison nofree nosync nounwind willreturn memory(none)
declare float @llvm.nvvm.rsqrt.approx.f(float) #4

attributes #0 = { nounwind "nvvm.reqntid"="128" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { convergent nocallback nounwind memory(inaccessiblemem: readwrite) }
attributes #3 = { convergent nocallback nounwind }
attributes #4 = { mustprogress nocallback nocreateundeforpoison nofree nosync nounwind willreturn memory(none) }
attributes #5 = { "disable-tail-calls"="false" "frame-pointer"="all" "less-precise-fpmad"="false" "no-infs-fp-math"="false" "no-nans-fp-math"="false" "stack-protector-buffer-size"="8" "unsafe-fp-math"="false" "use-soft-float"="false" }
attributes #6 = { nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}
!llvm.ident = !{!4}
!nvvmir.version = !{!5}

!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, producer: "triton", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "triton_kernels.py", directory: "")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 4, !"nvvm-reflect-ftz", i32 1}
!4 = !{!"clang version 3.8.0 (tags/RELEASE_380/final)"}
!5 = !{i32 2, i32 0}
!6 = distinct !DISubprogram(name: "normalize", linkageName: "normalize", scope: !1, file: !1, line: 59, type: !7, scopeLine: 59, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!7 = !DISubroutineType(cc: DW_CC_normal, types: !8)
!8 = !{null, !9, !9, !11, !12, !12}
!9 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "pointer", baseType: !10, size: 64, dwarfAddressSpace: 1)
!10 = !DIBasicType(name: "float", size: 32, encoding: DW_ATE_float)
!11 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!12 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "pointer", baseType: !13, size: 64, dwarfAddressSpace: 1)
!13 = !DIBasicType(name: "unknown_type", encoding: DW_ATE_signed)
!14 = !DILocation(line: 60, column: 9, scope: !6)
!15 = !DILocation(line: 61, column: 11, scope: !6)
!16 = !DILocation(line: 62, column: 35, scope: !6)
!17 = !DILocation(line: 62, column: 17, scope: !6)
!18 = !DILocation(line: 62, column: 9, scope: !6)
!19 = !DILocation(line: 287, column: 12, scope: !20, inlinedAt: !22)
!20 = distinct !DILexicalBlockFile(scope: !6, file: !21, discriminator: 0)
!21 = !DIFile(filename: "standard.py", directory: "")
!22 = !DILocation(line: 314, column: 12, scope: !20, inlinedAt: !23)
!23 = !DILocation(line: 63, column: 12, scope: !24)
!24 = distinct !DILexicalBlockFile(scope: !6, file: !1, discriminator: 0)
!25 = !DILocation(line: 63, column: 12, scope: !6)
!26 = !DILocation(line: 64, column: 25, scope: !6)
!27 = !DILocation(line: 64, column: 9, scope: !6)
!28 = !DILocation(line: 65, column: 47, scope: !6)
!29 = !DILocation(line: 314, column: 12, scope: !20, inlinedAt: !30)
!30 = !DILocation(line: 65, column: 40, scope: !24)
!31 = !DILocation(line: 287, column: 12, scope: !20, inlinedAt: !29)
!32 = !DILocation(line: 65, column: 40, scope: !6)
!33 = !DILocation(line: 65, column: 31, scope: !6)
!34 = !DILocation(line: 65, column: 14, scope: !6)
!35 = !DILocation(line: 65, column: 27, scope: !6)
!36 = !DILocation(line: 65, column: 5, scope: !6)
!37 = !DILocation(line: 59, column: 1, scope: !6)
