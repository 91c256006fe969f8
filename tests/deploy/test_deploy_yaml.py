"""The ray.yaml that `polyvox deploy init` writes."""

from dataclasses import replace

import yaml

from helpers.fakes import tone_settings, tone_spec
from polyvox.deploy.plan import ClusterResources, DeployArgs, plans_for
from polyvox.deploy.ray_yaml import ray_yaml
from polyvox.engines.catalog import Catalog


def args_in(text):
    [application] = yaml.safe_load(text)["applications"]
    return DeployArgs.model_validate(application["args"])


def test_the_file_says_what_the_settings_say():
    settings = tone_settings(
        models=["tone", "flute"], host="10.0.0.1", port=9998, ray_max_replicas=7, ray_gpus=0.25, drain_seconds=12
    )
    text = ray_yaml(settings, "ray.yaml")
    assert yaml.safe_load(text)["http_options"] == {"host": "10.0.0.1", "port": 9998, "request_timeout_s": 660}
    args = args_in(text)
    flute = replace(tone_spec(), family="flute", models={"flute": tone_spec().models["tone"]})
    catalog = Catalog((tone_spec(), flute))
    assert args.settings["models"] == ["tone", "flute"]
    assert args.settings["drain_seconds"] == 12
    assert plans_for(settings, args.engines, ClusterResources(cpus=8), catalog) == plans_for(
        settings, {}, ClusterResources(cpus=8), catalog
    )


def test_gpus_are_left_to_the_cluster_unless_set():
    args = args_in(ray_yaml(tone_settings(), "ray.yaml"))
    assert args.engines["tone"].gpus is None


def test_every_setting_in_the_file_is_one():
    args = args_in(ray_yaml(tone_settings(), "ray.yaml"))
    assert set(args.settings) <= set(type(tone_settings()).model_fields)


def test_no_key_is_written_into_the_file():
    assert "sesame" not in ray_yaml(tone_settings(api_keys=["sesame"]), "ray.yaml")
