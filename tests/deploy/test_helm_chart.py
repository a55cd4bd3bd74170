"""The Helm chart renders what kustomize builds: by Helm where it is installed, and by hand, for the
few expressions that `tools.helm_chart` writes."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from tests.deploy.test_deploy import DEPLOY, setting_names
from tests.deploy.test_manifests import CUSTOM, NEWEST
from tools.helm_chart import CHART, KUBERNETES, SCALED, built, chart

Manifests = dict[tuple[str, str], dict[str, Any]]
REVISION = 1
NOTHING: dict[str, Any] = {}
WITH_ALL = {"keda": {"enabled": True}, "podMonitor": {"enabled": True}}
_IF = re.compile(r"^{{- if (not )?(\S+) }}\n(.*?)^{{- end }}\n", re.MULTILINE | re.DOTALL)
_SAID = re.compile(r"{{ (toJson )?(\S+?)(?: \| default (\S+))? }}")
needs_kubectl = pytest.mark.skipif(not shutil.which("kubectl"), reason="kubectl builds the base")


def by_helm(values: dict[str, Any], tmp_path: Path) -> str:
    helm = shutil.which("helm")
    if helm is None:
        pytest.skip("helm is not installed")
    (tmp_path / "values.yaml").write_text(json.dumps(values))
    command = [helm, "template", "release", str(CHART), "-f", str(tmp_path / "values.yaml")]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def by_hand(values: dict[str, Any], _folder: Path) -> str:
    given = merged(yaml.safe_load((CHART / "values.yaml").read_text()), values)
    scope = {"Values": given, "Release": {"Revision": REVISION}}

    def at(path: str) -> Any:
        found: Any = scope
        for name in path.removeprefix(".").split("."):
            found = found[name]
        return found

    def kept(block: re.Match[str]) -> str:
        return block[3] if bool(at(block[2])) != bool(block[1]) else ""

    def said(expression: re.Match[str]) -> str:
        found = at(expression[2]) or at(expression[3] or expression[2])
        return json.dumps(found) if expression[1] else str(found)

    every = [path.read_text() for path in sorted((CHART / "templates").glob("*.yaml"))]
    return "\n---\n".join(_SAID.sub(said, _IF.sub(kept, text)) for text in every)


def merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    both = {key: merged(base[key], over[key]) for key in base.keys() & over.keys()
            if isinstance(base[key], dict)}  # fmt: skip
    return {**base, **over, **both}


def manifests(text: str) -> Manifests:
    """By kind and name, without what is empty and the number of the release's revision."""
    found: Manifests = {}
    for one in yaml.safe_load_all(text):
        if one:
            one["metadata"]["name"] = one["metadata"]["name"].removesuffix(f"-{REVISION}")
            if not one.get("imagePullSecrets", True):
                del one["imagePullSecrets"]
            found[one["kind"], one["metadata"]["name"]] = one
    return found


def of_kustomize(folder: str) -> Manifests:
    return {(one["kind"], one["metadata"]["name"]): one for one in built(KUBERNETES / folder)}


Renders = Callable[[dict[str, Any], Path], str]
both = pytest.mark.parametrize("render", [by_helm, by_hand])


@needs_kubectl
def test_the_chart_is_what_the_base_makes_of_it():
    written = {str(path.relative_to(CHART)): path.read_text() for path in CHART.rglob("*.*")}
    assert written == chart(), "run `python -m tools.helm_chart`"


@needs_kubectl
@both
def test_a_release_without_values_is_the_base(render: Renders, tmp_path: Path):
    assert manifests(render(NOTHING, tmp_path)) == of_kustomize("base")


@needs_kubectl
@both
def test_a_release_with_scalers_and_a_monitor_is_the_example(render: Renders, tmp_path: Path):
    image = "registry.example.org/safepassage:0.1.0"
    found = manifests(render(WITH_ALL | {"image": image}, tmp_path))
    assert found == of_kustomize("overlays/example")
    for role in SCALED:
        assert "replicas" not in found["Deployment", role]["spec"]


@both
def test_values_reach_the_manifests(render: Renders, tmp_path: Path):
    given = {
        "image": "registry/safepassage:2",
        "imagePullSecrets": [{"name": "registry"}],
        "settings": {"SAFEPASSAGE_STRICT": "true", "SAFEPASSAGE_PARTITIONS": "48"},
        "roles": {"score": {"image": "registry/safepassage:2-gpu", "replicas": 5}},
        "volumes": {"console": {"storageClassName": "sealed"}},
        "namespaces": {"ingress": "front"},
        "keda": {"enabled": True},
    }
    text = render(given, tmp_path)
    found = manifests(text)
    (score,) = found["Deployment", "score"]["spec"]["template"]["spec"]["containers"]
    (align,) = found["Deployment", "align"]["spec"]["template"]["spec"]["containers"]
    assert (score["image"], align["image"]) == ("registry/safepassage:2-gpu", given["image"])
    assert found["ServiceAccount", "align"]["imagePullSecrets"] == given["imagePullSecrets"]
    settings = found["ConfigMap", "safepassage"]["data"]
    assert settings["SAFEPASSAGE_STRICT"] == "true"
    assert set(settings) <= setting_names()
    assert found["ScaledObject", "align"]["spec"]["maxReplicaCount"] == 48
    (console,) = found["StatefulSet", "review"]["spec"]["volumeClaimTemplates"]
    assert console["spec"]["storageClassName"] == "sealed"
    assert console["spec"]["accessModes"] == ["ReadWriteOnce"]
    assert "kubernetes.io/metadata.name: front" in text
    known = [one for (kind, _), one in found.items() if kind not in CUSTOM]
    for one in known:
        kubernetes_validate.validate(one, NEWEST, strict=True)


@pytest.mark.parametrize(
    "values",
    [
        {"setings": {}},
        {"roles": {"scorer": {}}},
        {"roles": {"score": {"replica": 2}}},
        {"settings": {"SAFEPASSAGE_PARTITIONS": 48}},
    ],
)
def test_misspelt_values_and_settings_that_are_no_text_are_refused(
    values: dict[str, Any], tmp_path
):
    import jsonschema

    schema = json.loads((DEPLOY / "helm/values.schema.json").read_text())
    jsonschema.validate(yaml.safe_load((CHART / "values.yaml").read_text()), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(values, schema)
    if shutil.which("helm"):
        with pytest.raises(subprocess.CalledProcessError):
            by_helm(values, tmp_path)
