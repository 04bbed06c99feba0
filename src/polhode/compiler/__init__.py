"""The compiler: trees of plain functions, machine code from them, SIMD vectors."""
