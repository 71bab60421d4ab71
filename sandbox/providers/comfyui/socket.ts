import { randomUUID } from 'node:crypto';

import sharp from 'sharp';
import { WebSocketServer, type WebSocket } from 'ws';

import type { JsonObject } from '../../../platform/json.ts';
import { once } from '../../../platform/once.ts';
import type { WireUpgrade } from '../../http/wire.ts';
import type { JobRunner } from '../../jobs/job-runner.ts';
import { hasEnded, type Job } from '../../jobs/job.ts';
import { readGraph } from './graph/graph.ts';
import { endMessage, executionOrder } from './views.ts';

/**
 * The machine's WebSocket. Messages of a prompt go only to the client that started it, except an interruption. A client
 * that reconnects replaces its old socket and gets only the current node.
 */
export interface Sockets {
  accept(upgrade: WireUpgrade): void;
  /** Closes all connections. */
  cutOff(): void;
}

const MAX_PAYLOAD = 1 << 20;

/** Creates the sockets of one machine. */
export function createSockets(runner: JobRunner): Sockets {
  const server = new WebSocketServer({ noServer: true, maxPayload: MAX_PAYLOAD });
  const clients = new Map<string, WebSocket>();
  const narrator = createNarrator(runner);
  const status = (sid?: string): Message => {
    const remaining = runner.list().filter((job) => !hasEnded(job)).length;
    const data = { status: { exec_info: { queue_remaining: remaining } } };
    return { type: 'status', data: sid === undefined ? data : { ...data, sid } };
  };
  runner.onChange((job) => {
    const own = clients.get(readClientId(job));
    for (const message of narrator.tell(job)) {
      if (message.isForAll === true) for (const socket of clients.values()) send(socket, message);
      else if (own !== undefined) send(own, message);
    }
    if (own !== undefined && narrator.isSampling(job)) void preview().then((frame) => own.send(frame));
    for (const socket of clients.values()) send(socket, status());
  });
  const welcome = (socket: WebSocket, client: string) => {
    clients.get(client)?.terminate();
    clients.set(client, socket);
    socket.on('error', () => socket.terminate()); // the connection broke
    socket.on('close', () => {
      if (clients.get(client) === socket) clients.delete(client);
    });
    socket.on('message', (data: Buffer) => {
      if (data.toString('utf8').includes('"feature_flags"')) send(socket, FEATURES);
    });
    send(socket, status(client));
    const running = runner.list().find((job) => job.state === 'running' && readClientId(job) === client);
    if (running !== undefined) send(socket, narrator.now(running));
  };
  return {
    accept({ query, request, socket, head }) {
      const client = query.get('clientId') ?? randomUUID().replaceAll('-', '');
      server.handleUpgrade(request, socket, head, (accepted) => welcome(accepted, client));
    },
    cutOff() {
      for (const socket of clients.values()) socket.terminate();
    },
  };
}

const FEATURES: Message = {
  type: 'feature_flags',
  data: { supports_preview_metadata: true, max_upload_size: 104_857_600 },
};

function send(socket: WebSocket, { type, data }: Message): void {
  socket.send(JSON.stringify({ type, data }));
}

/** A preview as a server sends it with `--preview-method`: its kind (1), its format (1: JPEG), the image. */
const preview = once(async () => {
  const background = { r: 120, g: 110, b: 140 };
  const image = await sharp({ create: { width: 64, height: 64, channels: 3, background } })
    .jpeg()
    .toBuffer();
  return Buffer.concat([Buffer.from([0, 0, 0, 1, 0, 0, 0, 1]), image]);
});

function readClientId({ input }: Job): string {
  return typeof input['clientId'] === 'string' ? input['clientId'] : '';
}

/** Builds the socket messages of a job: its nodes in execution order, spread over its progress. */
interface Narrator {
  /** The messages of a change. An interruption goes to every client, anything else only to the job's client. */
  tell(job: Job): readonly Message[];
  /** The current node, without its prompt: the only message for a client that reconnects. */
  now(job: Job): Message;
  /** Whether a sampler runs, which sends previews. */
  isSampling(job: Job): boolean;
}

/** A message of the socket. */
interface Message {
  readonly type: string;
  readonly data: object;
  readonly isForAll?: boolean;
}

/** Progress steps of a node. */
const STEPS = 20;

/** Creates the narrator of one machine. */
function createNarrator(runner: JobRunner): Narrator {
  /** Number of reported nodes of each running job. */
  const reported = new Map<string, number>();
  const findNode = (job: Job) => executionOrder(job)[Math.max(0, (reported.get(job.id) ?? 1) - 1)] ?? null;
  const advance = (job: Job): Message[] => {
    const order = executionOrder(job);
    const exact = (runner.readProgress(job) / 100) * order.length;
    const reached = Math.min(order.length, Math.floor(exact) + 1);
    const before = reported.get(job.id);
    reported.set(job.id, reached);
    const entered = order.slice(before ?? 0, reached).map((node) => executing(job, node));
    const node = order[reached - 1];
    const value = Math.floor((exact % 1) * STEPS);
    const nodes = listStates(job, { order, reached, value });
    return [
      ...(before === undefined ? beginning(job) : []),
      ...entered,
      { type: 'progress', data: { value, max: STEPS, prompt_id: job.id, node } },
      { type: 'progress_state', data: { prompt_id: job.id, nodes } },
    ];
  };
  const end = (job: Job): Message[] => {
    reported.delete(job.id);
    const outputs = Object.entries((job.result?.facts['outputs'] ?? {}) as JsonObject);
    const executed = outputs.map(([node, output]) => ({
      type: 'executed',
      data: { node, display_node: node, output, prompt_id: job.id },
    }));
    const last = endMessage(job);
    const isForAll = last.type === 'execution_interrupted';
    // After an error this message never comes, as in ComfyUI.
    const done = last.type === 'execution_success' ? [executing(job, null)] : [];
    return [...executed, { ...last, isForAll }, ...done];
  };
  return {
    tell(job) {
      if (job.state === 'running') return advance(job);
      return hasEnded(job) && job.startedAt !== null ? end(job) : [];
    },
    now: (job) => ({ type: 'executing', data: { node: findNode(job) } }),
    isSampling(job) {
      if (job.state !== 'running') return false;
      return readGraph(job.input['graph'])?.get(findNode(job) ?? '')?.classType === 'KSampler';
    },
  };
}

function beginning({ id, startedAt }: Job): Message[] {
  const base = { prompt_id: id, timestamp: startedAt };
  return [
    { type: 'execution_start', data: base },
    { type: 'execution_cached', data: { nodes: [], ...base } },
  ];
}

function executing({ id }: Job, node: string | null): Message {
  return { type: 'executing', data: { node, display_node: node, prompt_id: id } };
}

function listStates(
  job: Job,
  {
    order,
    reached,
    value,
  }: { readonly order: readonly string[]; readonly reached: number; readonly value: number },
): object {
  const entries = order.slice(0, reached).map((id, index) => {
    const isDone = index < reached - 1;
    const state = {
      value: isDone ? 1 : value,
      max: isDone ? 1 : STEPS,
      state: isDone ? 'finished' : 'running',
    };
    const names = { node_id: id, display_node_id: id, parent_node_id: null, real_node_id: id };
    return [id, { ...state, ...names, prompt_id: job.id }] as const;
  });
  return Object.fromEntries(entries);
}
