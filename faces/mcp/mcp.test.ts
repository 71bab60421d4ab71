import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { graphql, until } from '../../test/kit/clients/requests.ts';
import { type KilnUnderTest, startKiln } from '../../test/kit/kiln.ts';
import { call, connect, readMessages, rpc, send } from './mcp-client.fixture.ts';

let kiln: KilnUnderTest;
beforeAll(async () => {
  kiln = await startKiln({ settings: { CORS_ORIGINS: 'https://app.example' } });
});
afterAll(() => kiln.close());

const TOOLS = [
  'generate_image',
  'edit_image',
  'generate_video',
  'lip_sync',
  'speak',
  'describe_media',
  'run_workflow',
  'find_models',
  'estimate_cost',
  'get_task',
  'wait_for_task',
  'cancel_task',
  'list_my_media',
];

/** A task of the protocol, once it has ended. */
function untilEnded(taskId: string) {
  return until(
    async () => (await rpc(kiln.url, 'tasks/get', { taskId })).result,
    ({ status }) => status !== 'working',
  );
}

async function countTasks(prompt: string): Promise<number> {
  const images = await kiln.runtime.database.pool.query(
    `select count(*)::int as count from media.tasks where input::text like $1`,
    [`%${prompt}%`],
  );
  return (images.rows as { count: number }[])[0]?.count ?? 0;
}

describe.concurrent('the tools', () => {
  it.each(['modern', 'legacy'] as const)('make an image and a video for a %s client', async (version) => {
    const client = await connect(kiln.url, version);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(TOOLS);
    const image = await client.callTool({
      name: 'generate_image',
      arguments: { prompt: `a lighthouse for ${version}` },
    });
    expect(image.content).toMatchObject([
      {
        type: 'text',
        text: expect.stringMatching(/^Task \S+ made 1 file\(s\) with .*; it cost [\d.]+ USD\.$/),
      },
      { type: 'resource_link', mimeType: 'image/png' },
      { type: 'image', mimeType: 'image/webp' },
    ]);
    const { outputs } = image.structuredContent as { outputs: [{ media_id: string; uri: string }] };
    expect((await fetch(outputs[0].uri)).headers.get('content-type')).toBe('image/png');
    const film = await client.callTool({
      name: 'generate_video',
      arguments: { image: outputs[0].media_id, prompt: `waves for ${version}` },
    });
    expect(film.isError).toBeUndefined();
    expect(film.content).toContainEqual(expect.objectContaining({ mimeType: 'video/mp4' }));
    await client.close();
  });

  it('say what the models take: names, shapes, sizes, prices', async () => {
    const { result } = await rpc(kiln.url, 'tools/list');
    const { properties } = result.tools[0].inputSchema;
    expect(properties.model.enum).toContain('union:gpt-image-2');
    expect(properties.model.description).toMatch(/USD per picture/);
    expect(properties.aspect_ratio.enum).toContain('16:9');
    expect(result).toMatchObject({ resultType: 'complete', ttlMs: 60_000, cacheScope: 'private' });
    // A list of tools is in the context of each conversation.
    expect(JSON.stringify(result).length).toBeLessThan(37_000);
  });

  it('say which argument is wrong, as a result that an agent reads', async () => {
    const unknown = await call(kiln.url, 'generate_image', { prompt: 'a', colour: 'red' });
    expect(unknown.result).toMatchObject({ isError: true });
    expect(unknown.result.content[0].text).toContain('colour');
    const refused = await call(kiln.url, 'generate_video', { image: 'no-such-file' });
    expect(refused.result.content[0].text).toContain('BAD_USER_INPUT: image is an http or https address');
    const seeded = await call(kiln.url, 'generate_image', { prompt: 'a', seed: 4_294_967_295 });
    expect(seeded.result.content[0].text).toMatch(/^BAD_USER_INPUT: seed: Too big: .*2147483647/);
    const shape = { prompt: 'a', aspect_ratio: '21:9', model: 'vidb:MiniMax-Hailuo-02' };
    const misshapen = await call(kiln.url, 'generate_video', shape);
    expect(misshapen.result.content[0].text).toMatch(/^BAD_USER_INPUT: aspect_ratio: must be 16:9;/);
    const gone = { image: 'https://example.com/a.png', last_image: '01a20000-0000-7000-8000-000000000000' };
    const endless = await call(kiln.url, 'generate_video', gone);
    expect(endless.result.content[0].text).toMatch(/^BAD_USER_INPUT: last_image\.fileId names a file/);
    const missing = await call(kiln.url, 'no_tool', {});
    expect(missing.error?.code).toBe(-32_602);
  });

  it('start nothing that costs more than max_cost, or whose price nobody knows', async () => {
    const prompt = 'a palace of gold';
    const dear = await call(kiln.url, 'generate_image', { prompt, max_cost: 0.000_1 });
    expect(dear.result.content[0].text).toMatch(/^BUDGET_EXCEEDED: this is expected to cost [\d.]+ USD/);
    // At medium quality it would not be too dear.
    const better = { prompt, max_cost: 0.1, model: 'union:gpt-image-2', options: { quality: 'high' } };
    const finer = await call(kiln.url, 'generate_image', better);
    expect(finer.result.content[0].text).toMatch(/^BUDGET_EXCEEDED: this is expected to cost [\d.]+ USD/);
    const unknown = await call(kiln.url, 'generate_image', { prompt, max_cost: 9, model: 'imga:midjourney' });
    expect(unknown.result.content[0].text).toMatch(/^BUDGET_EXCEEDED: what this costs is not known/);
    expect(await countTasks(prompt)).toBe(0);
    const estimate = await call(kiln.url, 'estimate_cost', { kind: 'IMAGE', text: prompt });
    expect(estimate.result.structuredContent.amount).toBeGreaterThan(0);
    const paid = await call(kiln.url, 'generate_image', { prompt, max_cost: 9 });
    expect(paid.result.resultType).toBe('task');
  });

  it('change an image, by a file of here or an address, and let a face say a text', async () => {
    const made = await call(kiln.url, 'generate_image', { prompt: 'a face' }, { knowsTasks: false });
    const { media_id: id, uri } = made.result.structuredContent.outputs[0];
    const calls = [
      call(kiln.url, 'edit_image', { images: [id, uri], prompt: 'smiling' }, { knowsTasks: false }),
      call(kiln.url, 'edit_image', { images: [id], mask: id, prompt: 'a hat' }, { knowsTasks: false }),
      call(kiln.url, 'lip_sync', { image: `kiln://media/${id}`, text: 'hello' }, { knowsTasks: false }),
    ];
    const expected = [
      ['image/png', 'images', 'images'],
      ['image/png', 'images', 'mask'],
      ['video/mp4', 'image'],
    ];
    const FILES = 'query ($id: ID!) { task(id: $id) { input { files { input media { id } } } } }';
    for (const [index, { result }] of (await Promise.all(calls)).entries()) {
      const { task_id: task, outputs } = result.structuredContent;
      const { data } = await graphql(kiln.url, FILES, { id: task });
      const files = data.task.input.files as { input: string; media: { id: string } }[];
      expect([outputs[0].mime_type, ...files.map(({ input }) => input)]).toEqual(expected[index]);
      expect(new Set(files.map(({ media }) => media.id))).toEqual(new Set([id]));
    }
  });

  it('find models by kind, price and option, and tell all about one', async () => {
    const cheap = await call(kiln.url, 'find_models', { kind: 'IMAGE', max_price: 0.005 });
    const names = cheap.result.structuredContent.models.map(({ model }: { model: string }) => model);
    expect(names).toContain('custom:fal-ai/flux/schnell');
    expect(names).not.toContain('union:gemini-3-pro-image');
    const masked = await call(kiln.url, 'find_models', { option: 'mask', text: 'gpt-image-2' });
    expect(masked.result.structuredContent.models[0].kinds).toContain('IMAGE');
    const none = await call(kiln.url, 'find_models', { option: 'no_such_option' });
    expect(none.result.structuredContent.models).toEqual([]);
    const unknown = await call(kiln.url, 'find_models', { model: 'nobody:knows' });
    expect(unknown.result.content[0].text).toContain('there is no model nobody:knows');
    const wrong = await call(kiln.url, 'estimate_cost', { kind: 'SPEECH', model: 'nobody:knows' });
    expect(wrong.result.content[0].text).toMatch(/^BAD_USER_INPUT: no such model: one of speech_router:/);
    const speech = await call(kiln.url, 'find_models', { model: 'speech_router:speech-2.8-hd' });
    expect(speech.result.structuredContent.model.voices.length).toBeGreaterThan(0);
  });

  it('answer text for what makes text, and list graphs before one is run', async () => {
    const image = await call(kiln.url, 'generate_image', { prompt: 'a vase' }, { knowsTasks: false });
    const { media_id: media } = image.result.structuredContent.outputs[0];
    const words = await call(kiln.url, 'describe_media', { media }, { knowsTasks: false });
    expect(words.result.structuredContent.texts[0]).toEqual(expect.any(String));
    const graphs = await call(kiln.url, 'run_workflow', {});
    expect(graphs.result.structuredContent.workflows[0].name).toBe('text-to-image');
    const unknown = await call(kiln.url, 'run_workflow', { workflow: 'workflow/nobody-knows' });
    expect(unknown.result.content[0].text).toMatch(/^BAD_USER_INPUT: no such graph: one of text-to-image/);
    const run = await call(
      kiln.url,
      'run_workflow',
      { workflow: 'text-to-image', inputs: { prompt: 'a vase' } },
      { knowsTasks: false },
    );
    expect(run.result.structuredContent.state).toBe('SUCCEEDED');
    const speech = await call(kiln.url, 'speak', { text: 'hello' }, { knowsTasks: false });
    expect(speech.result.content[1].mimeType).toMatch(/^audio\//);
  });

  it('say a text with the voice that is asked for, and else with the first of the model', async () => {
    const model = 'speech_router:speech-2.8-hd';
    const found = await call(kiln.url, 'find_models', { model });
    const [first, second] = found.result.structuredContent.model.voices;
    const voiceOf = async (voice?: string) => {
      const { result } = await call(kiln.url, 'speak', { text: 'hello', model, voice });
      const query = 'query ($id: ID!) { task(id: $id) { input { options } } }';
      return (await graphql(kiln.url, query, { id: result.taskId })).data.task.input.options.voiceId;
    };
    expect([await voiceOf(second.id), await voiceOf()]).toEqual([second.id, first.id]);
  });
});

describe('a call that becomes a task', () => {
  it('is found by its id, in the graph as well, and has its result inlined', async () => {
    const { result } = await call(kiln.url, 'generate_image', { prompt: 'a task of its own' });
    expect(result).toMatchObject({ resultType: 'task', status: 'working', ttlMs: null });
    const { data } = await graphql(kiln.url, 'query ($id: ID!) { task(id: $id) { id } }', {
      id: result.taskId,
    });
    expect(data.task.id).toBe(result.taskId);
    const ended = await untilEnded(result.taskId);
    expect(ended).toMatchObject({ resultType: 'complete', status: 'completed' });
    expect(ended.result.content[1].type).toBe('resource_link');
    const known = await call(kiln.url, 'get_task', { task_id: result.taskId });
    expect(known.result.content).toEqual(ended.result.content);
  });

  it('is told on a stream, to its end', async () => {
    const { result } = await call(kiln.url, 'generate_image', { prompt: 'a task that is told' });
    const notifications = { taskIds: [result.taskId] };
    const told = await readMessages(await send(kiln.url, 'subscriptions/listen', { notifications }));
    expect(told[0]).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications, _meta: { 'io.modelcontextprotocol/subscriptionId': 1 } },
    });
    expect(told.at(-2)).toMatchObject({
      method: 'notifications/tasks',
      params: { taskId: result.taskId, status: 'completed', result: { content: expect.any(Array) } },
    });
    expect(told.at(-1)).toMatchObject({ result: { resultType: 'complete' } });
    const deaf = await rpc(kiln.url, 'subscriptions/listen', { notifications }, { knowsTasks: false });
    expect(deaf).toMatchObject({ status: 400, error: { code: -32_021 } });
  });

  it('is told to its end beside one that is not there', async () => {
    const { result } = await call(kiln.url, 'generate_image', { prompt: 'a task beside none' });
    const taskIds = ['01a20000-0000-7000-8000-000000000000', result.taskId];
    const told = await readMessages(
      await send(kiln.url, 'subscriptions/listen', { notifications: { taskIds } }),
    );
    expect(told.at(-2)?.params).toMatchObject({ taskId: result.taskId, status: 'completed' });
    expect(told.at(-1)?.result).toMatchObject({ resultType: 'complete' });
    const many = { taskIds: Array.from({ length: 51 }, (_, index) => `task-${index}`) };
    const refused = await rpc(kiln.url, 'subscriptions/listen', { notifications: many });
    expect(refused.error?.message).toBe('at most 50 tasks a stream');
  });

  it('is joined by the same call, and another is made by another variation', async () => {
    const args = { prompt: 'the only one of its kind' };
    const calls = await Promise.all([1, 2, 3].map(() => call(kiln.url, 'generate_image', args)));
    const ids = new Set(calls.map(({ result }) => result.taskId));
    expect(ids.size).toBe(1);
    const [id = ''] = ids;
    await untilEnded(id);
    const later = await call(kiln.url, 'generate_image', args);
    expect(later.result.structuredContent).toMatchObject({ task_id: id, state: 'SUCCEEDED' });
    const other = await call(kiln.url, 'generate_image', { ...args, variation: 2 });
    expect(other.result.taskId).not.toBe(id);
    expect(await countTasks(args.prompt)).toBe(2);
  });

  it('is tried anew by the same call when it has failed, and says why', async () => {
    await kiln.control('faults', { wire: 'midjourney', operation: 'imagine', fault: 'moderation', times: 1 });
    const args = { prompt: 'a thing that is refused once', model: 'imga:midjourney' };
    const first = await call(kiln.url, 'generate_image', args, { knowsTasks: false });
    expect(first.result.isError).toBe(true);
    expect(first.result.content[0].text).toMatch(/^Task \S+ failed: /);
    const second = await call(kiln.url, 'generate_image', args, { knowsTasks: false });
    expect(second.result.structuredContent.state).toBe('SUCCEEDED');
  });

  it('is cancelled by the protocol and by a tool', async () => {
    await kiln.control('latency', { wire: 'minimax', queuedMs: 60_000, runningMs: 60_000 });
    const [one, other] = await Promise.all(
      ['one', 'other'].map((name) => call(kiln.url, 'generate_video', { prompt: `${name} that is stopped` })),
    );
    const taskId: string = one?.result.taskId;
    expect((await rpc(kiln.url, 'tasks/cancel', { taskId })).result.resultType).toBe('complete');
    expect(await untilEnded(taskId)).toMatchObject({ status: 'cancelled' });
    const waited = await call(kiln.url, 'wait_for_task', { task_id: other?.result.taskId, seconds: 1 });
    expect(waited.result.content[0].text).toContain('call wait_for_task with this task_id');
    expect((await rpc(kiln.url, 'tasks/update', { taskId: other?.result.taskId })).result.resultType).toBe(
      'complete',
    );
    await call(kiln.url, 'cancel_task', { task_id: other?.result.taskId });
    expect(await untilEnded(other?.result.taskId)).toMatchObject({ status: 'cancelled' });
    const ended = await call(kiln.url, 'get_task', { task_id: other?.result.taskId });
    expect(ended.result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('was cancelled') }],
    });
    await kiln.control('latency', { wire: 'minimax', queuedMs: 0, runningMs: 0 });
  });

  it('tells a client that waits how far it is, never back', async () => {
    await kiln.control('latency', { wire: 'minimax', queuedMs: 0, runningMs: 600, progressSteps: 4 });
    const client = await connect(kiln.url, 'legacy');
    const told: number[] = [];
    await client.callTool(
      { name: 'generate_video', arguments: { prompt: 'a film that is told' } },
      { onprogress: ({ progress }) => void told.push(progress) },
    );
    await client.close();
    await kiln.control('latency', { wire: 'minimax', queuedMs: 0, runningMs: 0 });
    expect(told.length).toBeGreaterThan(1);
    expect(told).toEqual([...new Set(told)].sort((a, b) => a - b));
  });

  it('is nobody else’s: what is not there is an error of the protocol', async () => {
    const taskId = '01a20000-0000-7000-8000-000000000000';
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update']) {
      const { error } = await rpc(kiln.url, method, { taskId, inputResponses: {} });
      expect(error?.code).toBe(-32_602);
    }
    const without = await rpc(kiln.url, 'tasks/get', { taskId }, { knowsTasks: false });
    expect(without).toMatchObject({ status: 400, error: { code: -32_021 } });
  });
});

describe('resources and prompts', () => {
  it('read a task and a file, small ones whole', async () => {
    const client = await connect(kiln.url, 'modern');
    const made = await client.callTool({ name: 'generate_image', arguments: { prompt: 'a resource' } });
    const facts = made.structuredContent as { task_id: string; outputs: [{ media_id: string; uri: string }] };
    const task = await client.readResource({ uri: `kiln://tasks/${facts.task_id}` });
    expect(JSON.parse((task.contents[0] as { text: string }).text)).toMatchObject({ state: 'SUCCEEDED' });
    for (const uri of [`kiln://media/${facts.outputs[0].media_id}`, facts.outputs[0].uri]) {
      const file = await client.readResource({ uri });
      expect(file.contents[0]).toMatchObject({ mimeType: 'image/png', blob: expect.any(String) });
    }
    for (const uri of ['kiln://tasks/nobody', 'kiln://nothing', `kiln://media/${facts.task_id}`]) {
      await expect(client.readResource({ uri })).rejects.toThrow('there is no such resource');
    }
    const foreign = `https://elsewhere.example/files/${facts.outputs[0].media_id}/result-1.png`;
    await expect(client.readResource({ uri: foreign })).rejects.toThrow('there is no such resource');
    await client.close();
  });

  it.each(['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'])(
    'refuse a cursor that is none as invalid params: %s',
    async (method) => {
      const { error } = await rpc(kiln.url, method, { cursor: 'no cursor' });
      expect(error).toMatchObject({ code: -32_602, message: expect.stringMatching(/^cursor must be/) });
    },
  );

  it('offer prompts with their arguments', async () => {
    const client = await connect(kiln.url, 'legacy');
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual([
      'product_pictures',
      'picture_to_film',
      'talking_portrait',
    ]);
    const prompt = await client.getPrompt({
      name: 'product_pictures',
      arguments: { product: 'a chair', budget: '2' },
    });
    expect(JSON.stringify(prompt.messages)).toContain('stay below 2 in all');
    const film = await client.getPrompt({ name: 'picture_to_film', arguments: { picture: 'media-1' } });
    expect(JSON.stringify(film.messages)).toMatch(/generate_video: media-1\..*something calm that fits it/);
    const portrait = { text: 'hello', portrait: 'media-2' };
    const face = await client.getPrompt({ name: 'talking_portrait', arguments: portrait });
    expect(JSON.stringify(face.messages)).toContain('Take this portrait: media-2.');
    for (const name of ['product_pictures', 'no_such_prompt']) {
      await expect(client.getPrompt({ name })).rejects.toThrow('is missing');
    }
    await client.close();
  });
});

describe('the endpoint', () => {
  it('refuses what headers and body say differently', async () => {
    const name = { headers: { 'mcp-name': 'speak' } };
    const mismatch = await call(kiln.url, 'find_models', {}, name);
    expect(mismatch).toMatchObject({ status: 400, error: { code: -32_020 } });
    const other = { headers: { 'mcp-name': 'another-task' } };
    const task = await rpc(kiln.url, 'tasks/get', { taskId: 'a-task' }, other);
    expect(task).toMatchObject({ status: 400, error: { code: -32_020 } });
  });

  it('names nobody who signs in where nobody but Kiln does', async () => {
    const wrong = { headers: { authorization: 'Bearer kiln_wrong' } };
    const { status, headers } = await rpc(kiln.url, 'server/discover', {}, wrong);
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer error="invalid_token"']);
    expect((await fetch(`${kiln.url}/.well-known/oauth-protected-resource/mcp`)).status).toBe(404);
  });

  it('takes pages of its own and of CORS_ORIGINS, POST alone, and bodies of a megabyte', async () => {
    const from = (origin: string) => rpc(kiln.url, 'server/discover', {}, { headers: { origin } });
    expect((await from('https://app.example')).status).toBe(200);
    expect((await from(kiln.url)).status).toBe(200);
    expect((await from('http://evil.example')).status).toBe(403);
    expect((await from('http://localhost:6274')).status).toBe(403);
    expect((await fetch(`${kiln.url}/mcp`)).status).toBe(405);
    const large = await call(kiln.url, 'generate_image', { prompt: 'x'.repeat(1_100_000) });
    expect(large.status).toBe(413);
    const packed = { headers: { 'content-encoding': 'gzip' } };
    expect((await rpc(kiln.url, 'server/discover', {}, packed)).status).toBe(415);
  });
});
