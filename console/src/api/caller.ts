import { useSyncExternalStore } from 'react';

import { CallerDocument } from './documents/api.ts';
import type { CallerQuery } from './documents/operations.ts';
import { useSharedQuery } from './shared-queries.ts';

/**
 * The credential of this tab, in memory only, so that no script of another page can read it from a storage: the access
 * token of a session (session.ts renews it), or a service key that ends with the tab.
 */
export interface Credential {
  readonly kind: 'session' | 'key';
  readonly token: string;
  /** When the token ends, in milliseconds since 1970; null for a key. */
  readonly expiresAt: number | null;
}

let credential: Credential | null = null;
const listeners = new Set<() => void>();

/** The credential; null for an anonymous visitor. */
export function currentCredential(): Credential | null {
  return credential;
}

/** Sets or forgets the credential of another caller; the client drops what it knows and asks again (client.ts). */
export function setCredential(next: Credential | null): void {
  credential = next;
  for (const listener of listeners) listener();
}

/** Takes the next token of the same session, which changes nothing that is shown. */
export function renewCredential(next: Credential): void {
  credential = next;
}

/** Calls back after every change of the caller; returns the way to stop that. */
export function onCredential(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether this tab has a credential. */
export function useIsSignedIn(): boolean {
  return useSyncExternalStore(onCredential, () => credential !== null);
}

/** What this tab has signed in with; null for nothing. */
export function useCredentialKind(): Credential['kind'] | null {
  return useSyncExternalStore(onCredential, () => credential?.kind ?? null);
}

/** Who is asking and what they may do, as the server says; undefined until it has answered. */
export function useCaller(): CallerQuery['caller'] | undefined {
  return useSharedQuery(CallerDocument).data?.caller;
}

/** What the caller is called: their name, their address, else their id; undefined for a visitor. */
export function useCallerName(): string | undefined {
  const { data } = useSharedQuery(CallerDocument);
  if (data === undefined || data.caller.kind === 'ANONYMOUS') return undefined;
  return data.viewer?.name ?? data.viewer?.email ?? data.caller.id;
}

/**
 * Whether lists hold what is everyone's. Not `mayAdministrate`: an open server lets everybody change things, and shows
 * nobody what is somebody else's.
 */
export function useSeesAll(): boolean {
  return useCaller()?.mayIssueKeys === true;
}
