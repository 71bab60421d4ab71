import { CombinedGraphQLErrors } from '@apollo/client/errors';
import { KilnError } from '@kiln/client';
import { afterEach, expect, it, vi } from 'vitest';

import {
  chooseCell,
  consolePath,
  graphqlUrl,
  inChosenCell,
  onCell,
  serverUrl,
  socketUrl,
} from './addresses.ts';
import { Refusal, refusalCode } from './refusal.ts';
import { goToSignIn, loginCodeInAddress, takeVerifier } from './sign-in.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  sessionStorage.clear();
  chooseCell(null);
  history.replaceState(null, '', '/console/');
});

const base64url = (bytes: ArrayBuffer) => Buffer.from(bytes).toString('base64url');

it('leaves for the login page with the way back, and a challenge whose verifier this tab keeps', async () => {
  const assign = vi.spyOn(location, 'assign').mockImplementation(() => undefined);
  history.replaceState(null, '', '/console/gallery?kind=image#part');
  await goToSignIn();
  const [[address]] = assign.mock.calls as [[URL]];
  expect(`${address.origin}${address.pathname}`).toBe('http://localhost/auth/idp/authorize');
  expect(address.searchParams.get('redirect_url')).toBe('/console/gallery?kind=image');
  const verifier = sessionStorage.getItem('kiln.verifier') ?? '';
  expect(Buffer.from(verifier, 'base64url')).toHaveLength(32);
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  expect(address.searchParams.get('code_challenge')).toBe(base64url(digest));
  expect([takeVerifier(), takeVerifier()]).toEqual([verifier, null]);
});

it('writes challenges in letters that an address may have', async () => {
  const assign = vi.spyOn(location, 'assign').mockImplementation(() => undefined);
  vi.spyOn(crypto, 'getRandomValues').mockImplementation((bytes) => {
    (bytes as Uint8Array).fill(0xff);
    (bytes as Uint8Array)[1] = 0xef;
    (bytes as Uint8Array)[3] = 0xbe;
    return bytes;
  });
  await goToSignIn();
  expect(assign).toHaveBeenCalledOnce();
  expect(takeVerifier()).toMatch(/^[\w-]{43}$/);
});

it('leaves without a challenge where none can be made', async () => {
  const assign = vi.spyOn(location, 'assign').mockImplementation(() => undefined);
  vi.stubGlobal('crypto', {});
  await goToSignIn();
  const [[address]] = assign.mock.calls as [[URL]];
  expect(address.searchParams.has('code_challenge')).toBe(false);
  expect(takeVerifier()).toBeNull();
});

it.each([
  ['?login_code=c1&kind=image', 'c1', '/console/?kind=image'],
  ['?kind=image#login_code=c2&more=1', 'c2', '/console/?kind=image'],
  ['?kind=image#part', null, '/console/?kind=image#part'],
])('takes the login code out of %s', (address, code, left) => {
  history.replaceState({ kept: true }, '', `/console/${address}`);
  expect(loginCodeInAddress()).toBe(code);
  expect(`${location.pathname}${location.search}${location.hash}`).toBe(left);
  expect(history.state).toEqual({ kept: true });
});

it('finds its server by where the page is from', () => {
  expect([serverUrl, graphqlUrl, socketUrl, consolePath]).toEqual([
    'http://localhost/',
    'http://localhost/graphql',
    'ws://localhost/graphql',
    '/console',
  ]);
});

it('asks the chosen cell, and names another one', () => {
  const told = vi.fn<() => void>();
  const stop = onCell(told);
  expect(inChosenCell('/graphql')).toBe('/graphql');
  chooseCell(2);
  expect([inChosenCell('/graphql'), inChosenCell('/graphql?a=1')]).toEqual([
    '/graphql?cell=2',
    '/graphql?a=1&cell=2',
  ]);
  expect(told).toHaveBeenCalledOnce();
  stop();
  chooseCell(null);
  expect(told).toHaveBeenCalledOnce();
});

it('knows the code of what the server has refused, in whatever way it was asked', () => {
  const graphql = (extensions?: object) =>
    new CombinedGraphQLErrors({
      data: null,
      errors: [{ message: 'no', ...(extensions && { extensions }) } as never],
    });
  expect(new Refusal('no')).toMatchObject({ name: 'Refusal', message: 'no', code: '' });
  expect(refusalCode(new Refusal('no', 'GONE'))).toBe('GONE');
  expect(refusalCode(new KilnError('LOST', 'no'))).toBe('LOST');
  expect(refusalCode(graphql({ code: 'FORBIDDEN' }))).toBe('FORBIDDEN');
  expect([graphql(), graphql({ code: 7 }), new Error('no'), undefined].map(refusalCode)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
