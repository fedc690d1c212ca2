/* Reading and writing one element of any dtype (codes follow the order in ir/dtypes.py). */
#ifndef RUSHLIGHT_SCALARS_H
#define RUSHLIGHT_SCALARS_H

#include <stdint.h>
#include <string.h>

enum { BOOL, UINT8, INT8, INT16, INT32, INT64, FLOAT16, BFLOAT16, FLOAT32, FLOAT64, COMPLEX64, COMPLEX128, UINT16, UINT32, UINT64 };

static double half_to_double(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = (h >> 10) & 31, mantissa = h & 1023, bits;
    if (exponent == 31) {
        bits = sign | 0x7F800000 | mantissa << 13;
    } else if (exponent) {
        bits = sign | (exponent + 112) << 23 | mantissa << 13;
    } else { /* zero or denormal: exact in float */
        float f = (float)mantissa * 5.9604644775390625e-08f;
        return sign ? -(double)f : (double)f;
    }
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

static uint16_t double_to_half(double d) {
    float f = (float)d;
    uint32_t bits;
    memcpy(&bits, &f, 4);
    uint16_t sign = (bits >> 16) & 0x8000;
    uint32_t magnitude = bits & 0x7FFFFFFF;
    if (magnitude > 0x7F800000) return sign | 0x7E00;
    if (magnitude >= 0x477FF000) return sign | 0x7C00; /* rounds to infinity */
    if (magnitude < 0x38800000) {                      /* denormal: scale so that the FPU rounds to even */
        float scaled;
        uint32_t m = magnitude;
        memcpy(&scaled, &m, 4);
        scaled += 0.5f;
        memcpy(&m, &scaled, 4);
        return sign | (uint16_t)(m - 0x3F000000);
    }
    magnitude += 0xFFF + ((magnitude >> 13) & 1);
    return sign | (uint16_t)((magnitude - 0x38000000) >> 13);
}

static double bfloat_to_double(uint16_t b) {
    uint32_t bits = (uint32_t)b << 16;
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

static uint16_t double_to_bfloat(double d) {
    float f = (float)d;
    uint32_t bits;
    memcpy(&bits, &f, 4);
    if ((bits & 0x7FFFFFFF) > 0x7F800000) return 0x7FC0;
    return (uint16_t)((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

static double read_real(const char *p, int code) {
    switch (code) {
    case FLOAT16: { uint16_t v; memcpy(&v, p, 2); return half_to_double(v); }
    case BFLOAT16: { uint16_t v; memcpy(&v, p, 2); return bfloat_to_double(v); }
    case FLOAT32: case COMPLEX64: { float v; memcpy(&v, p, 4); return v; }
    default: { double v; memcpy(&v, p, 8); return v; }
    }
}

static int64_t read_integer(const char *p, int code) {
    switch (code) {
    case BOOL: return *(const uint8_t *)p != 0;
    case UINT8: return *(const uint8_t *)p;
    case INT8: return *(const int8_t *)p;
    case INT16: { int16_t v; memcpy(&v, p, 2); return v; }
    case INT32: { int32_t v; memcpy(&v, p, 4); return v; }
    case UINT16: { uint16_t v; memcpy(&v, p, 2); return v; }
    case UINT32: { uint32_t v; memcpy(&v, p, 4); return v; }
    default: { int64_t v; memcpy(&v, p, 8); return v; }
    }
}

static void write_real(char *p, int code, double v) {
    switch (code) {
    case FLOAT16: { uint16_t h = double_to_half(v); memcpy(p, &h, 2); break; }
    case BFLOAT16: { uint16_t h = double_to_bfloat(v); memcpy(p, &h, 2); break; }
    case FLOAT32: case COMPLEX64: { float f = (float)v; memcpy(p, &f, 4); break; }
    default: memcpy(p, &v, 8);
    }
}

static void write_integer(char *p, int code, int64_t v) {
    switch (code) {
    case BOOL: *(uint8_t *)p = v != 0; break;
    case UINT8: case INT8: *(int8_t *)p = (int8_t)v; break;
    case INT16: case UINT16: { int16_t w = (int16_t)v; memcpy(p, &w, 2); break; }
    case INT32: case UINT32: { int32_t w = (int32_t)v; memcpy(p, &w, 4); break; }
    default: memcpy(p, &v, 8);
    }
}

#endif
