"""TLS, logins, secrets and untrusted files: what an attacker in between or outside can do."""

from __future__ import annotations

import ast
import asyncio
import gc
import shutil
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError
from redis.asyncio import Redis
from redis.exceptions import RedisError

from safepassage.streams.agent_factory import redis_client
from safepassage.streams.demo.embedded import free_port
from safepassage.streams.doctor import examination as doctor
from safepassage.streams.doctor.services import Diagnosis
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.clients import token_provider
from safepassage.streams.runtime.errors import OperatorError
from safepassage.streams.settings import Settings
from safepassage.streams.topics import MANIFESTS

from .broker import all_records, batch_source, faust_source, running, send_documents
from .doubles import document_role
from .front import BEARER, Certificates, listening, make_certificates, secured_broker

ROOT = Path(__file__).parents[2]
ROOMS = ("schemas", "agents", "scoring_worker", "streams")
SECRET = "marker-secret-8d1f"
LOGIN = ("ada", SECRET)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


async def diagnosed(settings: Settings) -> Diagnosis:
    """What the doctor says of the broker.

    aiokafka 0.14 leaves the connection open whose login or first request fails: it ends here.
    """
    diagnosis = await doctor.check_broker(settings)
    for left in gc.get_objects():
        if isinstance(left, asyncio.Transport):
            left.abort()
    await asyncio.sleep(0.05)
    return diagnosis


def reaching(kafka: Settings, address: str, **changes: object) -> Settings:
    """The embedded broker of a test's own, whatever the session's is."""
    changes |= {"kafka_bootstrap_servers": address, "kafka_idempotence": False}
    return kafka.model_copy(update=changes)


async def delivered(settings: Settings, new_source) -> set[bytes | None]:
    """Send three documents through a role, and read what came out."""
    await create_topics(settings)
    await send_documents(settings, ["a", "b", "c"])
    async with running(new_source, document_role(), settings):
        async with asyncio.timeout(60):
            while len(records := await all_records(settings, MANIFESTS)) < 3:  # noqa: ASYNC110
                await asyncio.sleep(0.1)
    return {record.key for record in records}


@pytest.mark.parametrize("new_source", [faust_source, batch_source])
async def test_kafka_over_tls_with_a_login(kafka: Settings, certificates, new_source):
    async with secured_broker(certificates.server_context(), LOGIN) as address:
        settings = reaching(
            kafka,
            address,
            kafka_security_protocol="SASL_SSL",
            kafka_ca_file=str(certificates.authority),
            kafka_username="ada",
            kafka_password=SecretStr(SECRET),
        )
        assert await delivered(settings, new_source) == {b"a", b"b", b"c"}


async def test_kafka_over_mutual_tls(kafka: Settings, certificates):
    async with secured_broker(certificates.server_context(mutual=True), None) as address:
        settings = reaching(
            kafka,
            address,
            kafka_security_protocol="SSL",
            kafka_ca_file=str(certificates.authority),
            kafka_certificate_file=str(certificates.certificate),
            kafka_key_file=str(certificates.key),
        )
        assert await delivered(settings, batch_source) == {b"a", b"b", b"c"}


async def test_broker_with_a_certificate_of_another_authority_is_not_trusted(
    kafka: Settings, certificates, tmp_path
):
    stranger = make_certificates(tmp_path / "stranger")
    async with secured_broker(stranger.server_context(), None) as address:
        settings = reaching(
            kafka,
            address,
            kafka_security_protocol="SSL",
            kafka_ca_file=str(certificates.authority),
        )
        diagnosis = await diagnosed(settings)
    assert diagnosis.state == "failed"
    assert "TLS fails" in diagnosis.found
    assert "SAFEPASSAGE_KAFKA_CA_FILE" in diagnosis.remedy


@pytest.mark.parametrize("password", ["wrong-" + SECRET, None])
async def test_wrong_password_is_refused_and_not_told(kafka: Settings, password: str | None):
    async with secured_broker(None, LOGIN) as address:
        settings = reaching(
            kafka,
            address,
            kafka_security_protocol="SASL_PLAINTEXT",
            kafka_username="ada",
            kafka_password=SecretStr(password or ""),
        )
        diagnosis = await diagnosed(settings)
    assert diagnosis.state == "failed"
    assert ("refuses the login" in diagnosis.found) is bool(password)  # none: the client refuses
    assert "SAFEPASSAGE_KAFKA_USERNAME" in diagnosis.remedy
    assert SECRET not in repr(diagnosis)


@pytest.mark.parametrize(
    ("new_source", "made"),
    [(faust_source, "'{}'"), (batch_source, "('{}', 1_900_000_000_000)")],
)
async def test_a_token_of_the_users_function_logs_in(
    kafka: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, new_source, made: str
):
    """Its expiry may come with it, as the signers for MSK give both."""
    monkeypatch.chdir(tmp_path)
    module = f"tokens_{len(made)}"
    (tmp_path / f"{module}.py").write_text(f"def make():\n    return {made.format(SECRET)}\n")
    async with secured_broker(None, (BEARER, SECRET)) as address:
        settings = reaching(
            kafka,
            address,
            kafka_security_protocol="SASL_PLAINTEXT",
            kafka_sasl_mechanism=BEARER,
            kafka_token_provider=f"{module}:make",
        )
        assert await delivered(settings, new_source) == {b"a", b"b", b"c"}


@pytest.mark.parametrize(
    ("named", "why"),
    [(None, "needs SAFEPASSAGE_KAFKA_TOKEN_PROVIDER"), ("nowhere:make", "ModuleNotFoundError")],
)
def test_without_a_function_for_tokens_it_is_said(named: str | None, why: str):
    settings = Settings(kafka_sasl_mechanism=BEARER, kafka_token_provider=named)
    with pytest.raises(OperatorError, match=why):
        token_provider(settings)


async def test_client_without_a_login_is_let_nowhere(kafka: Settings, monkeypatch):
    monkeypatch.setattr(doctor, "PATIENCE_SECONDS", 5.0)
    async with secured_broker(None, LOGIN) as address:
        diagnosis = await diagnosed(reaching(kafka, address))
    assert diagnosis.state == "failed"


async def test_redis_over_tls_with_a_password(kafka: Settings, certificates):
    """The embedded Valkey knows no TLS: it is ended before it."""
    inner = kafka.redis_url.get_secret_value().removeprefix("redis://").removesuffix("/0")
    port = free_port()
    async with listening(port, inner, certificates.server_context()):
        trusted = redis_settings(kafka, f"rediss://localhost:{port}/0", certificates.authority)
        async with redis_client(trusted) as client:
            assert await client.ping()
        strange = redis_settings(kafka, f"rediss://localhost:{port}/0", None)
        (diagnosis,) = await doctor.check_redis(strange)
        assert diagnosis.state == "failed"
        assert "SAFEPASSAGE_REDIS_CA_FILE" in diagnosis.remedy


@pytest.mark.skipif(not shutil.which("redis-server"), reason="no redis-server with TLS here")
async def test_redis_server_with_tls_and_password(kafka: Settings, certificates):
    async with tls_redis(certificates) as port:
        url = f"rediss://:{SECRET}@localhost:{port}/0"
        async with redis_client(redis_settings(kafka, url, certificates.authority)) as client:
            assert await client.set("key", b"value")
        for refused in (f"rediss://:wrong@localhost:{port}/0", f"rediss://localhost:{port}/0"):
            settings = redis_settings(kafka, refused, certificates.authority)
            (diagnosis,) = await doctor.check_redis(settings)
            assert "password" in diagnosis.found


def redis_settings(kafka: Settings, url: str, authority: Path | None) -> Settings:
    ca_file = str(authority) if authority else None
    return kafka.model_copy(update={"redis_url": SecretStr(url), "redis_ca_file": ca_file})


@asynccontextmanager
async def tls_redis(certificates: Certificates):
    """A redis-server that speaks nothing but TLS; yields its port."""
    port = free_port()
    options = {
        "port": "0",
        "tls-port": str(port),
        "tls-cert-file": str(certificates.certificate),
        "tls-key-file": str(certificates.key),
        "tls-ca-cert-file": str(certificates.authority),
        "tls-auth-clients": "no",
        "requirepass": SECRET,
        "save": "",
    }
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    process = await asyncio.create_subprocess_exec(
        "redis-server", *words, stdout=asyncio.subprocess.DEVNULL
    )
    try:
        async with asyncio.timeout(20):
            while not await answers(port, certificates):  # noqa: ASYNC110 - it asks
                await asyncio.sleep(0.05)
        yield port
    finally:
        process.terminate()
        await process.wait()


async def answers(port: int, certificates: Certificates) -> bool:
    url = f"rediss://:{SECRET}@localhost:{port}/0"
    try:
        async with Redis.from_url(url, ssl_ca_certs=str(certificates.authority)) as client:
            return await client.ping()
    except (OSError, RedisError):
        return False


SECRETS = {
    "SAFEPASSAGE_KAFKA_USERNAME": "ada",
    "SAFEPASSAGE_KAFKA_PASSWORD": SECRET,
    "OPENAI_API_KEY": SECRET,
    "SAFEPASSAGE_CONSOLE_TOKEN": SECRET,
    "SAFEPASSAGE_LOG_LEVEL": "debug",
    "SAFEPASSAGE_SCORER": "/nowhere",
}


@pytest.mark.parametrize(
    "arguments", [["doctor"], ["worker", "align"], ["verdicts"], ["scorers"]], ids=lambda a: a[0]
)
async def test_no_command_prints_a_secret(arguments: list[str]):
    """Every server is missing, so that every error path speaks, at debug level."""
    nowhere = f"127.0.0.1:{free_port()}"
    environment = SECRETS | {
        "PATH": "",
        "KAFKA_BOOTSTRAP_SERVERS": nowhere,
        "SAFEPASSAGE_KAFKA_SECURITY_PROTOCOL": "SASL_PLAINTEXT",
        "REDIS_URL": f"redis://:{SECRET}@{nowhere}/0",
        "OPENAI_BASE_URL": f"http://user:{SECRET}@{nowhere}/v1",
    }
    ended = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "safepassage", *arguments],
        env=environment,
        capture_output=True,
        check=False,
        text=True,
        timeout=400,
        cwd=ROOT,
    )
    assert ended.returncode == 1
    assert nowhere.rpartition(":")[2] in ended.stdout + ended.stderr
    assert SECRET not in ended.stdout + ended.stderr


@pytest.mark.parametrize(
    "arguments", [["verdicts"], ["worker", "align"], ["doctor"]], ids=lambda a: a[0]
)
async def test_a_wrong_password_is_said_to_be_one_and_no_secret_is(arguments: list[str]):
    async with secured_broker(None, ("ada", "right")) as address:
        environment = SECRETS | {
            "PATH": "",
            "KAFKA_BOOTSTRAP_SERVERS": address,
            "SAFEPASSAGE_KAFKA_SECURITY_PROTOCOL": "SASL_PLAINTEXT",
            "REDIS_URL": f"redis://:{SECRET}@127.0.0.1:1/0",
        }
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "safepassage", *arguments),
            env=environment,
            cwd=ROOT,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await process.communicate()
    assert process.returncode == 1
    assert SECRET.encode() not in output
    assert b"refuses the login" in output
    assert b"SAFEPASSAGE_KAFKA_USERNAME, _PASSWORD and" in output
    assert b"KAFKA_BOOTSTRAP_SERVERS" not in output


def test_settings_tell_no_secret():
    settings = Settings(
        kafka_password=SecretStr(SECRET),
        redis_url=SecretStr(f"redis://:{SECRET}@h/0"),
        openai_api_key=SecretStr(SECRET),
        console_token=SecretStr(SECRET),
    )
    assert SECRET not in repr(settings) + str(settings) + settings.model_dump_json()


def test_setting_that_is_wrong_is_not_quoted(monkeypatch):
    monkeypatch.setenv("SAFEPASSAGE_PARTITIONS", SECRET)
    with pytest.raises(ValidationError) as raised:
        Settings()
    assert SECRET not in str(raised.value)


FORBIDDEN_MODULES = {"pickle", "cPickle", "dill", "joblib", "marshal", "shelve", "cloudpickle"}
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__"}


def python_files() -> list[Path]:
    return [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]


@pytest.mark.parametrize("path", python_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_is_unpickled_and_no_text_is_run(path: Path):
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Import(names=names):
                assert not FORBIDDEN_MODULES & {name.name.split(".")[0] for name in names}
            case ast.ImportFrom(module=str(module)):
                assert module.split(".")[0] not in FORBIDDEN_MODULES
            case ast.Call(func=ast.Name(id=name)):
                assert name not in FORBIDDEN_CALLS
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="torch"), attr="load"), keywords=given
            ):
                told = {one.arg: one.value for one in given}
                assert getattr(told.get("weights_only"), "value", None) is True
            case ast.keyword(arg="trust_remote_code" | "allow_pickle" | "shell", value=value):
                assert isinstance(value, ast.Constant)
                assert value.value is False


def test_the_search_for_forbidden_calls_would_find_one(tmp_path):
    dirty = tmp_path / "dirty.py"
    for line in (
        "import pickle",
        "from joblib import load",
        "eval('1')",
        "f(shell=True)",
        "torch.load(p)",
    ):
        dirty.write_text(line)
        with pytest.raises(AssertionError):
            test_nothing_is_unpickled_and_no_text_is_run(dirty)
