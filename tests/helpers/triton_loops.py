"""Loops of interpreted kernels whose length is read from memory."""

from triton.runtime import interpreter


def allow_loaded_bounds(monkeypatch):
    """Triton's interpreter converts a bound with `int`, which NumPy no longer does for arrays of one element."""
    patch = interpreter._patch_lang_tensor

    def patched(tensor, scope):
        patch(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))

    monkeypatch.setattr(interpreter, "_patch_lang_tensor", patched)
