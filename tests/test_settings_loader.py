import pytest
from pydantic import SecretStr

from polyvox import config
from polyvox.api.dialects.streamable_settings import StreamableSettings
from polyvox.api.dialects.zipvoice_settings import ZipVoiceApiSettings
from polyvox.engines.kokoro.settings import KokoroSettings
from polyvox.engines.speechlm.settings import SpeechLmSettings
from polyvox.engines.zipvoice.settings import ZipVoiceSettings
from polyvox.errors import InvalidRequestError
from polyvox.installation import load_settings, settings_loader


@pytest.fixture(autouse=True)
def bare_environment(tmp_path, monkeypatch):
    """No setting of the machine or of the working directory reaches these tests."""
    for name in settings_loader().names():
        monkeypatch.delenv(f"POLYVOX_{name.upper()}", raising=False)
    monkeypatch.delenv("POLYVOX_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def source_of(settings, name):
    return next(origin.source for origin in settings_loader().origins(settings) if origin.name == name)


def test_defaults_are_safe():
    settings = load_settings()
    assert settings.host == "127.0.0.1"
    assert settings.cors_origins == []
    assert source_of(settings, "host") == "default"


def test_each_source_outranks_the_next(bare_environment, monkeypatch):
    (bare_environment / "polyvox.yaml").write_text("port: 1001\nmax_queue: 11\nlog_level: error\n")
    (bare_environment / ".env").write_text("POLYVOX_PORT=1002\nPOLYVOX_MAX_QUEUE=12\n")
    monkeypatch.setenv("POLYVOX_PORT", "1003")
    settings = load_settings()
    assert (settings.port, settings.max_queue, settings.log_level) == (1003, 12, "error")
    assert [source_of(settings, name) for name in ("port", "max_queue", "log_level", "max_sessions")] == [
        "environment",
        ".env",
        "polyvox.yaml",
        "default",
    ]
    assert load_settings(port=1004).port == 1004


def test_an_argument_of_the_command_line_is_named_as_the_source(monkeypatch):
    monkeypatch.setenv("POLYVOX_PORT", "1003")
    assert source_of(load_settings(port=1004), "port") == "command line"


def test_the_yaml_file_can_stand_anywhere(tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere.yaml"
    elsewhere.write_text("default_voice: bf_emma\n")
    monkeypatch.setenv("POLYVOX_CONFIG", str(elsewhere))
    settings = load_settings()
    assert settings.default_voice == "bf_emma"
    assert source_of(settings, "default_voice") == str(elsewhere)


@pytest.mark.parametrize(
    ("name", "value"),
    [("PORT", "70000"), ("PORT", "many"), ("MAX_SESSIONS", "0"), ("LOG_LEVEL", "loud")],
)
def test_a_wrong_value_is_refused_with_its_name(monkeypatch, name, value):
    monkeypatch.setenv(f"POLYVOX_{name}", value)
    with pytest.raises(InvalidRequestError, match=name.lower()):
        load_settings()


def test_lists_are_written_with_commas(monkeypatch):
    monkeypatch.setenv("POLYVOX_API_KEYS", "one, two")
    assert [key.get_secret_value() for key in load_settings().api_keys] == ["one", "two"]


def test_an_unknown_name_in_the_yaml_file_is_refused(bare_environment):
    (bare_environment / "polyvox.yaml").write_text("prot: 8880\n")
    with pytest.raises(InvalidRequestError, match="prot"):
        load_settings()


def test_a_yaml_file_that_is_named_but_absent_is_refused(monkeypatch):
    monkeypatch.setenv("POLYVOX_CONFIG", "nowhere.yaml")
    with pytest.raises(InvalidRequestError, match="nowhere"):
        load_settings()


def test_keys_are_never_shown():
    settings = load_settings(api_keys=[SecretStr("sesame")])
    assert "sesame" not in str([origin.value for origin in settings_loader().origins(settings)])
    assert "sesame" not in repr(settings)


def test_the_names_of_zipvoices_servers_are_understood(bare_environment, monkeypatch):
    (bare_environment / ".env").write_text("zipvoice_num_steps=4\nzipvoice_allow_url_download=true\nother_program=1\n")
    (bare_environment / "polyvox.yaml").write_text("zipvoice_num_steps: 9\nfetch_max_bytes: 5000\n")
    monkeypatch.setenv("ZIPVOICE_MAX_DOWNLOAD_SIZE_MB", "2.5")
    monkeypatch.setenv("ZIPVOICE_MAX_PROMPT_DURATION", "3.0")
    monkeypatch.setenv("ZIPVOICE_CACHE_DIR", str(bare_environment / "prompts"))
    settings = load_settings()
    assert (settings.section(ZipVoiceApiSettings).num_steps, settings.allow_fetch) == (4, True)
    assert (settings.fetch_max_bytes, settings.prompt_max_seconds) == (2_621_440, 3.0)
    assert settings.data_dir == bare_environment / "prompts"
    assert source_of(settings, "fetch_max_bytes") == "ZipVoice's names"
    monkeypatch.setenv("POLYVOX_FETCH_MAX_BYTES", "6000")
    assert load_settings().fetch_max_bytes == 6000


@pytest.mark.parametrize(("name", "value"), [("MAX_DOWNLOAD_SIZE_MB", "many"), ("NUM_STEPS", "99")])
def test_a_wrong_value_under_such_a_name_is_refused_too(monkeypatch, name, value):
    monkeypatch.setenv(f"ZIPVOICE_{name}", value)
    with pytest.raises(InvalidRequestError, match=r"fetch_max_bytes|zipvoice_num_steps"):
        load_settings()


def test_the_names_of_the_streamable_tts_api_are_understood(bare_environment, monkeypatch):
    (bare_environment / ".env").write_text("TTS_API=http://tts-engine:9093\nDEFAULT_PLAYBACK_SPEED=0.5\nSENTRY_DSN=x\n")
    monkeypatch.setenv("SPEAKERS", "husein, idayu")
    monkeypatch.setenv("CUDA_GRAPH_BATCH", "[0.1, 0.5, 10.0]")
    monkeypatch.setenv("MAX_BATCH_SIZE", "8")
    monkeypatch.setenv("DEFAULT_TEMPERATURE", "0.7")
    settings = load_settings()
    assert settings.section(SpeechLmSettings).url == "http://tts-engine:9093"
    assert settings.section(StreamableSettings).playback_speed == 0.5
    assert settings.section(SpeechLmSettings).playback_speed == 0.5
    assert settings.section(SpeechLmSettings).speakers == ["husein", "idayu"]
    assert settings.section(SpeechLmSettings).graph_seconds == [0.1, 0.5, 10.0]
    assert settings.section(SpeechLmSettings).temperature == 0.7
    assert settings.section(SpeechLmSettings).codec_batch == 8
    assert source_of(settings, "speechlm_url") == "the Streamable TTS API's names"
    monkeypatch.setenv("DYNAMIC_BATCHING", "false")
    assert load_settings().section(SpeechLmSettings).codec_batch == 1
    monkeypatch.setenv("CUDA_GRAPH_BATCH", "__import__('os')")
    with pytest.raises(InvalidRequestError, match="speechlm_graph_seconds"):
        load_settings()


def test_the_names_of_the_cosyvoice_ray_serve_api_are_understood(bare_environment, monkeypatch):
    (bare_environment / ".env").write_text("MIN_REPLICAS=2\nMAX_REPLICAS=4\nSERVE_PORT=9998\n")
    monkeypatch.setenv("TARGET_ONGOING_REQUESTS", "3")
    monkeypatch.setenv("MAX_ONGOING_REQUESTS_PER_REPLICA", "6")
    monkeypatch.setenv("MAX_QUEUED_REQUESTS_DEPLOYMENT", "50")
    settings = load_settings()
    assert (settings.ray_min_replicas, settings.ray_initial_replicas, settings.ray_max_replicas) == (2, 1, 4)
    assert settings.port == 9998
    assert settings.ray_target_ongoing_requests == 3.0
    assert (settings.ray_max_ongoing_requests, settings.ray_max_queued_requests) == (6, 50)
    assert source_of(settings, "ray_max_replicas") == "the CosyVoice Ray Serve API's names"
    monkeypatch.setenv("POLYVOX_PORT", "8880")
    assert load_settings().port == 8880


def test_a_misspelt_name_in_the_env_file_is_refused(bare_environment):
    (bare_environment / ".env").write_text("POLYVOX_PROT=8880\n")
    with pytest.raises(InvalidRequestError, match="prot"):
        load_settings()


def test_every_knob_is_described():
    for section in (config.Settings, *settings_loader().sections):
        assert all(info.description for info in section.model_fields.values())


STREAMABLE = {"TTS_API": "http://tts-engine:9093", "MODEL_NAME": "TTS-model", "DEFAULT_SPEAKER": "husein"}


@pytest.mark.parametrize(
    ("variables", "models", "default"),
    [
        (STREAMABLE, ["speechlm"], "speechlm"),
        ({"MODEL_NAME": "TTS-model"}, ["speechlm"], "speechlm"),
        ({"MODEL_NAME": "mine", "SPEAKERS": "ann"}, ["speechlm"], "speechlm"),
        ({"MODEL_NAME": "of-another-program"}, ["wren", "kokoro"], "wren"),
        ({"DEFAULT_MODEL": "TTS-model"}, ["speechlm"], "speechlm"),
        ({"POLYVOX_DEFAULT_MODEL": "TTS-model"}, ["wren", "kokoro", "speechlm"], "speechlm"),
        ({"DEFAULT_MODEL": "of-another-program"}, ["wren", "kokoro"], "wren"),
        ({**STREAMABLE, "POLYVOX_MODELS": "kokoro"}, ["kokoro"], "kokoro"),
        ({"ENABLE_KOKORO": "true", "ENABLE_ZIPVOICE": "true"}, ["kokoro", "zipvoice"], "kokoro"),
        ({"ENABLE_ZIPVOICE": "false"}, ["kokoro"], "kokoro"),
        ({"ENABLE_KOKORO": "False", "ZIPVOICE_MODEL": "zipvoice_distill"}, ["zipvoice_distill"], "zipvoice_distill"),
        ({"ENABLE_KOKORO": "1", "DEFAULT_BACKEND": "zipvoice"}, ["kokoro", "zipvoice"], "zipvoice"),
        (
            {"DEFAULT_BACKEND": "zipvoice", "ZIPVOICE_MODEL": "zipvoice_distill"},
            ["kokoro", "zipvoice_distill"],
            "zipvoice_distill",
        ),
        ({"DEFAULT_BACKEND": "kokoro"}, ["kokoro"], "kokoro"),
        ({"DEFAULT_BACKEND": "zipvoice", "POLYVOX_MODELS": "zipvoice"}, ["zipvoice"], "zipvoice"),
    ],
)
def test_variables_of_other_servers_decide_which_models_load(monkeypatch, variables, models, default):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    settings = load_settings()
    assert (settings.models, settings.default_model) == (models, default)


def test_the_default_model_may_be_named_as_the_dialect_names_it(bare_environment):
    (bare_environment / "polyvox.yaml").write_text("streamable_model: mine\ndefault_model: mine\nmodels: [kokoro]\n")
    settings = load_settings()
    assert (settings.models, settings.default_model) == (["kokoro", "speechlm"], "speechlm")


@pytest.mark.parametrize(
    ("variables", "device"),
    [
        ({"USE_GPU": "false"}, "cpu"),
        ({"DEVICE_TYPE": "cpu"}, "cpu"),
        ({"USE_GPU": "true", "DEVICE_TYPE": "cuda"}, "auto"),
    ],
)
def test_the_switch_for_the_gpu_is_understood(monkeypatch, variables, device):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    settings = load_settings()
    assert [settings.section(kind).device for kind in (KokoroSettings, ZipVoiceSettings)] == [device, device]


def test_what_means_nothing_here_is_named(monkeypatch, caplog):
    monkeypatch.setenv("SENTRY_DSN", "https://errors.example/1")
    load_settings()
    assert "SENTRY_DSN" not in caplog.text, "it may be any program's"
    monkeypatch.setenv("TTS_API", "http://tts-engine:9093")
    load_settings()
    assert "SENTRY_DSN, one of the Streamable TTS API's variables, has no effect here: errors are in" in caplog.text


def test_the_default_model_follows_the_models_unless_it_is_set():
    for given, wanted in (
        ({}, (["wren", "kokoro"], "wren", "kokoro")),
        ({"models": "kokoro"}, (["kokoro"], "kokoro", "")),
        ({"models": "zipvoice,kokoro"}, (["zipvoice", "kokoro"], "zipvoice", "")),
        ({"models": ["wren"]}, (["wren"], "wren", "")),
        ({"default_model": "kokoro"}, (["wren", "kokoro"], "kokoro", "")),
        ({"hd_model": ""}, (["wren", "kokoro"], "wren", "")),
        ({"models": []}, ([], "", "")),
    ):
        settings = settings_loader().given(**given)
        assert (settings.models, settings.default_model, settings.hd_model) == wanted, given
