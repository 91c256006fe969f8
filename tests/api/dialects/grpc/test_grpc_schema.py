"""The descriptors that the server runs on are those of the .proto texts that users compile."""

from importlib.resources import files

from google.protobuf.descriptor_pb2 import FileDescriptorSet
from grpc_tools import protoc

from helpers.grpc_clients import original_client
from polyvox.api.dialects.grpc.schema import message_type

PROTOS = files("polyvox.api.dialects.grpc") / "protos"


def test_the_descriptors_are_those_of_the_texts(tmp_path):
    """Otherwise run: make protos."""
    made = tmp_path / "services.binpb"
    texts = ["cosyvoice.proto", "speech.proto"]
    assert protoc.main(["protoc", f"-I{PROTOS}", f"--descriptor_set_out={made}", *texts]) == 0
    shipped = FileDescriptorSet.FromString((PROTOS / "services.binpb").read_bytes())
    assert shipped == FileDescriptorSet.FromString(made.read_bytes())


def test_requests_of_compiled_clients_are_read_as_they_were_meant():
    client = original_client()
    sent = client.Request(
        zero_shot_request=client.zeroshotRequest(tts_text="你好。", prompt_text="Words.", prompt_audio=b"\x01\x02")
    )
    read = message_type("cosyvoice.Request").FromString(sent.SerializeToString())
    assert read.WhichOneof("RequestPayload") == "zero_shot_request"
    assert read.zero_shot_request.tts_text == "你好。"
    assert read.zero_shot_request.prompt_audio == b"\x01\x02"
    assert read.SerializeToString() == sent.SerializeToString()


def test_the_bytes_on_the_wire_are_those_of_the_original_numbers():
    """Field 1 of Request holds field 1, the speaker, and field 2, the text."""
    request = message_type("cosyvoice.Request").FromString(b"\x0a\x08\x0a\x01a\x12\x03abc")
    assert (request.sft_request.spk_id, request.sft_request.tts_text) == ("a", "abc")
    assert message_type("cosyvoice.Response")(tts_audio=b"xy").SerializeToString() == b"\x0a\x02xy"
    instruct = b"\x22\x0e\x0a\x01a\x12\x01b\x1a\x01c\x22\x03abc"
    read = message_type("cosyvoice.Request").FromString(instruct).instruct_request
    assert (read.tts_text, read.spk_id, read.instruct_text, read.prompt_audio) == ("a", "b", "c", b"abc")
