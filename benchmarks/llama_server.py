"""An LLM of a GGUF file behind the OpenAI API, on the loopback interface, with one slot.

    pip install xllamacpp
    python benchmarks/llama_server.py model.gguf --port 8099 --threads 1

It needs nothing of this project. Any llama.cpp server does the same: `llama-server -m model.gguf
-np 1 -t 1 --port 8099`.
"""

import argparse
import signal

import xllamacpp  # type: ignore[import-not-found, unused-ignore]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--port", type=int, default=8099)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--context", type=int, default=8192)
    given = parser.parse_args()
    params = xllamacpp.CommonParams()
    params.model.path = given.model
    params.n_ctx, params.n_parallel = given.context, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = given.threads
    params.n_batch = params.n_ubatch = 128  # tells how far it is every few seconds
    params.endpoint_props = params.endpoint_metrics = True
    params.hostnames, params.port = ["127.0.0.1"], given.port
    server = xllamacpp.Server(params)
    print(f"OPENAI_BASE_URL={server.listening_address}/v1", flush=True)
    signal.sigwait({signal.SIGINT, signal.SIGTERM})


if __name__ == "__main__":
    main()
