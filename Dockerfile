# Two images from one file:
#   docker build --target cpu  -t polyvox:cpu .     Kokoro and Wren in it; no other file is needed to speak
#   docker build --target cuda -t polyvox:cuda .    PyTorch for an NVIDIA GPU; models come by a volume at /models
#
# pip takes its package index from the usual variables, as in --build-arg PIP_INDEX_URL=...; an address with a password
# belongs into a file, --secret id=pip.conf,src=$HOME/.config/pip/pip.conf, which leaves no trace in the image.

# Any image with Python 3.11 or newer and its module venv.
ARG BASE_IMAGE=python:3.12-slim-bookworm

FROM ${BASE_IMAGE} AS build
ARG PIP_INDEX_URL
ARG PIP_EXTRA_INDEX_URL
ARG PIP_FIND_LINKS
ARG PIP_TRUSTED_HOST
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /build
RUN python3 -m venv /opt/polyvox
ENV PATH=/opt/polyvox/bin:$PATH
COPY pyproject.toml hatch_build.py README.md LICENSE NOTICE ./
COPY src src
COPY deploy/docker deploy/docker
RUN cp deploy/docker/healthcheck.py /opt/polyvox/

FROM build AS build-cpu
ARG EXTRAS=cluster,espeak,granian,grpc,ja,mcp,otel,provenance,redis,wyoming
ARG REVISION
RUN --mount=type=secret,id=pip.conf,target=/etc/pip.conf \
    POLYVOX_REVISION="${REVISION}" pip install ".[${EXTRAS}]"
# By this record the server's advice is one for a container: which image to build, and not what to install.
RUN printf '{"target": "cpu", "extras": "%s"}\n' "${EXTRAS}" > /opt/polyvox/image.json
# A layer keeps whole seconds of a file's time. The second pull fetches nothing: it checks the files and records these times,
# so that no server has to hash them again at its start.
RUN --mount=type=secret,id=pip.conf,target=/etc/pip.conf \
    polyvox pull --models-dir /models kokoro \
    && find /models -type f -exec touch --date=@1700000000 {} + \
    && polyvox pull --models-dir /models kokoro \
    && rm -rf /models/.cache /models/.lock
RUN python deploy/docker/sbom.py --models /models --output /opt/polyvox/sbom.cdx.json

FROM build AS build-cuda
ARG TORCH_VERSION=2.13.0
ARG EXTRAS=cluster,espeak,granian,grpc,ja,mcp,otel,provenance,redis,torch,wyoming
ARG REVISION
# PyTorch first, from wherever the index has its CUDA build; one without CUDA would run every model on the CPU, silently.
RUN --mount=type=secret,id=pip.conf,target=/etc/pip.conf \
    pip install "torch==${TORCH_VERSION}" nvidia-ml-py
RUN python -c "import sys, torch; sys.exit(None if torch.version.cuda else 'this index has a PyTorch without CUDA; name one that has it with --build-arg PIP_INDEX_URL=...')"
RUN --mount=type=secret,id=pip.conf,target=/etc/pip.conf \
    POLYVOX_REVISION="${REVISION}" pip install ".[${EXTRAS}]" "torch==${TORCH_VERSION}"
RUN printf '{"target": "cuda", "extras": "%s"}\n' "${EXTRAS}" > /opt/polyvox/image.json
RUN mkdir /models && python deploy/docker/sbom.py --models /models --output /opt/polyvox/sbom.cdx.json

FROM ${BASE_IMAGE} AS user
# A fixed number, so that a volume keeps its owner and Kubernetes can tell that it is not root.
RUN groupadd --gid 10001 polyvox \
    && useradd --uid 10001 --gid 10001 --home-dir /data --no-create-home --shell /usr/sbin/nologin polyvox \
    && mkdir /data

# Files are only copied here: nothing that is mounted for the steps above leaves its mount point in the image.
FROM ${BASE_IMAGE} AS runtime
COPY --from=user /etc/passwd /etc/group /etc/
COPY --from=user --chown=10001:10001 /data /data
# Only /data and /tmp are written to. The server binds every address of the container, and refuses to start so unless it
# is given keys or the names it may be called by.
ENV PATH=/opt/polyvox/bin:$PATH \
    HOME=/data \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    POLYVOX_DATA_DIR=/data \
    POLYVOX_HOST=0.0.0.0 \
    POLYVOX_LOG_FORMAT=json \
    POLYVOX_MODELS_DIR=/models
WORKDIR /data
VOLUME ["/data"]
EXPOSE 8880
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=120s --retries=3 \
    CMD ["python", "-I", "/opt/polyvox/healthcheck.py"]
ENTRYPOINT ["polyvox"]
CMD ["serve"]
COPY LICENSE NOTICE /usr/share/doc/polyvox/
ARG VERSION=unknown
ARG REVISION=unknown
ARG CREATED=unknown
LABEL org.opencontainers.image.title="Polyvox" \
    org.opencontainers.image.description="One speech server for every text-to-speech API" \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.source="https://github.com/polyvox/polyvox" \
    org.opencontainers.image.documentation="https://polyvox.github.io/polyvox" \
    org.opencontainers.image.version="${VERSION}" \
    org.opencontainers.image.revision="${REVISION}" \
    org.opencontainers.image.created="${CREATED}"
USER 10001:10001

FROM runtime AS cuda
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
COPY --from=build-cuda /opt/polyvox /opt/polyvox
COPY --from=build-cuda --chown=10001:10001 /models /models

# The last one is what a build without --target makes.
FROM runtime AS cpu
COPY --from=build-cpu /opt/polyvox /opt/polyvox
COPY --from=build-cpu --chown=10001:10001 /models /models
