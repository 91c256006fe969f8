"""The browser package and its model, as the server sends them to the Studio."""

import asyncio
import gzip
import hashlib
import json

import pytest

from helpers.fakes import tone_service
from helpers.serving import called, error_of
from helpers.tables import each_row
from polyvox.api.dialects.studio import device
from polyvox.service.registry import browser_export

pytestmark = pytest.mark.anyio

FILES = {"front.onnx": b"front " * 999, "voices/af_heart.bin": b"style"}
HASHES = {name: hashlib.sha256(data).hexdigest() for name, data in FILES.items()}


@pytest.fixture
def models_dir(tmp_path):
    """A folder of models with a browser bundle, and beside it what nobody may fetch."""
    bundle = tmp_path / "models" / "browser"
    for name, data in FILES.items():
        (bundle / name).parent.mkdir(parents=True, exist_ok=True)
        (bundle / name).write_bytes(data)
    (bundle / "unlisted.bin").write_bytes(b"unlisted")
    (tmp_path / "models" / "secret").write_text("secret")
    described = {name: {"bytes": len(data), "sha256": HASHES[name]} for name, data in FILES.items()}
    (bundle / "manifest.json").write_text(json.dumps({"format": 1, "files": described}))
    return tmp_path / "models"


async def test_the_package_and_the_model_need_no_key_as_the_page_does(models_dir):
    async with called(tone_service(api_keys=["secret"], models_dir=models_dir)) as client:
        described = (await client.get("/web/device")).json()
        module = await client.get(f"/{described['module']}")
        manifest = await client.get(f"/{described['model']}/manifest.json")
        files = {name: await client.get(f"/{described['model']}/{name}") for name in FILES}
    assert module.headers["content-type"].startswith("text/javascript")
    assert "immutable" in module.headers["cache-control"]
    assert manifest.json()["files"].keys() == FILES.keys()
    assert {name: file.content for name, file in files.items()} == FILES


async def test_a_file_is_kept_for_long_only_under_an_address_with_its_hash(models_dir):
    name, tag = "front.onnx", f'"{HASHES["front.onnx"]}"'
    async with called(tone_service(models_dir=models_dir)) as client:
        plain, named, other = [
            await client.get(f"/web/device/model/{name}", params=query)
            for query in ({}, {"sha256": HASHES[name]}, {"sha256": "0" * 64})
        ]
        again = await client.get(f"/web/device/model/{name}", headers={"If-None-Match": tag})
        manifest = await client.get("/web/device/model/manifest.json")
        known = {"If-None-Match": manifest.headers["etag"]}
        unchanged = await client.get("/web/device/model/manifest.json", headers=known)
    assert [answer.headers["cache-control"] for answer in (plain, other, manifest)] == ["no-cache"] * 3
    assert named.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert (named.headers["etag"], again.status_code, unchanged.status_code) == (tag, 304, 304)


@each_row(
    "path",
    [
        *("model/unlisted.bin", "model/..%2Fsecret", "model/%2E%2E/secret", "model/voices", "model/%00", "model/"),
        *("code/0000/index.js", "code/BUILD/index.html", "code/BUILD/..%2Fdoor.py", "code/BUILD/sources.sha256"),
    ],
)
async def test_nothing_but_listed_files_is_sent(path, models_dir):
    async with called(tone_service(models_dir=models_dir)) as client:
        build = (await client.get("/web/device")).json()["module"].split("/")[3]
        refused = await client.get(f"/web/device/{path.replace('BUILD', build)}")
    assert refused.status_code == 404
    assert error_of(refused)


@each_row("name", ["../secret", "/etc/passwd", "voices/../../secret", ".hidden", ""])
async def test_a_manifest_that_names_other_folders_is_refused_whole(name, models_dir):
    described = {name: {"bytes": 6, "sha256": "0" * 64}}
    (models_dir / "browser" / "manifest.json").write_text(json.dumps({"format": 1, "files": described}))
    async with called(tone_service(models_dir=models_dir, allow_pull=False)) as client:
        answers = [await client.get(f"/web/device{path}") for path in ("", "/model/manifest.json", "/model/secret")]
    assert [answer.status_code for answer in answers] == [501] * 3
    assert "polyvox models browser" in answers[0].text


async def test_a_server_without_the_files_names_the_command_that_makes_them(tmp_path):
    (tmp_path / "models").mkdir()
    for allow_pull, command in ((False, "polyvox models browser"), (True, "polyvox pull kokoro")):
        async with called(tone_service(models_dir=tmp_path / "models", allow_pull=allow_pull)) as client:
            refused = await client.get("/web/device")
        assert refused.status_code == 501
        assert f"run: {command}." in error_of(refused)["message"]


async def test_the_files_are_made_once_for_all_who_ask_at_a_time(tmp_path, monkeypatch):
    made = []

    def write(models_dir, folder):
        made.append(models_dir)
        (folder / "manifest.json").write_text('{"format": 1, "files": {}}')

    monkeypatch.setattr(browser_export, "write_for_browsers", write)
    async with called(tone_service(models_dir=tmp_path, allow_pull=True)) as client:
        answers = await asyncio.gather(*(client.get("/web/device") for _ in range(3)))
    assert [answer.status_code for answer in answers] == [200] * 3
    assert made == [tmp_path]


async def test_only_the_worker_may_compile_webassembly(models_dir):
    async with called(tone_service(models_dir=models_dir)) as client:
        page = await client.get("/web")
        module = (await client.get("/web/device")).json()["module"]
        worker = await client.get(f"/{module.replace('index.js', 'worker.js')}")
        others = [await client.get(f"/{module}"), await client.get("/web/device/model/front.onnx")]
    assert "'wasm-unsafe-eval'" in worker.headers["content-security-policy"]
    assert worker.headers["content-security-policy"] == device.WORKER_POLICY
    assert "wasm" not in page.headers["content-security-policy"]
    assert not any("content-security-policy" in answer.headers for answer in others)


@pytest.mark.long
async def test_the_runtime_is_sent_compressed_and_whole(models_dir):
    async with called(tone_service(models_dir=models_dir)) as client:
        folder = (await client.get("/web/device")).json()["module"].rpartition("/")[0]
        name = next(name for name in device._package().files if name.endswith(".wasm"))
        compressed = await client.get(f"/{folder}/{name}", headers={"Accept-Encoding": "gzip"})
        plain = await client.get(f"/{folder}/{name}", headers={"Accept-Encoding": "identity"})
    assert compressed.headers["content-encoding"] == "gzip"
    assert compressed.content == plain.content == gzip.decompress(device._package().files[name])
    assert hashlib.sha256(plain.content).hexdigest().startswith(name.removeprefix("ort-").removesuffix(".wasm"))
    assert plain.headers["content-type"] == "application/wasm"
