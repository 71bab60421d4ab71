import { silence } from '../../../test/kit/samples/wav.ts';
import { createKnown, type Known, onePixel } from '../known.ts';
import type { Random } from '../random.ts';

/** What the fuzzer knows of OpenAI's operations: conversations, tools, files of calls, ids that were answered. */
export function createOpenaiKnown(random: Random): Known {
  const general = createKnown(random);
  const ids = new Map<string, string[]>();
  const remember = (kind: string, id: string): void => {
    const list = ids.get(kind) ?? [];
    if (!list.includes(id) && list.length < MOST) ids.set(kind, [...list, id]);
  };
  const recall = (kind: string): string => random.of([...(ids.get(kind) ?? []), `${kind}_none`]);
  const sound = silence(1);
  const values: Readonly<Record<string, () => unknown>> = {
    messages: () => random.of(CONVERSATIONS),
    tools: () => [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }],
    tool_choice: () => random.of(['auto', 'none', 'required']),
    response_format: () =>
      random.of([{ type: 'text' }, { type: 'json_object' }, 'url', 'b64_json', 'json', 'verbose_json']),
    stream_options: () => ({ include_usage: true }),
    n: () => random.of([1, 1, 2]),
    images: () => [{ image_url: IMAGE }],
    image: () => onePixel,
    'image[]': () => onePixel,
    mask: () => onePixel,
    input_reference: () => random.of([onePixel, { image_url: IMAGE }]),
    file: () => random.of([sound, Buffer.from(LINES)]),
    voice: () => random.of(['alloy', 'nova', 'nobody']),
    seconds: () => random.of(['4', '5', '6', '10']),
    size: () => random.of(['1024x1024', '1280x720', 'auto', '720x1280']),
    purpose: () => 'batch',
    endpoint: () => random.of(['/v1/images/generations', '/v1/chat/completions', '/v1/embeddings']),
    completion_window: () => '24h',
    input_file_id: () => recall('files'),
    file_id: () => recall('files'),
    video_id: () => recall('videos'),
    batch_id: () => recall('batches'),
    model: () => random.of(['gpt-image-2', 'MiniMax-Hailuo-02', 'no-such-model']),
    after: () => random.of([recall('files'), recall('videos'), recall('batches')]),
    order: () => random.of(['desc', 'desc', 'asc']),
    limit: () => random.of([1, 20, 100, 10_000]),
    variant: () => random.of(['video', 'thumbnail', 'spritesheet']),
  };
  return {
    valueFor(name, schema) {
      if (name === 'model' && Array.isArray(schema['enum'])) return random.of(schema['enum'] as unknown[]);
      return values[name]?.() ?? general.valueFor(name, schema);
    },
    learn(path, body) {
      const kind = /\/(files|videos|batches)\b/.exec(path)?.[1];
      if (kind === undefined) return;
      for (const [, id = ''] of body.matchAll(/"id":"((?:batch_)?[0-9a-f-]{32,36})"/g)) remember(kind, id);
    },
  };
}

/** Ids of a kind that are kept. */
const MOST = 200;

const IMAGE = `data:image/png;base64,${onePixel.toString('base64')}`;

const CONVERSATIONS = [
  [{ role: 'user', content: 'What is 2 + 2?' }],
  [
    { role: 'developer', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'What is it?' }] },
  ],
  [{ role: 'user', content: [{ type: 'image_url', image_url: { url: IMAGE } }] }],
];

const LINES = ['a', 'b']
  .map((name) =>
    JSON.stringify({
      custom_id: name,
      method: 'POST',
      url: '/v1/images/generations',
      body: { model: 'gpt-image-2', prompt: `a ${name}` },
    }),
  )
  .join('\n');
