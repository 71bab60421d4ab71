import OpenAI, { toFile } from 'openai';
import { readFile, writeFile } from 'node:fs/promises';
const base = process.env.BASE, key = process.env.KEY, only = process.env.ONLY?.split(',');
const client = new OpenAI({ apiKey: key, baseURL: `${base}/v1`, maxRetries: Number(process.env.RETRIES ?? 2) });
const run = async (name, body) => {
  if (only && !only.includes(name)) return;
  const from = Date.now();
  try { console.log(name, 'OK', JSON.stringify(await body()), `${Date.now() - from} ms`); }
  catch (e) { console.log(name, 'FAILED', e.status, e.code, e.message?.slice(0, 200), `${Date.now() - from} ms`); }
};
const png = await readFile('/work/wt/openai/test/kit/samples/picture.png');
await run('picture', async () => {
  const { data, response } = await client.images.generate({ model: 'gpt-image-2', prompt: 'a lighthouse at dawn', size: '1024x1024' }).withResponse();
  return { bytes: Buffer.from(data.data[0].b64_json, 'base64').length, task: response.headers.get('x-kiln-task') };
});
await run('edit', async () => {
  const { data, response } = await client.images.edit({ model: 'gpt-image-2', image: await toFile(png, 'a.png', { type: 'image/png' }), prompt: 'a hat' }).withResponse();
  return { bytes: Buffer.from(data.data[0].b64_json, 'base64').length, task: response.headers.get('x-kiln-task') };
});
await run('video', async () => {
  let video = await client.videos.create({ model: process.env.VIDEO ?? 'kling-v2-5-turbo', prompt: 'the sea', seconds: '5' });
  while (video.status === 'queued' || video.status === 'in_progress') { await new Promise((r) => setTimeout(r, 1000)); video = await client.videos.retrieve(video.id); }
  const content = await client.videos.downloadContent(video.id);
  const body = Buffer.from(await content.arrayBuffer());
  await writeFile('/tmp/openai-video.mp4', body);
  return { status: video.status, bytes: body.length };
});
await run('speech', async () => {
  const speech = await client.audio.speech.create({ model: 'gpt-4o-mini-tts', voice: 'alloy', input: 'Hello from the lighthouse' });
  return { bytes: (await speech.arrayBuffer()).byteLength, type: speech.headers.get('content-type') };
});
await run('chat', async () => {
  const tools = [{ type: 'function', function: { name: 'add', description: 'adds', parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] } } }];
  const messages = [{ role: 'user', content: 'Call add with a=2 and b=3.' }];
  const first = await client.chat.completions.create({ model: 'gpt-6-luna', messages, tools, tool_choice: 'required' });
  const call = first.choices[0].message.tool_calls?.[0];
  const second = await client.chat.completions.create({ model: 'gpt-6-luna', messages: [...messages, first.choices[0].message, { role: 'tool', tool_call_id: call.id, content: '5' }], tools });
  return { call: call.function, reply: second.choices[0].message.content };
});
await run('batch', async () => {
  const n = Number(process.env.N ?? 1000), url = '/v1/images/generations';
  const text = Array.from({ length: n }, (_, i) => JSON.stringify({ custom_id: `n${i}`, method: 'POST', url, body: { model: process.env.BATCH_MODEL ?? 'gpt-image-2', prompt: `number ${i}`, size: '1024x1024' } })).join('\n');
  const file = await client.files.create({ file: await toFile(Buffer.from(text), 'calls.jsonl'), purpose: 'batch' });
  let batch = await client.batches.create({ input_file_id: file.id, endpoint: url, completion_window: '24h' });
  while (!['completed', 'failed', 'cancelled'].includes(batch.status)) { await new Promise((r) => setTimeout(r, 3000)); batch = await client.batches.retrieve(batch.id); }
  const out = await (await client.files.content(batch.output_file_id)).text();
  return { status: batch.status, counts: batch.request_counts, lines: out.trim().split('\n').length };
});
