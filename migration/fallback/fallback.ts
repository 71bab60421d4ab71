import { createHash } from 'node:crypto';

import type { AuthMode } from '../../platform/access/policy.ts';
import { notFound, toError } from '../../platform/errors.ts';
import type { GraphqlExecutor, RequestContext } from '../../platform/graphql/operations/executor.ts';
import type { JsonObject } from '../../platform/json.ts';
import type { Logger } from '../../platform/process/logger.ts';
import type { Fallback, FallbackRequest } from '../../rest-compat/fallback.ts';
import { describeAge, readData, isFinal, isUnknown, joinLists } from './old-answers.ts';
import type { OldAnswer, OldReader } from './old-reader.ts';
import { listTarget, readTarget, type FallbackTarget } from './operations.ts';
import { mayReadOwned, withoutSession } from './owners.ts';
import type { EndedAnswers } from './store-ended.ts';

/** Counts reads, so that an operator sees when the old service can go. */
export interface FallbackReads {
  /** `answered` by the old service, `stored` here since, `unknown` to both, or `failed`. */
  count(operation: string, outcome: 'answered' | 'stored' | 'unknown' | 'failed', age: string): void;
}

export interface FallbackOptions {
  readonly executor: GraphqlExecutor;
  readonly logger: Logger;
  readonly authMode: AuthMode;
  /** Null where FALLBACK_MEDIA_URL or FALLBACK_WORKFLOW_URL is not set. */
  readonly readers: { readonly media: OldReader | null; readonly workflow: OldReader | null };
  /** Null without a database: every read then goes to the old service. */
  readonly ended: EndedAnswers | null;
  readonly reads: FallbackReads;
}

/** Says where an answer comes from. */
const headers = { 'X-Answered-By': 'fallback' } as const;

/** Statuses that ask for a credential, or refuse the one that was sent. */
const REFUSED: readonly number[] = [401, 403];

/** Creates the fallback. */
export function createFallback(options: FallbackOptions): Fallback {
  return {
    async answer(request) {
      const target = readTarget(request.route, request);
      if (target === null) return null;
      const storedBody = await findStored(options, request, target);
      if (storedBody !== null)
        options.reads.count(target.operation, 'stored', describeAge(storedBody, Date.now()));
      const answer =
        storedBody === null ? await ask(options, request, target) : { status: 200, body: storedBody };
      if (answer === null) return null;
      return { status: answer.status, headers, body: await visible(options, request, answer.body) };
    },
    async joined(request, body) {
      const target = listTarget(request.route, request);
      if (target === null || !(await mayReadOwned(options, request.context, target.id))) return body;
      try {
        const answer = await oldList(options, request, target);
        return answer === null ? body : joinLists(body as JsonObject, answer, target.list);
      } catch (thrown) {
        // What Kiln has is worth more than no list at all.
        options.logger.warn({ error: toError(thrown) }, 'a list is answered without the old service');
        return body;
      }
    },
  };
}

/** Asks the old service, and stores an answer that does not change any more. */
async function ask(
  options: FallbackOptions,
  request: FallbackRequest,
  target: FallbackTarget,
): Promise<OldAnswer | null> {
  const reader = options.readers[target.service];
  if (reader === null) return null;
  const answer = await counted(options, target.operation, () => readOld(reader, request));
  if (answer.status === 404) return null;
  const isEnded = answer.status === 200 && !isUnknown(answer) && isFinal(target, answer.body);
  if (!isEnded || options.ended === null) return answer;
  const [storedAs = target] = storedTargets(request, target);
  return { ...answer, body: await options.ended.store(storedAs, answer.body) };
}

/** An old answer. A 401 or 403 says nothing to a caller whose credential is ours and was not sent: it counts as not found. */
async function readOld(reader: OldReader, request: FallbackRequest): Promise<OldAnswer> {
  const asked = toOldRequest(request);
  const answer = await reader(asked);
  const isCredentialKept = asked.authorization === null && request.context.caller.kind !== 'anonymous';
  return isCredentialKept && REFUSED.includes(answer.status) ? { status: 404, body: {} } : answer;
}

/** What is stored of an answer that this caller may read. */
async function findStored(
  { ended, readers }: FallbackOptions,
  request: FallbackRequest,
  target: FallbackTarget,
): Promise<JsonObject | null> {
  // Where nobody can be asked any more, what the parameters would have changed is not known: the answer without them is given.
  const last = readers[target.service] === null ? [target] : [];
  for (const one of [...storedTargets(request, target), ...last]) {
    const found = (await ended?.find(one)) ?? null;
    if (found !== null) return found;
  }
  return null;
}

/**
 * Under what an answer is stored: the thing, the parameters of the request, and whom it was answered to where a credential was sent to
 * the old service. That one decides who reads it, so that others are answered by it, too, and not by what is stored. First the own
 * answer, then what was answered to anybody.
 */
function storedTargets(request: FallbackRequest, target: FallbackTarget): readonly FallbackTarget[] {
  const { caller } = request.context;
  const others = [...request.query].filter(([, value]) => value !== target.id).map((pair) => pair.join('='));
  const asked = others.length === 0 ? target.id : `${target.id}?${others.toSorted().join('&')}`;
  const { authorization } = toOldRequest(request);
  if (authorization === null) return [{ ...target, id: asked }];
  const reader = caller.kind === 'anonymous' ? sha256(authorization) : caller.id;
  return [
    { ...target, id: `${asked} of ${reader}` },
    { ...target, id: asked },
  ];
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

async function counted(
  { reads }: FallbackOptions,
  operation: string,
  read: () => Promise<OldAnswer>,
): Promise<OldAnswer> {
  try {
    const answer = await read();
    if (isUnknown(answer)) reads.count(operation, 'unknown', 'unknown');
    else reads.count(operation, 'answered', describeAge(answer.body, Date.now()));
    return answer;
  } catch (thrown) {
    reads.count(operation, 'failed', 'unknown');
    throw thrown;
  }
}

async function oldList(
  options: FallbackOptions,
  request: FallbackRequest,
  target: FallbackTarget,
): Promise<JsonObject | null> {
  const stored = (await options.ended?.find(target)) ?? null;
  const reader = options.readers.workflow;
  if (reader === null) return stored;
  try {
    const answer = await counted(options, target.operation, () => readOld(reader, request));
    return answer.status === 200 ? answer.body : stored;
  } catch (thrown) {
    if (stored !== null) return stored;
    throw thrown;
  }
}

function toOldRequest({ route, target, authorization, context }: FallbackRequest) {
  return {
    method: route.method,
    target,
    authorization: isOurs(context, authorization) ? null : (authorization ?? null),
    signal: context.signal,
  };
}

/** Credentials of ours are never sent to another service. */
function isOurs({ caller }: RequestContext, authorization: string | undefined): boolean {
  if (authorization === undefined || /\bkiln_/.test(authorization)) return true;
  return caller.kind === 'key' || (caller.sessionId ?? null) !== null;
}

/** A payment as this caller may see it. NOT_FOUND for somebody else's where credentials are required. */
async function visible(
  options: FallbackOptions,
  request: FallbackRequest,
  body: JsonObject,
): Promise<JsonObject> {
  const { userId } = readData(body);
  if (typeof userId !== 'string' || options.authMode === 'open') return body;
  if (await mayReadOwned(options, request.context, userId, { strict: true })) return body;
  if (options.authMode === 'required')
    throw notFound('payment', readTarget(request.route, request)?.id ?? '');
  return withoutSession(body);
}
