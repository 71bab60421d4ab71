import { afterAll, beforeEach, expect, it, vi } from 'vitest';

import { currentCredential, setCredential } from './caller.ts';
import { beginSession, freshAuthorization, freshToken, signInWithKey, signOut } from './session.ts';

/** The server of the console: what it is asked, and what it answers to that. */
const asked: { readonly path: string; readonly body: unknown }[] = [];
let answer: { readonly status: number; readonly data: object | null };
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
    const { status, data } = answer;
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

it('hears of the session of another tab, but for who has a key here', async () => {
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
