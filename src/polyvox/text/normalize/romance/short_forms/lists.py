"""Short forms of a field, written as a list: "pcte.: paciente; dx: diagnóstico"."""


def short_forms(*lists: str) -> dict[str, str]:
    """The words of each form; a later list overrides an earlier one."""
    pairs = (entry.rsplit(":", 1) for each in lists for entry in each.split(";") if entry.strip())
    return {" ".join(form.split()): " ".join(words.split()) for form, words in pairs}
