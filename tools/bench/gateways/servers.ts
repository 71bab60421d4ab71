import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { exportJWK, generateKeyPair, SignJWT } from 'jose';

import { freePorts } from '../../../test/kit/processes/free-ports.ts';
import type { BenchTools } from '../bench.ts';
import { type Program, startProgram } from '../processes.ts';

/** The gateways that are held against each other, each as a process of its own that is configured for the same. */

export const GATEWAYS = ['kiln', 'apollo', 'hive'] as const;
export type GatewayName = (typeof GATEWAYS)[number];

/** What all of them are in front of: subgraphs, keys, a collector. */
export interface Surroundings {
  readonly origin: string;
  readonly folder: string;
  /** What callers send. */
  readonly headers: Readonly<Record<string, string>>;
  readonly program: Program<{ url: string }>;
}

/** Starts them. */
export async function startSurroundings(tools: BenchTools): Promise<Surroundings> {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' }];
  const program = await startProgram<{ url: string }>(new URL('subgraphs.ts', import.meta.url), [], {
    BENCH_KEYS: JSON.stringify({ keys }),
  });
  tools.lifecycle.add('subgraphs', () => program.stop());
  const { url: origin } = program.ready;
  const token = await new SignJWT({ sub: 'ada' })
    .setProtectedHeader({ alg: 'RS256', kid: 'k1' })
    .setIssuer(origin)
    .setExpirationTime('2h')
    .sign(privateKey);
  const folder = await benchFolder(tools);
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${token}`,
    'x-tenant': 'acme',
  };
  return { origin, folder, headers, program };
}

async function benchFolder({ lifecycle }: BenchTools): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'kiln-bench-gateways-'));
  lifecycle.add('folder', () => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A running gateway. */
export interface GatewayProcess {
  readonly name: GatewayName;
  readonly pid: number;
  readonly url: string;
  /** Seconds from its start to its first answer. */
  readonly startSeconds: number;
  stop(): Promise<void>;
}

/** Longest time for a start. */
const START_MS = 120_000;

/** Starts one over a supergraph; resolves when it has answered the query. */
export async function startGateway(
  tools: BenchTools,
  name: GatewayName,
  {
    around,
    supergraph,
    query,
  }: { readonly around: Surroundings; readonly supergraph: string; readonly query: string },
): Promise<GatewayProcess> {
  const [port = 0] = await freePorts(1);
  const file = path.join(around.folder, `${name}-${port}.graphql`);
  await writeFile(file, supergraph);
  const command = await COMMANDS[name]({ around, file, port });
  return await startProcess(tools, name, { command, file, port, query, headers: around.headers });
}

/** Starts Kiln alone, with a configuration of its own and for everybody. */
export async function startKilnOver(
  tools: BenchTools,
  {
    supergraph,
    config,
    query,
  }: { readonly supergraph: string; readonly config: string; readonly query: string },
): Promise<GatewayProcess> {
  const folder = await benchFolder(tools);
  const [port = 0] = await freePorts(1);
  const file = path.join(folder, 'supergraph.graphql');
  await writeFile(file, supergraph);
  const command = await kilnCommand({ file, port, config, settings: {} });
  const headers = { 'content-type': 'application/json' };
  return await startProcess(tools, 'kiln', { command, file, port, query, headers });
}

interface ProcessStart {
  readonly command: Command;
  readonly file: string;
  readonly port: number;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
}

async function startProcess(
  { lifecycle }: BenchTools,
  name: GatewayName,
  { command: { words, cwd, settings }, file, port, query, headers }: ProcessStart,
): Promise<GatewayProcess> {
  const log = `${file}.log`;
  const out = openSync(log, 'a');
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...words], {
    cwd,
    env: { ...process.env, NODE_ENV: 'production', ...settings },
    stdio: ['ignore', out, out],
    detached: true,
  });
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  lifecycle.add(`gateway ${name}`, stop);
  const url = `http://127.0.0.1:${port}/graphql`;
  const body = JSON.stringify({ query });
  for (;;) {
    const answer = await fetch(url, { method: 'POST', headers, body }).catch(() => null);
    const text = (await answer?.text()) ?? '';
    if (answer?.ok === true && !text.includes('"errors"')) break;
    if (child.exitCode !== null || performance.now() - startedAt > START_MS)
      throw new Error(`${name} never answered: ${text}\n${(await readFile(log, 'utf8')).slice(-3_000)}`);
    await pause(20);
  }
  return { name, pid: child.pid ?? 0, url, startSeconds: (performance.now() - startedAt) / 1_000, stop };
}

interface Command {
  readonly words: readonly string[];
  readonly cwd: string;
  readonly settings: Readonly<Record<string, string>>;
}

interface Start {
  readonly around: Surroundings;
  readonly file: string;
  readonly port: number;
}

const APOLLO = new URL('apollo.ts', import.meta.url);
const PROJECT = path.resolve(import.meta.dirname, '../../..');

const COMMANDS: Readonly<Record<GatewayName, (start: Start) => Promise<Command>>> = {
  kiln: ({ around, file, port }) =>
    kilnCommand({
      file,
      port,
      config: kilnConfig(around.origin),
      settings: { REST_AUTH: 'required', METRICS_PORT: '0', OTEL_EXPORTER_OTLP_ENDPOINT: around.origin },
    }),
  async apollo({ around, file, port }) {
    const words = [fileURLToPath(APOLLO), file, around.origin, String(port)];
    return { words, cwd: PROJECT, settings: { APOLLO_TELEMETRY_DISABLED: 'true' } };
  },
  async hive({ around, file, port }) {
    const folder = await hiveFolder();
    const config = path.join(folder, `gateway-${port}.config.mjs`);
    await writeFile(config, hiveConfig(around.origin));
    const words = [
      'node_modules/@graphql-hive/gateway/dist/bin.js',
      'supergraph',
      file,
      '--port',
      String(port),
      '--host',
      '127.0.0.1',
      '--config-path',
      config,
      '--jit',
      '--opentelemetry',
      `${around.origin}/v1/traces`,
    ];
    return { words, cwd: folder, settings: {} };
  },
};

interface KilnStart extends Pick<Start, 'file' | 'port'> {
  readonly config: string;
  readonly settings: Readonly<Record<string, string>>;
}

async function kilnCommand({ file, port, config, settings }: KilnStart): Promise<Command> {
  await writeFile(`${file}.yaml`, config);
  return {
    words: ['gateway/main.ts', '--role', 'gateway', '--supergraph', file, '--config', `${file}.yaml`],
    cwd: PROJECT,
    settings: { PORT: String(port), HOST: '127.0.0.1', RATE_LIMIT: 'off', REST_AUTH: 'open', ...settings },
  };
}

const kilnConfig = (origin: string): string => `authentication:
  issuers:
    - issuer: ${origin}
      jwks: ${origin}/keys.json
headers:
  - propagate: x-tenant
  - remove: authorization
`;

const hiveConfig = (
  origin: string,
): string => `import { createRemoteJwksSigningKeyProvider, defineConfig } from '@graphql-hive/gateway';
export const gatewayConfig = defineConfig({
  jwt: {
    signingKeyProviders: [createRemoteJwksSigningKeyProvider({ jwksUri: '${origin}/keys.json' })],
    tokenVerification: { issuer: '${origin}', algorithms: ['RS256'] },
    reject: { missingToken: true, invalidToken: true },
    forward: { payload: false, token: false },
  },
  prometheus: { metrics: true },
  propagateHeaders: {
    fromClientToSubgraphs: ({ request }) => ({ 'x-tenant': request.headers.get('x-tenant') }),
  },
});
`;

/** Where Hive Gateway is, the newest of npm: BENCH_HIVE, or a folder that it is installed into. It is no dependency of Kiln. */
async function hiveFolder(): Promise<string> {
  const folder = process.env['BENCH_HIVE'] ?? path.join(tmpdir(), 'kiln-bench-hive');
  if (existsSync(path.join(folder, 'node_modules/@graphql-hive/gateway'))) return folder;
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'package.json'), '{"private":true}');
  const words = ['install', '--ignore-scripts', '--no-audit', '--no-fund'];
  await promisify(execFile)('npm', [...words, '@graphql-hive/gateway@latest', 'graphql@16'], { cwd: folder });
  return folder;
}

/** The versions that are measured. */
export async function readVersions(): Promise<string> {
  const versionIn = async (folder: string, name: string): Promise<string> => {
    const text = await readFile(path.join(folder, 'node_modules', name, 'package.json'), 'utf8');
    return `${name} ${(JSON.parse(text) as { readonly version: string }).version}`;
  };
  return [
    await versionIn(PROJECT, '@apollo/gateway'),
    await versionIn(PROJECT, '@apollo/server'),
    await versionIn(await hiveFolder(), '@graphql-hive/gateway'),
  ].join(', ');
}
