import { createHash } from 'node:crypto';
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { brotliCompressSync } from 'node:zlib';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createConsole } from './console.ts';
import { type TestGateway, startTestGateway } from './server-under-test.fixture.ts';

const html = { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' };

describe('the console', () => {
  let folder: string;
  let gateway: TestGateway;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'kiln-console-'));
    gateway = await startTestGateway({
      publicUrl: 'https://example.org/kiln/',
      consoleFolder: path.join(folder, 'dist'),
      rest: (_request, response) => response.json({ service: 'rest' }),
    });
  });

  afterAll(async () => {
    await gateway.close();
    await rm(folder, { recursive: true, force: true });
  });

  const get = (address: string, headers: Record<string, string> = html) =>
    fetch(`${gateway.url}/kiln${address}`, { headers, redirect: 'manual' });

  test('says that it is being built, and serves itself from then on', async () => {
    const early = await get('/console/');
    expect(early.status).toBe(503);
    expect(early.headers.get('retry-after')).toBe('2');
    const text = await early.text();
    expect(text).toContain('The console is being built');
    expect(text).toContain('setTimeout(() => location.reload(), 2000);');
    const script = /<script>(.*)<\/script>/.exec(text)?.[1] ?? '';
    const hash = createHash('sha256').update(script).digest('base64');
    expect(early.headers.get('content-security-policy')).toContain(`script-src 'sha256-${hash}';`);

    await mkdir(path.join(folder, 'dist/assets'), { recursive: true });
    const page = '<html><base href="/console/" /><script src="./assets/a-1.js"></script></html>';
    await writeFile(path.join(folder, 'dist/index.html'), page);
    await writeFile(path.join(folder, 'dist/assets/a-1.js'), `export const text = '${'kiln '.repeat(500)}';`);
    for (const address of ['/console/', '/console/tasks/01999c1e', '/console/index.html']) {
      const response = await get(address);
      expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-cache']);
      expect(await response.text()).toContain('<base href="/kiln/console/" />');
    }
  });

  test('allows scripts and styles of its own only', async () => {
    const policy = (await get('/console/')).headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).not.toContain('unsafe');
  });

  test('sends files compressed and to be kept for a year, and 404 for those that are gone', async () => {
    const file = await get('/console/assets/a-1.js', { 'accept-encoding': 'gzip' });
    expect(file.headers.get('content-encoding')).toBe('gzip');
    expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect((await get('/console/assets/a-0.js')).status).toBe(404);
  });

  test('sends what the build has compressed to browsers that take it', async () => {
    const text = 'export const text = "packed";';
    await writeFile(path.join(folder, 'dist/assets/b-1.js'), text);
    await writeFile(path.join(folder, 'dist/assets/b-1.js.br'), brotliCompressSync(text));
    const packed = await get('/console/assets/b-1.js', { 'accept-encoding': 'gzip, br' });
    expect(packed.headers.get('content-encoding')).toBe('br');
    expect(packed.headers.get('content-type')).toContain('javascript');
    expect(packed.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(packed.headers.get('vary')).toContain('Accept-Encoding');
    expect(await packed.text()).toBe(text);
    const unpacked = await get('/console/assets/a-1.js', { 'accept-encoding': 'br' });
    expect([unpacked.status, await unpacked.text()]).toEqual([200, expect.stringContaining('kiln kiln')]);
    const plain = await get('/console/assets/b-1.js', { 'accept-encoding': 'identity' });
    expect([plain.headers.get('content-encoding'), await plain.text()]).toEqual([null, text]);
  });

  test('sends browsers that open / to it, and programs the documented JSON', async () => {
    const browser = await get('/');
    expect([browser.status, browser.headers.get('location')]).toEqual([302, '/kiln/console/']);
    expect([browser.headers.get('cache-control'), browser.headers.get('vary')]).toEqual([
      'no-store',
      'Accept, Accept-Encoding',
    ]);
    for (const accept of ['*/*', 'application/json', 'application/json, text/html']) {
      const response = await get('/', { accept });
      expect(await response.json()).toEqual({ service: 'rest' });
      expect(response.headers.get('vary')).toMatch(/^Accept(,|$)/);
    }
  });

  test('tells browsers that there is nothing in a page, escaped, and programs in JSON', async () => {
    const bare = await startTestGateway({});
    const page = await fetch(`${bare.url}/nowhere/%3Cb%3E&'`, { headers: html });
    expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    const text = await page.text();
    expect(text).toContain('There is nothing at this address');
    expect(text).not.toContain('<b>');
    const program = await fetch(`${bare.url}/nowhere`);
    expect([program.status, ((await program.json()) as { msg: string }).msg]).toEqual([
      404,
      'no such path: /nowhere',
    ]);
    await bare.close();
  });

  test('shows files of other cells, and may load nothing else from elsewhere', () => {
    const readPolicy = (fileOrigins?: readonly string[]): string => {
      const headers: Record<string, string> = {};
      const response = {
        setHeader: (name: string, value: string) => {
          headers[name] = value;
        },
      };
      const request = { method: 'POST', url: '/', headers: {} };
      createConsole({ basePath: '', folder, fileOrigins })(
        request as never,
        response as never,
        () => undefined,
      );
      expect(headers['Referrer-Policy']).toBe('same-origin');
      return headers['Content-Security-Policy'] ?? '';
    };
    const others = readPolicy(['https://eu.example', 'https://us.example']);
    const files = "'self' https://eu.example https://us.example";
    expect(others.split('; ')).toEqual([
      "default-src 'none'",
      "base-uri 'self'",
      `connect-src ${files}`,
      "font-src 'self'",
      "form-action 'self'",
      "frame-ancestors 'none'",
      `img-src ${files} data: blob:`,
      "manifest-src 'self'",
      `media-src ${files} blob:`,
      "script-src 'self'",
      "style-src 'self'",
    ]);
    expect(readPolicy()).toBe(others.replaceAll(' https://eu.example https://us.example', ''));
  });
});
