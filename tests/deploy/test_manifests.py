"""Every Kubernetes manifest against Kubernetes' own schemas, as the package kubernetes-validate
carries them: each file of the base, and the overlays where kubectl is there to build them."""

from __future__ import annotations

import copy
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from safepassage.streams.doctor.acls import acl_commands
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ROLE_NAMES
from tests.deploy.test_deploy import BASE, DEPLOY, KEDA, kubernetes, load, metric_names

OLDEST, NEWEST = "1.28", "1.37"
OVERLAYS = sorted(path.parent for path in (DEPLOY / "kubernetes/overlays").glob("*/*.yaml"))
KUSTOMIZE = {"Kustomization", "Component"}
# Of KEDA and the Prometheus operator, of which no package carries schemas.
CUSTOM = {"ScaledObject", "TriggerAuthentication", "PodMonitor"}


def built(overlay: Path) -> list[dict[str, Any]]:
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        pytest.skip("kubectl is not installed, and builds the overlays")
    command = [kubectl, "kustomize", str(overlay)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    return list(yaml.safe_load_all(ended.stdout))


def refused(manifest: dict[str, Any], version: str) -> str | None:
    """What the schemas of ``version`` say against a manifest."""
    try:
        kubernetes_validate.validate(manifest, version, strict=True)
    except kubernetes_validate.ValidationError as error:
        return str(error)
    return None


# A patch says only what it changes.
WHOLE = sorted(path for path in BASE.glob("*.yaml") if not path.name.endswith(".patch.yaml"))


@pytest.mark.parametrize("path", WHOLE, ids=lambda p: p.name)
def test_every_file_of_the_base_is_of_the_schemas(path: Path):
    manifests = [m for m in load(path) if m["kind"] not in KUSTOMIZE]
    assert [why for m in manifests if (why := refused(m, NEWEST))] == []


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
@pytest.mark.parametrize("overlay", OVERLAYS, ids=lambda p: p.name)
def test_every_manifest_that_an_overlay_builds_is_of_the_schemas(overlay: Path, version: str):
    manifests = built(overlay)
    known = [m for m in manifests if m["kind"] not in CUSTOM]
    assert len(known) > 20
    found = {f"{m['kind']} {m['metadata']['name']}": refused(m, version) for m in known}
    assert {name: why for name, why in found.items() if why} == {}
    assert {m["kind"] for m in manifests} >= CUSTOM


def test_a_manifest_with_an_unknown_field_or_a_wrong_type_is_refused():
    (good,) = (d for d in kubernetes("Deployment") if d["metadata"]["name"] == "align")
    misspelt, mistyped = copy.deepcopy(good), copy.deepcopy(good)
    misspelt["spec"]["template"]["spec"]["containers"][0]["livenesProbe"] = {}
    mistyped["spec"]["replicas"] = "two"
    assert refused(good, NEWEST) is None
    assert "livenesProbe" in (refused(misspelt, NEWEST) or "")
    assert "two" in (refused(mistyped, NEWEST) or "")


def test_probes_ask_for_liveness_and_readiness_apart():
    workers = [m for m in built(OVERLAYS[0]) if m["kind"] in ("Deployment", "StatefulSet")]
    assert {m["metadata"]["name"] for m in workers} == set(ROLE_NAMES)
    for one in workers:
        (worker,) = one["spec"]["template"]["spec"]["containers"]
        asked = {probe: worker[probe]["httpGet"]["path"] for probe in worker if "Probe" in probe}
        assert asked == {
            "startupProbe": "/ready",
            "livenessProbe": "/health",
            "readinessProbe": "/ready",
        }


def pods() -> dict[str, dict[str, Any]]:
    """The pod of each role, and of the Job."""
    made = [d for kind in ("Deployment", "StatefulSet", "Job") for d in kubernetes(kind)]
    return {d["metadata"]["name"]: d["spec"]["template"]["spec"] for d in made}


def secrets(pod: dict[str, Any]) -> list[str]:
    sources = pod["containers"][0]["envFrom"]
    return [source["secretRef"]["name"] for source in sources if "secretRef" in source]


def test_each_role_has_an_account_a_principal_and_a_priority():
    accounts = {account["metadata"]["name"] for account in kubernetes("ServiceAccount")}
    priorities = {p["metadata"]["name"]: p["value"] for p in kubernetes("PriorityClass")}
    granted = set(re.findall(r"User:([\w-]+)", "\n".join(acl_commands(Settings()))))
    for name, pod in pods().items():
        role = "setup" if name == "topics" else name
        assert pod["serviceAccountName"] == role
        assert f"safepassage-{role}" in secrets(pod)
        assert f"safepassage-{role}" in granted  # the user that the secret logs in as has rights
        assert pod["priorityClassName"] in priorities
    assert accounts == {*ROLE_NAMES, "setup"}
    given = {name: priorities[pod["priorityClassName"]] for name, pod in pods().items()}
    learn = given.pop("learn")
    assert learn < min(given.values())


def test_the_scaler_has_a_principal_of_its_own():
    (login,) = kubernetes("TriggerAuthentication", KEDA)
    (name,) = {entry["name"] for entry in login["spec"]["secretTargetRef"]}
    commands = [line for line in acl_commands(Settings()) if f"User:{name}" in line]
    assert commands
    assert all(re.findall(r"--operation (\w+)", line) == ["Describe"] for line in commands)


def test_scalers_follow_the_age_of_the_oldest_record_of_their_role():
    for scaler in kubernetes("ScaledObject", KEDA):
        role = scaler["metadata"]["name"]
        (age,) = (t for t in scaler["spec"]["triggers"] if t["type"] == "prometheus")
        query = age["metadata"]["query"]
        assert f'role="{role}"' in query
        (metric,) = re.findall(r"safepassage_\w+", query)
        assert metric in metric_names()
        assert age["metricType"] == "Value"  # an age is no sum that workers share


# -- every variable that is set is a setting, and what a role needs is set --------------------


def made_by_the_readme() -> dict[str, set[str]]:
    """The keys of each Secret that deploy/README.md says to make."""
    text = (DEPLOY / "README.md").read_text().replace("\\\n", " ")
    found: dict[str, set[str]] = {}
    for line in text.splitlines():
        if made := re.search(r"create secret generic (\S+) (.*)", line):
            names = [made[1]]
            if made[1].endswith("$role"):
                loop = re.search(r"^for role in (.*); do$", text, re.MULTILINE)
                assert loop
                names = [made[1].replace("$role", role) for role in loop[1].split()]
            keys = set(re.findall(r"--from-literal=(\w+)=", made[2]))
            found |= dict.fromkeys(names, keys)
    return found


def variables(pod: dict[str, Any]) -> set[str]:
    (container,) = pod["containers"]
    own = {entry["name"] for entry in container.get("env", [])}
    (config,) = kubernetes("ConfigMap")
    made = made_by_the_readme()
    for source in container["envFrom"]:
        if "configMapRef" in source:
            own |= set(config["data"])
        else:
            own |= made[source["secretRef"]["name"]]
    return own


NEEDED = {"KAFKA_BOOTSTRAP_SERVERS", "REDIS_URL", "SAFEPASSAGE_PARTITIONS"}
LOGIN = {"SAFEPASSAGE_KAFKA_USERNAME", "SAFEPASSAGE_KAFKA_PASSWORD"}
OF_ROLE = {
    "extract": {"OPENAI_API_KEY"},
    "review": {
        "SAFEPASSAGE_CONSOLE_HOST",
        "SAFEPASSAGE_CONSOLE_STATE",
        "SAFEPASSAGE_CONSOLE_TOKEN",
    },
    "learn": {"SAFEPASSAGE_LEARN_FOLDER"},
}


def test_what_each_role_needs_is_set_and_no_secret_of_another():
    for name, pod in pods().items():
        given = variables(pod)
        assert given >= NEEDED | LOGIN | OF_ROLE.get(name, set()), name
    assert "OPENAI_API_KEY" not in variables(pods()["align"])
    assert "SAFEPASSAGE_CONSOLE_TOKEN" not in variables(pods()["score"])


def test_every_secret_that_is_used_is_made_and_every_one_made_is_used():
    used = {name for pod in pods().values() for name in secrets(pod)}
    (login,) = kubernetes("TriggerAuthentication", KEDA)
    used |= {entry["name"] for entry in login["spec"]["secretTargetRef"]}
    assert used == set(made_by_the_readme())
