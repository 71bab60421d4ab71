import type { JsonSchema } from '../../rest-compat/schemas/openapi-types.ts';
import { silence } from '../../test/kit/samples/wav.ts';
import type { Random } from './random.ts';

/** What the fuzzer knows of the server: ids that exist, files that can be fetched. It grows with the answers. */
export interface Known {
  /** A value that this input may well have. */
  valueFor(name: string, schema: JsonSchema): unknown;
  /** Keeps what later requests may name. */
  learn(path: string, body: string): void;
}

/** An image of one pixel. */
export const onePixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

const most = 500;

/** Starts with what every Kiln has. */
export function createKnown(random: Random): Known {
  const sound = silence(1);
  const ids = new Map<string, string[]>();
  const remember = (kind: string, value: string): void => {
    const list = ids.get(kind) ?? [];
    if (list.length < most) list.push(value);
    else list[random.below(most)] = value;
    ids.set(kind, list);
  };
  const recall = (kind: string, otherwise: string): string => {
    const list = ids.get(kind) ?? [];
    return list.length === 0 ? otherwise : random.of(list);
  };
  const nobody = '01999c1e-6c0e-7d3a-9a52-0f3f2c9f5b1e';

  const byName: readonly (readonly [RegExp, () => unknown])[] = [
    [/^task_?id$/i, () => recall('task', nobody)],
    [/^payment_?id$/i, () => recall('payment', nobody)],
    [/^session_id$/, () => recall('session', 'cs_test_1')],
    [/^(code|template_?codes?)$/i, () => recall('template', 'no-template')],
    [/^(template_id|id)$/, () => recall('video template', '1')],
    [/^user_?id$/i, () => random.of(['fuzz', 'somebody'])],
    [/^task_type$/, () => random.of(['tea', 'vlog', `t${random.below(50)}`])],
    [/_id$/, () => recall('resource', nobody)],
    [/audio.*(url|input)/, () => recall('audio', 'http://127.0.0.1:9/a.wav')],
    [/url|media|img_input/i, () => recall('image', 'http://127.0.0.1:9/a.png')],
    [/^ar$|aspect/, () => random.of(['16:9', '1:1', '9:16', '0:1', 'wide'])],
    [/^messages$/, () => '[{"role":"user","content":"what is 2+2?"}]'],
    [/^workflow$/, () => '{"1":{"class_type":"KSampler","inputs":{}}}'],
    [/prompt|text|name|description/i, () => random.of(['a lighthouse at dawn', '灯台', 'rain on a window'])],
  ];

  function typed(
    { type, enum: words, minimum, maximum, contentMediaType, default: standard }: JsonSchema,
    name: string,
  ) {
    if (Array.isArray(words)) return random.of(words as unknown[]);
    if (contentMediaType === 'application/octet-stream') return /audio|^file$/.test(name) ? sound : onePixel;
    if (type === 'integer' || type === 'number') {
      const [low, high] = [Number(minimum ?? 1), Number(maximum ?? 8)];
      return random.of([low, high, Math.min(high, low + 2), standard ?? low]);
    }
    if (type === 'boolean') return random.chance(50);
    if (type === 'object') return { prompt: 'a lighthouse', nested: { list: [1, 'two', null] } };
    return undefined;
  }

  return {
    valueFor(name, schema) {
      const value = typed(schema, name);
      if (value !== undefined) return value;
      const single = byName.find(([pattern]) => pattern.test(name))?.[1]() ?? `word${random.below(9)}`;
      return schema['type'] === 'array' ? [single] : single;
    },
    learn(path, body) {
      const found = (pattern: RegExp): string[] => [...body.matchAll(pattern)].map(([, value = '']) => value);
      if (/submit|async|create|generate|^\/task/.test(path)) {
        for (const id of found(/"data":"([0-9a-f-]{36})"/g)) remember('task', id);
      }
      for (const id of found(/"(?:taskId|task_id)":"([0-9a-f-]{36})"/g)) remember('task', id);
      for (const id of found(/"paymentId":"([^"]+)"/g)) remember('payment', id);
      for (const id of found(/"sessionId":"([^"]+)"/g)) remember('session', id);
      for (const id of found(/"code":"([\w-]+)"/g)) remember('template', id);
      if (path.startsWith('/api/template'))
        for (const id of found(/"id":(\d+)/g)) remember('video template', id);
      for (const id of found(/"(?:character_id|video_id|digital_id|voice_id|key)":"([^"]+)"/g))
        remember('resource', id);
      for (const url of found(/"(http[^"]+\.(?:png|webp|jpe?g))"/g)) remember('image', url);
      for (const url of found(/"(http[^"]+\.(?:wav|mp3))"/g)) remember('audio', url);
    },
  };
}
