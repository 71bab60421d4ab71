import { useSyncExternalStore } from 'react';

/** Addresses of the server that has sent this page; `document.baseURI` is PUBLIC_URL/console/. */
const root = new URL('../', document.baseURI);

/** PUBLIC_URL with a slash at its end. */
export const serverUrl = root.href;
export const graphqlUrl = new URL('graphql', root).href;
export const socketUrl = graphqlUrl.replace(/^http/, 'ws');

/** Path of the console without a slash at its end, for the router. */
export const consolePath = new URL('.', document.baseURI).pathname.replace(/\/$/, '');

/** The cell (a whole Kiln beside others) that is shown; the server passes what is asked on to it. */
let chosen: number | null = null;
const listeners = new Set<() => void>();

/** Shows another cell; null is the one of this address. */
export function chooseCell(cell: number | null): void {
  if (cell === chosen) return;
  chosen = cell;
  for (const listener of listeners) listener();
}

/** Calls back when another cell is chosen; returns the way to stop that. */
export function onCell(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The chosen cell; null is the one of this address. */
export function useCell(): number | null {
  return useSyncExternalStore(onCell, () => chosen);
}

/** An address of the server, for the chosen cell. */
export function inChosenCell(address: string): string {
  return chosen === null ? address : `${address}${address.includes('?') ? '&' : '?'}cell=${chosen}`;
}
