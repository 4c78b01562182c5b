; ModuleID = 'kernels.cu'
source_filename = "kernels.cu"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; Function Attrs: mustprogress nofree noinline norecurse nosync nounwind memory(argmem: readwrite)
define dso_local ptx_kernel void @k(ptr noundef readonly captures(none) %0, ptr noundef writeonly captures(none) %1, i32 noundef %2) local_unnamed_addr #0 {
  %4 = alloca [16 x i32], align 4
  call void @llvm.lifetime.start.p0(ptr nonnull %4) #3
  %5 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %6 = tail call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %7 = mul nuw nsw i32 %5, %6
  %8 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %9 = add nuw nsw i32 %7, %8
  %10 = shl nsw i32 %9, 4
  %11 = zext nneg i32 %10 to i64
  %12 = getelementptr inbounds nuw i32, ptr %0, i64 %11
  %13 = load i32, ptr %12, align 4, !tbaa !3
  store i32 %13, ptr %4, align 4, !tbaa !3
  %14 = zext nneg i32 %10 to i64
  %15 = getelementptr inbounds nuw i32, ptr %0, i64 %14
  %16 = getelementptr inbounds nuw i8, ptr %15, i64 4
  %17 = load i32, ptr %16, align 4, !tbaa !3
  %18 = getelementptr inbounds nuw i8, ptr %4, i64 4
  store i32 %17, ptr %18, align 4, !tbaa !3
  %19 = zext nneg i32 %10 to i64
  %20 = getelementptr inbounds nuw i32, ptr %0, i64 %19
  %21 = getelementptr inbounds nuw i8, ptr %20, i64 8
  %22 = load i32, ptr %21, align 4, !tbaa !3
  %23 = getelementptr inbounds nuw i8, ptr %4, i64 8
  store i32 %22, ptr %23, align 4, !tbaa !3
  %24 = zext nneg i32 %10 to i64
  %25 = getelementptr inbounds nuw i32, ptr %0, i64 %24
  %26 = getelementptr inbounds nuw i8, ptr %25, i64 12
  %27 = load i32, ptr %26, align 4, !tbaa !3
  %28 = getelementptr inbounds nuw i8, ptr %4, i64 12
  store i32 %27, ptr %28, align 4, !tbaa !3
  %29 = zext nneg i32 %10 to i64
  %30 = getelementptr inbounds nuw i32, ptr %0, i64 %29
  %31 = getelementptr inbounds nuw i8, ptr %30, i64 16
  %32 = load i32, ptr %31, align 4, !tbaa !3
  %33 = getelementptr inbounds nuw i8, ptr %4, i64 16
  store i32 %32, ptr %33, align 4, !tbaa !3
  %34 = zext nneg i32 %10 to i64
  %35 = getelementptr inbounds nuw i32, ptr %0, i64 %34
  %36 = getelementptr inbounds nuw i8, ptr %35, i64 20
  %37 = load i32, ptr %36, align 4, !tbaa !3
  %38 = getelementptr inbounds nuw i8, ptr %4, i64 20
  store i32 %37, ptr %38, align 4, !tbaa !3
  %39 = zext nneg i32 %10 to i64
  %40 = getelementptr inbounds nuw i32, ptr %0, i64 %39
  %41 = getelementptr inbounds nuw i8, ptr %40, i64 24
  %42 = load i32, ptr %41, align 4, !tbaa !3
  %43 = getelementptr inbounds nuw i8, ptr %4, i64 24
  store i32 %42, ptr %43, align 4, !tbaa !3
  %44 = zext nneg i32 %10 to i64
  %45 = getelementptr inbounds nuw i32, ptr %0, i64 %44
  %46 = getelementptr inbounds nuw i8, ptr %45, i64 28
  %47 = load i32, ptr %46, align 4, !tbaa !3
  %48 = getelementptr inbounds nuw i8, ptr %4, i64 28
  store i32 %47, ptr %48, align 4, !tbaa !3
  %49 = zext nneg i32 %10 to i64
  %50 = getelementptr inbounds nuw i32, ptr %0, i64 %49
  %51 = getelementptr inbounds nuw i8, ptr %50, i64 32
  %52 = load i32, ptr %51, align 4, !tbaa !3
  %53 = getelementptr inbounds nuw i8, ptr %4, i64 32
  store i32 %52, ptr %53, align 4, !tbaa !3
  %54 = zext nneg i32 %10 to i64
  %55 = getelementptr inbounds nuw i32, ptr %0, i64 %54
  %56 = getelementptr inbounds nuw i8, ptr %55, i64 36
  %57 = load i32, ptr %56, align 4, !tbaa !3
  %58 = getelementptr inbounds nuw i8, ptr %4, i64 36
  store i32 %57, ptr %58, align 4, !tbaa !3
  %59 = zext nneg i32 %10 to i64
  %60 = getelementptr inbounds nuw i32, ptr %0, i64 %59
  %61 = getelementptr inbounds nuw i8, ptr %60, i64 40
  %62 = load i32, ptr %61, align 4, !tbaa !3
  %63 = getelementptr inbounds nuw i8, ptr %4, i64 40
  store i32 %62, ptr %63, align 4, !tbaa !3
  %64 = zext nneg i32 %10 to i64
  %65 = getelementptr inbounds nuw i32, ptr %0, i64 %64
  %66 = getelementptr inbounds nuw i8, ptr %65, i64 44
  %67 = load i32, ptr %66, align 4, !tbaa !3
  %68 = getelementptr inbounds nuw i8, ptr %4, i64 44
  store i32 %67, ptr %68, align 4, !tbaa !3
  %69 = zext nneg i32 %10 to i64
  %70 = getelementptr inbounds nuw i32, ptr %0, i64 %69
  %71 = getelementptr inbounds nuw i8, ptr %70, i64 48
  %72 = load i32, ptr %71, align 4, !tbaa !3
  %73 = getelementptr inbounds nuw i8, ptr %4, i64 48
  store i32 %72, ptr %73, align 4, !tbaa !3
  %74 = zext nneg i32 %10 to i64
  %75 = getelementptr inbounds nuw i32, ptr %0, i64 %74
  %76 = getelementptr inbounds nuw i8, ptr %75, i64 52
  %77 = load i32, ptr %76, align 4, !tbaa !3
  %78 = getelementptr inbounds nuw i8, ptr %4, i64 52
  store i32 %77, ptr %78, align 4, !tbaa !3
  %79 = zext nneg i32 %10 to i64
  %80 = getelementptr inbounds nuw i32, ptr %0, i64 %79
  %81 = getelementptr inbounds nuw i8, ptr %80, i64 56
  %82 = load i32, ptr %81, align 4, !tbaa !3
  %83 = getelementptr inbounds nuw i8, ptr %4, i64 56
  store i32 %82, ptr %83, align 4, !tbaa !3
  %84 = zext nneg i32 %10 to i64
  %85 = getelementptr inbounds nuw i32, ptr %0, i64 %84
  %86 = getelementptr inbounds nuw i8, ptr %85, i64 60
  %87 = load i32, ptr %86, align 4, !tbaa !3
  %88 = getelementptr inbounds nuw i8, ptr %4, i64 60
  store i32 %87, ptr %88, align 4, !tbaa !3
  br label %89

89:                                               ; preds = %120, %3
  %90 = phi i32 [ 1, %3 ], [ %121, %120 ]
  br label %98

91:                                               ; preds = %106
  %92 = and i32 %2, 15
  %93 = zext nneg i32 %92 to i64
  %94 = getelementptr inbounds nuw i32, ptr %4, i64 %93
  %95 = load i32, ptr %94, align 4, !tbaa !3
  %96 = zext nneg i32 %9 to i64
  %97 = getelementptr inbounds nuw i32, ptr %1, i64 %96
  store i32 %95, ptr %97, align 4, !tbaa !3
  call void @llvm.lifetime.end.p0(ptr nonnull %4) #3
  ret void

98:                                               ; preds = %89, %122
  %99 = phi i32 [ %90, %89 ], [ %123, %122 ]
  %100 = sext i32 %99 to i64
  %101 = getelementptr i32, ptr %4, i64 %100
  %102 = getelementptr i8, ptr %101, i64 -4
  %103 = load i32, ptr %102, align 4, !tbaa !3
  %104 = load i32, ptr %101, align 4, !tbaa !3
  %105 = icmp sgt i32 %103, %104
  br i1 %105, label %122, label %106

106:                                              ; preds = %122, %98
  %107 = add nuw nsw i32 %90, 1
  %108 = icmp eq i32 %107, 16
  br i1 %108, label %91, label %109, !llvm.loop !7

109:                                              ; preds = %106, %117
  %110 = phi i32 [ %118, %117 ], [ %107, %106 ]
  %111 = sext i32 %110 to i64
  %112 = getelementptr i32, ptr %4, i64 %111
  %113 = getelementptr i8, ptr %112, i64 -4
  %114 = load i32, ptr %113, align 4, !tbaa !3
  %115 = load i32, ptr %112, align 4, !tbaa !3
  %116 = icmp sgt i32 %114, %115
  br i1 %116, label %117, label %120

117:                                              ; preds = %109
  store i32 %114, ptr %112, align 4, !tbaa !3
  store i32 %115, ptr %113, align 4, !tbaa !3
  %118 = add nsw i32 %110, -1
  %119 = icmp eq i32 %118, 0
  br i1 %119, label %120, label %109, !llvm.loop !9

120:                                              ; preds = %117, %109
  %121 = add nuw nsw i32 %90, 2
  br label %89

122:                                              ; preds = %98
  store i32 %103, ptr %101, align 4, !tbaa !3
  store i32 %104, ptr %102, align 4, !tbaa !3
  %123 = add nsw i32 %99, -1
  %124 = icmp eq i32 %123, 0
  br i1 %124, label %106, label %98, !llvm.loop !9
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(ptr captures(none)) #1

attributes #0 = { mustprogress nofree noinline norecurse nosync nounwind memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_90a" "target-features"="+ptx88,+sm_90a" "uniform-work-group-size"="true" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
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
!8 = !{!"llvm.loop.mustprogress"}
!9 = distinct !{!9, !8}
