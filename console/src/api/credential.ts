import { useSyncExternalStore } from 'react';

/**
 * The credential of this tab: a service key or an access token. It is kept in memory only, so that it ends with the tab
 * and no script of another page can read it from a storage.
 */
let credential: string | null = null;
const listeners = new Set<() => void>();

/** The Authorization header of requests and of the socket; null for an anonymous visitor. */
export function authorization(): string | null {
  return credential === null ? null : `Bearer ${credential}`;
}

/** Sets or forgets the credential; the client drops what it knows and asks again (client.ts). */
export function setCredential(next: string | null): void {
  credential = next;
  for (const listener of listeners) listener();
}

/** Calls back after every change; returns the way to stop that. */
export function onCredential(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether this tab has a credential. */
export function useIsSignedIn(): boolean {
  return useSyncExternalStore(onCredential, () => credential !== null);
}
