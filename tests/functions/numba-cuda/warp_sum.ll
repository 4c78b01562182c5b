; numba-cuda 0.30.4
; ModuleID = "warp_sum$5"
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"

@"_ZN08NumbaEnv8__main__8warp_sumB2v5B72cw51cXTLSUwv1sDUaKthqaNgoKmjgOR3W3CwAkMXLaJtQYkOIgxJU0gCqOkELKEJAA_3d_3dE5ArrayIiLi1E1C7mutable7alignedE5ArrayIiLi1E1C7mutable7alignedE" = common global i8* null
define void @"_ZN8__main__8warp_sumB2v5B72cw51cXTLSUwv1sDUaKthqaNgoKmjgOR3W3CwAkMXLaJtQYkOIgxJU0gCqOkELKEJAA_3d_3dE5ArrayIiLi1E1C7mutable7alignedE5ArrayIiLi1E1C7mutable7alignedE"(i8* %"x.0", i8* %"x.1", i64 %"x.2", i64 %"x.3", i32* %"x.4", i64 %"x.5.0", i64 %"x.6.0", i8* %"y.0", i8* %"y.1", i64 %"y.2", i64 %"y.3", i32* %"y.4", i64 %"y.5.0", i64 %"y.6.0")
{
entry:
  %"inserted.meminfo" = insertvalue {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} undef, i8* %"x.0", 0
  %"inserted.parent" = insertvalue {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} %"inserted.meminfo", i8* %"x.1", 1
  %"inserted.nitems" = insertvalue {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} %"inserted.parent", i64 %"x.2", 2
  %"inserted.itemsize" = insertvalue {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} %"inserted.nitems", i64 %"x.3", 3
  %"inserted.data" = insertvalue {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} %"inserted.itemsize", i32* %"x.4", 4
  %".17" = insertvalue [1 x i64] undef, i64 %"x.5.0", 0
  %"inserted.shape" = insertvalue {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} %"inserted.data", [1 x i64] %".17", 5
  %".18" = insertvalue [1 x i64] undef, i64 %"x.6.0", 0
  %"inserted.strides" = insertvalue {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} %"inserted.shape", [1 x i64] %".18", 6
  %"inserted.meminfo.1" = insertvalue {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} undef, i8* %"y.0", 0
  %"inserted.parent.1" = insertvalue {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} %"inserted.meminfo.1", i8* %"y.1", 1
  %"inserted.nitems.1" = insertvalue {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} %"inserted.parent.1", i64 %"y.2", 2
  %"inserted.itemsize.1" = insertvalue {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} %"inserted.nitems.1", i64 %"y.3", 3
  %"inserted.data.1" = insertvalue {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} %"inserted.itemsize.1", i32* %"y.4", 4
  %".19" = insertvalue [1 x i64] undef, i64 %"y.5.0", 0
  %"inserted.shape.1" = insertvalue {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} %"inserted.data.1", [1 x i64] %".19", 5
  %".20" = insertvalue [1 x i64] undef, i64 %"y.6.0", 0
  %"inserted.strides.1" = insertvalue {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} %"inserted.shape.1", [1 x i64] %".20", 6
  %"y" = alloca {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}
  store {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} zeroinitializer, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %"y"
  %"t" = alloca i32
  store i32 0, i32* %"t"
  %".35" = alloca {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}
  store {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} zeroinitializer, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".35"
  %"v.2" = alloca i64
  store i64 0, i64* %"v.2"
  %"offset.2" = alloca i64
  store i64 0, i64* %"offset.2"
  %"v.1" = alloca i64
  store i64 0, i64* %"v.1"
  %"quot" = alloca i64
  store i64 0, i64* %"quot"
  %"rem" = alloca i64
  store i64 0, i64* %"rem"
  %".104" = alloca i64
  store i64 0, i64* %".104"
  %".107" = alloca i64
  store i64 0, i64* %".107"
  %"$124pred" = alloca i1
  store i1 0, i1* %"$124pred"
  %"v.3" = alloca i64
  store i64 0, i64* %"v.3"
  %"$136pred" = alloca i1
  store i1 0, i1* %"$136pred"
  %".171" = alloca {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}
  store {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} zeroinitializer, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".171"
  br label %"B0"
B0:
  store {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} %"inserted.strides.1", {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %"y"
  %".23" = call i32 @"llvm.nvvm.read.ptx.sreg.tid.x"()
  %".24" = call i32 @"llvm.nvvm.read.ptx.sreg.tid.y"()
  %".25" = call i32 @"llvm.nvvm.read.ptx.sreg.tid.z"()
  %".26" = insertvalue {i32, i32, i32} undef, i32 %".23", 0
  %".27" = insertvalue {i32, i32, i32} %".26", i32 %".24", 1
  %".28" = insertvalue {i32, i32, i32} %".27", i32 %".25", 2
  %".29" = extractvalue {i32, i32, i32} %".28", 0
  %".31" = load i32, i32* %"t"
  store i32 %".29", i32* %"t"
  %".33" = load i32, i32* %"t"
  %".34" = sext i32 %".33" to i64
  store {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} zeroinitializer, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".35"
  store {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} %"inserted.strides", {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".35"
  %".39" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".35", i32 0, i32 5
  %".40" = getelementptr inbounds [1 x i64], [1 x i64]* %".39", i32 0, i32 0
  %".41" = load i64, i64* %".40", !range !1
  %".42" = insertvalue [1 x i64] undef, i64 %".41", 0
  %".43" = extractvalue [1 x i64] %".42", 0
  %".44" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".35", i32 0, i32 6
  %".45" = load [1 x i64], [1 x i64]* %".44"
  %".46" = extractvalue [1 x i64] %".45", 0
  %".47" = icmp slt i64 %".34", 0
  %".48" = add i64 %".34", %".43"
  %".49" = select  i1 %".47", i64 %".48", i64 %".34"
  %".50" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".35", i32 0, i32 5
  %".51" = getelementptr inbounds [1 x i64], [1 x i64]* %".50", i32 0, i32 0
  %".52" = load i64, i64* %".51", !range !1
  %".53" = insertvalue [1 x i64] undef, i64 %".52", 0
  %".54" = extractvalue [1 x i64] %".53", 0
  %".55" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".35", i32 0, i32 6
  %".56" = load [1 x i64], [1 x i64]* %".55"
  %".57" = extractvalue [1 x i64] %".56", 0
  %".58" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".35", i32 0, i32 4
  %".59" = load i32*, i32** %".58"
  %".60" = mul i64 %".49", 1
  %".61" = add i64 0, %".60"
  %".62" = getelementptr i32, i32* %".59", i64 %".61"
  %".63" = load i32, i32* %".62"
  %".64" = sext i32 %".63" to i64
  %".66" = load i64, i64* %"v.2"
  store i64 %".64", i64* %"v.2"
  %".69" = load i64, i64* %"offset.2"
  store i64 16, i64* %"offset.2"
  %".71" = icmp ne i64 16, 0
  br label %"B62"
B62:
  %".73" = load i64, i64* %"v.2"
  %".74" = load i64, i64* %"offset.2"
  %".75" = trunc i64 -1 to i32
  %".76" = trunc i64 %".74" to i32
  %".77" = trunc i64 %".73" to i32
  %".78" = lshr i64 %".73", 32
  %".79" = trunc i64 %".78" to i32
  %".80" = call {i32, i1} @"llvm.nvvm.shfl.sync.i32"(i32 %".75", i32 2, i32 %".77", i32 %".76", i32 31)
  %".81" = call {i32, i1} @"llvm.nvvm.shfl.sync.i32"(i32 %".75", i32 2, i32 %".79", i32 %".76", i32 31)
  %".82" = extractvalue {i32, i1} %".80", 0
  %".83" = extractvalue {i32, i1} %".81", 0
  %".84" = zext i32 %".82" to i64
  %".85" = zext i32 %".83" to i64
  %".86" = shl i64 %".85", 32
  %".87" = or i64 %".86", %".84"
  %".88" = load i64, i64* %"v.2"
  %".89" = add nsw i64 %".88", %".87"
  %".91" = load i64, i64* %"v.1"
  store i64 %".89", i64* %"v.1"
  %".93" = load i64, i64* %"v.1"
  %".94" = load i64, i64* %"v.2"
  store i64 %".93", i64* %"v.2"
  %".96" = load i64, i64* %"offset.2"
  %".99" = icmp eq i64 2, 0
  br i1 %".99", label %"B62.if", label %"B62.else", !prof !2
B126:
  %".145" = load i64, i64* %"v.2"
  store i64 0, i64* %"v.2"
  %".147" = load i64, i64* %"offset.2"
  store i64 0, i64* %"offset.2"
  %".149" = load i1, i1* %"$124pred"
  store i1 0, i1* %"$124pred"
  %".151" = load i64, i64* %"v.1"
  %".153" = load i64, i64* %"v.3"
  store i64 %".151", i64* %"v.3"
  %".155" = load i64, i64* %"v.1"
  store i64 0, i64* %"v.1"
  %".157" = load i32, i32* %"t"
  %".158" = sext i32 %".157" to i64
  %".159" = icmp eq i64 %".158", 0
  %".160" = load i32, i32* %"t"
  store i32 0, i32* %"t"
  %".163" = load i1, i1* %"$136pred"
  store i1 %".159", i1* %"$136pred"
  %".165" = load i1, i1* %"$136pred"
  br i1 %".165", label %"B138", label %"B152"
B138:
  %".167" = load i1, i1* %"$136pred"
  store i1 0, i1* %"$136pred"
  %".169" = load {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %"y"
  %".170" = load i64, i64* %"v.3"
  store {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} zeroinitializer, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".171"
  store {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} %".169", {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".171"
  %".175" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".171", i32 0, i32 5
  %".176" = getelementptr inbounds [1 x i64], [1 x i64]* %".175", i32 0, i32 0
  %".177" = load i64, i64* %".176", !range !1
  %".178" = insertvalue [1 x i64] undef, i64 %".177", 0
  %".179" = extractvalue [1 x i64] %".178", 0
  %".180" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".171", i32 0, i32 6
  %".181" = load [1 x i64], [1 x i64]* %".180"
  %".182" = extractvalue [1 x i64] %".181", 0
  %".183" = icmp slt i64 0, 0
  %".184" = add i64 0, %".179"
  %".185" = select  i1 %".183", i64 %".184", i64 0
  %".186" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".171", i32 0, i32 5
  %".187" = getelementptr inbounds [1 x i64], [1 x i64]* %".186", i32 0, i32 0
  %".188" = load i64, i64* %".187", !range !1
  %".189" = insertvalue [1 x i64] undef, i64 %".188", 0
  %".190" = extractvalue [1 x i64] %".189", 0
  %".191" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".171", i32 0, i32 6
  %".192" = load [1 x i64], [1 x i64]* %".191"
  %".193" = extractvalue [1 x i64] %".192", 0
  %".194" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".171", i32 0, i32 4
  %".195" = load i32*, i32** %".194"
  %".196" = mul i64 %".185", 1
  %".197" = add i64 0, %".196"
  %".198" = getelementptr i32, i32* %".195", i64 %".197"
  %".199" = trunc i64 %".170" to i32
  store i32 %".199", i32* %".198"
  %".201" = load {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %"y"
  store {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} zeroinitializer, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %"y"
  %".203" = load i64, i64* %"v.3"
  store i64 0, i64* %"v.3"
  ret void
B152:
  %".207" = load {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %"y"
  store {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} zeroinitializer, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %"y"
  %".209" = load i64, i64* %"v.3"
  store i64 0, i64* %"v.3"
  %".211" = load i1, i1* %"$136pred"
  store i1 0, i1* %"$136pred"
  ret void
B62.if:
  store i64 2, i64* %"quot"
  store i64 2, i64* %"rem"
  br label %"B62.endif"
B62.else:
  store i64 0, i64* %".104"
  store i64 0, i64* %".107"
  %".110" = icmp eq i64 %".96", -9223372036854775808
  %".111" = icmp eq i64 2, -1
  %".112" = and i1 %".110", %".111"
  %".113" = xor i1 %".112", -1
  br i1 %".113", label %"B62.else.if", label %"B62.else.endif", !prof !3
B62.endif:
  %".136" = load i64, i64* %"quot"
  %".137" = load i64, i64* %"offset.2"
  store i64 %".136", i64* %"offset.2"
  %".139" = icmp ne i64 %".136", 0
  %".141" = load i1, i1* %"$124pred"
  store i1 %".139", i1* %"$124pred"
  %".143" = load i1, i1* %"$124pred"
  br i1 %".143", label %"B62", label %"B126"
B62.else.if:
  %".115" = sdiv i64 %".96", 2
  %".116" = srem i64 %".96", 2
  %".117" = xor i64 2, %".116"
  %".118" = icmp slt i64 %".117", 0
  %".119" = icmp ne i64 %".116", 0
  %".120" = and i1 %".119", %".118"
  br i1 %".120", label %"B62.else.if.if", label %"B62.else.if.else"
B62.else.endif:
  %".131" = load i64, i64* %".104"
  %".132" = load i64, i64* %".107"
  store i64 %".131", i64* %"quot"
  store i64 %".132", i64* %"rem"
  br label %"B62.endif"
B62.else.if.if:
  %".125" = sub i64 %".115", 1
  store i64 %".125", i64* %".104"
  %".127" = add i64 %".116", 2
  store i64 %".127", i64* %".107"
  br label %"B62.else.if.endif"
B62.else.if.else:
  store i64 %".115", i64* %".104"
  store i64 %".116", i64* %".107"
  br label %"B62.else.if.endif"
B62.else.if.endif:
  br label %"B62.else.endif"
}

declare i32 @"llvm.nvvm.read.ptx.sreg.tid.x"()

declare i32 @"llvm.nvvm.read.ptx.sreg.tid.y"()

declare i32 @"llvm.nvvm.read.ptx.sreg.tid.z"()

declare {i32, i1} @"llvm.nvvm.shfl.sync.i32"(i32 %".1", i32 %".2", i32 %".3", i32 %".4", i32 %".5")

@"llvm.used" = appending global [1 x i8*] [i8* bitcast (void (i8*, i8*, i64, i64, i32*, i64, i64, i8*, i8*, i64, i64, i32*, i64, i64)* @"_ZN8__main__8warp_sumB2v5B72cw51cXTLSUwv1sDUaKthqaNgoKmjgOR3W3CwAkMXLaJtQYkOIgxJU0gCqOkELKEJAA_3d_3dE5ArrayIiLi1E1C7mutable7alignedE5ArrayIiLi1E1C7mutable7alignedE" to i8*)], section "llvm.metadata"
!nvvmir.version = !{ !0 }
!nvvm.annotations = !{ !4 }
!0 = !{ i32 2, i32 0, i32 3, i32 2 }
!1 = !{ i64 0, i64 9223372036854775807 }
!2 = !{ !"branch_weights", i32 1, i32 99 }
!3 = !{ !"branch_weights", i32 99, i32 1 }
!4 = !{ void (i8*, i8*, i64, i64, i32*, i64, i64, i8*, i8*, i64, i64, i32*, i64, i64)* @"_ZN8__main__8warp_sumB2v5B72cw51cXTLSUwv1sDUaKthqaNgoKmjgOR3W3CwAkMXLaJtQYkOIgxJU0gCqOkELKEJAA_3d_3dE5ArrayIiLi1E1C7mutable7alignedE5ArrayIiLi1E1C7mutable7alignedE", !"kernel", i32 1 }