; ModuleID = 'kernels.cu'
source_filename = "kernels.cu"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; Function Attrs: mustprogress nofree noinline norecurse nosync nounwind willreturn memory(argmem: readwrite)
define dso_local ptx_kernel void @k(ptr noundef readonly captures(none) %0, ptr noundef writeonly captures(none) %1) local_unnamed_addr #0 {
  %3 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %4 = tail call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %5 = mul nuw nsw i32 %3, %4
  %6 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %7 = add nuw nsw i32 %5, %6
  %8 = zext nneg i32 %7 to i64
  %9 = getelementptr inbounds nuw i32, ptr %0, i64 %8
  %10 = load i32, ptr %9, align 4, !tbaa !3
  %11 = and i32 %10, 7
  switch i32 %11, label %25 [
    i32 0, label %12
    i32 1, label %14
    i32 2, label %16
    i32 3, label %18
    i32 5, label %21
    i32 6, label %23
  ]

12:                                               ; preds = %2
  %13 = mul nsw i32 %10, 5
  br label %27

14:                                               ; preds = %2
  %15 = xor i32 %10, 1234
  br label %27

16:                                               ; preds = %2
  %17 = add nsw i32 %10, -77
  br label %27

18:                                               ; preds = %2
  %19 = mul nsw i32 %10, 3
  %20 = mul nsw i32 %19, %10
  br label %27

21:                                               ; preds = %2
  %22 = sdiv i32 %10, 7
  br label %27

23:                                               ; preds = %2
  %24 = srem i32 %10, 13
  br label %27

25:                                               ; preds = %2
  %26 = sub nsw i32 0, %10
  br label %27

27:                                               ; preds = %25, %23, %21, %18, %16, %14, %12
  %28 = phi i32 [ %26, %25 ], [ %13, %12 ], [ %15, %14 ], [ %17, %16 ], [ %20, %18 ], [ %22, %21 ], [ %24, %23 ]
  %29 = getelementptr inbounds nuw i32, ptr %1, i64 %8
  store i32 %28, ptr %29, align 4, !tbaa !3
  ret void
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

attributes #0 = { mustprogress nofree noinline norecurse nosync nounwind willreturn memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_90a" "target-features"="+ptx88,+sm_90a" "uniform-work-group-size"="true" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }

!llvm.module.flags = !{!0, !1, !2}
!llvm.errno.tbaa = !{!3}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 4, !"nvvm-reflect-ftz", i32 0}
!2 = !{i32 7, !"frame-pointer", i32 2}
!3 = !{!4, !4, i64 0}
!4 = !{!"int", !5, i64 0}
!5 = !{!"omnipotent char", !6, i64 0}
!6 = !{!"Simple C++ TBAA"}
