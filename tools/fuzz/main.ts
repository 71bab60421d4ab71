import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';

import { parse } from 'yaml';

import type { OpenApiDocument } from '../../rest-compat/schemas/openapi-types.ts';
import { describedIn, type Described } from './description.ts';
import { createDraft, buildMessage, type Draft } from './draft.ts';
import { createKnown } from './known.ts';
import { mutations, type Mutation } from './mutations.ts';
import { describedBy, type PublishedDocument } from './openai/description.ts';
import { createOpenaiKnown } from './openai/known.ts';
import { createRandom } from './random.ts';
import { send, type Answer } from './raw-http.ts';

/**
 * Sends odd requests to a running server, as its OpenAPI documents describe them and then spoilt, and holds every answer
 * against the same documents, or OpenAI's own one (`--openai FILE`). Prints what was sent and answered; ends with 1 when an answer was not as described.
 */
const { values } = parseArgs({
  options: {
    url: { type: 'string', default: 'http://127.0.0.1:4000' },
    document: { type: 'string', multiple: true, default: ['openapi.json', 'openapi-workflow.json'] },
    openai: { type: 'string' },
    prefix: { type: 'string', default: '/v1' },
    requests: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
  },
});

const total = Number(values.requests);
const seed = Number(values.seed);
const { hostname: host, port } = new URL(values.url);
const place = { host, port: Number(port) };
const operations =
  values.openai === undefined
    ? (await Promise.all(values.document.map(documentAt))).flatMap(describedIn)
    : describedBy(await publishedAt(values.openai), values.prefix);
const methods = new Map<string, readonly string[]>();
for (const { path, method } of operations) methods.set(path, [...(methods.get(path) ?? []), method]);

const known = (values.openai === undefined ? createKnown : createOpenaiKnown)(createRandom(seed));
const byStatus = new Map<string, number>();
const byMutation = new Map<string, number>();
const unserved = new Map<string, number>();
const faults: string[] = [];
let sent = 0;

async function documentAt(name: string): Promise<OpenApiDocument> {
  const answer = await fetch(`${values.url}/${name}`);
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return (await answer.json()) as OpenApiDocument;
}

async function publishedAt(file: string): Promise<PublishedDocument> {
  // Its examples refer to each other more often than the parser allows by itself.
  return parse(await readFile(file, 'utf8'), { maxAliasCount: -1 }) as PublishedDocument;
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** The nth request. What it does depends on the seed; ids in it depend on what the server answered before. */
async function request(index: number): Promise<void> {
  const random = createRandom(seed * 1_000_003 + index);
  const described = random.of(operations);
  const draft = createDraft(described, known, random);
  const used = Array.from({ length: random.of([0, 1, 1, 1, 2, 3]) }, () => random.of(mutations));
  const applied = used.filter(({ parts }) => parts === undefined || parts(draft, random));
  let message = buildMessage(draft, random);
  for (const { written } of applied) message = written?.(message, random) ?? message;

  const answer = await send(place, message);
  count(byStatus, answer === null ? 'hung up' : String(answer.status));
  if (answer !== null && answer.status >= 500) count(unserved, `${answer.status} ${described.path}`);
  for (const { name } of applied.length === 0 ? [{ name: 'none: as described' }] : applied)
    count(byMutation, name);
  if (answer !== null) known.learn(described.path, answer.body);
  const fault = faultIn(described, draft, applied, answer);
  if (fault === null) return;
  const told = applied.map(({ name }) => name).join(' + ');
  faults.push(
    `#${index} ${message.method} ${message.target.slice(0, 300)} [${told}]\n  ${fault}\n  ${answer?.body.slice(0, 400) ?? ''}\n  sent: ${message.body.toString('latin1').slice(0, 300)}`,
  );
}

function faultIn(
  { path, fault }: Described,
  { method, path: inPath }: Draft,
  applied: readonly Mutation[],
  answer: Answer | null,
): string | null {
  const breaksHttp = applied.some((mutation) => mutation.breaksHttp === true);
  if (answer === null) return breaksHttp ? null : 'no answer';
  const { status, headers, body } = answer;
  if (status === 500) return 'an internal error';
  if (breaksHttp && [400, 408, 417, 431].includes(status) && !body.startsWith('{')) return null;
  // A path or method that is not described: the refusal is.
  const spoilsPath =
    [...inPath.values()].includes('') || applied.some(({ name }) => name === 'a path that is no UTF-8');
  const isOther = !(methods.get(path) ?? []).includes(method);
  if (isOther && method === 'OPTIONS' && status === 204) return null;
  const answered = described(path, method) ?? fault;
  if (method === 'HEAD') return status < 500 ? null : `status ${status}`;
  // A slash at the end counts for nothing: it is the list.
  if (spoilsPath && values.openai !== undefined && status === 200) return notJson(answer);
  if ((isOther && status === 405) || (spoilsPath && (status === 404 || status === 405)))
    return notJson(answer);
  return answered(status, headers.get('content-type') ?? '', body);
}

/** What the document says of another method at the same path. */
function described(path: string, method: string): Described['fault'] | undefined {
  return operations.find((one) => one.path === path && one.method === method)?.fault;
}

function notJson({ body }: Answer): string | null {
  try {
    return typeof JSON.parse(body) === 'object' ? null : 'the body is no object';
  } catch {
    return 'the body is not JSON';
  }
}

async function work(): Promise<void> {
  for (let index = sent++; index < total; index = sent++) await request(index);
}

function print(title: string, counts: ReadonlyMap<string, number>): void {
  console.log(`\n${title}`);
  for (const [name, times] of [...counts].toSorted(([one], [other]) => one.localeCompare(other))) {
    console.log(`${String(times).padStart(7)}  ${name}`);
  }
}

const started = performance.now();
await Promise.all(Array.from({ length: 4 }, work));
const seconds = Math.round((performance.now() - started) / 1_000);

print('answers by status', byStatus);
print('requests by mutation (some have several)', byMutation);
if (unserved.size > 0) print('answers from 500 on', unserved);
for (const fault of faults.slice(0, 100)) console.error(`\n${fault}`);
console.log(`\n${total} requests to ${operations.length} operations in ${seconds} s, seed ${seed}`);
console.log(`${faults.length} answers that are not as described`);
process.exitCode = faults.length === 0 ? 0 : 1;
