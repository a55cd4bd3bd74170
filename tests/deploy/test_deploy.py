"""What `deploy/` says is true of the code: settings, metrics, roles, images.

No container engine runs here: these are checks of what is written, not of what it does.
"""

import json
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import REGISTRY
from pydantic import AliasChoices

import safepassage.service.metrics
import safepassage.streams.runtime.metrics  # noqa: F401 - registers the metrics
from safepassage.streams.settings import Settings
from safepassage.streams.topics import READ_BY, ROLE_NAMES

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
# What Helm renders is no YAML before.
YAML_FILES = sorted(p for p in DEPLOY.rglob("*.yaml") if p.parent.name != "templates")
DASHBOARD = DEPLOY / "grafana" / "dashboards" / "safepassage.json"
RULES = DEPLOY / "prometheus" / "rules.yaml"
COMPOSE = DEPLOY / "compose.yaml"
BASE = DEPLOY / "kubernetes" / "base"
KEDA = DEPLOY / "kubernetes" / "components" / "keda"


@cache
def load(path: Path) -> tuple[Any, ...]:
    return tuple(yaml.safe_load_all(path.read_text()))


def kubernetes(kind: str, folder: Path = BASE) -> list[dict[str, Any]]:
    found = [d for path in sorted(folder.glob("*.yaml")) for d in load(path)]
    return [d for d in found if d["kind"] == kind and d["metadata"]["name"] != "every-worker"]


def services() -> dict[str, Any]:
    return load(COMPOSE)[0]["services"]


def roles_run(command: list[str]) -> list[str]:
    if command[:1] != ["worker"]:
        return []
    return [part for part in command[1:] if not part.startswith("--")]


def setting_names() -> set[str]:
    names = set()
    for name, field in Settings.model_fields.items():
        alias = field.validation_alias
        if isinstance(alias, AliasChoices):
            names |= {choice for choice in alias.choices if isinstance(choice, str)}
        else:
            names.add(f"SAFEPASSAGE_{name.upper()}")
    return names


def metric_names() -> set[str]:
    families = [f for f in REGISTRY.collect() if f.name.startswith("safepassage_")]
    suffixes = {"counter": ["_total"], "gauge": [""], "histogram": ["_bucket", "_sum", "_count"]}
    return {family.name + suffix for family in families for suffix in suffixes[family.type]}


def every_file() -> list[Path]:
    return [p for p in sorted(DEPLOY.rglob("*")) if p.is_file() and "__pycache__" not in p.parts]


@pytest.mark.parametrize("path", YAML_FILES, ids=lambda p: str(p.relative_to(DEPLOY)))
def test_yaml_parses_and_is_not_empty(path: Path):
    assert all(document for document in load(path))


def test_the_dashboard_parses_and_its_panels_are_distinct():
    panels = json.loads(DASHBOARD.read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert all(target["expr"] for panel in panels for target in panel["targets"])


def test_every_setting_named_in_deploy_exists():
    text = "\n".join(path.read_text() for path in every_file())
    named = set(re.findall(r"\bSAFEPASSAGE_[A-Z0-9_]+\b", text))
    assert named
    assert named <= setting_names()


@pytest.mark.parametrize("path", [DASHBOARD, RULES], ids=lambda p: p.name)
def test_every_metric_named_exists(path: Path):
    named = set(re.findall(r"\bsafepassage_[a-z_]+\b", path.read_text()))
    assert named
    assert named <= metric_names()


def test_every_metric_is_on_the_dashboard():
    shown = DASHBOARD.read_text()
    families = {f.name for f in REGISTRY.collect() if f.name.startswith("safepassage_")}
    assert [name for name in families if name not in shown] == []


def test_compose_runs_every_role_and_no_other():
    run = {role for s in services().values() for role in roles_run(s.get("command", []))}
    assert run == set(ROLE_NAMES)


def test_kubernetes_runs_every_role_under_its_name():
    workers = {
        d["metadata"]["name"]: d["spec"]["template"]["spec"]["containers"][0]["args"]
        for d in kubernetes("Deployment") + kubernetes("StatefulSet")
    }
    assert {name: roles_run(args) for name, args in workers.items()} == {
        role: [role] for role in ROLE_NAMES
    }


def test_no_deployment_runs_with_report_what_has_workers_of_its_own():
    commands = [s.get("command", []) for s in services().values()]
    commands += [
        d["spec"]["template"]["spec"]["containers"][0]["args"] for d in kubernetes("Deployment")
    ]
    of_report = [command for command in commands if "report" in roles_run(command)]
    assert of_report == [["worker", "report", "--alone"]] * 2


def test_every_role_has_a_disruption_budget():
    budgets = {
        d["spec"]["selector"]["matchLabels"]["app.kubernetes.io/component"]
        for d in kubernetes("PodDisruptionBudget")
    }
    assert budgets == set(ROLE_NAMES)


def test_scalers_watch_the_topics_of_their_role_and_stop_at_the_partitions():
    partitions = int(kubernetes("ConfigMap")[0]["data"]["SAFEPASSAGE_PARTITIONS"])
    scalers = kubernetes("ScaledObject", KEDA)
    assert {s["metadata"]["name"] for s in scalers} == {"extract", "align", "score"}
    for scaler in scalers:
        role = scaler["metadata"]["name"]
        assert scaler["spec"]["maxReplicaCount"] == partitions
        triggers = [t for t in scaler["spec"]["triggers"] if t["type"] == "kafka"]
        watched = {trigger["metadata"]["topic"] for trigger in triggers}
        assert watched == {topic.name for topic in READ_BY[role]}
        groups = {trigger["metadata"]["consumerGroup"] for trigger in triggers}
        assert groups == {Settings().group(role)}


def test_every_resource_file_is_listed_in_its_kustomization():
    for folder in (BASE, KEDA, DEPLOY / "kubernetes" / "components" / "prometheus-operator"):
        kustomization = load(folder / "kustomization.yaml")[0]
        listed = {*kustomization["resources"], "kustomization.yaml"}
        listed |= {p["path"] for p in kustomization.get("patches", []) if "path" in p}
        assert {path.name for path in folder.glob("*.yaml")} == listed


def test_images_are_pinned():
    text = "\n".join(path.read_text() for path in every_file())
    images = re.findall(r"^\s*(?:-\s+)?(?:image|FROM):?\s+(\S+)", text, re.MULTILINE)
    images += [s["image"] for s in services().values()]
    assert images
    fixed = [i for i in images if i not in ("{{", "''")]  # the chart's values say which
    assert [i for i in fixed if ":" not in i or i.endswith(":latest")] == []


@pytest.mark.parametrize("name", services())
def test_what_compose_sets_is_a_setting_with_a_value_that_is_allowed(
    name: str, monkeypatch: pytest.MonkeyPatch
):
    service = services()[name]
    if not service["image"].startswith("safepassage:"):
        return
    given = service.get("environment", {})
    assert set(given) <= setting_names()
    for variable, value in given.items():
        monkeypatch.setenv(variable, "given-here" if value is None else value)
    monkeypatch.setenv("SAFEPASSAGE_SCORER", "default")
    Settings()  # refuses a value that is not allowed
    if roles_run(service["command"]):
        assert {"KAFKA_BOOTSTRAP_SERVERS", "REDIS_URL", "SAFEPASSAGE_PARTITIONS"} <= set(given)
    if "extract" in roles_run(service["command"]):
        assert {"OPENAI_BASE_URL", "OPENAI_API_KEY", "SAFEPASSAGE_MODEL"} <= set(given)


def test_the_config_map_holds_settings_with_values_that_are_allowed(
    monkeypatch: pytest.MonkeyPatch,
):
    data = kubernetes("ConfigMap")[0]["data"]
    assert set(data) <= setting_names()
    for variable, value in data.items():
        monkeypatch.setenv(variable, value)
    assert Settings().kafka_security_protocol == "SASL_SSL"


def test_the_image_runs_as_a_user_without_rights_and_tells_its_health():
    final_stage = (DEPLOY / "Dockerfile").read_text().split(" AS run")[-1]
    user = re.search(r"^USER (\d+):(\d+)$", final_stage, re.MULTILINE)
    assert user
    assert int(user[1]) > 0
    assert int(user[2]) > 0
    assert "HEALTHCHECK" in final_stage
    assert "/ready" in final_stage


def test_kubernetes_workers_run_without_root_or_capabilities_and_are_probed():
    (patch,) = (d for d in load(BASE / "worker.patch.yaml") if d["kind"] == "Deployment")
    pod = patch["spec"]["template"]["spec"]
    (worker,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert worker["securityContext"]["allowPrivilegeEscalation"] is False
    assert worker["securityContext"]["readOnlyRootFilesystem"] is True
    assert worker["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert worker["livenessProbe"]["httpGet"]["path"] == "/health"


def test_a_worker_has_time_to_drain_before_it_is_killed():
    data = kubernetes("ConfigMap")[0]["data"]
    drain = float(data["SAFEPASSAGE_DRAIN_SECONDS"])
    pod = load(BASE / "worker.patch.yaml")[0]["spec"]["template"]["spec"]
    assert pod["terminationGracePeriodSeconds"] > 2 * drain


def test_no_secret_has_a_value_in_the_repository():
    assert [d for path in YAML_FILES for d in load(path) if d.get("kind") == "Secret"] == []
    secrets = {"OPENAI_API_KEY", "SAFEPASSAGE_CONSOLE_TOKEN", "SAFEPASSAGE_KAFKA_PASSWORD"}
    for name, service in services().items():
        given = {k: v for k, v in service.get("environment", {}).items() if k in secrets}
        assert all(value is None or "recorded" in name for value in given.values())


def test_nothing_is_published_beyond_this_machine():
    ports = [port for service in services().values() for port in service.get("ports", [])]
    assert ports
    assert [port for port in ports if not port.startswith("127.0.0.1:")] == []


def test_the_image_is_built_from_everything_that_is_installed():
    """What is not copied into the build, or not package data, is missing in the image only."""
    project = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text())
    setuptools = project["tool"]["setuptools"]
    root = DEPLOY.parent / "safepassage"
    rooms = ["safepassage", *(link.name for link in root.iterdir() if link.is_symlink())]
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    assert [room for room in rooms if f"COPY {room} {room}\n" not in dockerfile] == []
    carried = [*setuptools["package-data"]["*"], "*.py"]
    files = [path for room in rooms for path in (DEPLOY.parent / room).rglob("*") if path.is_file()]
    files = [path for path in files if "__pycache__" not in path.parts]
    assert files
    assert [str(path) for path in files if not any(map(path.match, carried))] == []


def test_each_review_console_keeps_its_index_on_a_volume_of_its_own():
    (review,) = kubernetes("StatefulSet")
    (worker,) = review["spec"]["template"]["spec"]["containers"]
    (claim,) = review["spec"]["volumeClaimTemplates"]
    mounted = {mount["name"]: mount["mountPath"] for mount in worker["volumeMounts"]}
    given = {entry["name"]: entry["value"] for entry in worker["env"]}
    own = services()["review"]
    kept = given["SAFEPASSAGE_CONSOLE_STATE"]
    assert mounted[claim["metadata"]["name"]] == kept
    assert claim["spec"]["accessModes"] == ["ReadWriteOnce"]
    assert own["environment"]["SAFEPASSAGE_CONSOLE_STATE"] == kept
    assert [v for v in own["volumes"] if v.split(":")[1] == kept]
    assert own["deploy"]["replicas"] == 1, "several containers would share the volume"
    assert f"install -d -o 10001 -g 10001 {kept} " in (DEPLOY / "Dockerfile").read_text()
