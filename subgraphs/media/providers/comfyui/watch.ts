import { setTimeout as pause } from 'node:timers/promises';

import { WebSocket } from 'ws';

import { UpstreamError } from '../../domain/failure.ts';
import type { CallContext, Handle, WatchedProgress } from '../contract/provider.ts';
import { buildUrl, type Exchange } from '../shared/exchange.ts';
import { at, readHandle } from './handle.ts';
import { createProgress, type Progress } from './progress.ts';
import { readHistory } from './status.ts';

/** Watching a prompt over its server's socket: which node runs, and how far it is. */

interface Watch {
  readonly exchange: Exchange;
  readonly handle: Handle;
  readonly context: CallContext;
  readonly report: (progress: WatchedProgress) => void;
}

const FIRST_PAUSE_MS = 300;
const MAX_PAUSE_MS = 10_000;
/** Consecutive connections without any message after which watching ends and polling has to do. */
const MAX_FAILURES = 8;
const HANDSHAKE_MS = 5_000;
const PING_MS = 15_000;
/** Previews are sent over the same socket. */
const MAX_FRAME = 16 << 20;

/**
 * Resolves when the prompt has ended, the signal is aborted or no socket can be opened. A broken socket is reopened
 * with the same client id; as only the current node is replayed, the history is read each time.
 */
export async function watchPrompt({ exchange, handle, context, report }: Watch): Promise<void> {
  const prompt = readHandle(handle, context.connection);
  const there = at(context, prompt.node);
  const progress = createProgress(prompt);
  const { signal } = context;
  for (let failures = 0; failures < MAX_FAILURES && !signal.aborted; failures += 1) {
    const { hasEnded, wasOpen } = await follow(socketFor(there, prompt.promptId), {
      progress,
      report,
      signal,
    });
    if (hasEnded || signal.aborted) return;
    if (wasOpen) failures = 0;
    const waitMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures);
    await pause(waitMs, undefined, { signal }).catch(() => undefined); // aborted: the loop ends
    if (signal.aborted || (await isOver(exchange, there, prompt.promptId))) return;
  }
}

async function isOver(exchange: Exchange, there: CallContext, promptId: string): Promise<boolean> {
  try {
    return (await readHistory(exchange, there, promptId)) !== null;
  } catch (error) {
    if (error instanceof UpstreamError) return false; // no answer now: the socket is tried again
    throw error;
  }
}

/** A socket to the server, with the headers that its HTTP API needs. */
function socketFor({ connection }: CallContext, clientId: string): WebSocket {
  const url = buildUrl(connection, `/ws?clientId=${encodeURIComponent(clientId)}`).replace(/^http/, 'ws');
  return new WebSocket(url, {
    headers: { ...connection.headers, 'user-agent': 'Kiln' },
    handshakeTimeout: HANDSHAKE_MS,
    maxPayload: MAX_FRAME,
    followRedirects: false,
    perMessageDeflate: false,
  });
}

interface Following {
  readonly progress: Progress;
  readonly report: (progress: WatchedProgress) => void;
  readonly signal: AbortSignal;
}

/** Reads one socket until it closes. Never rejects: a broken socket just ends. */
function follow(
  socket: WebSocket,
  { progress, report, signal }: Following,
): Promise<{ readonly hasEnded: boolean; readonly wasOpen: boolean }> {
  let [hasEnded, wasOpen, isAlive] = [false, false, true];
  const leave = () => socket.terminate();
  const clock = setInterval(() => {
    if (!isAlive) return leave();
    isAlive = false;
    if (socket.readyState === WebSocket.OPEN) socket.ping();
  }, PING_MS);
  return new Promise((resolve) => {
    socket.on('open', () => {
      wasOpen = true;
    });
    socket.on('pong', () => {
      isAlive = true;
    });
    socket.on('message', (data: Buffer, isBinary) => {
      isAlive = true;
      const now = isBinary ? progress.takeImage(data) : progress.take(data.toString('utf8'));
      if (now === 'ended') {
        hasEnded = true;
        leave();
      } else if (now !== null && !signal.aborted) report(now);
    });
    socket.on('error', () => undefined); // `close` follows
    socket.on('close', () => {
      clearInterval(clock);
      signal.removeEventListener('abort', leave);
      resolve({ hasEnded, wasOpen });
    });
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  });
}
