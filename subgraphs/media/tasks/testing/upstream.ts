import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { newId } from '../../../../platform/ids.ts';

/** An upstream that tests steer: every start is a job of its own, and its answers are what the test says. */
export interface Upstream {
  readonly url: string;
  /** Started references, in order; a reference that came twice is there twice. */
  readonly starts: string[];
  readonly cancels: string[];
  /** References by prompt, for looking a job up. */
  readonly jobs: Map<string, UpstreamJob>;
  /** Answers a start; the default accepts it. */
  onStart: (job: UpstreamJob) => StartAnswer | Promise<StartAnswer>;
  /** Answers a status; the default finishes at once with one image. */
  onStatus: (job: UpstreamJob) => UpstreamStatus;
  /** Answers a download; the default is a small PNG. */
  onFile: (name: string) => { status: number; body: Uint8Array; headers?: Record<string, string> };
  /** Most jobs that were open at the same time. */
  mostOpen(): number;
  close(): Promise<void>;
}

interface UpstreamJob {
  readonly id: string;
  readonly reference: string;
  readonly prompt: string;
  polls: number;
  open: boolean;
}

export type StartAnswer =
  | 'accept'
  | 'cut'
  | 'accept-then-cut'
  | { readonly status: number; readonly retryAfter?: number };
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
  const server = createServer((request, response) => void receive(upstream, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const upstream: State = {
    url: `http://127.0.0.1:${port}`,
    starts: [],
    cancels: [],
    jobs: new Map(),
    onStart: () => 'accept',
    onStatus: () => ({ state: 'finished' }),
    onFile: () => ({ status: 200, body: PNG, headers: { 'content-type': 'image/png' } }),
    most: 0,
    mostOpen: () => upstream.most,
    close: () => closeServer(server),
  };
  return upstream;
}

type State = Upstream & { most: number };

async function receive(upstream: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const [, resource, id = '', verb] = (request.url ?? '').split('/');
  const job = upstream.jobs.get(id);
  if (resource === 'files') {
    const file = upstream.onFile(id);
    response.writeHead(file.status, file.headers).end(file.body);
  } else if (request.method === 'POST' && id === '') {
    const body = JSON.parse(Buffer.concat(chunks).toString()) as { reference: string; prompt: string };
    await begin(upstream, body, response);
  } else if (request.method === 'GET' && id === '') {
    answer(response, 200, [...upstream.jobs.values()]);
  } else if (job === undefined) {
    answer(response, 404, { error: 'no such job' });
  } else if (verb === 'cancel') {
    upstream.cancels.push(job.reference);
    job.open = false;
    answer(response, 200, { cancelled: true });
  } else {
    sendStatus(upstream, job, response);
  }
}

async function begin(
  upstream: State,
  { reference, prompt }: { reference: string; prompt: string },
  response: ServerResponse,
): Promise<void> {
  const job: UpstreamJob = { id: newId(), reference, prompt, polls: 0, open: true };
  const verdict = await upstream.onStart(job);
  if (typeof verdict === 'object') {
    const after = verdict.retryAfter === undefined ? {} : { 'retry-after': String(verdict.retryAfter) };
    answer(response, verdict.status, { error: 'refused' }, after);
    return;
  }
  if (verdict !== 'cut') {
    upstream.starts.push(reference);
    upstream.jobs.set(job.id, job);
    const open = [...upstream.jobs.values()].filter((entry) => entry.open).length;
    upstream.most = Math.max(upstream.most, open);
  }
  if (verdict === 'accept') answer(response, 200, { id: job.id });
  else response.socket?.destroy();
}

function sendStatus(upstream: State, job: UpstreamJob, response: ServerResponse): void {
  job.polls += 1;
  const status = upstream.onStatus(job);
  if (status.state === 'finished' || status.state === 'failed') job.open = false;
  answer(response, 200, status);
}

function answer(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
