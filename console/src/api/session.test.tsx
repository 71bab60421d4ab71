import { afterAll, beforeEach, expect, it, vi } from 'vitest';

import { problemText } from '../parts/problem.tsx';
import { currentCredential, onCredential, setCredential } from './caller.ts';
import { beginSession, freshAuthorization, freshToken, signInWithKey, signOut } from './session.ts';

/** The server of the console: what it is asked, and what it answers to that. */
const asked: { readonly path: string; readonly body: unknown }[] = [];
let answer: { readonly status: number; readonly data: object | null; readonly isPage?: boolean };
/** What the next request waits for. */
let isHeld: Promise<void> | undefined;
const session = (token: string, seconds: number) => ({
  status: 200,
  data: { access_token: token, expires_in: seconds },
});
const otherTab = new BroadcastChannel('kiln.session');
afterAll(() => otherTab.close());
const isRemembered = () => localStorage.getItem('kiln.session') !== null;

// There is no other tab: a lock is had at once.
const locks = { request: (_name: string, run: () => Promise<void>) => run() };
Object.defineProperty(navigator, 'locks', { value: locks, configurable: true });

beforeEach(() => {
  asked.length = 0;
  answer = session('t-1', 900);
  setCredential(null);
  vi.stubGlobal('fetch', async (url: URL, { method, body }: RequestInit) => {
    asked.push({ path: `${method} ${url.pathname}`, body });
    const { status, data, isPage } = answer;
    await isHeld;
    if (isPage === true) return new Response('<html>', { status });
    return { status, json: async () => ({ data, message: 'the words of the server' }) };
  });
});

it('a visitor who never signed in asks for nothing', async () => {
  expect(await beginSession()).toBeNull();
  expect([await freshToken(), await freshAuthorization(), asked]).toEqual([null, null, []]);
});

it('a session that this browser has goes on, and is renewed before its end, once for all who ask', async () => {
  localStorage.setItem('kiln.session', '1');
  expect(await beginSession()).toBeNull();
  expect([await freshToken(), await freshAuthorization()]).toEqual(['t-1', 'Bearer t-1']);
  expect(asked).toEqual([
    { path: expect.stringMatching(/^POST .*auth\/browser\/refresh$/), body: undefined },
  ]);
  setCredential({ kind: 'session', token: 't-1', expiresAt: Date.now() + 29_000 });
  answer = session('t-2', 900);
  expect(await Promise.all([freshToken(), freshToken()])).toEqual(['t-2', 't-2']);
  expect(asked).toHaveLength(2);
  setCredential({ kind: 'session', token: 't-2', expiresAt: Date.now() + 35_000 });
  answer = session('t-3', 900);
  expect(await freshToken()).toBe('t-2');
  expect(asked).toHaveLength(2);
});

it('a session that the server does not know is forgotten; one that can not be asked about is not', async () => {
  localStorage.setItem('kiln.session', '1');
  answer = { status: 503, data: null };
  expect(await beginSession()).toMatchObject({ message: 'the words of the server' });
  expect(isRemembered()).toBe(true);
  answer = { status: 401, data: null };
  expect(await beginSession()).toBeNull();
  expect([isRemembered(), currentCredential()]).toEqual([false, null]);
});

it('signing out ends the session at the server and in the other tabs, and a key in this tab alone', async () => {
  const heard: unknown[] = [];
  otherTab.addEventListener('message', ({ data }: MessageEvent) => heard.push(data));
  localStorage.setItem('kiln.session', '1');
  await beginSession();
  await signOut();
  expect([asked.at(-1)?.path, isRemembered(), currentCredential()]).toEqual([
    expect.stringMatching(/auth\/browser\/revoke$/),
    false,
    null,
  ]);
  await vi.waitFor(() => expect(heard.at(-1)).toEqual({ ended: true }));
  expect(heard).toContainEqual({ session: expect.objectContaining({ kind: 'session', token: 't-1' }) });
  const before = asked.length;
  signInWithKey('k');
  expect(await freshAuthorization()).toBe('Bearer k');
  await signOut();
  expect([currentCredential(), asked.length]).toEqual([null, before]);
});

it('learns of the session of another tab, but for who has a key here', async () => {
  otherTab.postMessage({ session: { kind: 'session', token: 'theirs', expiresAt: Date.now() + 900_000 } });
  await vi.waitFor(() => expect(currentCredential()?.token).toBe('theirs'));
  otherTab.postMessage({ ended: true });
  await vi.waitFor(() => expect(currentCredential()).toBeNull());
  signInWithKey('k');
  // Made later than that of the session, and so told later.
  const third = new BroadcastChannel('kiln.session');
  const told = new Promise((resolve) => third.addEventListener('message', resolve));
  otherTab.postMessage({ ended: true });
  await told;
  expect(currentCredential()?.token).toBe('k');
  third.close();
});

it('what another tab begins is asked for by that caller, what it renews is not asked for anew', async () => {
  const told = vi.fn<() => void>();
  const stop = onCredential(told);
  const send = async (token: string, more: object = {}) => {
    otherTab.postMessage({
      session: { kind: 'session', token, expiresAt: Date.now() + 900_000 },
      ...more,
    });
    await vi.waitFor(() => expect(currentCredential()?.token).toBe(token));
    return told.mock.calls.length;
  };
  expect([
    await send('first', { isNew: true }),
    await send('renewed'),
    await send('of another', { isNew: true }),
  ]).toEqual([1, 1, 2]);
  stop();
  const heard: unknown[] = [];
  otherTab.addEventListener('message', ({ data }: MessageEvent) => heard.push(data));
  at('?login_code=c-1');
  await beginSession();
  await vi.waitFor(() => expect(heard.at(-1)).toMatchObject({ session: { token: 't-1' }, isNew: true }));
});

it.each([
  ['signed out', () => signOut(), null],
  ['signed in by a key', async () => signInWithKey('k'), 'k'],
])('a renewal that comes late changes nothing for who has %s meanwhile', async (_, act, token) => {
  for (const late of [session('t-2', 900), { status: 401, data: null }]) {
    localStorage.setItem('kiln.session', '1');
    setCredential({ kind: 'session', token: 't-1', expiresAt: Date.now() });
    const held = Promise.withResolvers<void>();
    isHeld = held.promise;
    answer = late;
    const fresh = freshToken();
    isHeld = undefined;
    await act();
    held.resolve();
    expect([await fresh, currentCredential()?.token ?? null]).toEqual([token, token]);
  }
});

it('gives up a renewal without an answer, and one that a proxy answers, as the server is away', async () => {
  const stale = { kind: 'session', token: 't-1', expiresAt: Date.now() } as const;
  const silence = new AbortController();
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(silence.signal);
  setCredential(stale);
  isHeld = new Promise((_, reject) =>
    silence.signal.addEventListener('abort', () => reject(silence.signal.reason)),
  );
  const fresh = freshToken();
  silence.abort(new DOMException('too long', 'TimeoutError'));
  const why = await fresh.catch(problemText);
  timeout.mockRestore();
  isHeld = undefined;
  answer = { status: 502, data: null, isPage: true };
  const page = await freshToken().catch(problemText);
  const away = 'The server could not be reached. Check that it runs, then try again.';
  expect([why, page, currentCredential()]).toEqual([away, away, stale]);
});

const at = (address: string) => history.replaceState(null, '', `/console/${address}`);

it('redeems the code of the address with the verifier of this tab', async () => {
  sessionStorage.setItem('kiln.verifier', 'v-1');
  at('?login_code=c-1');
  expect(await beginSession()).toBeNull();
  expect(currentCredential()).toMatchObject({ kind: 'session', token: 't-1' });
  expect((currentCredential()?.expiresAt ?? 0) - Date.now()).toBeGreaterThan(890_000);
  expect((currentCredential()?.expiresAt ?? 0) - Date.now()).toBeLessThanOrEqual(900_000);
  expect(isRemembered()).toBe(true);
  at('?login_code=c-2');
  await beginSession();
  expect(asked).toEqual([
    {
      path: expect.stringMatching(/^POST .*auth\/browser\/token$/),
      body: JSON.stringify({ login_code: 'c-1', code_verifier: 'v-1' }),
    },
    { path: expect.stringMatching(/token$/), body: JSON.stringify({ login_code: 'c-2' }) },
  ]);
  expect(location.search).toBe('');
});

it('says why a code was refused, and goes on with the session that it began before', async () => {
  answer = { status: 400, data: null };
  at('?login_code=c-1');
  expect(await beginSession()).toMatchObject({ name: 'Refusal', message: 'the words of the server' });
  expect(asked).toHaveLength(1);
  localStorage.setItem('kiln.session', '1');
  at('?login_code=c-1');
  answer = { status: 401, data: null };
  expect(await beginSession()).toBeNull();
  expect(asked.map(({ path }) => path.split('/').at(-1))).toEqual(['token', 'token', 'refresh']);
});

it('takes the next token of its session from another tab without asking all again', async () => {
  const changed = vi.fn<() => void>();
  setCredential({ kind: 'session', token: 'mine', expiresAt: Date.now() + 900_000 });
  const stop = onCredential(changed);
  otherTab.postMessage({ session: { kind: 'session', token: 'next', expiresAt: Date.now() + 900_000 } });
  await vi.waitFor(() => expect(currentCredential()?.token).toBe('next'));
  expect(changed).not.toHaveBeenCalled();
  setCredential(null);
  expect(changed).toHaveBeenCalledOnce();
  stop();
  setCredential(null);
  expect(changed).toHaveBeenCalledOnce();
});

it('asks for no other token where another tab has brought one meanwhile', async () => {
  setCredential({ kind: 'session', token: 'old', expiresAt: Date.now() + 1_000 });
  const request = locks.request;
  locks.request = (name, run) => {
    expect(name).toBe('kiln.session');
    setCredential({ kind: 'session', token: 'theirs', expiresAt: Date.now() + 900_000 });
    return run();
  };
  expect(await freshToken()).toBe('theirs');
  locks.request = request;
  expect(asked).toEqual([]);
});

it('renews without locks too, which are for secure origins', async () => {
  const { locks: secure } = navigator;
  Object.defineProperty(navigator, 'locks', { value: undefined, configurable: true });
  setCredential({ kind: 'session', token: 'old', expiresAt: null });
  expect(await freshToken()).toBe('t-1');
  Object.defineProperty(navigator, 'locks', { value: secure, configurable: true });
});

it('renews again after it could not', async () => {
  setCredential({ kind: 'session', token: 'old', expiresAt: Date.now() });
  answer = { status: 503, data: null };
  await expect(freshToken()).rejects.toThrow('the words of the server');
  answer = session('t-9', 900);
  expect(await freshToken()).toBe('t-9');
});
