import { createKiln, type Media } from '@kiln/client';
import { createSocket } from '@kiln/client/socket';
import { useSyncExternalStore } from 'react';

import { inChosenCell, serverUrl, socketUrl } from './addresses.ts';
import { freshToken } from './session.ts';

/** Whether live events can arrive: `idle` while nothing is watched, `lost` from the second second without a socket. */
type ConnectionState = 'idle' | 'live' | 'lost';

/** Losses shorter than this are not shown. */
const QUIET_MS = 2_000;

let state: ConnectionState = 'idle';
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

function set(next: ConnectionState): void {
  clearTimeout(timer);
  timer = undefined;
  if (state === next) return;
  state = next;
  for (const listener of listeners) listener();
}

const reconnected = new Set<() => void>();

/** Calls back when a connection that has failed is there again. */
export function onReconnected(listener: () => void): void {
  reconnected.add(listener);
}

/** Whether it has failed since it was there last. */
let hasFailed = false;
/** How many follow something: without them nothing opens it again. */
let followers = 0;

/** What the socket reports, and that a follower has gone. */
const connection = {
  opened: () => {
    const isBack = hasFailed;
    hasFailed = false;
    set('live');
    if (isBack) for (const listener of reconnected) listener();
  },
  ended: () => set('idle'),
  failed: () => {
    hasFailed = true;
    timer ??= setTimeout(() => set('lost'), QUIET_MS);
  },
  left: () => {
    followers -= 1;
    if (followers === 0 && hasFailed) set('idle');
  },
};

/** The state of the connection, for the shell. */
export function useConnection(): ConnectionState {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => state,
  );
}

/** Kiln's own client: it starts, cancels, chats and uploads, and follows everything over one socket. */

/** Goes on with what it was when the connection comes back, however long that takes. */
export const socket = createSocket({
  url: () => inChosenCell(socketUrl),
  key: freshToken,
  retries: Infinity,
  on: { opened: connection.opened, lost: connection.failed, ended: connection.ended },
});

/** The one of this page. What the server asks to wait for long is said, not waited for. */
export const kiln = createKiln({
  url: serverUrl,
  key: freshToken,
  fetch: (address, init) => fetch(inChosenCell(address), init),
  retries: 2,
  longestPauseMs: 2_000,
  socket,
});

/** A stored file that can be an input: an upload, or an output of earlier work. */
export type StoredFile = Pick<Media, 'id' | 'url' | 'contentType' | 'bytes'>;

/** What receives the events that are followed. */
interface Observer<Event> {
  readonly next: (event: Event) => void;
  readonly error: (error: unknown) => void;
  readonly complete: () => void;
}

/** Passes the events on, until the returned function is called. */
export function observe<Event>(
  follow: (signal: AbortSignal) => AsyncIterable<Event>,
  { next, error, complete }: Observer<Event>,
): () => void {
  const control = new AbortController();
  const { signal } = control;
  followers += 1;
  const read = async () => {
    for await (const event of follow(signal)) if (!signal.aborted) next(event);
  };
  read()
    .finally(connection.left)
    .then(
      () => !signal.aborted && complete(),
      (failure: unknown) => !signal.aborted && error(failure),
    );
  return () => control.abort();
}
