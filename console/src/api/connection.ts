import { useSyncExternalStore } from 'react';

/** Whether live events can arrive: `idle` while nothing is watched, `lost` from the second second without a socket. */
export type ConnectionState = 'idle' | 'live' | 'lost';

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

let heardAt = Date.now();

/** When the server was last heard of, in milliseconds: what has happened since may have been missed. */
export function lastHeard(): number {
  return heardAt;
}

/** What the socket reports (client.ts). */
export const connection = {
  /** Answers whether it was lost before. */
  opened: () => {
    const wasLost = state === 'lost';
    set('live');
    return wasLost;
  },
  heard: () => {
    heardAt = Date.now();
  },
  ended: () => set('idle'),
  failed: () => {
    timer ??= setTimeout(() => set('lost'), QUIET_MS);
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
