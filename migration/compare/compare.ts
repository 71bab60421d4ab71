import { setTimeout as pause } from 'node:timers/promises';

import { withoutSecrets } from '../../platform/process/redact.ts';
import { listNames } from '../../rest-compat/route/param.ts';
import type { Route } from '../../rest-compat/route/route.ts';
import { parseJsonBody, type Exchange, readForm } from '../traffic/exchange.ts';
import { findDifferences, type ComparedAnswer } from './differences.ts';
import type { FindOperation, OperationMatch } from './operations.ts';
import type { ReplayedService } from './service.ts';
import type { Tally } from './tally.ts';

/** Replays recorded requests against the new service, and compares its answers with the old ones. */

/** What a comparison is made with. */
export interface CompareParts {
  readonly find: FindOperation;
  /** The old service; null compares with the recorded answers alone. */
  readonly old: ReplayedService | null;
  readonly now: ReplayedService;
  /** Whether work may be started at the new side. */
  readonly maySendStarts: boolean;
  /** Milliseconds to wait for a task that has ended in the recording. */
  readonly maxWaitMs: number;
  readonly tally: Tally;
}

const POLL_MS = 500;

/** Compares exchange by exchange, in the order of the recording. */
export async function compareTraffic(parts: CompareParts, exchanges: AsyncIterable<Exchange>): Promise<void> {
  const ids = createIdPairs();
  for await (const exchange of exchanges) await compareOne(parts, exchange, ids);
}

async function compareOne(parts: CompareParts, exchange: Exchange, ids: IdPairs): Promise<void> {
  const { find, tally } = parts;
  const { method, target } = exchange.request;
  const operation = find(method, target.split('?', 1)[0] ?? '');
  if (operation === null) {
    tally.undocumented(withoutSecrets(`${method} ${target.split('?', 1)[0] ?? ''}`));
    return;
  }
  for (const field of await unreadFields(operation, exchange)) tally.unread(operation.name, field);
  const reason = reasonToSkip(parts, operation, exchange);
  if (reason !== null) {
    tally.skipped(operation.name, reason);
    return;
  }
  const old = await oldAnswer(parts, operation, exchange);
  const now = await newAnswer(parts, exchange, { ids, old });
  if (old === null || now === null) {
    tally.unanswered(operation.name, old === null ? 'old' : 'new');
    return;
  }
  const incomparable = reasonNotToCompare(operation, old, now);
  if (incomparable !== null) {
    tally.skipped(operation.name, incomparable);
    return;
  }
  if (operation.effect === 'start') ids.learn(old.json, now.json);
  tally.compared(operation.name, findDifferences(old, now));
}

/** Fields of the address, a form or a JSON body that no parameter of the operation has. */
async function unreadFields({ route }: OperationMatch, { request }: Exchange): Promise<readonly string[]> {
  const known = new Set(Object.keys(route.params).flatMap((name) => listNames(route.params, name)));
  const [, query = ''] = request.target.split('?', 2);
  const inQuery = [...new URLSearchParams(query).keys()].filter((name) => !known.has(name));
  return [...new Set([...inQuery, ...(await unreadInBody(route, request, known))])];
}

async function unreadInBody(
  route: Route,
  { headers, body, formNames }: Exchange['request'],
  known: ReadonlySet<string>,
): Promise<readonly string[]> {
  if (route.body === undefined || route.body.type === 'raw' || route.body.additionalProperties === true)
    return [];
  const form = formNames ?? (await readForm(body, headers['content-type'] ?? ''))?.names;
  const json = form === undefined ? parseJsonBody(body) : null;
  const names = form ?? (typeof json === 'object' && json !== null ? Object.keys(json) : []);
  const takesFile = Object.values(route.params).some(({ in: source }) => source === 'file');
  return names.filter((name) => !known.has(name) && !(takesFile && name === 'file'));
}

function reasonToSkip(
  { maySendStarts, old }: CompareParts,
  { effect }: OperationMatch,
  { request, response }: Exchange,
): string | null {
  if (old === null || effect !== 'read') {
    if (response.status === 0) return 'no answer was recorded';
    if (isPart(response)) return 'its answer was not recorded as a whole';
  }
  if (effect === 'write') return 'it changes data, money or sign-in';
  if (request.body !== null && 'omittedBytes' in request.body) return 'its body was not recorded';
  return effect === 'start' && !maySendStarts ? 'it starts work, and the new side is no sandbox' : null;
}

/** Whether a JSON answer was too large for the recording, or was cut off: it would be equal to anything. */
function isPart({ headers, body }: Exchange['response']): boolean {
  const isJson = /^application\/(?:[\w.+-]+\+)?json\b/i.test(headers['content-type'] ?? '');
  return isJson && body !== null && parseJsonBody(body) === undefined;
}

/** Only reads are sent to the old service: starts would cost it money. */
async function oldAnswer(
  { old }: CompareParts,
  { effect }: OperationMatch,
  { request, response }: Exchange,
): Promise<ComparedAnswer | null> {
  if (old !== null && effect === 'read') return old.send(request);
  return { status: response.status, headers: response.headers, json: parseJsonBody(response.body) };
}

async function newAnswer(
  { now, maxWaitMs }: CompareParts,
  { request }: Exchange,
  { ids, old }: { readonly ids: IdPairs; readonly old: ComparedAnswer | null },
): Promise<ComparedAnswer | null> {
  const target = ids.translate(request.target);
  const end = Date.now() + maxWaitMs;
  for (;;) {
    const answer = await now.send(request, target);
    // Its own task may still run when the recorded one had ended.
    const isEarly = isRunning(answer) && !isRunning(old) && target !== request.target;
    if (!isEarly || Date.now() > end) return answer;
    await pause(POLL_MS);
  }
}

/** What is not the same thing on both sides says nothing about the wire. */
function reasonNotToCompare(
  { effect, route }: OperationMatch,
  old: ComparedAnswer,
  now: ComparedAnswer,
): string | null {
  if (effect !== 'read') return null;
  const namesThing = ID_PARAMETERS.some((name) => name in route.params);
  if (namesThing && isUnknown(now) && !isUnknown(old)) {
    return 'what it reads is not known here: npm run import, FALLBACK_MEDIA_URL, FALLBACK_WORKFLOW_URL';
  }
  return isRunning(old) && !isRunning(now) ? 'the task ran there and had ended here' : null;
}

/** The parameters that name a thing which one side may have alone. */
const ID_PARAMETERS = ['task_id', 'taskId', 'paymentId', 'code'];

/** By the rules of both documents. */
function isUnknown({ status, json }: ComparedAnswer): boolean {
  const body = (json ?? {}) as { readonly status?: unknown; readonly data?: unknown };
  return status === 404 || (body.status === false && (body.data ?? null) === null);
}

/** By the rules of both documents. */
function isRunning(answer: ComparedAnswer | null): boolean {
  const body = (answer?.json ?? {}) as {
    readonly status?: unknown;
    readonly data?: { readonly status?: unknown };
  };
  if (typeof body.status === 'string') return true;
  return body.data?.status === 'pending' || body.data?.status === 'running';
}

/** Ids that both sides gave to the same thing: what the old one made is asked for by the new one's id. Pure. */

/** Ids of the old side, and the new side's for them. */
interface IdPairs {
  /** Remembers what two answers to the same start gave. */
  learn(old: unknown, now: unknown): void;
  /** The target with the new side's ids. */
  translate(target: string): string;
}

const ID_FIELDS = new Set(['data', 'task_id', 'taskId', 'executionId', 'id', 'paymentId']);
/** Most pairs that are remembered. */
const MAX_PAIRS = 100_000;

/** An empty set of pairs. */
export function createIdPairs(): IdPairs {
  const pairs = new Map<string, string>();
  const learn = (old: unknown, now: unknown): void => {
    if (typeof old !== 'object' || typeof now !== 'object' || old === null || now === null) return;
    for (const [name, value] of Object.entries(old)) {
      const other = (now as Record<string, unknown>)[name];
      if (typeof value !== 'string' || typeof other !== 'string') learn(value, other);
      else if (ID_FIELDS.has(name) && value !== '' && pairs.size < MAX_PAIRS) pairs.set(value, other);
    }
  };
  return {
    learn,
    translate: (target) =>
      target.replaceAll(/[^/?&=]+/g, (part) => {
        const known = pairs.get(decoded(part));
        return known === undefined ? part : encodeURIComponent(known);
      }),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
