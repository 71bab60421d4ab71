import { readFile } from 'node:fs/promises';

import OpenAI, { toFile } from 'openai';
import { describe, expect, it } from 'vitest';

import { until } from '../kit/clients/requests.ts';
import { isWhole } from '../kit/extent.ts';
import { useKilledKiln } from './killed-kiln.fixture.ts';
import { allTasks } from './workload.ts';

/** kill -9 of everything while OpenAI's SDK waits for an image: it sends the call again, and gets what it had begun. */

const world = useKilledKiln();

describe.skipIf(process.platform !== 'linux')('kill -9 while the SDK waits', () => {
  it('its retry gets the image of the first task, which was started once', async () => {
    await world.sandbox.latency({ wire: 'midjourney', queuedMs: 0, runningMs: 5_000 });
    const first = await world.start({ PORT: '0' });
    const client = new OpenAI({ apiKey: 'sk-of-nobody', baseURL: `${first.url}/v1`, maxRetries: 30 });
    const image = client.images.generate({ model: 'midjourney', prompt: 'a lighthouse' }).withResponse();
    const isRunning = (tasks: Awaited<ReturnType<typeof allTasks>>): boolean =>
      tasks.some(({ attempts }) => attempts[0]?.state === 'RUNNING');
    const [task] = await until(() => allTasks(first.url), isRunning, 60_000);
    await first.killEverything();
    await world.start({ PORT: new URL(first.url).port });
    const { data, response } = await image;
    expect(response.headers.get('x-kiln-task')).toBe(task?.id);
    expect(data.data?.[0]?.b64_json).toBeTruthy();
    expect(Object.values(await world.sandbox.starts())).toEqual([1]);
  });

  it('a chat is not asked for twice: its retry learns that it broke off, whole or streamed', async () => {
    await world.sandbox.latency({ wire: 'openai', queuedMs: 0, runningMs: 30_000 });
    const first = await world.start({ PORT: '0' });
    const client = new OpenAI({ apiKey: 'sk-of-nobody', baseURL: `${first.url}/v1`, maxRetries: 30 });
    const messages = [{ role: 'user' as const, content: 'What is 6 * 7?' }];
    const asked = client.chat.completions.create({ model: 'gpt-6-luna', messages });
    asked.catch(() => undefined);
    const stream = (tries: number) =>
      client.chat.completions.create(
        { model: 'gpt-6-luna', messages, stream: true },
        { headers: { 'x-stainless-retry-count': String(tries) } },
      );
    const read = async (asked: ReturnType<typeof stream>) => {
      for await (const _ of await asked);
    };
    const cut = read(stream(0));
    cut.catch(() => undefined);
    const chats = async () => (await world.sandbox.jobs()).length;
    await until(chats, (count) => count === 2, 60_000);
    await first.killEverything();
    expect(await cut.catch((error: unknown) => error)).toBeInstanceOf(Error);
    await world.start({ PORT: new URL(first.url).port });
    await expect(asked).rejects.toMatchObject({ status: 500, code: 'start_unknown' });
    await expect(read(stream(1))).rejects.toMatchObject({ code: 'start_unknown' });
    expect(await chats()).toBe(2);
  });

  it('an edit, a video and a batch go on, each started once, and a speech is answered', async () => {
    await world.sandbox.latency({ queuedMs: 0, runningMs: 30_000 });
    await world.sandbox.latency({ wire: 'minimax', runningMs: 3_000 });
    const first = await world.start({ PORT: '0' });
    const client = new OpenAI({ apiKey: 'sk-of-nobody', baseURL: `${first.url}/v1`, maxRetries: 30 });
    const png = await readFile(new URL('../kit/samples/image.png', import.meta.url));
    const image = await toFile(png, 'a.png', { type: 'image/png' });
    const edit = client.images.edit({ model: 'midjourney', image, prompt: 'a hat' });
    const speech = client.audio.speech.create({ model: 'speech-2.8-turbo', voice: 'alloy', input: 'Hello' });
    const video = await client.videos.create({ model: 'kling-v2-5-turbo', prompt: 'the sea' });
    const batch = await begunBatch(client, ['a', 'b', 'c']);
    const allRun = (tasks: Awaited<ReturnType<typeof allTasks>>): boolean =>
      tasks.filter(({ attempts }) => attempts[0]?.state === 'RUNNING').length >= 5;
    await until(() => allTasks(first.url), allRun, 60_000);
    await first.killEverything();
    await world.start({ PORT: new URL(first.url).port });
    expect((await edit).data?.[0]?.b64_json).toBeTruthy();
    expect((await (await speech).arrayBuffer()).byteLength).toBeGreaterThan(100);
    await until(
      () => client.videos.retrieve(video.id),
      ({ status }) => status === 'completed',
      120_000,
    );
    const { request_counts: counts, output_file_id: output } = await until(
      () => client.batches.retrieve(batch),
      ({ status }) => status === 'completed',
      120_000,
    );
    expect(counts).toEqual({ total: 3, completed: 3, failed: 0 });
    expect((await (await client.files.content(output ?? '')).text()).trimEnd().split('\n')).toHaveLength(3);
    // A speech is one call that MiniMax gives no name to: only its answer can be joined.
    expect(Object.values(await world.sandbox.starts())).toEqual([1, 1, 1, 1, 1]);
  });
});

describe.skipIf(process.platform !== 'linux' || !isWhole)('kill -9 in the middle of half the price', () => {
  it("a batch of OpenAI's is found again that was made while nobody heard of it, and paid once", async () => {
    await world.sandbox.latency({ queuedMs: 0, runningMs: 1_000 });
    await world.sandbox.injectFault({ wire: 'openai', operation: 'batches', fault: 'slow', delayMs: 3_000 });
    const first = await world.start({ PORT: '0' });
    const client = new OpenAI({ apiKey: 'sk-of-nobody', baseURL: `${first.url}/v1`, maxRetries: 30 });
    const batch = await begunBatch(client, ['a', 'b', 'c'], 'gpt-image-2');
    const operations = async () => (await world.sandbox.jobs()).map(({ operation }) => operation);
    await until(operations, (all) => all.includes('file'), 60_000);
    await first.killEverything();
    await until(operations, (all) => all.includes('batch'), 30_000);
    await world.start({ PORT: new URL(first.url).port });
    const { request_counts: counts } = await until(
      () => client.batches.retrieve(batch),
      ({ status }) => status === 'completed',
      120_000,
    );
    expect(counts).toEqual({ total: 3, completed: 3, failed: 0 });
    expect((await operations()).filter((name) => name === 'batch')).toHaveLength(1);
    expect(Object.values(await world.sandbox.starts())).toEqual([1, 1, 1]);
  });

  it('a chat that has left flex, and was not begun at the usual price yet, does not go back', async () => {
    await world.sandbox.injectFault({
      wire: 'openai',
      operation: 'chat',
      fault: 'rate-limited',
      times: 11,
      retryAfter: 0,
    });
    await world.sandbox.injectFault({
      wire: 'openai',
      operation: 'chat',
      fault: 'rate-limited',
      retryAfter: 60,
    });
    const first = await world.start({ PORT: '0' });
    const client = new OpenAI({ apiKey: 'sk-of-nobody', baseURL: `${first.url}/v1`, maxRetries: 30 });
    const batch = await begunBatch(client, ['a'], 'gpt-6-luna');
    await until(tiersAsked, (asked) => asked.length === 12, 120_000);
    await first.killEverything();
    await world.start({ PORT: new URL(first.url).port });
    const { request_counts: counts } = await until(
      () => client.batches.retrieve(batch),
      ({ status }) => status === 'completed',
      120_000,
    );
    expect(counts).toEqual({ total: 1, completed: 1, failed: 0 });
    expect(await tiersAsked()).toEqual([...Array.from({ length: 11 }, () => 'flex'), null, null]);
  });
});

/** The tier of each chat that the stand-in was asked for. */
async function tiersAsked(): Promise<readonly (string | null)[]> {
  const answer = await fetch(`${world.sandbox.url}/_control/requests`);
  const all = (await answer.json()) as { path: string; body: { service_tier?: string } }[];
  return all
    .filter(({ path }) => path.endsWith('/chat/completions'))
    .map(({ body }) => body.service_tier ?? null);
}

async function begunBatch(client: OpenAI, names: readonly string[], model = 'midjourney'): Promise<string> {
  const isChat = model.startsWith('gpt-6');
  const url = isChat ? '/v1/chat/completions' : '/v1/images/generations';
  const asked = (name: string) =>
    isChat ? { messages: [{ role: 'user', content: name }] } : { prompt: `a ${name}` };
  const lines = names.map((name) =>
    JSON.stringify({ custom_id: name, method: 'POST', url, body: { model, ...asked(name) } }),
  );
  const file = await client.files.create({
    file: await toFile(Buffer.from(lines.join('\n')), 'calls.jsonl'),
    purpose: 'batch',
  });
  const { id } = await client.batches.create({
    input_file_id: file.id,
    endpoint: url,
    completion_window: '24h',
  });
  return id;
}
