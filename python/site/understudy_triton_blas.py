# SPDX-License-Identifier: Apache-2.0
"""Triton's own way to cuBLAS, which is machine code: products by PyTorch's operators (`triton._C.libtriton.nvidia.cublas`)."""


class CublasLt:
    def __init__(self, workspace):
        self.workspace = workspace

    def matmul(self, a, b, c):
        """c = a b', each by rows; added in 32 bits."""
        c.copy_(a.float() @ b.float().T)

    def gemm(self, a, b, c, d, alpha, beta):
        d.copy_(alpha * (a.float() @ b.float().T) + beta * c.float())

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotImplementedError(f"understudy: {name} of Triton's CublasLt is computed by nothing here; cuBLAS is machine code")


def serve(module):
    """`module` is triton._C.libtriton."""
    import os

    blas = getattr(getattr(module, "nvidia", None), "cublas", None)
    if hasattr(blas, "CublasLt") and os.environ.get("UNDERSTUDY_TORCH_VIA", "").strip().lower() != "off":
        blas.CublasLt = CublasLt
