"""The Helm chart and the RayService, rendered by Helm's own engine and checked against the published schemas."""

import json
import math
import shutil
import tomllib
from pathlib import Path

import pytest
import yaml

from helpers.client_environment import run_client
from polyvox.api.admin import PUBLIC
from polyvox.config import Settings
from polyvox.deploy.plan import DeployArgs
from polyvox.deploy.ray_yaml import ray_yaml
from polyvox.extras import EXTRAS, Extra
from polyvox.installation import load_settings, settings_loader
from polyvox.service.telemetry.metrics import Metrics

ROOT = Path(__file__).parents[2]
CHART = ROOT / "deploy" / "helm" / "polyvox"
CRDS = ROOT / "tests" / "golden" / "crds"
RAY_SERVICE = ROOT / "deploy" / "kuberay" / "rayservice.yaml"

SECRET = {"secret": {"existingName": "polyvox"}}
WITHOUT_VOICES = {**SECRET, "voices": {"store": "none"}}
KEDA = {"kind": "keda", "prometheusAddress": "http://prometheus:9090"}


def with_file(name: str, **more: object) -> dict[str, object]:
    return {**yaml.safe_load((CHART / name).read_text(encoding="utf-8")), **SECRET, **more}


CLUSTER = with_file("values-cluster.yaml")
CLUSTER["ingress"] = {**CLUSTER["ingress"], "host": "speech.example"}

SECRETS = yaml.safe_load((CHART / "setting-names.yaml").read_text(encoding="utf-8"))["secrets"]
OPENED_BY_THE_SERVICE = {"grpc_port": "grpc"}


def turned_on(extra: Extra) -> dict[str, object]:
    """Values that turn on what an extra is for, as an operator would write them."""
    given = {name: yaml.safe_load(value) for name, value in extra.settings.items()}
    settings = {name: value for name, value in given.items() if name not in (*SECRETS, *OPENED_BY_THE_SERVICE)}
    secrets = {name: value for name, value in given.items() if name in SECRETS}
    ports = {OPENED_BY_THE_SERVICE[name]: {"enabled": True} for name in given if name in OPENED_BY_THE_SERVICE}
    store = "shared" if "voice_database" in given else "files"
    return {
        "settings": settings,
        "secret": {"settings": {"api_keys": "k", **secrets}},
        "service": ports,
        "voices": {"store": store},
    }


VALID = {
    "default": SECRET,
    **{f"extra {extra.name}": turned_on(extra) for extra in EXTRAS if extra.settings},
    "wyoming": {
        **SECRET,
        "settings": {"wyoming_idle_seconds": 60},
        "service": {"wyoming": {"enabled": True, "port": 10300}},
    },
    "gpu": with_file("values-gpu.yaml"),
    "cluster": CLUSTER,
    "shared voices": {**SECRET, "voices": {"store": "shared"}, "replicas": 3},
    "hpa": {**WITHOUT_VOICES, "autoscaling": {"kind": "hpa"}},
    "own secret": {"secret": {"settings": {"api_keys": ["a-long-secret", "another"]}}},
    "by name": {"settings": {"allowed_hosts": ["speech.example", "polyvox"]}},
    "everything": {
        **SECRET,
        "image": {"repository": "registry.example/polyvox", "tag": "1", "pullSecrets": ["registry"]},
        "settings": {"max_body_bytes": 134217728, "max_share": 0.25, "drain_seconds": 12.5, "public_lists": True},
        "voices": {"persistence": {"storageClass": "fast", "size": "1Ti"}},
        "models": {"existingClaim": "models"},
        "service": {"type": "LoadBalancer", "grpc": {"enabled": True}, "annotations": {"a": "b"}},
        "ingress": {"enabled": True, "host": "speech.example"},
        "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
        "networkPolicy": {
            "allowHttps": True,
            "from": [{"namespaceSelector": {"matchLabels": {"name": "ingress"}}}],
            "egress": [{"ports": [{"port": 5432}]}],
        },
        "runtimeClassName": "nvidia",
        "nodeSelector": {"pool": "speech"},
        "tolerations": [{"operator": "Exists"}],
        "affinity": {"nodeAffinity": {}},
        "podAnnotations": {"x": "y"},
        "podLabels": {"team": "speech"},
        "priorityClassName": "high",
        "env": [{"name": "TZ", "value": "UTC"}],
        "volumes": [{"name": "extra", "emptyDir": {}}],
        "volumeMounts": [{"name": "extra", "mountPath": "/extra"}],
    },
}

REFUSED = {
    "nobody may call": ({}, "set secret.existingName to a Secret with POLYVOX_API_KEYS"),
    "two pods on SQLite": ({**SECRET, "replicas": 2}, "Several pods cannot share voices in SQLite"),
    "scaled pods on SQLite": ({**SECRET, "autoscaling": KEDA}, "Several pods cannot share voices in SQLite"),
    "shared without a database": (
        {"voices": {"store": "shared"}, "secret": {"settings": {"api_keys": "k"}}},
        "no database or no bucket is named",
    ),
    "a folder of the chart's": ({**SECRET, "settings": {"data_dir": "/x"}}, "The chart itself sets data_dir"),
    "voices where there are none": (
        {**WITHOUT_VOICES, "settings": {"max_voices": 5}},
        "The chart itself sets max_voices, here to 0",
    ),
    "a key in plain sight": ({"settings": {"api_keys": ["k"]}}, "api_keys is a secret: move it"),
    "no such setting": ({**SECRET, "settings": {"max_sesions": 3}}, "max_sesions is no setting of the server"),
    "no such secret": ({"secret": {"settings": {"api_key": "k"}}}, "api_key is no setting of the server"),
    "two secrets": (
        {"secret": {"existingName": "a", "settings": {"api_keys": "k"}}},
        "secret.existingName or secret.settings, not both",
    ),
    "MCP over several pods": ({**WITHOUT_VOICES, "replicas": 2, "settings": {"mcp": True}}, "sessionAffinity"),
    "TLS in the pod": ({**SECRET, "settings": {"ssl_certfile": "/x.pem"}}, "let the ingress end TLS"),
    "KEDA without Prometheus": ({**WITHOUT_VOICES, "autoscaling": {"kind": "keda"}}, "autoscaling.prometheusAddress"),
    "least over most": (
        {**WITHOUT_VOICES, "autoscaling": {**KEDA, "minReplicas": 9, "maxReplicas": 3}},
        "autoscaling.minReplicas is more than",
    ),
    "ingress without a host": ({**SECRET, "ingress": {"enabled": True}}, "Set ingress.host"),
    "half an authorization": (
        {**SECRET, "serviceMonitor": {"authorization": {"secretName": "polyvox"}}},
        "serviceMonitor.authorization.key",
    ),
    "pull without a way out": ({**SECRET, "models": {"pull": ["cosyvoice3"]}}, "networkPolicy.allowHttps"),
    "a misspelt value": ({**SECRET, "replica": 2}, "'replica' not allowed"),
    "no pods": ({**SECRET, "replicas": 0}, "replicas"),
    "a negative drain": ({**SECRET, "settings": {"drain_seconds": -1}}, "drain_seconds"),
    "a word for a number": ({**SECRET, "settings": {"max_sessions": "lots"}}, "max_sessions"),
    "a text for a number": ({**SECRET, "settings": {"max_sessions": "16"}}, "got string, want integer"),
    "half a session": ({**SECRET, "settings": {"max_sessions": 1.5}}, "max_sessions"),
    "more than all": ({**SECRET, "settings": {"max_share": 2}}, "max_share"),
    "another server": ({**SECRET, "settings": {"server": "apache"}}, "server"),
    "a word for a choice": ({**SECRET, "settings": {"mcp": "perhaps"}}, "mcp"),
    "a secret that is no address": (
        {"secret": {"settings": {"api_keys": "k", "otlp_endpoint": "collector"}}},
        "otlp_endpoint",
    ),
    "gRPC beside the Service": ({**SECRET, "settings": {"grpc_port": 50000}}, "service.grpc.enabled"),
    "Wyoming beside the Service": ({**SECRET, "settings": {"wyoming_port": 10200}}, "service.wyoming.enabled"),
    "another store": ({**SECRET, "voices": {"store": "sqlite"}}, "store"),
}


def render(folder: Path, chart: Path, values: list, manifests: list[Path]) -> dict:
    cases = folder / "cases.json"
    cases.write_text(json.dumps({"values": values, "manifests": list(map(str, manifests))}))
    return run_client("charts", "chart_render.py", chart, CRDS, cases)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    values = [*VALID.values(), *(values for values, _ in REFUSED.values())]
    found = render(tmp_path_factory.mktemp("charts"), CHART, values, [RAY_SERVICE])
    found["by name"] = dict(zip([*VALID, *REFUSED], found["values"], strict=True))
    return found


@pytest.fixture
def resources(results):
    """The resources of a case, by their kind."""

    def of(case: str) -> dict[str, dict]:
        return {resource["kind"]: resource for resource in results["by name"][case]["resources"]}

    return of


def pod(resources: dict[str, dict]) -> dict:
    return resources["Deployment"]["spec"]["template"]["spec"]


def variables(resources: dict[str, dict]) -> dict[str, str]:
    [container] = pod(resources)["containers"]
    return {each["name"]: each["value"] for each in container["env"]}


def test_helm_itself_renders(results):
    assert results["helm"].startswith("v4.")
    assert results["lint"]["errors"] == []


@pytest.mark.parametrize("case", VALID)
def test_values_render_to_valid_resources(results, case):
    result = results["by name"][case]
    assert "refused" not in result, result.get("refused")
    assert result["faults"] == []
    assert "Deployment" in {resource["kind"] for resource in result["resources"]}


@pytest.mark.parametrize("case", REFUSED)
def test_values_that_cannot_work_are_refused_with_a_sentence(results, case):
    assert REFUSED[case][1] in results["by name"][case].get("refused", "it was rendered")


def test_the_check_finds_a_wrong_chart_and_a_wrong_manifest(tmp_path):
    broken = tmp_path / "polyvox"
    shutil.copytree(CHART, broken)
    template = broken / "templates" / "deployment.yaml"
    template.write_text(template.read_text().replace("terminationGracePeriodSeconds", "terminationSeconds"))
    scaled = broken / "templates" / "scaledobject.yaml"
    scaled.write_text(scaled.read_text().replace("maxReplicaCount", "maxReplicas"))
    manifest = tmp_path / "rayservice.yaml"
    manifest.write_text(RAY_SERVICE.read_text().replace("containerPort: 8880", "containerPort: serve"))
    found = render(tmp_path, broken, [CLUSTER], [manifest])
    faults = "\n".join(found["values"][0]["faults"])
    assert "terminationSeconds" in faults
    assert "maxReplicas" in faults
    assert found["manifests"][0]["faults"]


@pytest.mark.parametrize("case", VALID)
def test_every_variable_is_a_setting_and_is_read_as_it_was_meant(resources, case, tmp_path, monkeypatch):
    for name in settings_loader().names():
        monkeypatch.delenv(f"POLYVOX_{name.upper()}", raising=False)
    monkeypatch.chdir(tmp_path)
    given = {name: value for name, value in variables(resources(case)).items() if name.startswith("POLYVOX_")}
    assert {name.removeprefix("POLYVOX_").lower() for name in given} <= set(settings_loader().names())
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    settings = load_settings()
    for name, value in VALID[case].get("settings", {}).items():
        if name in Settings.model_fields:
            assert getattr(settings, name) == value
    assert settings.host == "0.0.0.0"


def test_secrets_are_in_a_secret_alone(resources):
    made = resources("own secret")
    assert made["Secret"]["stringData"] == {"POLYVOX_API_KEYS": "a-long-secret,another"}
    assert "a-long-secret" not in json.dumps({kind: each for kind, each in made.items() if kind != "Secret"})
    assert "Secret" not in resources("default")
    [container] = pod(resources("default"))["containers"]
    assert container["envFrom"] == [{"secretRef": {"name": "polyvox"}}]


@pytest.mark.parametrize("case", ["default", "gpu", "everything"])
def test_a_pod_that_stops_has_time_for_its_streams(resources, results, case):
    found = resources(case)
    drain = float(variables(found)["POLYVOX_DRAIN_SECONDS"])
    [container] = pod(found)["containers"]
    before = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    grace = pod(found)["terminationGracePeriodSeconds"]
    assert grace == before + math.ceil(drain) + 15
    assert f"has {grace} s" in results["by name"][case]["notes"]


@pytest.mark.parametrize(("case", "seconds"), [("default", 180), ("gpu", 600)])
def test_probes_ask_what_needs_no_key_and_wait_for_big_models(resources, case, seconds):
    [container] = pod(resources(case))["containers"]
    probes = {name: container[f"{name}Probe"] for name in ("startup", "liveness", "readiness")}
    assert {probe["httpGet"]["path"] for probe in probes.values()} <= set(PUBLIC)
    assert probes["readiness"]["httpGet"]["path"] == "/ready"
    assert probes["liveness"]["httpGet"]["path"] == "/health"
    assert probes["startup"]["periodSeconds"] * probes["startup"]["failureThreshold"] == seconds


@pytest.mark.parametrize("case", VALID)
def test_no_container_may_do_more_than_it_must(resources, case):
    spec = pod(resources(case))
    assert spec["securityContext"]["runAsUser"] == 10001
    assert spec["securityContext"]["runAsNonRoot"]
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert not spec["automountServiceAccountToken"]
    for container in (*spec["containers"], *spec.get("initContainers", ())):
        assert container["securityContext"]["readOnlyRootFilesystem"]
        assert not container["securityContext"]["allowPrivilegeEscalation"]
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert {mount["mountPath"] for mount in container["volumeMounts"]} >= {"/data", "/tmp"}


def test_voices_on_a_volume_are_never_open_in_two_pods(resources):
    made = resources("default")
    assert made["Deployment"]["spec"]["strategy"] == {"type": "Recreate"}
    assert made["PersistentVolumeClaim"]["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
    assert "PersistentVolumeClaim" not in resources("shared voices")


def test_several_pods_offer_nothing_that_only_one_of_them_would_know(resources):
    without = variables(resources("cluster"))
    for name in ("VOICES", "FITS", "DICTIONARIES", "JOBS", "DOWNLOADS"):
        assert without[f"POLYVOX_MAX_{name}"] == "0"
    shared = variables(resources("shared voices"))
    assert "POLYVOX_MAX_VOICES" not in shared
    for name in ("FITS", "DICTIONARIES", "JOBS", "DOWNLOADS"):
        assert shared[f"POLYVOX_MAX_{name}"] == "0"


def test_a_gpu_is_asked_for_and_its_model_is_fetched_first(resources):
    spec = pod(resources("gpu"))
    [container] = spec["containers"]
    assert container["image"] == "polyvox:cuda"
    assert container["resources"]["limits"]["nvidia.com/gpu"] == 1
    [fetch] = spec["initContainers"]
    assert fetch["args"] == ["pull", "--models-dir", "/models", "cosyvoice3"]
    assert {"port": 443, "protocol": "TCP"} in resources("gpu")["NetworkPolicy"]["spec"]["egress"][1]["ports"]


def test_every_port_of_the_server_is_one_of_the_service_and_admitted_by_the_policy(resources):
    for case, opened in (("wyoming", {"http", "wyoming"}), ("everything", {"http", "grpc"}), ("default", {"http"})):
        found = resources(case)
        [container] = pod(found)["containers"]
        assert {port["name"] for port in container["ports"]} == opened
        assert {port["targetPort"] for port in found["Service"]["spec"]["ports"]} == opened
        assert {port["port"] for port in found["NetworkPolicy"]["spec"]["ingress"][0]["ports"]} == opened
    given = variables(resources("wyoming"))
    assert (given["POLYVOX_WYOMING_HOST"], given["POLYVOX_WYOMING_PORT"]) == ("0.0.0.0", "10300")
    assert given["POLYVOX_WYOMING_ALLOW_WITHOUT_KEY"] == "true"


def test_who_may_call_wyoming_is_asked_for_since_it_has_no_keys(results):
    assert "networkPolicy.from" in results["by name"]["wyoming"]["notes"]
    assert "Wyoming" not in results["by name"]["default"]["notes"]


def test_scaling_follows_metrics_that_the_server_has(resources):
    published = Metrics().render().decode()
    [trigger] = resources("cluster")["ScaledObject"]["spec"]["triggers"]
    query = trigger["metadata"]["query"]
    assert 'polyvox_queue_depth{namespace="tts",service="speech-polyvox"}' in query
    hpa = [
        metric["pods"]["metric"]["name"] for metric in resources("hpa")["HorizontalPodAutoscaler"]["spec"]["metrics"]
    ]
    for name in ("polyvox_queue_depth", "polyvox_active_sessions"):
        assert name in query
        assert name in hpa
        assert f"# TYPE {name} gauge" in published
    assert "replicas" not in resources("cluster")["Deployment"]["spec"]


def test_prometheus_is_given_a_key_by_its_secret(resources):
    [endpoint] = resources("cluster")["ServiceMonitor"]["spec"]["endpoints"]
    assert endpoint["authorization"]["credentials"] == {"name": "polyvox", "key": "metrics-key"}
    [open_endpoint] = resources("everything")["ServiceMonitor"]["spec"]["endpoints"]
    assert "authorization" not in open_endpoint


def test_the_chart_and_the_image_mean_the_same_user_folders_and_port(resources):
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    found = resources("default")
    [container] = pod(found)["containers"]
    assert f"--uid {pod(found)['securityContext']['runAsUser']} " in dockerfile
    assert f"EXPOSE {container['ports'][0]['containerPort']}" in dockerfile
    for name in ("POLYVOX_DATA_DIR", "POLYVOX_MODELS_DIR"):
        assert f"{name}={variables(found)[name]}" in dockerfile
    for target in ("cpu", "cuda"):
        assert f" AS {target}\n" in dockerfile


def test_the_chart_has_the_version_of_the_package():
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    init = (ROOT / "src" / "polyvox" / "__init__.py").read_text()
    assert f'__version__ = "{chart["appVersion"]}"' in init


# --- KubeRay


@pytest.fixture(scope="module")
def ray_service():
    return yaml.safe_load(RAY_SERVICE.read_text(encoding="utf-8"))["spec"]


def test_the_ray_service_is_valid(results):
    [manifest] = results["manifests"]
    assert manifest["faults"] == []


def test_the_ray_service_deploys_what_polyvox_deploy_init_writes(ray_service):
    config = yaml.safe_load(ray_service["serveConfigV2"])
    written = yaml.safe_load(ray_yaml(Settings(host="0.0.0.0"), "ray.yaml"))
    assert config["http_options"] == written["http_options"]
    [application], [expected] = config["applications"], written["applications"]
    assert {key: value for key, value in application.items() if key != "args"} == {
        key: value for key, value in expected.items() if key != "args"
    }
    args = DeployArgs.model_validate(application["args"])
    assert set(args.engines) == set(args.settings["models"])
    settings_loader().given(**args.settings)


def test_the_ray_service_fits_its_ray_and_its_drain(ray_service):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    [requirement] = project["optional-dependencies"]["ray"]
    cluster = ray_service["rayClusterConfig"]
    assert f">={'.'.join(cluster['rayVersion'].split('.')[:2])}," in requirement
    assert cluster["authOptions"] == {"mode": "token"}
    drain = yaml.safe_load(ray_service["serveConfigV2"])["applications"][0]["args"]["settings"]["drain_seconds"]
    for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
        spec = group["template"]["spec"]
        assert spec["terminationGracePeriodSeconds"] >= drain + 10 + 15
        assert spec["securityContext"]["runAsNonRoot"]
