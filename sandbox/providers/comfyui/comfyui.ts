import { bytes, empty, json, type Answer } from '../../http/answer.ts';
import { readForm } from '../../http/multipart.ts';
import { type Wire, type WireRequest, type WireRoute, jsonObject } from '../../http/wire.ts';
import { createJobRunner, type JobRunner } from '../../jobs/job-runner.ts';
import { hasEnded } from '../../jobs/job.ts';
import type { StandIn, StandInOptions } from '../shared/stand-in.ts';
import { type ComfyuiContext, createFiles } from './files.ts';
import { objectInfo } from './graph/object-info.ts';
import { perform } from './perform.ts';
import { submitPrompt } from './prompt.ts';
import { createSockets } from './socket.ts';
import { FAILED, historiesJson, historyJson, queueJson } from './views.ts';

/** The machines of the pool: the names of their wires in faults, latencies and jobs, and their mounts. */
export const COMFYUI = ['comfyui-a', 'comfyui-b'] as const;

export interface ComfyuiOptions extends StandInOptions {
  /** One of COMFYUI. */
  readonly machine: string;
  /** The required `X-API-Key`, as behind a proxy: ComfyUI itself has no keys. */
  readonly secret: string | null;
}

/** One machine with a ComfyUI server (docs/sandbox.md names what it follows); every route is below /api too. */
export function createComfyui(options: ComfyuiOptions): StandIn {
  const { machine, studio, journal, secret } = options;
  const files = createFiles(machine, journal);
  const runner = createJobRunner({
    wire: machine,
    journal,
    latency: options.latency,
    perform: (job, signal) => perform({ studio, journal, files }, job, signal),
    words: { moderate: FAILED, fail: FAILED },
    logger: options.logger,
  });
  const sockets = createSockets(runner);
  let lacking: ReadonlySet<string> = new Set();
  const isLet = (key: string | string[] | undefined) => secret === null || key === secret;
  const wire: Wire = {
    name: machine,
    mount: machine,
    authorize: ({ path, headers }) => {
      if (!isLet(headers['x-api-key'])) return { answer: json({ error: 'Unauthorized' }, 401) };
      return { path: path.startsWith('/api/jobs') ? path : path.replace(/^\/api\//, '/'), params: {} };
    },
    refuse: (status, message) => json({ error: message }, status),
    routes: listRoutes({ runner, files, lacking: () => lacking }),
    upgrade(upgrade) {
      const isSocket = /^(\/api)?\/ws$/.test(upgrade.path);
      if (!isSocket) upgrade.socket.end('HTTP/1.1 404 Not Found\r\n\r\n');
      else if (!isLet(upgrade.request.headers['x-api-key'])) {
        upgrade.socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n');
      } else sockets.accept(upgrade);
    },
    cutOff: () => sockets.cutOff(),
  };
  const lack = (names: readonly string[]): void => {
    lacking = new Set(names);
  };
  return { wire, runner, lack };
}

function listRoutes(context: ComfyuiContext): WireRoute[] {
  const { runner } = context;
  const get = (path: string, operation: string, handle: WireRoute['handle']): WireRoute => ({
    method: 'GET',
    path,
    operation,
    handle,
  });
  const post = (path: string, operation: string, handle: WireRoute['handle']): WireRoute => ({
    method: 'POST',
    path,
    operation,
    handle,
  });
  return [
    post('/prompt', 'prompt', (request, fault) => submitPrompt(context, request, fault)),
    get('/prompt', 'remaining', () => json({ exec_info: { queue_remaining: runner.queueLength() } })),
    get('/queue', 'queue', () => json(queueJson(runner))),
    post('/queue', 'dequeue', (request) => dequeue(runner, request)),
    post('/interrupt', 'interrupt', (request) => interrupt(runner, request)),
    post('/api/jobs/:id/cancel', 'cancel', async ({ params }) =>
      json({ cancelled: await runner.cancel(params['id'] ?? '') }),
    ),
    get('/history', 'histories', ({ query }) => {
      const most = Number(query.get('max_items') ?? 0);
      return json(historiesJson(runner, most > 0 ? most : Infinity));
    }),
    get('/history/:id', 'history', async ({ params }, fault) => {
      const { id = '' } = params;
      if (fault?.fault === 'lost' || fault?.fault === 'lost-silently') await runner.forget(id);
      return json(historyJson(runner.get(id)));
    }),
    post('/history', 'forget', (request) => forget(runner, request)),
    get('/view', 'view', (request) => view(context, request)),
    post('/upload/image', 'upload', (request) => upload(context, request)),
    get('/system_stats', 'stats', () => json(STATS)),
    get('/object_info', 'objectInfo', () => json(objectInfo(context.lacking()))),
    get('/object_info/:name', 'objectInfo', ({ params }) =>
      json(objectInfo(context.lacking(), params['name'])),
    ),
  ];
}

const STATS = {
  system: {
    os: 'linux',
    comfyui_version: 'sandbox',
    python_version: 'none',
    pytorch_version: 'none',
    argv: [],
  },
  devices: [{ name: 'local-procedural', type: 'cpu', index: 0, vram_total: 0, vram_free: 0 }],
};

async function dequeue(runner: JobRunner, request: WireRequest): Promise<Answer> {
  const body = jsonObject(request);
  const ids = Array.isArray(body?.['delete']) ? body['delete'].map(String) : [];
  const waiting = runner.list().filter(({ state }) => state === 'queued');
  const isMeant = ({ id }: { readonly id: string }) => body?.['clear'] === true || ids.includes(id);
  for (const { id } of waiting.filter(isMeant)) await runner.cancel(id);
  return empty(200);
}

/** POST /history: takes ended prompts out of it, those of `delete` or with `clear` all. */
async function forget(runner: JobRunner, request: WireRequest): Promise<Answer> {
  const body = jsonObject(request);
  const ids = Array.isArray(body?.['delete']) ? body['delete'].map(String) : [];
  const ended = runner.list().filter(hasEnded);
  for (const { id } of ended) if (body?.['clear'] === true || ids.includes(id)) await runner.forget(id);
  return empty(200);
}

/** Always answers 200, like the real server. */
async function interrupt(runner: JobRunner, request: WireRequest): Promise<Answer> {
  const wanted = jsonObject(request)?.['prompt_id'] ?? null;
  const running = runner.list().filter(({ state }) => state === 'running');
  for (const { id } of running) if (wanted === null || wanted === id) await runner.cancel(id);
  return empty(200);
}

async function view({ files }: ComfyuiContext, { query }: WireRequest): Promise<Answer> {
  const filename = query.get('filename') ?? '';
  const subfolder = query.get('subfolder') ?? '';
  if (filename.includes('..') || filename.startsWith('/')) return empty(400);
  if (subfolder.split('/').includes('..')) return empty(403);
  const content = await files.read({ filename, subfolder, type: query.get('type') ?? 'output' });
  return content === null ? empty(404) : bytes(content, findContentType(filename));
}

const TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  mp4: 'video/mp4',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
};

function findContentType(filename: string): string {
  return TYPES[filename.split('.').at(-1)?.toLowerCase() ?? ''] ?? 'application/octet-stream';
}

async function upload({ files }: ComfyuiContext, request: WireRequest): Promise<Answer> {
  const form = await readForm(request);
  const file = form?.files.find(({ field }) => field === 'image');
  if (form === null || file === undefined) return empty(400);
  const { type = 'input', subfolder = '', overwrite = '' } = form.fields;
  const filename = file.name ?? 'upload.png';
  if (/\.\.|\//.test(filename) || subfolder.split('/').includes('..')) return empty(400);
  const isOverwritten = overwrite === 'true' || overwrite === '1';
  const place = await files.upload({
    filename,
    subfolder,
    type,
    bytes: file.bytes,
    overwrite: isOverwritten,
  });
  return json({ name: place.filename, subfolder: place.subfolder, type: place.type });
}
