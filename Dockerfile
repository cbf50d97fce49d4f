# Two stages: the final image has only Python and one environment, and no build tools.
# The RUN lines take their paths from PREFIX, so that a test can run them without Docker.

FROM python:3.11-slim AS build
ARG PREFIX=/opt/vidscore
ARG SITE=/site
# For an executor on Dask, and for its scheduler and workers: server,postgresql,web,dask.
ARG EXTRAS=server,postgresql,web
WORKDIR /source
COPY LICENSE README.md pyproject.toml hatch_build.py ./
COPY evaluators evaluators
COPY server server
COPY clients/cli clients/cli
COPY clients/python clients/python
RUN python -m venv "${PREFIX}"
RUN "${PREFIX}/bin/python" -m pip install --no-cache-dir ".[${EXTRAS:-server,postgresql,web}]"
# pip and setuptools came with the environment; nothing is installed after this.
RUN "${PREFIX}/bin/python" -m pip uninstall --yes pip setuptools
RUN mkdir -m 0700 "${SITE}"

FROM python:3.11-slim
ARG PREFIX=/opt/vidscore
ARG SITE=/site
LABEL org.opencontainers.image.title="vidscore" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build ${PREFIX} ${PREFIX}
# For a store in a file: a new volume that is mounted here belongs to the server's user.
COPY --from=build --chown=10001:10001 ${SITE} /site
# A number, so that orchestrators which reject root can see that this is another user.
USER 10001:10001
ENV PATH="${PREFIX}/bin:${PATH}" \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
# Without a store the server does not authenticate callers, so it listens only on the container's
# loopback. docs/server.md has the settings that publish the port, and that host benchmarks with a site:
# a volume for the store, certificates, and the first organiser's token. The root file system may be
# read-only.
EXPOSE 50051 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 CMD ["vidscore", "health"]
ENTRYPOINT ["vidscore", "serve"]
