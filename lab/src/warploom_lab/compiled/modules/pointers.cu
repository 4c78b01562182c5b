// needs sm_75
using Op = float (*)(float, float);
__device__ float add(float a, float b) { return a + b; }
__device__ float mul(float a, float b) { return a * b; }
__device__ float sub(float a, float b) { return a - b; }
__device__ Op table[] = {add, mul, sub};
struct Shape { __device__ virtual float area() const = 0; __device__ virtual ~Shape() {} float s = 2; };
struct Square : Shape { __device__ float area() const override { return s * s; } };
struct Circle : Shape { __device__ float area() const override { return 3.14159f * s * s; } };
__global__ void apply(float* x, int which, int kind) {
    Shape* shape = kind ? (Shape*)new Square : (Shape*)new Circle;
    x[threadIdx.x] = table[which](x[threadIdx.x], shape->area()); delete shape;
}
