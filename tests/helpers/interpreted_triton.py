"""Triton's interpreter, mended: with newer numpy it cannot count a loop up to a number that a kernel has read."""

from triton.runtime import interpreter


def mend(monkeypatch):
    """Let the interpreter's numbers end loops, as they do once they are compiled."""
    patched = interpreter._patch_lang_tensor

    def patch(tensor, scope):
        patched(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: self.handle.data.item())

    monkeypatch.setattr(interpreter, "_patch_lang_tensor", patch)
