; ModuleID = 'kernels.cu'
source_filename = "kernels.cu"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; Function Attrs: mustprogress nofree noinline norecurse nosync nounwind willreturn memory(none)
define dso_local noundef float @_Z5powerfi(float noundef %0, i32 noundef %1) local_unnamed_addr #0 {
  %3 = icmp eq i32 %1, 0
  br i1 %3, label %33, label %4

4:                                                ; preds = %2
  %5 = and i32 %1, 7
  %6 = icmp eq i32 %5, 0
  br i1 %6, label %15, label %7

7:                                                ; preds = %4, %7
  %8 = phi float [ %12, %7 ], [ 1.000000e+00, %4 ]
  %9 = phi i32 [ %11, %7 ], [ %1, %4 ]
  %10 = phi i32 [ %13, %7 ], [ 0, %4 ]
  %11 = add nsw i32 %9, -1
  %12 = fmul contract float %0, %8
  %13 = add i32 %10, 1
  %14 = icmp eq i32 %13, %5
  br i1 %14, label %15, label %7, !llvm.loop !7

15:                                               ; preds = %7, %4
  %16 = phi float [ poison, %4 ], [ %12, %7 ]
  %17 = phi float [ 1.000000e+00, %4 ], [ %12, %7 ]
  %18 = phi i32 [ %1, %4 ], [ %11, %7 ]
  %19 = icmp ult i32 %1, 8
  br i1 %19, label %33, label %20

20:                                               ; preds = %15, %20
  %21 = phi float [ %31, %20 ], [ %17, %15 ]
  %22 = phi i32 [ %30, %20 ], [ %18, %15 ]
  %23 = fmul contract float %0, %21
  %24 = fmul contract float %0, %23
  %25 = fmul contract float %0, %24
  %26 = fmul contract float %0, %25
  %27 = fmul contract float %0, %26
  %28 = fmul contract float %0, %27
  %29 = fmul contract float %0, %28
  %30 = add nsw i32 %22, -8
  %31 = fmul contract float %0, %29
  %32 = icmp eq i32 %30, 0
  br i1 %32, label %33, label %20, !llvm.loop !9

33:                                               ; preds = %15, %20, %2
  %34 = phi float [ 1.000000e+00, %2 ], [ %16, %15 ], [ %31, %20 ]
  ret float %34
}

; Function Attrs: mustprogress nofree noinline norecurse nosync nounwind willreturn memory(argmem: readwrite)
define dso_local ptx_kernel void @k(ptr noundef readonly captures(none) %0, ptr noundef writeonly captures(none) %1, i32 noundef %2) local_unnamed_addr #1 {
  %4 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %5 = tail call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = mul nuw nsw i32 %4, %5
  %7 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %8 = add nuw nsw i32 %6, %7
  %9 = zext nneg i32 %8 to i64
  %10 = getelementptr inbounds nuw float, ptr %0, i64 %9
  %11 = load float, ptr %10, align 4, !tbaa !11
  %12 = tail call contract noundef float @_Z5powerfi(float noundef %11, i32 noundef %2) #3
  %13 = tail call contract noundef float @_Z5powerfi(float noundef %11, i32 noundef 1) #3
  %14 = fadd contract float %12, %13
  %15 = getelementptr inbounds nuw float, ptr %1, i64 %9
  store float %14, ptr %15, align 4, !tbaa !11
  ret void
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #2

attributes #0 = { mustprogress nofree noinline norecurse nosync nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_90a" "target-features"="+ptx88,+sm_90a" }
attributes #1 = { mustprogress nofree noinline norecurse nosync nounwind willreturn memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_90a" "target-features"="+ptx88,+sm_90a" "uniform-work-group-size"="true" }
attributes #2 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { nounwind }

!llvm.module.flags = !{!0, !1, !2}
!llvm.errno.tbaa = !{!3}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 4, !"nvvm-reflect-ftz", i32 0}
!2 = !{i32 7, !"frame-pointer", i32 2}
!3 = !{!4, !4, i64 0}
!4 = !{!"int", !5, i64 0}
!5 = !{!"omnipotent char", !6, i64 0}
!6 = !{!"Simple C++ TBAA"}
!7 = distinct !{!7, !8}
!8 = !{!"llvm.loop.unroll.disable"}
!9 = distinct !{!9, !10}
!10 = !{!"llvm.loop.mustprogress"}
!11 = !{!12, !12, i64 0}
!12 = !{!"float", !5, i64 0}
