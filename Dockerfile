# One image, two programs: `queuebox`, the agent, and `queuebox-operator`. docs/operations/image.md says how to build it.
ARG PYTHON_IMAGE=python:3.13-slim

FROM ${PYTHON_IMAGE} AS build
# Where pip looks, when that is not its default place. They end with this stage.
ARG PIP_INDEX_URL
ARG PIP_EXTRA_INDEX_URL
ARG PIP_TRUSTED_HOST
ARG PIP_CERT
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /build
RUN python -m venv tools && python -m venv --without-pip /opt/queuebox
# What changes seldom comes first, so that an edit of the code builds in seconds.
COPY requirements/build.txt requirements/agent.txt requirements/operator.txt requirements/
RUN tools/bin/pip install --quiet --require-hashes -r requirements/build.txt \
 && tools/bin/pip --python /opt/queuebox/bin/python install --quiet --require-hashes --only-binary :all: \
      -r requirements/agent.txt -r requirements/operator.txt \
 && find /opt/queuebox -depth \( -type d \( -name tests -o -name test \) \
      -o -type f \( -name '*.pyi' -o -name '*.pyx' -o -name '*.pxd' -o -name '*.c' -o -name '*.h' \) \) -exec rm -r {} +
COPY pyproject.toml README.md CHANGELOG.md ./
COPY crds/queuebox_api crds/queuebox_api
COPY agent/queuebox_agent agent/queuebox_agent
COPY operator/queuebox_operator operator/queuebox_operator
RUN tools/bin/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist . \
 && tools/bin/pip --python /opt/queuebox/bin/python install --quiet --no-deps dist/*.whl

FROM ${PYTHON_IMAGE}
LABEL org.opencontainers.image.title="QueueBox" \
      org.opencontainers.image.description="A transactional outbox and an idempotent inbox: agent and operator."
# A name for the user: without one, some libraries cannot tell whose process this is.
RUN echo 'queuebox:x:10001:10001::/nonexistent:/usr/sbin/nologin' >> /etc/passwd \
 && echo 'queuebox:x:10001:' >> /etc/group
COPY --from=build /opt/queuebox /opt/queuebox
# Nothing is written anywhere, so the root file system can be read-only.
ENV PATH=/opt/queuebox/bin:$PATH PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
EXPOSE 8080
# Kubernetes does not read this. An agent that is configured by a file with another port needs a check of its own.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["python", "-c", "import os, urllib.request as http; \
port = os.environ.get('QUEUEBOX_SERVER_MANAGEMENTPORT') or os.environ.get('QUEUEBOX_SERVER_HTTPPORT') or '8080'; \
http.urlopen(f'http://127.0.0.1:{port}/health', timeout=4)"]
ENTRYPOINT ["queuebox"]
CMD ["run"]
