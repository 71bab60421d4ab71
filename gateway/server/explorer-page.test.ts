import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runInNewContext } from 'node:vm';

import express from 'express';
import { afterEach, describe, expect, it } from 'vitest';

import { createExplorerPage, type ExplorerOptions } from './explorer-page.ts';

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

interface Tab {
  readonly initialName: string;
  readonly initialQuery: string;
}

/** What Altair is opened with. */
interface Opened extends Record<string, unknown> {
  readonly initialWindows: readonly Tab[];
}

/** The explorer as a browser gets it. */
async function open(
  options: Partial<ExplorerOptions> = {},
  path = '/',
  headers: Record<string, string> = {},
) {
  const server = createServer(
    express().use(createExplorerPage({ basePath: '/kiln', trustProxy: [], signsIn: false, ...options })),
  );
  stops.push(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
  const page = await answer.text();
  const [, given = 'null'] = /AltairGraphQL\.init\((\{[^]*?\})\s*\);?\s*<\/script>/.exec(page) ?? [];
  const opened = JSON.parse(JSON.stringify(runInNewContext(`(${given})`))) as Opened | null;
  return { answer, page, opened, address: `127.0.0.1:${port}/kiln/graphql` };
}

const PREFLIGHT = { 'Apollo-Require-Preflight': 'true' };

describe('the explorer', () => {
  it('has a tab for a list, a subscription and a mutation, and asks nobody else for anything', async () => {
    const { page, opened, answer, address } = await open();
    const endpoints = {
      endpointURL: `http://${address}`,
      subscriptionsEndpoint: `ws://${address}`,
      initialSubscriptionRequestHandlerId: 'graphql-ws',
      initialHeaders: PREFLIGHT,
    };
    const quiet = {
      theme: 'system',
      'banners.disable': true,
      disablePushNotification: true,
      'alert.disableUpdateNotification': true,
    };
    expect(opened).toMatchObject({
      ...endpoints,
      instanceStorageNamespace: 'kiln_',
      initialSettings: quiet,
      persistedSettings: quiet,
      disableAccount: true,
    });
    expect(opened).not.toHaveProperty('initialPreRequestScript');
    const tabs = opened?.initialWindows ?? [];
    expect(tabs).toMatchObject([endpoints, endpoints, endpoints]);
    const kinds = tabs.map(({ initialName, initialQuery }) => [
      initialName,
      /^(?!#)\w+/m.exec(initialQuery)?.[0],
      initialQuery.includes(`${initialName}(`),
    ]);
    expect(kinds).toEqual([
      ['tasks', 'query', true],
      ['taskProgress', 'subscription', true],
      ['createTask', 'mutation', true],
    ]);
    expect(tabs[1]).toMatchObject({ initialVariables: '{ "id": "" }' });
    expect(page).toMatch(/<title>Explorer · Kiln<\/title>[^]*<base href="\/kiln\/explorer\/">/);
    expect(page).toMatch(/--theme-bg-color:#[\da-f]{6}!important;--rgb-theme-bg:\d+,\d+,\d+!important/);
    expect(page).toMatch(/<body><[^]*href="\/kiln\/console\/"/);
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'self'; script-src 'self'");
  });

  it('says the colours in both of their forms', async () => {
    const { page } = await open();
    const found = /--tertiary-color:#(..)(..)(..)!important;--rgb-tertiary:([\d,]+)!important/.exec(page);
    const [, ...parts] = found ?? [];
    const rgb = parts.slice(0, 3).map((part) => Number.parseInt(part, 16));
    expect(parts[3]).toBe(rgb.join(','));
    expect(rgb).toEqual([0xe5, 0x64, 0x0f]);
  });

  it('signs in before each request where it is told to', async () => {
    const { opened } = await open({ signsIn: true });
    const identity = {
      initialHeaders: { ...PREFLIGHT, Authorization: 'Bearer {{token}}' },
      initialSubscriptionsPayload: { Authorization: 'Bearer {{token}}' },
      initialPreRequestScript: expect.stringContaining("'/kiln/auth/wechat/token'"),
    };
    expect(opened).toMatchObject({ ...identity, initialWindows: [identity, identity, identity] });
  });

  it.each([
    [{}, 'kiln.example', 'http://kiln.example'],
    [{}, '[::1]:80', 'http://[::1]:80'],
    [{}, 'x`y', 'http://localhost'],
    [{ forwarded: 'https' }, 'kiln.example', 'http://kiln.example'],
    [{ trusted: '127.0.0.1', forwarded: 'https' }, 'kiln.example', 'https://kiln.example'],
    [{ trusted: '127.0.0.1', forwarded: ' HTTPS, http' }, 'kiln.example', 'https://kiln.example'],
    [{ trusted: '127.0.0.1', forwarded: 'http, https' }, 'kiln.example', 'http://kiln.example'],
    [{ trusted: '192.0.2.1', forwarded: 'https' }, 'kiln.example', 'http://kiln.example'],
  ] as const)('is of the address that the browser used: %j at %s is %s', async (given, host, expected) => {
    const { trusted, forwarded } = given as { readonly trusted?: string; readonly forwarded?: string };
    const explorer = createExplorerPage({
      basePath: '',
      trustProxy: trusted === undefined ? [] : [trusted],
      signsIn: false,
    });
    const headers = { host, ...(forwarded !== undefined && { 'x-forwarded-proto': forwarded }) };
    const page = await new Promise<string>((resolve) => {
      const response = { setHeader: () => response, type: () => response, send: resolve };
      const socket = { remoteAddress: '127.0.0.1' };
      const request = { method: 'GET', url: '/', path: '/', protocol: 'http', headers, socket };
      explorer(request as never, response as never, () => resolve('nothing'));
    });
    expect(page).toContain(`endpointURL: \`${expected}/graphql\``);
  });

  it('serves its own files, those of its sandbox with a policy of theirs', async () => {
    for (const path of ['/index.html', '/main.js']) expect((await open({}, path)).answer.status).toBe(200);
    const frame = await open({}, '/iframe-sandbox/index.html');
    expect(frame.answer.headers.get('content-security-policy')).toBe('sandbox allow-scripts');
  });
});
