import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { z } from 'zod';

import type { JsonObject } from '../../../platform/json.ts';
import { openScriptedProvider } from '../environment/environment.ts';

const exchange = z.strictObject({
  method: z.enum(['GET', 'POST', 'PUT', 'DELETE']),
  path: z.string().startsWith('/'),
  headers: z.record(z.string(), z.string()).optional(),
  json: z.unknown().optional(),
  status: z.number().int(),
  answer: z.unknown(),
});

const recording = z.strictObject({
  provider: z.string(),
  mount: z.string(),
  recorded: z.string(),
  exchanges: z.array(exchange).min(1),
  adapter: z
    .strictObject({
      kind: z.string(),
      handle: z.record(z.string(), z.unknown()),
      expected: z.record(z.string(), z.unknown()),
    })
    .optional(),
});

/** What a real service answered (test/providers/recorded/README.md). */
export type Recording = z.output<typeof recording>;

const folder = import.meta.dirname;

/** Every recording there is, by the name of its file. */
export function readRecordings(): readonly (readonly [name: string, Recording, text: string])[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return names.map((name) => {
    const text = readFileSync(path.join(folder, name), 'utf8');
    return [name, recording.parse(JSON.parse(text)), text];
  });
}

/** What may not be in a recording: keys, tokens, cookies and signed addresses. */
export const SECRETS =
  /\b(?:sk-|r8_|AIza|ghp_|xox[bp]-)[\w-]{8,}|Bearer\s+[\w.-]{8,}|"(?:authorization|cookie|x-api-key|x-goog-api-key)"|[?&](?:X-Amz-Signature|Signature|token|key)=/i;

/** Where the stand-in at this address answers otherwise than the service did; none when it answers in the same form. */
export async function differences(origin: string, { exchanges }: Recording): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { method, path: where, headers = {}, json, status, answer } of exchanges) {
    const response = await fetch(origin + where, {
      method,
      headers: { ...headers, ...(json === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    const text = await response.text();
    if (response.status !== status) found.push(`${where}: ${response.status} instead of ${status}`);
    found.push(...missingIn(text === '' ? null : JSON.parse(text), answer, where));
  }
  return found;
}

/** Members of the recorded answer that are absent, or of another type, in the other; what is null may be anything. */
function missingIn(answer: unknown, recorded: unknown, where: string): readonly string[] {
  if (recorded === null || recorded === undefined || answer === null) return [];
  if (typeof answer !== typeof recorded || Array.isArray(answer) !== Array.isArray(recorded)) {
    return [`${where}: another type`];
  }
  if (Array.isArray(recorded)) {
    const [first] = answer as readonly unknown[];
    return first === undefined || recorded.length === 0 ? [] : missingIn(first, recorded[0], `${where}[0]`);
  }
  if (typeof recorded !== 'object') return [];
  const own = answer as Readonly<Record<string, unknown>>;
  return Object.entries(recorded).flatMap(([name, value]) =>
    name in own ? missingIn(own[name], value, `${where}.${name}`) : [`${where}.${name} is absent`],
  );
}

/** What the adapter reads in the recorded answers. */
export async function readByAdapter({ provider: name, exchanges, adapter }: Recording): Promise<unknown> {
  const stage = await openScriptedProvider(name);
  try {
    for (const { path: where, status, answer } of exchanges) {
      stage.proxy.respondNext(where, { status, body: answer });
    }
    const jobs: Readonly<
      Record<string, { status: (handle: JsonObject, context: typeof stage.context) => unknown }>
    > = stage.provider.jobs ?? {};
    const handle = JSON.parse(
      JSON.stringify(adapter?.handle ?? {}).replaceAll('ORIGIN', stage.proxy.origin),
    ) as JsonObject;
    return await jobs[adapter?.kind ?? '']?.status(handle, stage.context);
  } finally {
    await stage.close();
  }
}
