import { useSyncExternalStore } from 'react';

import { serverUrl } from './addresses.ts';
import { freshAuthorization } from './session.ts';

/** Which cell (a whole Kiln beside others) the console shows. The server passes what is asked on to it. */

/** All cells of an installation; none where there is only one. */
export interface KnownCells {
  /** The cell of this address. */
  readonly own: number;
  readonly cells: readonly { readonly number: number; readonly ready: boolean }[];
}

let chosen: number | null = null;
const listeners = new Set<() => void>();

/** Shows another cell; null is the one of this address. */
export function chooseCell(cell: number | null): void {
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

/** Asks for all cells, for administrators. Rejects when the server does not answer. */
export async function listCells(): Promise<KnownCells> {
  const authorization = await freshAuthorization();
  const answer = await fetch(new URL('cells', serverUrl), {
    headers: authorization === null ? {} : { authorization },
  });
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  return (await answer.json()) as KnownCells;
}
