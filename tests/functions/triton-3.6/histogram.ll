; Triton 3.6.0: 128 threads, 0 bytes of dynamic shared memory
; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

; Function Attrs: nounwind
define ptx_kernel void @histogram(ptr addrspace(1) %0, ptr addrspace(1) %1, i32 %2, ptr addrspace(1) readnone captures(none) %3, ptr addrspace(1) readnone captures(none) %4) local_unnamed_addr #0 !dbg !4 {
  %6 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !dbg !7
  %7 = shl i32 %6, 8, !dbg !8
  %8 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !9
  %9 = and i32 %8, 127, !dbg !9
  %10 = or disjoint i32 %7, %9, !dbg !10
  %11 = or disjoint i32 %10, 128, !dbg !10
  %12 = icmp slt i32 %10, %2, !dbg !11
  %13 = icmp slt i32 %11, %2, !dbg !11
  %14 = sext i32 %10 to i64, !dbg !12
  %15 = getelementptr i32, ptr addrspace(1) %0, i64 %14, !dbg !12
  %16 = sext i32 %11 to i64, !dbg !12
  %17 = getelementptr i32, ptr addrspace(1) %0, i64 %16, !dbg !12
  %18 = tail call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09@$2 ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l,b"(ptr addrspace(1) %15, i1 %12) #2, !dbg !13
  %19 = tail call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09@$2 ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l,b"(ptr addrspace(1) %17, i1 %13) #2, !dbg !13
  %20 = sext i32 %18 to i64, !dbg !14
  %21 = getelementptr i32, ptr addrspace(1) %1, i64 %20, !dbg !14
  %22 = sext i32 %19 to i64, !dbg !14
  %23 = getelementptr i32, ptr addrspace(1) %1, i64 %22, !dbg !14
  %24 = tail call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09@$3 atom.global.gpu.acq_rel.add.u32 $0, [ $1 + 0 ], $2;", "=r,l,r,b"(ptr addrspace(1) %21, i32 1, i1 %12) #2, !dbg !15
  %25 = tail call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09@$3 atom.global.gpu.acq_rel.add.u32 $0, [ $1 + 0 ], $2;", "=r,l,r,b"(ptr addrspace(1) %23, i32 1, i1 %13) #2, !dbg !15
  ret void, !dbg !16
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

attributes #0 = { nounwind "nvvm.reqntid"="128" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}

!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, producer: "triton", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "triton_kernels.py", directory: "")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 4, !"nvvm-reflect-ftz", i32 1}
!4 = distinct !DISubprogram(name: "histogram", linkageName: "histogram", scope: !1, file: !1, line: 40, type: !5, scopeLine: 40, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!5 = !DISubroutineType(cc: DW_CC_normal, types: !6)
!6 = !{}
!7 = !DILocation(line: 41, column: 22, scope: !4)
!8 = !DILocation(line: 41, column: 27, scope: !4)
!9 = !DILocation(line: 41, column: 44, scope: !4)
!10 = !DILocation(line: 41, column: 31, scope: !4)
!11 = !DILocation(line: 42, column: 71, scope: !4)
!12 = !DILocation(line: 42, column: 34, scope: !4)
!13 = !DILocation(line: 42, column: 30, scope: !4)
!14 = !DILocation(line: 42, column: 22, scope: !4)
!15 = !DILocation(line: 42, column: 59, scope: !4)
!16 = !DILocation(line: 42, column: 4, scope: !4)
