import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { readForm } from './exchange.ts';
import { exchangesOfHar, readRecording } from './recordings.ts';

/** As Chromium's developer tools export it: an app at one origin that calls the old service at another. */
const file = path.resolve(import.meta.dirname, '../fixtures/browser.har');
const old = 'https://media.old.example.org';
const reading = (base: string | null) => Array.fromAsync(readRecording({ file, base }));

describe("a browser's HAR", () => {
  it('has the requests to the service, in their order, without what the browser asked by itself', async () => {
    const exchanges = await reading(old);
    expect(
      exchanges.map(({ request: { method, target }, response }) => [method, target, response.status]),
    ).toEqual([
      ['GET', '/api/template/check/task_type?task_type=tea', 200],
      ['GET', '/api/file/health', 0],
      ['POST', '/api/template/create', 200],
      ['POST', '/api/llm/chat', 200],
      ['POST', '/api/agg/imga/async/generate/image', 200],
      ['GET', '/cover.png', 200],
    ]);
    const [checked] = exchanges;
    expect(Object.keys(checked?.request.headers ?? {})).not.toContain(':authority');
    expect(checked?.response.headers['content-type']).toBe('application/json');
    expect(checked?.response.body).toEqual({
      text: '{"status": true, "data": {"is_available": false}, "msg": "ok"}',
    });
    expect(exchanges.at(-1)?.response.body).toEqual({ base64: 'iVBORw0KGgo=' });
    expect(await reading(null)).toHaveLength(exchanges.length + 1);
  });

  it('keeps forms; one with a file has the names of its fields, as its bytes are not there', async () => {
    const [, , , chat, image] = await reading(old);
    expect(
      (await readForm(chat?.request.body ?? null, chat?.request.headers['content-type'] ?? ''))?.names,
    ).toEqual(['prompt', 'top_secret_option']);
    expect(image?.request).toMatchObject({
      body: { omittedBytes: 0 },
      formNames: ['prompt', 'watermark', 'img_file'],
    });
  });

  it('has no body of an answer that the browser no longer had, which is another thing than an empty one', () => {
    const asked = { method: 'GET', url: `${old}/api/file/health`, headers: [] };
    const answered = (content: object) => ({
      request: asked,
      response: { status: 200, headers: [], content },
    });
    const entries = [answered({ size: 2_000 }), answered({ size: 0 }), answered({ size: -1 })];
    const bodies = exchangesOfHar({ log: { entries } }, null).map(({ response }) => response.body);
    expect(bodies).toEqual([{ omittedBytes: 2_000 }, null, null]);
  });

  it('has forms of which it knows the parameters alone', () => {
    const params = [{ name: 'prompt', value: 'a fox & more' }, { name: 'img_file' }];
    const sent = (mimeType: string) => ({
      request: { method: 'post', url: `${old}/x`, headers: [], postData: { mimeType, params } },
      response: { status: 200, headers: [] },
    });
    const entries = [sent('application/x-www-form-urlencoded'), sent('multipart/form-data; boundary=b')];
    const requests = exchangesOfHar({ log: { entries } }, null).map(({ request }) => request);
    expect(requests).toMatchObject([
      { method: 'POST', body: { text: 'prompt=a+fox+%26+more&img_file=' } },
      { body: { omittedBytes: 0 }, formNames: ['prompt', 'img_file'] },
    ]);
  });

  it('says which addresses it has when none is the one that is asked for, and what is no HAR', async () => {
    await expect(reading('https://elsewhere.example.org')).rejects.toThrow(
      'no request of the HAR goes to https://elsewhere.example.org; --base may be one of: https://app.example.org, https://media.old.example.org',
    );
    expect(() => exchangesOfHar({ log: { entries: [{ request: {} }] } }, null)).toThrow('this is no HAR');
  });

  it('is read below a path as well', async () => {
    const text = (await readFile(file, 'utf8')).replaceAll(`"${old}/`, `"${old}/media/`);
    const [first] = exchangesOfHar(JSON.parse(text), `${old}/media`);
    expect(first?.request.target).toBe('/api/template/check/task_type?task_type=tea');
  });
});

describe('a recording line by line', () => {
  const line = '{"request":{"method":"GET","target":"/"},"response":{"status":200}}';
  const readText = async (text: string) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'kiln-recording-'));
    try {
      await writeFile(path.join(folder, 'a.jsonl'), text);
      return await Array.fromAsync(readRecording({ file: path.join(folder, 'a.jsonl'), base: null }));
    } finally {
      await rm(folder, { recursive: true });
    }
  };

  it('may be empty, and has a request a line', async () => {
    expect(await readText('')).toEqual([]);
    expect(await readText(`${line}\n\n${line}\n`)).toHaveLength(2);
  });

  it.each([
    ['is no JSON', 'nothing', 'a.jsonl, line 2 is no JSON'],
    ['is no request', '{"request":{"method":"GET"}}', 'a.jsonl, line 2: '],
  ])('is refused with the line that %s', async (_, text, message) => {
    await expect(readText(`${line}\n${text}\n`)).rejects.toThrow(message);
  });
});
