; Triton 3.6.0: 128 threads, 32 bytes of dynamic shared memory
; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

@global_smem = external addrspace(3) global [0 x i8], align 16

; Function Attrs: nounwind
define ptx_kernel void @scan(ptr addrspace(1) %0, ptr addrspace(1) %1, i32 %2, ptr addrspace(1) readnone captures(none) %3, ptr addrspace(1) readnone captures(none) %4) local_unnamed_addr #0 !dbg !4 {
  %6 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !7
  %7 = and i32 %6, 31, !dbg !7
  %8 = lshr i32 %6, 5, !dbg !7
  %9 = and i32 %8, 3, !dbg !7
  %urem = and i32 %6, 127, !dbg !7
  %10 = or disjoint i32 %urem, 128, !dbg !7
  %11 = icmp slt i32 %urem, %2, !dbg !8
  %12 = icmp slt i32 %10, %2, !dbg !8
  %13 = zext nneg i32 %urem to i64, !dbg !9
  %14 = getelementptr i32, ptr addrspace(1) %1, i64 %13, !dbg !9
  %15 = zext nneg i32 %10 to i64, !dbg !9
  %16 = getelementptr i32, ptr addrspace(1) %1, i64 %15, !dbg !9
  %17 = getelementptr i32, ptr addrspace(1) %0, i64 %13, !dbg !10
  %18 = getelementptr i32, ptr addrspace(1) %0, i64 %15, !dbg !10
  %19 = tail call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09@$2 ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l,b"(ptr addrspace(1) %17, i1 %11) #4, !dbg !11
  %20 = tail call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09@$2 ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l,b"(ptr addrspace(1) %18, i1 %12) #4, !dbg !11
  %21 = tail call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %19, i32 1, i32 0), !dbg !12
  %.not = icmp eq i32 %7, 0, !dbg !12
  %22 = select i1 %.not, i32 0, i32 %21, !dbg !12
  %23 = add i32 %22, %19, !dbg !12
  %24 = tail call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %23, i32 2, i32 0), !dbg !12
  %25 = icmp samesign ugt i32 %7, 1, !dbg !12
  %26 = select i1 %25, i32 %24, i32 0, !dbg !12
  %27 = add i32 %23, %26, !dbg !12
  %28 = tail call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %27, i32 4, i32 0), !dbg !12
  %29 = icmp samesign ugt i32 %7, 3, !dbg !12
  %30 = select i1 %29, i32 %28, i32 0, !dbg !12
  %31 = add i32 %27, %30, !dbg !12
  %32 = tail call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %31, i32 8, i32 0), !dbg !12
  %33 = icmp samesign ugt i32 %7, 7, !dbg !12
  %34 = select i1 %33, i32 %32, i32 0, !dbg !12
  %35 = add i32 %31, %34, !dbg !12
  %36 = tail call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %35, i32 16, i32 0), !dbg !12
  %37 = icmp samesign ugt i32 %7, 15, !dbg !12
  %38 = select i1 %37, i32 %36, i32 0, !dbg !12
  %39 = add i32 %35, %38, !dbg !12
  %40 = tail call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %20, i32 1, i32 0), !dbg !12
  %41 = select i1 %.not, i32 0, i32 %40, !dbg !12
  %42 = add i32 %41, %20, !dbg !12
  %43 = tail call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %42, i32 2, i32 0), !dbg !12
  %44 = select i1 %25, i32 %43, i32 0, !dbg !12
  %45 = add i32 %42, %44, !dbg !12
  %46 = tail call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %45, i32 4, i32 0), !dbg !12
  %47 = select i1 %29, i32 %46, i32 0, !dbg !12
  %48 = add i32 %45, %47, !dbg !12
  %49 = tail call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %48, i32 8, i32 0), !dbg !12
  %50 = select i1 %33, i32 %49, i32 0, !dbg !12
  %51 = add i32 %48, %50, !dbg !12
  %52 = tail call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %51, i32 16, i32 0), !dbg !12
  %53 = select i1 %37, i32 %52, i32 0, !dbg !12
  %54 = add i32 %51, %53, !dbg !12
  %55 = icmp eq i32 %7, 31, !dbg !12
  %56 = getelementptr i32, ptr addrspace(3) @global_smem, i32 %9, !dbg !12
  %57 = insertelement <1 x i32> poison, i32 %39, i64 0, !dbg !12
  tail call void asm sideeffect "@$2 st.shared.b32 [ $0 + 0 ], $1;", "r,r,b"(ptr addrspace(3) %56, <1 x i32> %57, i1 %55) #4, !dbg !12
  %58 = getelementptr i8, ptr addrspace(3) %56, i32 16, !dbg !12
  %59 = insertelement <1 x i32> poison, i32 %54, i64 0, !dbg !12
  tail call void asm sideeffect "@$2 st.shared.b32 [ $0 + 0 ], $1;", "r,r,b"(ptr addrspace(3) %58, <1 x i32> %59, i1 %55) #4, !dbg !12
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !12
  %.not1 = icmp eq i32 %9, 0, !dbg !12
  %60 = load i32, ptr addrspace(3) @global_smem, align 16, !dbg !12
  %61 = load i32, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 4), align 4, !dbg !12
  %62 = icmp samesign ugt i32 %9, 1, !dbg !12
  %63 = add i32 %61, %60, !dbg !17
  %64 = select i1 %62, i32 %63, i32 %60, !dbg !12
  %65 = load i32, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8), align 8, !dbg !12
  %66 = icmp eq i32 %9, 3, !dbg !12
  %67 = add i32 %63, %65, !dbg !17
  %68 = select i1 %66, i32 %67, i32 %64, !dbg !12
  %69 = load i32, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 12), align 4, !dbg !12
  %70 = add i32 %67, %69, !dbg !17
  %71 = select i1 %.not1, i32 0, i32 %68, !dbg !12
  %72 = add i32 %71, %39, !dbg !12
  %73 = tail call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %72, i32 1, i32 0), !dbg !12
  %74 = load i32, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 16), align 16, !dbg !12
  %75 = add i32 %74, %70, !dbg !17
  %76 = select i1 %.not1, i32 %70, i32 %75, !dbg !12
  %77 = load i32, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 20), align 4, !dbg !12
  %78 = add i32 %75, %77, !dbg !17
  %79 = select i1 %62, i32 %78, i32 %76, !dbg !12
  %80 = load i32, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 24), align 8, !dbg !12
  %81 = add i32 %78, %80, !dbg !17
  %82 = select i1 %66, i32 %81, i32 %79, !dbg !12
  %83 = add i32 %82, %54, !dbg !17
  %84 = tail call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %83, i32 1, i32 0), !dbg !12
  tail call void asm sideeffect "@$2 st.global.b32 [ $1 + 0 ], { $0 };", "r,l,b"(i32 %72, ptr addrspace(1) %14, i1 %11) #4, !dbg !18
  tail call void asm sideeffect "@$2 st.global.b32 [ $1 + 0 ], { $0 };", "r,l,b"(i32 %83, ptr addrspace(1) %16, i1 %12) #4, !dbg !18
  ret void, !dbg !19
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: convergent nocallback nounwind memory(inaccessiblemem: readwrite)
declare i32 @llvm.nvvm.shfl.sync.up.i32(i32, i32, i32, i32) #2

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #3

attributes #0 = { nounwind "nvvm.reqntid"="128" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { convergent nocallback nounwind memory(inaccessiblemem: readwrite) }
attributes #3 = { convergent nocallback nounwind }
attributes #4 = { nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}

!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, producer: "triton", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "triton_kernels.py", directory: "")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 4, !"nvvm-reflect-ftz", i32 1}
!4 = distinct !DISubprogram(name: "scan", linkageName: "scan", scope: !1, file: !1, line: 46, type: !5, scopeLine: 46, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!5 = !DISubroutineType(cc: DW_CC_normal, types: !6)
!6 = !{}
!7 = !DILocation(line: 47, column: 21, scope: !4)
!8 = !DILocation(line: 48, column: 80, scope: !4)
!9 = !DILocation(line: 48, column: 17, scope: !4)
!10 = !DILocation(line: 48, column: 42, scope: !4)
!11 = !DILocation(line: 48, column: 38, scope: !4)
!12 = !DILocation(line: 343, column: 60, scope: !13, inlinedAt: !15)
!13 = distinct !DILexicalBlockFile(scope: !4, file: !14, discriminator: 0)
!14 = !DIFile(filename: "standard.py", directory: "")
!15 = !DILocation(line: 48, column: 67, scope: !16)
!16 = distinct !DILexicalBlockFile(scope: !4, file: !1, discriminator: 0)
!17 = !DILocation(line: 263, column: 15, scope: !13, inlinedAt: !12)
!18 = !DILocation(line: 48, column: 20, scope: !4)
!19 = !DILocation(line: 48, column: 4, scope: !4)
