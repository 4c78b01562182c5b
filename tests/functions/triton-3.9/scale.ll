; Triton 3.9.0: 128 threads, 0 bytes of dynamic shared memory
; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-p101:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

; Function Attrs: nounwind
define ptx_kernel void @scale(ptr addrspace(1) %0, ptr addrspace(1) %1, i32 %2, ptr addrspace(1) nofree readnone captures(none) %3, ptr addrspace(1) nofree readnone captures(none) %4) local_unnamed_addr #0 !dbg !4 {
  %6 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !dbg !12
  %7 = shl i32 %6, 8, !dbg !12
  %8 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !13
  %9 = and i32 %8, 127, !dbg !13
  %10 = or disjoint i32 %7, %9, !dbg !12
  %11 = or disjoint i32 %10, 128, !dbg !12
  %12 = icmp slt i32 %10, %2, !dbg !14
  %13 = icmp slt i32 %11, %2, !dbg !14
  %14 = sext i32 %10 to i64, !dbg !15
  %15 = getelementptr [4 x i8], ptr addrspace(1) %1, i64 %14, !dbg !15
  %16 = sext i32 %11 to i64, !dbg !15
  %17 = getelementptr [4 x i8], ptr addrspace(1) %1, i64 %16, !dbg !15
  %18 = getelementptr [4 x i8], ptr addrspace(1) %0, i64 %14, !dbg !16
  %19 = getelementptr [4 x i8], ptr addrspace(1) %0, i64 %16, !dbg !16
  %20 = tail call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09@$2 ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l,b"(ptr addrspace(1) %18, i1 %12) #3, !dbg !17
  %21 = bitcast i32 %20 to float, !dbg !17
  %22 = tail call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09@$2 ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l,b"(ptr addrspace(1) %19, i1 %13) #3, !dbg !17
  %23 = bitcast i32 %22 to float, !dbg !17
  %24 = fmul float %21, f0x3FB8AA3B, !dbg !18
  %25 = tail call float @llvm.nvvm.ex2.approx.f32(float %24), !dbg !18
  %26 = fmul float %23, f0x3FB8AA3B, !dbg !18
  %27 = tail call float @llvm.nvvm.ex2.approx.f32(float %26), !dbg !18
  %28 = fmul float %25, 2.000000e+00, !dbg !18
  %29 = fmul float %27, 2.000000e+00, !dbg !18
  %30 = bitcast float %28 to i32, !dbg !19
  tail call void asm sideeffect "@$2 st.global.b32 [ $1 + 0 ], { $0 };", "r,l,b"(i32 %30, ptr addrspace(1) %15, i1 %12) #3, !dbg !19
  %31 = bitcast float %29 to i32, !dbg !19
  tail call void asm sideeffect "@$2 st.global.b32 [ $1 + 0 ], { $0 };", "r,l,b"(i32 %31, ptr addrspace(1) %17, i1 %13) #3, !dbg !19
  ret void, !dbg !20
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(none)
declare float @llvm.nvvm.ex2.approx.f32(float) #2

attributes #0 = { nounwind "nvvm.reqntid"="128" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { mustprogress nocallback nofree nosync nounwind willreturn memory(none) }
attributes #3 = { nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}

!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, producer: "triton", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "triton_kernels.py", directory: "")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 4, !"nvvm-reflect-ftz", i32 1}
!4 = distinct !DISubprogram(name: "scale", linkageName: "scale", scope: !1, file: !1, line: 17, type: !5, scopeLine: 17, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!5 = !DISubroutineType(cc: DW_CC_normal, types: !6)
!6 = !{null, !7, !7, !9, !10, !10}
!7 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "pointer", baseType: !8, size: 64, dwarfAddressSpace: 1)
!8 = !DIBasicType(name: "float", size: 32, encoding: DW_ATE_float)
!9 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!10 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "pointer", baseType: !11, size: 64, dwarfAddressSpace: 1)
!11 = !DIBasicType(name: "unknown_type", encoding: DW_ATE_signed)
!12 = !DILocation(line: 18, column: 9, scope: !4)
!13 = !DILocation(line: 18, column: 32, scope: !4)
!14 = !DILocation(line: 19, column: 68, scope: !4)
!15 = !DILocation(line: 19, column: 14, scope: !4)
!16 = !DILocation(line: 19, column: 36, scope: !4)
!17 = !DILocation(line: 19, column: 28, scope: !4)
!18 = !DILocation(line: 19, column: 21, scope: !4)
!19 = !DILocation(line: 19, column: 5, scope: !4)
!20 = !DILocation(line: 17, column: 1, scope: !4)
