; Triton 3.9.0: 128 threads, 4096 bytes of dynamic shared memory
; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-p101:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

@global_smem = external local_unnamed_addr addrspace(3) global [0 x i8], align 16

; Function Attrs: nounwind
define ptx_kernel void @transpose(ptr addrspace(1) %0, ptr addrspace(1) %1, i32 %2, ptr addrspace(1) nofree readnone captures(none) %3, ptr addrspace(1) nofree readnone captures(none) %4) local_unnamed_addr #0 !dbg !4 {
  %6 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !12
  %7 = and i32 %6, 96, !dbg !12
  %8 = lshr exact i32 %7, 5, !dbg !12
  %9 = or disjoint i32 %8, 4, !dbg !12
  %10 = or disjoint i32 %8, 8, !dbg !12
  %11 = or disjoint i32 %8, 12, !dbg !12
  %12 = or disjoint i32 %8, 16, !dbg !12
  %13 = or disjoint i32 %8, 20, !dbg !12
  %14 = or disjoint i32 %8, 24, !dbg !12
  %15 = or disjoint i32 %8, 28, !dbg !12
  %16 = mul i32 %2, %8, !dbg !12
  %17 = mul i32 %2, %9, !dbg !12
  %18 = mul i32 %2, %10, !dbg !12
  %19 = mul i32 %2, %11, !dbg !12
  %20 = mul i32 %2, %12, !dbg !12
  %21 = mul i32 %2, %13, !dbg !12
  %22 = mul i32 %2, %14, !dbg !12
  %23 = mul i32 %2, %15, !dbg !12
  %24 = sext i32 %16 to i64, !dbg !13
  %25 = getelementptr [4 x i8], ptr addrspace(1) %0, i64 %24, !dbg !13
  %26 = sext i32 %17 to i64, !dbg !13
  %27 = getelementptr [4 x i8], ptr addrspace(1) %0, i64 %26, !dbg !13
  %28 = sext i32 %18 to i64, !dbg !13
  %29 = getelementptr [4 x i8], ptr addrspace(1) %0, i64 %28, !dbg !13
  %30 = sext i32 %19 to i64, !dbg !13
  %31 = getelementptr [4 x i8], ptr addrspace(1) %0, i64 %30, !dbg !13
  %32 = sext i32 %20 to i64, !dbg !13
  %33 = getelementptr [4 x i8], ptr addrspace(1) %0, i64 %32, !dbg !13
  %34 = sext i32 %21 to i64, !dbg !13
  %35 = getelementptr [4 x i8], ptr addrspace(1) %0, i64 %34, !dbg !13
  %36 = sext i32 %22 to i64, !dbg !13
  %37 = getelementptr [4 x i8], ptr addrspace(1) %0, i64 %36, !dbg !13
  %38 = sext i32 %23 to i64, !dbg !13
  %39 = getelementptr [4 x i8], ptr addrspace(1) %0, i64 %38, !dbg !13
  %40 = and i32 %6, 31, !dbg !14
  %41 = zext nneg i32 %40 to i64, !dbg !13
  %42 = getelementptr [4 x i8], ptr addrspace(1) %25, i64 %41, !dbg !13
  %43 = getelementptr [4 x i8], ptr addrspace(1) %27, i64 %41, !dbg !13
  %44 = getelementptr [4 x i8], ptr addrspace(1) %29, i64 %41, !dbg !13
  %45 = getelementptr [4 x i8], ptr addrspace(1) %31, i64 %41, !dbg !13
  %46 = getelementptr [4 x i8], ptr addrspace(1) %33, i64 %41, !dbg !13
  %47 = getelementptr [4 x i8], ptr addrspace(1) %35, i64 %41, !dbg !13
  %48 = getelementptr [4 x i8], ptr addrspace(1) %37, i64 %41, !dbg !13
  %49 = getelementptr [4 x i8], ptr addrspace(1) %39, i64 %41, !dbg !13
  %50 = tail call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l"(ptr addrspace(1) %42) #3, !dbg !15
  %51 = tail call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l"(ptr addrspace(1) %43) #3, !dbg !15
  %52 = tail call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l"(ptr addrspace(1) %44) #3, !dbg !15
  %53 = tail call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l"(ptr addrspace(1) %45) #3, !dbg !15
  %54 = tail call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l"(ptr addrspace(1) %46) #3, !dbg !15
  %55 = tail call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l"(ptr addrspace(1) %47) #3, !dbg !15
  %56 = tail call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l"(ptr addrspace(1) %48) #3, !dbg !15
  %57 = tail call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l"(ptr addrspace(1) %49) #3, !dbg !15
  %58 = getelementptr [4 x i8], ptr addrspace(1) %1, i64 %24, !dbg !16
  %59 = getelementptr [4 x i8], ptr addrspace(1) %1, i64 %26, !dbg !16
  %60 = getelementptr [4 x i8], ptr addrspace(1) %1, i64 %28, !dbg !16
  %61 = getelementptr [4 x i8], ptr addrspace(1) %1, i64 %30, !dbg !16
  %62 = getelementptr [4 x i8], ptr addrspace(1) %1, i64 %32, !dbg !16
  %63 = getelementptr [4 x i8], ptr addrspace(1) %1, i64 %34, !dbg !16
  %64 = getelementptr [4 x i8], ptr addrspace(1) %1, i64 %36, !dbg !16
  %65 = getelementptr [4 x i8], ptr addrspace(1) %1, i64 %38, !dbg !16
  %66 = getelementptr [4 x i8], ptr addrspace(1) %58, i64 %41, !dbg !16
  %67 = getelementptr [4 x i8], ptr addrspace(1) %59, i64 %41, !dbg !16
  %68 = getelementptr [4 x i8], ptr addrspace(1) %60, i64 %41, !dbg !16
  %69 = getelementptr [4 x i8], ptr addrspace(1) %61, i64 %41, !dbg !16
  %70 = getelementptr [4 x i8], ptr addrspace(1) %62, i64 %41, !dbg !16
  %71 = getelementptr [4 x i8], ptr addrspace(1) %63, i64 %41, !dbg !16
  %72 = getelementptr [4 x i8], ptr addrspace(1) %64, i64 %41, !dbg !16
  %73 = getelementptr [4 x i8], ptr addrspace(1) %65, i64 %41, !dbg !16
  %74 = shl nuw nsw i32 %40, 7, !dbg !17
  %75 = shl nuw nsw i32 %6, 5, !dbg !17
  %76 = and i32 %75, 96, !dbg !17
  %77 = and i32 %6, 124, !dbg !17
  %78 = xor i32 %76, %77, !dbg !17
  %79 = or disjoint i32 %78, %74, !dbg !17
  %80 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %79, !dbg !17
  %81 = insertelement <1 x i32> poison, i32 %50, i64 0, !dbg !17
  store <1 x i32> %81, ptr addrspace(3) %80, align 4, !dbg !17
  %82 = xor i32 %79, 4, !dbg !17
  %83 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %82, !dbg !17
  %84 = insertelement <1 x i32> poison, i32 %51, i64 0, !dbg !17
  store <1 x i32> %84, ptr addrspace(3) %83, align 4, !dbg !17
  %85 = xor i32 %79, 8, !dbg !17
  %86 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %85, !dbg !17
  %87 = insertelement <1 x i32> poison, i32 %52, i64 0, !dbg !17
  store <1 x i32> %87, ptr addrspace(3) %86, align 4, !dbg !17
  %88 = xor i32 %79, 12, !dbg !17
  %89 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %88, !dbg !17
  %90 = insertelement <1 x i32> poison, i32 %53, i64 0, !dbg !17
  store <1 x i32> %90, ptr addrspace(3) %89, align 4, !dbg !17
  %91 = xor i32 %79, 16, !dbg !17
  %92 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %91, !dbg !17
  %93 = insertelement <1 x i32> poison, i32 %54, i64 0, !dbg !17
  store <1 x i32> %93, ptr addrspace(3) %92, align 4, !dbg !17
  %94 = xor i32 %79, 20, !dbg !17
  %95 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %94, !dbg !17
  %96 = insertelement <1 x i32> poison, i32 %55, i64 0, !dbg !17
  store <1 x i32> %96, ptr addrspace(3) %95, align 4, !dbg !17
  %97 = xor i32 %79, 24, !dbg !17
  %98 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %97, !dbg !17
  %99 = insertelement <1 x i32> poison, i32 %56, i64 0, !dbg !17
  store <1 x i32> %99, ptr addrspace(3) %98, align 4, !dbg !17
  %100 = xor i32 %79, 28, !dbg !17
  %101 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %100, !dbg !17
  %102 = insertelement <1 x i32> poison, i32 %57, i64 0, !dbg !17
  store <1 x i32> %102, ptr addrspace(3) %101, align 4, !dbg !17
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !17
  %103 = shl nuw nsw i32 %7, 2, !dbg !17
  %104 = or disjoint i32 %76, %103, !dbg !17
  %105 = xor i32 %104, %77, !dbg !17
  %106 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %105, !dbg !17
  %107 = load i32, ptr addrspace(3) %106, align 4, !dbg !17
  %108 = xor i32 %105, 516, !dbg !17
  %109 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %108, !dbg !17
  %110 = load i32, ptr addrspace(3) %109, align 4, !dbg !17
  %111 = xor i32 %105, 1032, !dbg !17
  %112 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %111, !dbg !17
  %113 = load i32, ptr addrspace(3) %112, align 4, !dbg !17
  %114 = xor i32 %105, 1548, !dbg !17
  %115 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %114, !dbg !17
  %116 = load i32, ptr addrspace(3) %115, align 4, !dbg !17
  %117 = xor i32 %105, 2064, !dbg !17
  %118 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %117, !dbg !17
  %119 = load i32, ptr addrspace(3) %118, align 4, !dbg !17
  %120 = xor i32 %105, 2580, !dbg !17
  %121 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %120, !dbg !17
  %122 = load i32, ptr addrspace(3) %121, align 4, !dbg !17
  %123 = xor i32 %105, 3096, !dbg !17
  %124 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %123, !dbg !17
  %125 = load i32, ptr addrspace(3) %124, align 4, !dbg !17
  %126 = xor i32 %105, 3612, !dbg !17
  %127 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %126, !dbg !17
  %128 = load i32, ptr addrspace(3) %127, align 4, !dbg !17
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %107, ptr addrspace(1) %66) #3, !dbg !17
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %110, ptr addrspace(1) %67) #3, !dbg !17
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %113, ptr addrspace(1) %68) #3, !dbg !17
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %116, ptr addrspace(1) %69) #3, !dbg !17
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %119, ptr addrspace(1) %70) #3, !dbg !17
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %122, ptr addrspace(1) %71) #3, !dbg !17
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %125, ptr addrspace(1) %72) #3, !dbg !17
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %128, ptr addrspace(1) %73) #3, !dbg !17
  ret void, !dbg !18
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
!6 = !{null, !7, !7, !9, !10, !10}
!7 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "pointer", baseType: !8, size: 64, dwarfAddressSpace: 1)
!8 = !DIBasicType(name: "float", size: 32, encoding: DW_ATE_float)
!9 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!10 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "pointer", baseType: !11, size: 64, dwarfAddressSpace: 1)
!11 = !DIBasicType(name: "unknown_type", encoding: DW_ATE_signed)
!12 = !DILocation(line: 54, column: 24, scope: !4)
!13 = !DILocation(line: 54, column: 20, scope: !4)
!14 = !DILocation(line: 54, column: 41, scope: !4)
!15 = !DILocation(line: 54, column: 12, scope: !4)
!16 = !DILocation(line: 55, column: 14, scope: !4)
!17 = !DILocation(line: 55, column: 5, scope: !4)
!18 = !DILocation(line: 52, column: 1, scope: !4)
