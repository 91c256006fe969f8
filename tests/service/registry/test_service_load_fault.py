"""What callers read of a model that could not be loaded."""

import pytest

from polyvox.errors import BundleError, NotServedError, UnavailableError
from polyvox.service.registry.load_fault import LoadFault

MESSAGES = {
    "There is no folder /srv/models/cosyvoice3; run `polyvox pull cosyvoice3`.": (
        "There is no folder cosyvoice3; run `polyvox pull cosyvoice3`."
    ),
    "llm in '/home/anna/.cache/CosyVoice2-0.5B' does not fit its YAML file: (301, 80) for (300, 80)": (
        "llm in 'CosyVoice2-0.5B' does not fit its YAML file: (301, 80) for (300, 80)"
    ),
    "run `polyvox models export /srv/m/v3 --output /srv/m/v3/onnx`.": "run `polyvox models export v3 --output onnx`.",
    "Fetch it from https://example.org/models/v3, 1/2 of it is here; see GET /v1/models.": (
        "Fetch it from https://example.org/models/v3, 1/2 of it is here; see GET /v1/models."
    ),
    "There is no folder /home/Anna Maria/my old models/cosyvoice3; run `polyvox pull cosyvoice3`.": (
        "There is no folder cosyvoice3; run `polyvox pull cosyvoice3`."
    ),
    "llm in '/srv/my models/v3' does not fit /srv/my models/v3/cosyvoice3.yaml.": (
        "llm in 'v3' does not fit cosyvoice3.yaml."
    ),
    "run `polyvox models export /srv/my m/v3 --output /srv/my m/v3/onnx` or ask.": (
        "run `polyvox models export v3 --output onnx` or ask."
    ),
    "Nothing to hide.": "Nothing to hide.",
}


def test_the_folders_of_the_servers_disk_are_left_out_of_a_message():
    for told, shown in MESSAGES.items():
        fault = LoadFault.of("cosyvoice3", BundleError(told), now=0.0)
        assert fault.message == shown
        assert fault.error(1.0).message == shown


def test_the_text_of_an_unknown_exception_is_left_out_whole():
    fault = LoadFault.of("cosyvoice3", RuntimeError("cannot open /srv/models/secret"), now=0.0)
    assert fault.message == "The model 'cosyvoice3' failed to start; the server's log has the cause."


@pytest.mark.parametrize(
    ("error", "kind"),
    [(BundleError("It is not there."), NotServedError), (ConnectionResetError("gone"), UnavailableError)],
)
def test_a_lasting_lack_is_told_from_one_that_may_pass(error, kind):
    refusal = LoadFault.of("cosyvoice3", error, now=0.0).error(0.5)
    assert type(refusal) is kind
    assert (refusal.retry_after is None) is (kind is NotServedError)
