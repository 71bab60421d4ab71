import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';

import { sql } from 'kysely';

import { testDatabase } from '../../../test/kit/postgres.ts';
import { anonymousCaller, type Caller } from '../../../platform/caller.ts';
import { createDatabase } from '../../../platform/database.ts';
import { AppError, badInput } from '../../../platform/errors.ts';
import type { EventBus } from '../../../platform/event-bus.ts';
import type { HttpClient } from '../../../platform/http-client.ts';
import { newId } from '../../../platform/ids.ts';
import { silentLogger } from '../../../platform/logger.ts';
import { migrate } from '../../../platform/migrations.ts';
import { createQueue } from '../../../platform/pg-boss-queue.ts';
import { createEventBus } from '../../../platform/postgres-event-bus.ts';
import { createOutboundRule } from '../../../platform/safe-url.ts';
import { createHttpClient } from '../../../platform/undici-http-client.ts';
import type { MediaTables } from '../database.ts';
import type { FileService, StoredFile } from '../files/files.ts';
import type { Binding, GeneratorRegistry } from '../generators/binding.ts';
import { createGeneratorRegistry } from '../generators/registry.ts';
import { tasks } from '../migrations/0001-tasks.ts';
import { UpstreamError, type JobCapability, type JobStatus, type Provider } from '../providers/provider.ts';
import type { WorkerLimits } from './engine.ts';
import { createTaskService, type RunningTaskService, type TaskServiceOptions } from './service.ts';
import type { Submission } from './service-types.ts';
import { isFinal, type Task } from './task.ts';
import { createTaskWorker, type TaskWorker, type TaskWorkerOptions } from './worker.ts';

/** What the tests of the task engine share: a real database, queue and bus, and an upstream on a real socket. */

/** An upstream that tests steer: every start is a job of its own, and its words are the test's. */
export interface Upstream {
  readonly url: string;
  /** Started references, in order; a reference that came twice is there twice. */
  readonly starts: string[];
  readonly cancels: string[];
  /** References by prompt, for looking a job up. */
  readonly jobs: Map<string, UpstreamJob>;
  /** Answers a start; the default accepts it. */
  onStart: (job: UpstreamJob) => StartAnswer | Promise<StartAnswer>;
  /** Answers a status; the default finishes at once with one picture. */
  onStatus: (job: UpstreamJob) => UpstreamStatus;
  /** Answers a download; the default is a small PNG. */
  onFile: (name: string) => { status: number; body: Uint8Array; headers?: Record<string, string> };
  /** Most jobs that were open at the same time. */
  mostOpen(): number;
  close(): Promise<void>;
}

export interface UpstreamJob {
  readonly id: string;
  readonly reference: string;
  readonly prompt: string;
  polls: number;
  open: boolean;
}

export type StartAnswer = 'accept' | 'cut' | 'accept-then-cut' | { readonly status: number; readonly retryAfter?: number };
export type UpstreamStatus =
  | { readonly state: 'queued'; readonly position?: number }
  | { readonly state: 'running'; readonly progress: number | null }
  | { readonly state: 'finished'; readonly files?: readonly string[]; readonly texts?: readonly string[] }
  | { readonly state: 'failed'; readonly retryable: boolean };

/** One pixel. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

export async function startUpstream(): Promise<Upstream> {
  const byId = new Map<string, UpstreamJob>();
  let open = 0;
  let most = 0;
  const upstream: Omit<Upstream, 'url'> = {
    starts: [],
    cancels: [],
    jobs: byId,
    onStart: () => 'accept',
    onStatus: () => ({ state: 'finished' }),
    onFile: () => ({ status: 200, body: PNG, headers: { 'content-type': 'image/png' } }),
    mostOpen: () => most,
    close: () => closeServer(server),
  };
  const close = (job: UpstreamJob): void => {
    if (job.open) open -= 1;
    job.open = false;
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      void answer(request.method ?? '', request.url ?? '', Buffer.concat(chunks).toString());
    });
    const json = (status: number, body: unknown, headers: Record<string, string> = {}): void => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    };
    async function answer(method: string, path: string, body: string): Promise<void> {
      const [, place, id = '', verb] = path.split('/');
      if (place === 'files') {
        const file = upstream.onFile(id);
        response.writeHead(file.status, file.headers).end(file.body);
      } else if (method === 'POST' && id === '') {
        await start(JSON.parse(body) as { reference: string; prompt: string });
      } else if (method === 'GET' && id === '') {
        json(200, [...byId.values()]);
      } else if (verb === 'cancel') {
        upstream.cancels.push(byId.get(id)?.reference ?? id);
        const job = byId.get(id);
        if (job) close(job);
        json(200, { cancelled: true });
      } else status(byId.get(id));
    }
    async function start({ reference, prompt }: { reference: string; prompt: string }): Promise<void> {
      const job: UpstreamJob = { id: newId(), reference, prompt, polls: 0, open: true };
      const verdict = await upstream.onStart(job);
      if (verdict === 'cut') return void request.socket.destroy();
      if (typeof verdict === 'object') {
        const after = verdict.retryAfter === undefined ? {} : { 'retry-after': String(verdict.retryAfter) };
        return json(verdict.status, { error: 'refused' }, after);
      }
      upstream.starts.push(reference);
      byId.set(job.id, job);
      open += 1;
      most = Math.max(most, open);
      if (verdict === 'accept-then-cut') return void request.socket.destroy();
      json(200, { id: job.id });
    }
    function status(job: UpstreamJob | undefined): void {
      if (job === undefined) return json(404, { error: 'no such job' });
      job.polls += 1;
      const answered = upstream.onStatus(job);
      if (answered.state === 'finished' || answered.state === 'failed') close(job);
      json(200, answered);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(upstream, { url: `http://127.0.0.1:${port}` });
}

async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

/** A provider that speaks the upstream's wire. */
export function testProvider(
  http: HttpClient,
  options: { readonly find?: boolean; readonly cancel?: boolean; readonly name?: string } = {},
): Provider {
  const ask = async (method: 'GET' | 'POST', url: string, body?: unknown) => {
    try {
      return await http.request({
        method,
        url,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        timeoutMs: 5_000,
        maxBytes: 1 << 20,
        trustedOrigins: [new URL(url).origin],
      });
    } catch (cause) {
      const sent = cause instanceof Error && 'sent' in cause ? cause.sent === true : true;
      throw new UpstreamError('UNAVAILABLE', 'no answer', { retryable: true, startUnknown: sent, cause });
    }
  };
  const jobs: JobCapability = {
    pollMs: 20,
    async start(request, { connection, reference }) {
      const prompt = request.kind === 'IMAGE' ? request.prompt : 'describe';
      const answer = await ask('POST', `${connection.baseUrl}/jobs`, { reference, prompt });
      if (answer.status === 200) return { id: (JSON.parse(answer.body.toString()) as { id: string }).id };
      const retryAfter = answer.headers['retry-after'];
      throw new UpstreamError(answer.status === 400 ? 'MODERATION_REFUSED' : 'RATE_LIMITED', 'refused', {
        retryable: answer.status !== 400,
        ...(retryAfter === undefined ? {} : { retryAfter: Number(retryAfter) }),
      });
    },
    async status(handle, { connection }): Promise<JobStatus> {
      const answer = await ask('GET', `${connection.baseUrl}/jobs/${String(handle.id)}`);
      if (answer.status !== 200) throw new UpstreamError('LOST', 'no such job', { retryable: true });
      const said = JSON.parse(answer.body.toString()) as UpstreamStatus;
      if (said.state === 'failed') {
        const error = new UpstreamError('UNAVAILABLE', 'it broke', { retryable: said.retryable });
        return { state: 'failed', error };
      }
      if (said.state !== 'finished') return said;
      const names = said.files ?? (said.texts ? [] : ['picture.png']);
      const files = names.map((name) => ({ url: `${connection.baseUrl}/files/${name}` }));
      return { state: 'finished', outcome: { files, texts: said.texts ?? [] } };
    },
    ...(options.cancel === false
      ? {}
      : {
          async cancel(handle, { connection }) {
            await ask('POST', `${connection.baseUrl}/jobs/${String(handle.id)}/cancel`);
            return 'cancelled' as const;
          },
        }),
    ...(options.find === false
      ? {}
      : {
          async find(reference, { connection }) {
            const answer = await ask('GET', `${connection.baseUrl}/jobs`);
            const all = JSON.parse(answer.body.toString()) as { id: string; reference: string }[];
            const found = all.find((job) => job.reference === reference);
            return found === undefined ? ('absent' as const) : { id: found.id };
          },
        }),
  };
  return { name: options.name ?? 'test', jobs: { IMAGE: jobs, DESCRIPTION: jobs } };
}

export function testBinding(id: string, provider: Provider, baseUrl: string, change: Partial<Binding> = {}): Binding {
  return {
    id,
    generator: id.split('#')[0] ?? id,
    provider,
    connection: { baseUrl, pathPrefix: '', headers: {}, credentials: {}, model: null, resultOrigins: [] },
    sandbox: false,
    concurrency: 8,
    maxWaiting: 1_000,
    restartUnknown: false,
    stallSeconds: 60,
    ...change,
  };
}

/** Files in memory: the engine only needs the contract. */
export function memoryFiles(): FileService & { readonly stored: Map<string, StoredFile & { taskId?: string }> } {
  const stored = new Map<string, StoredFile & { taskId?: string; content: Buffer }>();
  const refuse = () => {
    throw new AppError('INTERNAL', 'not part of these tests');
  };
  return {
    stored,
    async store(file) {
      const chunks: Uint8Array[] = [];
      for await (const chunk of file.body) chunks.push(chunk);
      const content = Buffer.concat(chunks);
      if (content.length > file.maxBytes) throw new AppError('PAYLOAD_TOO_LARGE', 'too large');
      const id = newId();
      const contentType = content.subarray(1, 4).toString() === 'PNG' ? 'image/png' : 'text/html';
      const facts = { contentType, bytes: content.length, sha256: '', width: 1, height: 1, duration: null };
      const row = { id, owner: file.owner, name: file.name, ...facts, createdAt: new Date(), content };
      stored.set(id, row);
      return row;
    },
    byIds: async (ids) => ids.map((id) => stored.get(id) ?? null),
    async claim(_transaction, ids) {
      if (ids.some((id) => !stored.has(id))) throw badInput('fileId', 'no such file');
    },
    async attach(_transaction, ids, taskId) {
      for (const id of ids) {
        const row = stored.get(id);
        if (row) stored.set(id, { ...row, taskId });
      }
    },
    open: async (id) => Readable.from([stored.get(id)?.content ?? Buffer.alloc(0)]),
    idOfUrl: () => null,
    urlOf: (file) => `http://files/${file.id}`,
    remove: refuse,
    prune: async () => 0,
  };
}

/** A whole engine over a fresh database; `worker` and `service` make as many of each as a test wants. */
export async function startEngine() {
  const logger = silentLogger();
  const made = await testDatabase();
  const database = createDatabase({ config: made.config, maxConnections: 10, applicationName: 'test', logger });
  await migrate({ database, sets: [{ schema: 'media', migrations: { '0001-tasks': tasks } }], logger });
  const bus = await createEventBus({ database, logger });
  const queue = await createQueue({ database, bus, logger });
  const http = createHttpClient({ outbound: createOutboundRule({ allow: [] }), logger });
  const files = memoryFiles();
  const typed = database.typed<MediaTables>();
  const stops: (() => Promise<void>)[] = [];
  return {
    database: typed,
    pool: database.pool,
    bus,
    queue,
    http,
    files,
    logger,
    service(registry: GeneratorRegistry, change: Partial<TaskServiceOptions> = {}): RunningTaskService {
      const service = createTaskService({ database: typed, queue, bus, files, registry, logger, ...change });
      stops.push(async () => service.close());
      return service;
    },
    async worker(registry: GeneratorRegistry, change: Partial<TaskWorkerOptions> = {}): Promise<TaskWorker> {
      const parts = { database: typed, queue, bus, http, files, registry, logger, eventRetentionDays: 30 };
      const worker = createTaskWorker({ ...parts, ...change, limits: { ...QUICK, ...change.limits } });
      await worker.start();
      stops.push(() => worker.stop(1));
      return worker;
    },
    /** Waits until a condition holds, asking again every 20 ms. */
    until,
    async ended(service: RunningTaskService, id: string): Promise<Task> {
      return until(async () => {
        const [task] = await service.readMany(me, [id]);
        return task && isFinal(task.state) ? task : null;
      });
    },
    async count(table: string): Promise<number> {
      const { rows } = await sql<{ count: number }>`select count(*)::integer as count from ${sql.table(table)}`.execute(
        typed,
      );
      return rows[0]?.count ?? 0;
    },
    async stop() {
      for (const stop of stops.reverse()) await stop();
      await queue.stop(1);
      await bus.close();
      await http.close();
      await database.close();
      await made.drop();
    },
  };
}

export type TestEngine = Awaited<ReturnType<typeof startEngine>>;

const QUICK: Partial<WorkerLimits> = { claimStaleSeconds: 1, pollTickMs: 20, findGraceMs: 20, storePauseSeconds: 1 };

/** Asks again until there is an answer; fails after half a minute. */
export async function until<Answer>(ask: () => Promise<Answer | null | undefined | false>): Promise<Answer> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() > deadline) throw new Error('what was waited for did not happen');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export const me: Caller = { kind: 'user', id: 'usr_me', scopes: [], traceId: 'test', address: null };
export const stranger: Caller = { ...me, id: 'usr_other' };
export const nobody = (address: string): Caller => anonymousCaller('test', address);

export function image(prompt = 'a fox', change: Partial<Submission> = {}): Submission {
  return {
    work: { kind: 'IMAGE', generator: 'test', prompt },
    fileIds: [],
    idempotencyKey: null,
    fingerprint: { operation: 'generateImage', prompt },
    ...change,
  };
}

export function registryOf(...bindings: Binding[]): GeneratorRegistry {
  return createGeneratorRegistry({ bindings, models: [] });
}

/** A bus that loses what `loses` says, as a real one may. */
export function lossyBus(bus: EventBus, loses: () => boolean): EventBus {
  return { ...bus, announce: (...wakeUp) => void (loses() || bus.announce(...wakeUp)) };
}
