; numba-cuda 0.30.4
; ModuleID = "reverse$3"
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"

@"_ZN08NumbaEnv8__main__7reverseB2v3B72cw51cXTLSUwv1sDUaKthqaNgoKmjgOR3W3CwAkMXLaJtQYkOIgxJU0gCqOkELKEJAA_3d_3dE5ArrayIiLi1E1C7mutable7alignedE5ArrayIiLi1E1C7mutable7alignedE" = common global i8* null
define void @"_ZN8__main__7reverseB2v3B72cw51cXTLSUwv1sDUaKthqaNgoKmjgOR3W3CwAkMXLaJtQYkOIgxJU0gCqOkELKEJAA_3d_3dE5ArrayIiLi1E1C7mutable7alignedE5ArrayIiLi1E1C7mutable7alignedE"(i8* %"x.0", i8* %"x.1", i64 %"x.2", i64 %"x.3", i32* %"x.4", i64 %"x.5.0", i64 %"x.6.0", i8* %"y.0", i8* %"y.1", i64 %"y.2", i64 %"y.3", i32* %"y.4", i64 %"y.5.0", i64 %"y.6.0")
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
  %".21" = alloca {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}
  store {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} zeroinitializer, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".21"
  %".54" = alloca {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}
  store {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} zeroinitializer, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".54"
  %".84" = alloca {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}
  store {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} zeroinitializer, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".84"
  %".116" = alloca {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}
  store {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} zeroinitializer, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".116"
  %".146" = alloca {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}
  store {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} zeroinitializer, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".146"
  br label %"B0"
B0:
  %"generic" = addrspacecast [64 x i32] addrspace(3)* @"_cudapy_smem_1" to i8*
  store {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} zeroinitializer, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".21"
  %".24" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".21", i32 0, i32 4
  %".25" = load i32*, i32** %".24"
  %".26" = bitcast i8* %"generic" to i32*
  %".27" = insertvalue [1 x i64] undef, i64 64, 0
  %".28" = insertvalue [1 x i64] undef, i64 4, 0
  %".29" = extractvalue [1 x i64] %".27", 0
  %".30" = mul nsw i64 1, %".29"
  %".31" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".21", i32 0, i32 5
  store [1 x i64] %".27", [1 x i64]* %".31"
  %".33" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".21", i32 0, i32 6
  store [1 x i64] %".28", [1 x i64]* %".33"
  %".35" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".21", i32 0, i32 4
  store i32* %".26", i32** %".35"
  %".37" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".21", i32 0, i32 3
  store i64 4, i64* %".37"
  %".39" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".21", i32 0, i32 0
  store i8* null, i8** %".39"
  %".41" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".21", i32 0, i32 1
  store i8* null, i8** %".41"
  %".43" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".21", i32 0, i32 2
  store i64 %".30", i64* %".43"
  %".45" = load {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".21"
  %".46" = call i32 @"llvm.nvvm.read.ptx.sreg.tid.x"()
  %".47" = call i32 @"llvm.nvvm.read.ptx.sreg.tid.y"()
  %".48" = call i32 @"llvm.nvvm.read.ptx.sreg.tid.z"()
  %".49" = insertvalue {i32, i32, i32} undef, i32 %".46", 0
  %".50" = insertvalue {i32, i32, i32} %".49", i32 %".47", 1
  %".51" = insertvalue {i32, i32, i32} %".50", i32 %".48", 2
  %".52" = extractvalue {i32, i32, i32} %".51", 0
  %".53" = sext i32 %".52" to i64
  store {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} zeroinitializer, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".54"
  store {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} %"inserted.strides", {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".54"
  %".58" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".54", i32 0, i32 5
  %".59" = getelementptr inbounds [1 x i64], [1 x i64]* %".58", i32 0, i32 0
  %".60" = load i64, i64* %".59", !range !1
  %".61" = insertvalue [1 x i64] undef, i64 %".60", 0
  %".62" = extractvalue [1 x i64] %".61", 0
  %".63" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".54", i32 0, i32 6
  %".64" = load [1 x i64], [1 x i64]* %".63"
  %".65" = extractvalue [1 x i64] %".64", 0
  %".66" = icmp slt i64 %".53", 0
  %".67" = add i64 %".53", %".62"
  %".68" = select  i1 %".66", i64 %".67", i64 %".53"
  %".69" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".54", i32 0, i32 5
  %".70" = getelementptr inbounds [1 x i64], [1 x i64]* %".69", i32 0, i32 0
  %".71" = load i64, i64* %".70", !range !1
  %".72" = insertvalue [1 x i64] undef, i64 %".71", 0
  %".73" = extractvalue [1 x i64] %".72", 0
  %".74" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".54", i32 0, i32 6
  %".75" = load [1 x i64], [1 x i64]* %".74"
  %".76" = extractvalue [1 x i64] %".75", 0
  %".77" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".54", i32 0, i32 4
  %".78" = load i32*, i32** %".77"
  %".79" = mul i64 %".68", 1
  %".80" = add i64 0, %".79"
  %".81" = getelementptr i32, i32* %".78", i64 %".80"
  %".82" = load i32, i32* %".81"
  %".83" = sext i32 %".52" to i64
  store {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} zeroinitializer, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".84"
  store {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} %".45", {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".84"
  %".88" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".84", i32 0, i32 5
  %".89" = getelementptr inbounds [1 x i64], [1 x i64]* %".88", i32 0, i32 0
  %".90" = load i64, i64* %".89", !range !1
  %".91" = insertvalue [1 x i64] undef, i64 %".90", 0
  %".92" = extractvalue [1 x i64] %".91", 0
  %".93" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".84", i32 0, i32 6
  %".94" = load [1 x i64], [1 x i64]* %".93"
  %".95" = extractvalue [1 x i64] %".94", 0
  %".96" = icmp slt i64 %".83", 0
  %".97" = add i64 %".83", %".92"
  %".98" = select  i1 %".96", i64 %".97", i64 %".83"
  %".99" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".84", i32 0, i32 5
  %".100" = getelementptr inbounds [1 x i64], [1 x i64]* %".99", i32 0, i32 0
  %".101" = load i64, i64* %".100", !range !1
  %".102" = insertvalue [1 x i64] undef, i64 %".101", 0
  %".103" = extractvalue [1 x i64] %".102", 0
  %".104" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".84", i32 0, i32 6
  %".105" = load [1 x i64], [1 x i64]* %".104"
  %".106" = extractvalue [1 x i64] %".105", 0
  %".107" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".84", i32 0, i32 4
  %".108" = load i32*, i32** %".107"
  %".109" = mul i64 %".98", 1
  %".110" = add i64 0, %".109"
  %".111" = getelementptr i32, i32* %".108", i64 %".110"
  store i32 %".82", i32* %".111"
  call void @"llvm.nvvm.barrier0"()
  %".114" = sext i32 %".52" to i64
  %".115" = sub nsw i64 63, %".114"
  store {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} zeroinitializer, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".116"
  store {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} %".45", {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".116"
  %".120" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".116", i32 0, i32 5
  %".121" = getelementptr inbounds [1 x i64], [1 x i64]* %".120", i32 0, i32 0
  %".122" = load i64, i64* %".121", !range !1
  %".123" = insertvalue [1 x i64] undef, i64 %".122", 0
  %".124" = extractvalue [1 x i64] %".123", 0
  %".125" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".116", i32 0, i32 6
  %".126" = load [1 x i64], [1 x i64]* %".125"
  %".127" = extractvalue [1 x i64] %".126", 0
  %".128" = icmp slt i64 %".115", 0
  %".129" = add i64 %".115", %".124"
  %".130" = select  i1 %".128", i64 %".129", i64 %".115"
  %".131" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".116", i32 0, i32 5
  %".132" = getelementptr inbounds [1 x i64], [1 x i64]* %".131", i32 0, i32 0
  %".133" = load i64, i64* %".132", !range !1
  %".134" = insertvalue [1 x i64] undef, i64 %".133", 0
  %".135" = extractvalue [1 x i64] %".134", 0
  %".136" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".116", i32 0, i32 6
  %".137" = load [1 x i64], [1 x i64]* %".136"
  %".138" = extractvalue [1 x i64] %".137", 0
  %".139" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".116", i32 0, i32 4
  %".140" = load i32*, i32** %".139"
  %".141" = mul i64 %".130", 1
  %".142" = add i64 0, %".141"
  %".143" = getelementptr i32, i32* %".140", i64 %".142"
  %".144" = load i32, i32* %".143"
  %".145" = sext i32 %".52" to i64
  store {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} zeroinitializer, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".146"
  store {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]} %"inserted.strides.1", {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".146"
  %".150" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".146", i32 0, i32 5
  %".151" = getelementptr inbounds [1 x i64], [1 x i64]* %".150", i32 0, i32 0
  %".152" = load i64, i64* %".151", !range !1
  %".153" = insertvalue [1 x i64] undef, i64 %".152", 0
  %".154" = extractvalue [1 x i64] %".153", 0
  %".155" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".146", i32 0, i32 6
  %".156" = load [1 x i64], [1 x i64]* %".155"
  %".157" = extractvalue [1 x i64] %".156", 0
  %".158" = icmp slt i64 %".145", 0
  %".159" = add i64 %".145", %".154"
  %".160" = select  i1 %".158", i64 %".159", i64 %".145"
  %".161" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".146", i32 0, i32 5
  %".162" = getelementptr inbounds [1 x i64], [1 x i64]* %".161", i32 0, i32 0
  %".163" = load i64, i64* %".162", !range !1
  %".164" = insertvalue [1 x i64] undef, i64 %".163", 0
  %".165" = extractvalue [1 x i64] %".164", 0
  %".166" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".146", i32 0, i32 6
  %".167" = load [1 x i64], [1 x i64]* %".166"
  %".168" = extractvalue [1 x i64] %".167", 0
  %".169" = getelementptr inbounds {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}, {i8*, i8*, i64, i64, i32*, [1 x i64], [1 x i64]}* %".146", i32 0, i32 4
  %".170" = load i32*, i32** %".169"
  %".171" = mul i64 %".160", 1
  %".172" = add i64 0, %".171"
  %".173" = getelementptr i32, i32* %".170", i64 %".172"
  store i32 %".144", i32* %".173"
  ret void
}

@"_cudapy_smem_1" = addrspace(3) global [64 x i32] undef, align 4
declare i32 @"llvm.nvvm.read.ptx.sreg.tid.x"()

declare i32 @"llvm.nvvm.read.ptx.sreg.tid.y"()

declare i32 @"llvm.nvvm.read.ptx.sreg.tid.z"()

declare void @"llvm.nvvm.barrier0"()

@"llvm.used" = appending global [1 x i8*] [i8* bitcast (void (i8*, i8*, i64, i64, i32*, i64, i64, i8*, i8*, i64, i64, i32*, i64, i64)* @"_ZN8__main__7reverseB2v3B72cw51cXTLSUwv1sDUaKthqaNgoKmjgOR3W3CwAkMXLaJtQYkOIgxJU0gCqOkELKEJAA_3d_3dE5ArrayIiLi1E1C7mutable7alignedE5ArrayIiLi1E1C7mutable7alignedE" to i8*)], section "llvm.metadata"
!nvvmir.version = !{ !0 }
!nvvm.annotations = !{ !2 }
!0 = !{ i32 2, i32 0, i32 3, i32 2 }
!1 = !{ i64 0, i64 9223372036854775807 }
!2 = !{ void (i8*, i8*, i64, i64, i32*, i64, i64, i8*, i8*, i64, i64, i32*, i64, i64)* @"_ZN8__main__7reverseB2v3B72cw51cXTLSUwv1sDUaKthqaNgoKmjgOR3W3CwAkMXLaJtQYkOIgxJU0gCqOkELKEJAA_3d_3dE5ArrayIiLi1E1C7mutable7alignedE5ArrayIiLi1E1C7mutable7alignedE", !"kernel", i32 1 }