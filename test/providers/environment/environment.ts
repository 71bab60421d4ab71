import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { inspect } from 'node:util';

import { expect } from 'vitest';

import type { HttpClient } from '../../../platform/http/http-client.ts';
import { createOutboundRule } from '../../../platform/http/safe-url.ts';
import { createHttpClient } from '../../../platform/http/undici-http-client.ts';
import { silentLogger } from '../../../platform/process/logger.ts';
import type { LatencyChange } from '../../../sandbox/control/control.ts';
import type { FaultInput } from '../../../sandbox/faults/faults.ts';
import { createSandbox, type Sandbox } from '../../../sandbox/sandbox.ts';
import { UpstreamError } from '../../../subgraphs/media/domain/failure.ts';
import type { InputFile } from '../../../subgraphs/media/domain/inputs/input-files.ts';
import type {
  CallContext,
  Connection,
  Provider,
} from '../../../subgraphs/media/providers/contract/provider.ts';
import { createProviders } from '../../../subgraphs/media/providers/registry.ts';
import { serveInputs, type InputKind } from './input-server.ts';
import { startRecordingProxy, type RecordingProxy } from './recording-proxy.ts';

/** What every stand-in demands, so that whoever leaves it out, or sends it elsewhere, is noticed. */
export const SECRET = 'a-secret-of-the-contract-suite';

/** Where a provider is tried: the real HTTP client, the stand-ins, a recording proxy between them, all on real sockets. */
export interface Environment {
  readonly sandbox: Sandbox;
  readonly proxy: RecordingProxy;
  readonly http: HttpClient;
  readonly providers: Readonly<Record<string, Provider>>;
  /** A connection through the proxy; results lie at the stand-in's own origin. */
  connection(
    basePath: string,
    headers: Readonly<Record<string, string>>,
    more?: ConnectionOptions,
  ): Connection;
  /** Where a small file of that kind can be fetched: for upstreams that fetch their inputs. */
  fileUrl(kind: InputKind): string;
  injectFault(fault: FaultInput): Promise<void>;
  setLatency(change: LatencyChange): Promise<void>;
  /** Starts that the stand-in has accepted, by reference. */
  starts(): Promise<Readonly<Record<string, number>>>;
  /** States of all the jobs that the stand-ins keep. */
  jobStates(): Promise<readonly string[]>;
  /** As new: no jobs, faults, latencies, requests. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

/** What a row says of a connection besides; the endpoints are paths on the stand-in. */
interface ConnectionOptions {
  readonly credentials?: Readonly<Record<string, string>>;
  readonly endpoints?: Readonly<Record<string, string>>;
  readonly model?: string;
}

/** The real HTTP client, which loses no time before it asks again. */
function quickHttp(): HttpClient {
  const outbound = createOutboundRule({ allow: [] });
  return createHttpClient({ outbound, logger: silentLogger(), firstRetryMs: 20 });
}

/** Opens one. */
export async function openEnvironment(): Promise<Environment> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'kiln-contract-'));
  const sandbox = await createSandbox({
    dataDir,
    logger: silentLogger(),
    instantImages: true,
    secrets: Object.fromEntries(registeredNames().map((name) => [name, SECRET])),
  });
  const proxy = await startRecordingProxy(sandbox.url);
  const inputs = await serveInputs();
  const http = quickHttp();
  const control = async (method: string, what: string, body?: object) => {
    const answer = await fetch(`${sandbox.url}/_control${what}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`the sandbox refused ${method} ${what}: ${await answer.text()}`);
    return answer.json();
  };
  return {
    sandbox,
    proxy,
    http,
    providers: createProviders({ http }),
    connection: (basePath, headers, { credentials = {}, endpoints = {}, model = '' } = {}) => ({
      baseUrl: `${proxy.origin}${basePath}`,
      pathPrefix: '',
      headers,
      credentials,
      endpoints: Object.fromEntries(
        Object.entries(endpoints).map(([name, path]) => [name, `${proxy.origin}${path}`]),
      ),
      model: model || null,
      nodes: [],
      resultOrigins: [sandbox.url],
    }),
    fileUrl: (kind) => `${inputs.origin}/${kind}`,
    injectFault: async (fault) => void (await control('POST', '/faults', fault)),
    setLatency: async (change) => void (await control('POST', '/latency', change)),
    starts: async () => (await control('GET', '/starts')) as Record<string, number>,
    async jobStates() {
      const jobs = (await control('GET', '/jobs')) as { readonly state: string }[];
      return jobs.map(({ state }) => state);
    },
    async reset() {
      await control('DELETE', '');
      proxy.reset();
    },
    async close() {
      await http.close();
      await proxy.close();
      await inputs.close();
      await sandbox.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** What a provider can do, known before any test runs. */
export function findCapabilities(name: string): Provider | undefined {
  return unconnectedProviders()[name];
}

/** The names of all providers. */
export function registeredNames(): readonly string[] {
  return Object.keys(unconnectedProviders());
}

/** To be looked at only: they reach nobody. */
function unconnectedProviders(): Readonly<Record<string, Provider>> {
  const unused = () => Promise.reject(new Error('only looked at'));
  return createProviders({ http: { request: unused, download: unused, close: unused } });
}

/** One provider before a proxy that answers what the test tells it to: for answers that no stand-in gives. */
export interface ScriptedProvider {
  readonly provider: Provider;
  readonly proxy: RecordingProxy;
  readonly context: CallContext & { readonly reference: string };
  close(): Promise<void>;
}

/** Opens a stage for a provider; its base URL ends in the path. */
export async function openScriptedProvider(name: string, basePath = ''): Promise<ScriptedProvider> {
  const proxy = await startRecordingProxy(null);
  const http = quickHttp();
  const provider = createProviders({ http })[name];
  if (provider === undefined) throw new Error(`no provider ${name}`);
  const connection: Connection = {
    baseUrl: `${proxy.origin}${basePath}`,
    pathPrefix: '',
    headers: {},
    credentials: {},
    model: null,
    nodes: [],
    resultOrigins: [],
  };
  return {
    provider,
    proxy,
    get context() {
      return { ...makeContext(connection), reference: 'task/1/1' };
    },
    async close() {
      await http.close();
      await proxy.close();
    },
  };
}

/** A context as the engine gives it; the signal is the test's own when it brings one. */
export function makeContext(
  connection: Connection,
  signal: AbortSignal = AbortSignal.timeout(30_000),
): CallContext {
  return { connection, signal };
}

/** The UpstreamError that this ends with; neither it nor anything behind it carries the secret. */
export async function catchFailure(work: Promise<unknown>): Promise<UpstreamError> {
  const error = await work.then(
    (value) => {
      throw new Error(`it did not fail but answered ${JSON.stringify(value)}`);
    },
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(UpstreamError);
  expect(inspect(error, { depth: 20, maxStringLength: null, maxArrayLength: null })).not.toContain(SECRET);
  return error as UpstreamError;
}

/** The value, or a failure that names what is missing. */
export function must<Value>(value: Value | null | undefined, what: string): Value {
  if (value === null || value === undefined) throw new Error(`there is no ${what}`);
  return value;
}

/** A whole small PNG. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** An input image. */
export function createImage(change: Partial<InputFile> = {}): InputFile {
  return {
    name: 'input.png',
    contentType: 'image/png',
    bytes: PNG.length,
    publicUrl: null,
    uploaded: null,
    open: async () => Readable.from([PNG]),
    ...change,
  };
}

/** Whether these bytes begin as a PNG does. */
export function isPng(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(1, 4)).toString('latin1') === 'PNG';
}

/** Whether these bytes begin as an MP4 does. */
export function isMp4(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(4, 8)).toString('latin1') === 'ftyp';
}

/** The bytes behind a result's address, fetched as the engine does: with the headers that came with it, and no others. */
export async function fetchResult(
  { http, sandbox, proxy }: Environment,
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; bytes: Buffer }> {
  const { status, body } = await http.download({
    method: 'GET',
    url,
    timeoutMs: 10_000,
    maxBytes: 1 << 20,
    headers,
    trustedOrigins: [sandbox.url, proxy.origin],
  });
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk as Buffer);
  return { status, bytes: Buffer.concat(chunks) };
}
