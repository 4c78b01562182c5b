; Triton 3.6.0: 128 threads, 4096 bytes of dynamic shared memory
; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

@global_smem = external local_unnamed_addr addrspace(3) global [0 x i8], align 16

; Function Attrs: nounwind
define ptx_kernel void @transpose(ptr addrspace(1) %0, ptr addrspace(1) %1, i32 %2, ptr addrspace(1) readnone captures(none) %3, ptr addrspace(1) readnone captures(none) %4) local_unnamed_addr #0 !dbg !4 {
  %6 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !7
  %7 = and i32 %6, 96, !dbg !7
  %8 = lshr exact i32 %7, 5, !dbg !7
  %9 = or disjoint i32 %8, 4, !dbg !7
  %10 = or disjoint i32 %8, 8, !dbg !7
  %11 = or disjoint i32 %8, 12, !dbg !7
  %12 = or disjoint i32 %8, 16, !dbg !7
  %13 = or disjoint i32 %8, 20, !dbg !7
  %14 = or disjoint i32 %8, 24, !dbg !7
  %15 = or disjoint i32 %8, 28, !dbg !7
  %16 = mul i32 %2, %8, !dbg !8
  %17 = mul i32 %2, %9, !dbg !8
  %18 = mul i32 %2, %10, !dbg !8
  %19 = mul i32 %2, %11, !dbg !8
  %20 = mul i32 %2, %12, !dbg !8
  %21 = mul i32 %2, %13, !dbg !8
  %22 = mul i32 %2, %14, !dbg !8
  %23 = mul i32 %2, %15, !dbg !8
  %24 = sext i32 %16 to i64, !dbg !9
  %25 = getelementptr float, ptr addrspace(1) %0, i64 %24, !dbg !9
  %26 = sext i32 %17 to i64, !dbg !9
  %27 = getelementptr float, ptr addrspace(1) %0, i64 %26, !dbg !9
  %28 = sext i32 %18 to i64, !dbg !9
  %29 = getelementptr float, ptr addrspace(1) %0, i64 %28, !dbg !9
  %30 = sext i32 %19 to i64, !dbg !9
  %31 = getelementptr float, ptr addrspace(1) %0, i64 %30, !dbg !9
  %32 = sext i32 %20 to i64, !dbg !9
  %33 = getelementptr float, ptr addrspace(1) %0, i64 %32, !dbg !9
  %34 = sext i32 %21 to i64, !dbg !9
  %35 = getelementptr float, ptr addrspace(1) %0, i64 %34, !dbg !9
  %36 = sext i32 %22 to i64, !dbg !9
  %37 = getelementptr float, ptr addrspace(1) %0, i64 %36, !dbg !9
  %38 = sext i32 %23 to i64, !dbg !9
  %39 = getelementptr float, ptr addrspace(1) %0, i64 %38, !dbg !9
  %40 = and i32 %6, 31, !dbg !10
  %41 = zext nneg i32 %40 to i64, !dbg !11
  %42 = getelementptr float, ptr addrspace(1) %25, i64 %41, !dbg !11
  %43 = getelementptr float, ptr addrspace(1) %27, i64 %41, !dbg !11
  %44 = getelementptr float, ptr addrspace(1) %29, i64 %41, !dbg !11
  %45 = getelementptr float, ptr addrspace(1) %31, i64 %41, !dbg !11
  %46 = getelementptr float, ptr addrspace(1) %33, i64 %41, !dbg !11
  %47 = getelementptr float, ptr addrspace(1) %35, i64 %41, !dbg !11
  %48 = getelementptr float, ptr addrspace(1) %37, i64 %41, !dbg !11
  %49 = getelementptr float, ptr addrspace(1) %39, i64 %41, !dbg !11
  %50 = tail call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l"(ptr addrspace(1) %42) #3, !dbg !12
  %51 = tail call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l"(ptr addrspace(1) %43) #3, !dbg !12
  %52 = tail call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l"(ptr addrspace(1) %44) #3, !dbg !12
  %53 = tail call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l"(ptr addrspace(1) %45) #3, !dbg !12
  %54 = tail call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l"(ptr addrspace(1) %46) #3, !dbg !12
  %55 = tail call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l"(ptr addrspace(1) %47) #3, !dbg !12
  %56 = tail call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l"(ptr addrspace(1) %48) #3, !dbg !12
  %57 = tail call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l"(ptr addrspace(1) %49) #3, !dbg !12
  %58 = getelementptr float, ptr addrspace(1) %1, i64 %24, !dbg !13
  %59 = getelementptr float, ptr addrspace(1) %1, i64 %26, !dbg !13
  %60 = getelementptr float, ptr addrspace(1) %1, i64 %28, !dbg !13
  %61 = getelementptr float, ptr addrspace(1) %1, i64 %30, !dbg !13
  %62 = getelementptr float, ptr addrspace(1) %1, i64 %32, !dbg !13
  %63 = getelementptr float, ptr addrspace(1) %1, i64 %34, !dbg !13
  %64 = getelementptr float, ptr addrspace(1) %1, i64 %36, !dbg !13
  %65 = getelementptr float, ptr addrspace(1) %1, i64 %38, !dbg !13
  %66 = getelementptr float, ptr addrspace(1) %58, i64 %41, !dbg !14
  %67 = getelementptr float, ptr addrspace(1) %59, i64 %41, !dbg !14
  %68 = getelementptr float, ptr addrspace(1) %60, i64 %41, !dbg !14
  %69 = getelementptr float, ptr addrspace(1) %61, i64 %41, !dbg !14
  %70 = getelementptr float, ptr addrspace(1) %62, i64 %41, !dbg !14
  %71 = getelementptr float, ptr addrspace(1) %63, i64 %41, !dbg !14
  %72 = getelementptr float, ptr addrspace(1) %64, i64 %41, !dbg !14
  %73 = getelementptr float, ptr addrspace(1) %65, i64 %41, !dbg !14
  %74 = shl nuw nsw i32 %40, 7, !dbg !15
  %75 = shl nuw nsw i32 %6, 5, !dbg !15
  %76 = and i32 %75, 96, !dbg !15
  %77 = and i32 %6, 124, !dbg !15
  %78 = xor i32 %76, %77, !dbg !15
  %79 = or disjoint i32 %78, %74, !dbg !15
  %80 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %79, !dbg !15
  %81 = insertelement <1 x i32> poison, i32 %50, i64 0, !dbg !15
  store <1 x i32> %81, ptr addrspace(3) %80, align 4, !dbg !15
  %82 = xor i32 %79, 4, !dbg !15
  %83 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %82, !dbg !15
  %84 = insertelement <1 x i32> poison, i32 %51, i64 0, !dbg !15
  store <1 x i32> %84, ptr addrspace(3) %83, align 4, !dbg !15
  %85 = xor i32 %79, 8, !dbg !15
  %86 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %85, !dbg !15
  %87 = insertelement <1 x i32> poison, i32 %52, i64 0, !dbg !15
  store <1 x i32> %87, ptr addrspace(3) %86, align 4, !dbg !15
  %88 = xor i32 %79, 12, !dbg !15
  %89 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %88, !dbg !15
  %90 = insertelement <1 x i32> poison, i32 %53, i64 0, !dbg !15
  store <1 x i32> %90, ptr addrspace(3) %89, align 4, !dbg !15
  %91 = xor i32 %79, 16, !dbg !15
  %92 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %91, !dbg !15
  %93 = insertelement <1 x i32> poison, i32 %54, i64 0, !dbg !15
  store <1 x i32> %93, ptr addrspace(3) %92, align 4, !dbg !15
  %94 = xor i32 %79, 20, !dbg !15
  %95 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %94, !dbg !15
  %96 = insertelement <1 x i32> poison, i32 %55, i64 0, !dbg !15
  store <1 x i32> %96, ptr addrspace(3) %95, align 4, !dbg !15
  %97 = xor i32 %79, 24, !dbg !15
  %98 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %97, !dbg !15
  %99 = insertelement <1 x i32> poison, i32 %56, i64 0, !dbg !15
  store <1 x i32> %99, ptr addrspace(3) %98, align 4, !dbg !15
  %100 = xor i32 %79, 28, !dbg !15
  %101 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %100, !dbg !15
  %102 = insertelement <1 x i32> poison, i32 %57, i64 0, !dbg !15
  store <1 x i32> %102, ptr addrspace(3) %101, align 4, !dbg !15
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !15
  %103 = shl nuw nsw i32 %7, 2, !dbg !15
  %104 = or disjoint i32 %76, %103, !dbg !15
  %105 = xor i32 %104, %77, !dbg !15
  %106 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %105, !dbg !15
  %107 = load i32, ptr addrspace(3) %106, align 4, !dbg !15
  %108 = xor i32 %105, 516, !dbg !15
  %109 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %108, !dbg !15
  %110 = load i32, ptr addrspace(3) %109, align 4, !dbg !15
  %111 = xor i32 %105, 1032, !dbg !15
  %112 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %111, !dbg !15
  %113 = load i32, ptr addrspace(3) %112, align 4, !dbg !15
  %114 = xor i32 %105, 1548, !dbg !15
  %115 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %114, !dbg !15
  %116 = load i32, ptr addrspace(3) %115, align 4, !dbg !15
  %117 = xor i32 %105, 2064, !dbg !15
  %118 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %117, !dbg !15
  %119 = load i32, ptr addrspace(3) %118, align 4, !dbg !15
  %120 = xor i32 %105, 2580, !dbg !15
  %121 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %120, !dbg !15
  %122 = load i32, ptr addrspace(3) %121, align 4, !dbg !15
  %123 = xor i32 %105, 3096, !dbg !15
  %124 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %123, !dbg !15
  %125 = load i32, ptr addrspace(3) %124, align 4, !dbg !15
  %126 = xor i32 %105, 3612, !dbg !15
  %127 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %126, !dbg !15
  %128 = load i32, ptr addrspace(3) %127, align 4, !dbg !15
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %107, ptr addrspace(1) %66) #3, !dbg !15
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %110, ptr addrspace(1) %67) #3, !dbg !15
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %113, ptr addrspace(1) %68) #3, !dbg !15
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %116, ptr addrspace(1) %69) #3, !dbg !15
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %119, ptr addrspace(1) %70) #3, !dbg !15
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %122, ptr addrspace(1) %71) #3, !dbg !15
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %125, ptr addrspace(1) %72) #3, !dbg !15
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %128, ptr addrspace(1) %73) #3, !dbg !15
  ret void, !dbg !16
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #2

attributes #0 = { nounwind "nvvm.reqntid"="128" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { convergent nocallback nounwind }
attributes #3 = { nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}

!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, producer: "triton", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "triton_kernels.py", directory: "")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 4, !"nvvm-reflect-ftz", i32 1}
!4 = distinct !DISubprogram(name: "transpose", linkageName: "transpose", scope: !1, file: !1, line: 52, type: !5, scopeLine: 52, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!5 = !DISubroutineType(cc: DW_CC_normal, types: !6)
!6 = !{}
!7 = !DILocation(line: 54, column: 25, scope: !4)
!8 = !DILocation(line: 54, column: 36, scope: !4)
!9 = !DILocation(line: 54, column: 23, scope: !4)
!10 = !DILocation(line: 54, column: 42, scope: !4)
!11 = !DILocation(line: 54, column: 40, scope: !4)
!12 = !DILocation(line: 54, column: 19, scope: !4)
!13 = !DILocation(line: 55, column: 17, scope: !4)
!14 = !DILocation(line: 55, column: 34, scope: !4)
!15 = !DILocation(line: 55, column: 46, scope: !4)
!16 = !DILocation(line: 55, column: 4, scope: !4)
