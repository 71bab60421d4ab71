import { KilnError } from '@kiln/client';

import { serverUrl } from './addresses.ts';
import { type Credential, currentCredential, renewCredential, setCredential } from './caller.ts';
import { Refusal } from './refusal.ts';
import { loginCodeInAddress, takeVerifier } from './sign-in.ts';

/**
 * The session of this browser. Its refresh token is in a cookie that no script reads; every tab holds an access token, and
 * the tabs tell each other of a new one, so that one of them renews it for all.
 */

/** Remembered, so that visitors without a session are not refused at every load. */
const HINT = 'kiln.session';
const LOCK = 'kiln.session';
/** Renewed when less than this is left. */
const MARGIN_MS = 30_000;
/** The other tabs learn of a token before the lock is theirs. */
const HEARD_MS = 50;

/** An answer that takes longer will not come, and every tab waits for it. */
const SILENT_MS = 30_000;

/** A session that is new may be another caller's than the one before. */
type News = { readonly session: Credential; readonly isNew?: boolean } | { readonly ended: true };

const channel = new BroadcastChannel('kiln.session');
channel.addEventListener('message', ({ data }: MessageEvent<News>) => {
  if (currentCredential()?.kind === 'key') return;
  if ('session' in data) take(data.session, data.isNew);
  else setCredential(null);
});

/** The credential of a request, renewed when it is about to end; null for an anonymous visitor. */
export async function freshToken(): Promise<string | null> {
  if (isStale()) await renew();
  return currentCredential()?.token ?? null;
}

/** The same as an Authorization header. */
export async function freshAuthorization(): Promise<string | null> {
  const token = await freshToken();
  return token === null ? null : `Bearer ${token}`;
}

/** Begins with the login code of the address, else with the session that this browser has. Answers what failed, else null. */
export async function beginSession(): Promise<Error | null> {
  const code = loginCodeInAddress();
  try {
    if (code !== null) await redeem(code);
    else if (localStorage.getItem(HINT) !== null) await renew();
    return null;
  } catch (error) {
    // A code is good once: who opens its address again goes on with the session that it began.
    if (code !== null && localStorage.getItem(HINT) !== null) return beginSession();
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Signs this tab in with a service key or an access token, which ends with the tab. */
export function signInWithKey(token: string): void {
  setCredential({ kind: 'key', token, expiresAt: null });
}

/** Ends the session at the server and in every tab; a service key is forgotten by this tab alone. */
export async function signOut(): Promise<void> {
  const isSession = currentCredential()?.kind === 'session';
  setCredential(null);
  if (!isSession) return;
  forget();
  await post('revoke');
}

function isStale(): boolean {
  const held = currentCredential();
  return held?.kind === 'session' && (held.expiresAt ?? 0) - Date.now() < MARGIN_MS;
}

async function redeem(code: string): Promise<void> {
  const verifier = takeVerifier();
  const body = { login_code: code, ...(verifier === null ? {} : { code_verifier: verifier }) };
  const { session, refused } = await post('token', body);
  if (session === null) throw new Refusal(refused);
  publish(session, true);
}

let running: Promise<void> | null = null;

/** Renews once, however many requests and tabs want it. */
function renew(): Promise<void> {
  running ??= withLock(renewNow).finally(() => {
    running = null;
  });
  return running;
}

async function renewNow(): Promise<void> {
  const held = currentCredential();
  if (held !== null && !isStale()) return;
  const { session, status, refused } = await post('refresh');
  // Who has signed out meanwhile, or in with a key, is not whom this was asked for.
  if (currentCredential() !== held) return;
  if (session !== null) {
    publish(session);
    await new Promise((resolve) => setTimeout(resolve, HEARD_MS));
  } else if (status === 401) {
    forget();
    setCredential(null);
  } else throw new Refusal(refused);
}

/** Locks are for secure origins only; elsewhere the server answers two tabs alike for half a minute. */
function withLock(run: () => Promise<void>): Promise<void> {
  const locks = (navigator as { readonly locks?: LockManager }).locks;
  return locks === undefined ? run() : locks.request(LOCK, run);
}

function publish(session: Credential, isNew = false): void {
  localStorage.setItem(HINT, '1');
  take(session, isNew);
  channel.postMessage({ session, ...(isNew && { isNew }) } satisfies News);
}

function take(session: Credential, isNew = false): void {
  if (isNew || currentCredential() === null) setCredential(session);
  else renewCredential(session);
}

function forget(): void {
  localStorage.removeItem(HINT);
  channel.postMessage({ ended: true } satisfies News);
}

interface Reply {
  readonly status: number;
  readonly session: Credential | null;
  /** The server's words when there is no session. */
  readonly refused: string;
}

async function post(what: 'token' | 'refresh' | 'revoke', body?: object): Promise<Reply> {
  const response = await fetch(new URL(`auth/browser/${what}`, serverUrl), {
    method: 'POST',
    signal: AbortSignal.timeout(SILENT_MS),
    ...(body === undefined
      ? {}
      : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  }).catch(asAway);
  const { data, message } = (await response.json().catch(asAway)) as {
    readonly data?: { readonly access_token?: string; readonly expires_in?: number } | null;
    readonly message: string;
  };
  const token = data?.access_token;
  const expiresAt = Date.now() + (data?.expires_in ?? 0) * 1_000;
  const session: Credential | null = token === undefined ? null : { kind: 'session', token, expiresAt };
  return { status: response.status, session, refused: message };
}

/** No answer, or one that is no JSON, such as a page of a proxy: the server is away. */
function asAway(cause: unknown): never {
  throw new KilnError('UNREACHABLE', 'no answer of the server', { cause });
}
