from helpers.tables import each_row
from polyvox import errors


def every_error():
    """Those of the table's own module; others may define closer ones, which take the row of their parent."""
    found = [errors.PolyvoxError]
    for cls in found:
        found += [each for each in cls.__subclasses__() if each.__module__ == errors.__name__]
    return [cls for cls in found if cls is not errors.SilentTextError]  # told apart inside the server only


@each_row("cls", every_error())
def test_every_error_has_its_own_row_in_the_table(cls):
    assert cls in errors.STATUS


def test_a_subclass_takes_the_row_of_its_nearest_listed_parent():
    class Special(errors.TextError):
        pass

    assert errors.status_of(Special("x")) == errors.STATUS[errors.TextError]


def test_the_openai_body_names_message_type_field_and_code():
    body = errors.openai_body(errors.TextError("The text is empty.", field="input"))
    assert body == {
        "error": {
            "message": "The text is empty.",
            "type": "invalid_request_error",
            "param": "input",
            "code": "invalid_text",
        }
    }
