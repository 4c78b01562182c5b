; ModuleID = 'clang_kernels.cu'
source_filename = "clang_kernels.cu"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@all = external dso_local local_unnamed_addr addrspace(3) global [0 x i32], align 4

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @k(ptr noundef readonly captures(none) %0, ptr noundef writeonly captures(none) %1, i32 noundef %2) local_unnamed_addr #0 {
  %4 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = icmp slt i32 %4, %2
  br i1 %5, label %6, label %8

6:                                                ; preds = %3
  %7 = tail call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  br label %11

8:                                                ; preds = %11, %3
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %5, label %9, label %22

9:                                                ; preds = %8
  %10 = tail call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  br label %23

11:                                               ; preds = %6, %11
  %12 = phi i32 [ %4, %6 ], [ %20, %11 ]
  %13 = zext nneg i32 %12 to i64
  %14 = getelementptr inbounds nuw i32, ptr %0, i64 %13
  %15 = load i32, ptr %14, align 4, !tbaa !3
  %16 = xor i32 %12, -1
  %17 = add i32 %2, %16
  %18 = sext i32 %17 to i64
  %19 = getelementptr inbounds i32, ptr addrspacecast (ptr addrspace(3) @all to ptr), i64 %18
  store i32 %15, ptr %19, align 4, !tbaa !3
  %20 = add nuw nsw i32 %12, %7
  %21 = icmp slt i32 %20, %2
  br i1 %21, label %11, label %8, !llvm.loop !7

22:                                               ; preds = %32, %8
  ret void

23:                                               ; preds = %9, %32
  %24 = phi i32 [ %4, %9 ], [ %36, %32 ]
  %25 = zext nneg i32 %24 to i64
  %26 = getelementptr inbounds nuw i32, ptr addrspacecast (ptr addrspace(3) @all to ptr), i64 %25
  %27 = load i32, ptr %26, align 4, !tbaa !3
  %28 = icmp eq i32 %24, 0
  br i1 %28, label %32, label %29

29:                                               ; preds = %23
  %30 = getelementptr i8, ptr %26, i64 -4
  %31 = load i32, ptr %30, align 4, !tbaa !3
  br label %32

32:                                               ; preds = %23, %29
  %33 = phi i32 [ %31, %29 ], [ 0, %23 ]
  %34 = sub nsw i32 %27, %33
  %35 = getelementptr inbounds nuw i32, ptr %1, i64 %25
  store i32 %34, ptr %35, align 4, !tbaa !3
  %36 = add nuw nsw i32 %24, %10
  %37 = icmp slt i32 %36, %2
  br i1 %37, label %23, label %22, !llvm.loop !9
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #2

attributes #0 = { convergent mustprogress noinline norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_90a" "target-features"="+ptx88,+sm_90a" "uniform-work-group-size"="true" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { convergent nocallback nounwind }

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
!8 = !{!"llvm.loop.mustprogress"}
!9 = distinct !{!9, !8}
