"""Writes the Helm chart in ``deploy/helm`` from the kustomize base and its components.

    python -m tools.helm_chart

The manifests under ``deploy/kubernetes`` are the one source. ``kubectl kustomize`` builds them, and
what people set becomes a value of the chart. ``tests/deploy/test_helm_chart.py`` compares what the
chart renders with what kustomize builds.
"""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml

from tools.blocks import ROOT

KUBERNETES = ROOT / "deploy/kubernetes"
CHART = ROOT / "deploy/helm"
SOURCE = "# Made by `python -m tools.helm_chart` from deploy/kubernetes: change it there.\n"
KEDA, OPERATOR = "keda.sh/", "monitoring.coreos.com/"
SCALED = frozenset({"extract", "align", "score"})
"""The roles whose replicas are KEDA's, where it is enabled."""
_EXPRESSION = re.compile(r"""(?P<quote>["']?)<<(?P<said>.*?)>>(?P=quote)""")
_REPLICAS = re.compile(r"^  replicas: .*roles\.(\w+)\.replicas.*\n", re.MULTILINE)

Manifest = dict[str, Any]


def main() -> None:
    """Write every file of the chart."""
    for path, text in chart().items():
        (CHART / path).parent.mkdir(parents=True, exist_ok=True)
        (CHART / path).write_text(text)
    print(f"wrote {CHART}")  # noqa: T201 (a command for people)


def chart() -> dict[str, str]:
    """The text of each file of the chart by its path in it.

    Raises:
        subprocess.CalledProcessError: kustomize cannot build the manifests.
    """
    base = built(KUBERNETES / "base")
    more = built(KUBERNETES / "overlays/example")
    values: dict[str, Any] = {"image": "", "imagePullSecrets": [], "settings": {}, "roles": {}}
    values |= {"volumes": {}, "namespaces": {}}
    for one in base:
        _parametrise(one, values)
    scalers = [one for one in more if one["apiVersion"].startswith(KEDA)]
    monitors = [one for one in more if one["apiVersion"].startswith(OPERATOR)]
    values["keda"] = {"enabled": False, "prometheus": _prometheus(scalers)}
    values["podMonitor"] = {"enabled": False}
    return {
        "Chart.yaml": _chart_file(),
        "values.yaml": SOURCE + yaml.safe_dump(values, sort_keys=False),
        "values.schema.json": json.dumps(_schema(values), indent=2) + "\n",
        "templates/safepassage.yaml": SOURCE + _template(base),
        "templates/keda.yaml": SOURCE + _only_if("keda", _template(scalers)),
        "templates/podmonitor.yaml": SOURCE + _only_if("podMonitor", _template(monitors)),
    }


def built(folder: Path) -> list[Manifest]:
    """The manifests of a kustomization, without their namespace, which a release gives them."""
    command = ["kubectl", "kustomize", str(folder)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    every = [one for one in yaml.safe_load_all(ended.stdout) if one["kind"] != "Namespace"]
    for one in every:
        one["metadata"].pop("namespace", None)
    return every


def _parametrise(one: Manifest, values: dict[str, Any]) -> None:
    """Put expressions in the place of what people set, and what was there into ``values``."""
    name, kind = one["metadata"]["name"], one["kind"]
    if kind == "ConfigMap":
        values["settings"] = one["data"]
        one["data"] = "<<toJson .Values.settings>>"
    elif kind == "ServiceAccount":
        one["imagePullSecrets"] = "<<toJson .Values.imagePullSecrets>>"
    elif kind == "PersistentVolumeClaim":
        values["volumes"][name] = one["spec"]
        one["spec"] = f"<<toJson .Values.volumes.{name}>>"
    elif kind == "NetworkPolicy":
        _of_namespaces(one, values["namespaces"])
    elif kind in ("Deployment", "StatefulSet", "Job"):
        _parametrise_pods(one, name, values)


def _parametrise_pods(one: Manifest, name: str, values: dict[str, Any]) -> None:
    (container,) = one["spec"]["template"]["spec"]["containers"]
    own: dict[str, Any] = {"resources": container["resources"]}
    container["resources"] = f"<<toJson .Values.roles.{name}.resources>>"
    values["image"] = container["image"]
    container["image"] = "<<.Values.image>>"
    if name == "score":  # the one whose image differs on a GPU
        own["image"] = ""
        container["image"] = "<<.Values.roles.score.image | default .Values.image>>"
    if "replicas" in one["spec"]:
        own = {"replicas": one["spec"]["replicas"]} | own
        one["spec"]["replicas"] = f"<<.Values.roles.{name}.replicas>>"
    for claim in one["spec"].get("volumeClaimTemplates", ()):
        held = claim["metadata"]["name"]
        values["volumes"][held] = claim["spec"]
        claim["spec"] = f"<<toJson .Values.volumes.{held}>>"
    if one["kind"] == "Job":  # a Job cannot be changed: each revision of the release has its own
        one["metadata"]["name"] = f"{name}-<<.Release.Revision>>"
    values["roles"][name] = own


def _of_namespaces(policy: Manifest, values: dict[str, str]) -> None:
    """The namespaces that may ask the pods, by what they are for."""
    for rule in policy["spec"].get("ingress", ()):
        for peer in rule["from"]:
            labels = peer["namespaceSelector"]["matchLabels"]
            named = labels["kubernetes.io/metadata.name"]
            values[named] = named
            labels["kubernetes.io/metadata.name"] = f"<<.Values.namespaces.{named}>>"


def _prometheus(scalers: Iterable[Manifest]) -> str:
    """The address of Prometheus that the scalers ask, which becomes a value. A role has at most as
    many workers as there are partitions, which is a setting."""
    found = ""
    for one in scalers:
        if "maxReplicaCount" in one["spec"]:
            one["spec"]["maxReplicaCount"] = "<<.Values.settings.SAFEPASSAGE_PARTITIONS>>"
        for trigger in one["spec"].get("triggers", ()):
            if "serverAddress" in trigger["metadata"]:
                found = trigger["metadata"]["serverAddress"]
                trigger["metadata"]["serverAddress"] = "<<.Values.keda.prometheus>>"
    return found


def _template(manifests: Sequence[Manifest]) -> str:
    text = yaml.safe_dump_all(manifests, sort_keys=False, width=10_000)
    if "{{" in text:
        raise ValueError("a manifest holds what Helm would take for an expression")
    return _REPLICAS.sub(_unless_scaled, _EXPRESSION.sub(r"{{ \g<said> }}", text))


def _unless_scaled(replicas: re.Match[str]) -> str:
    if replicas[1] not in SCALED:
        return replicas[0]
    return "{{- if not .Values.keda.enabled }}\n" + replicas[0] + "{{- end }}\n"


def _only_if(value: str, text: str) -> str:
    return f"{{{{- if .Values.{value}.enabled }}}}\n{text}{{{{- end }}}}\n"


def _chart_file() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    said = {"apiVersion": "v2", "name": "safepassage", "description": project["description"]}
    said |= {"type": "application", "version": project["version"]}
    return SOURCE + yaml.safe_dump(said | {"appVersion": project["version"]}, sort_keys=False)


def _schema(values: dict[str, Any]) -> dict[str, Any]:
    """A JSON schema that refuses misspelt values, and settings that are not text."""
    top = {name: _kind(value) for name, value in values.items()}
    top["settings"] = {"type": "object", "additionalProperties": {"type": "string"}}
    for name in ("roles", "namespaces", "keda", "podMonitor"):
        top[name] = _closed({key: _kind(value) for key, value in values[name].items()})
    for name, role in values["roles"].items():
        top["roles"]["properties"][name] = _closed({k: _kind(v) for k, v in role.items()})
    return {"$schema": "https://json-schema.org/draft-07/schema#", **_closed(top)}


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    # Helm merges the chart's own ``global`` into every set of values.
    extra = {"global": {"type": "object"}} if "roles" in properties else {}
    return {"type": "object", "additionalProperties": False, "properties": properties | extra}


def _kind(value: object) -> dict[str, Any]:
    kinds = {bool: "boolean", int: "integer", str: "string", list: "array", dict: "object"}
    return {"type": kinds[type(value)]}


if __name__ == "__main__":
    main()
