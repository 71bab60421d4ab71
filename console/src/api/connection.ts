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

const healed = new Set<() => void>();

/** Calls back when a connection that was lost is there again. */
export function onHealed(listener: () => void): void {
  healed.add(listener);
}

/** What the socket reports (kiln.ts). */
export const connection = {
  opened: () => {
    const wasLost = state === 'lost';
    set('live');
    if (wasLost) for (const listener of healed) listener();
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
