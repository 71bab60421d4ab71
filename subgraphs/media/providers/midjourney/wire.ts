import { z } from 'zod';

import { UpstreamError } from '../../domain/failure.ts';
import type { JobStatus, RemoteFile } from '../contract/provider.ts';
import { errorOfStatus, type ExchangeAnswer } from '../shared/exchange.ts';
import { createReader, id, optionalListOf, requiredId, text } from '../shared/reader.ts';

/** The bodies of midjourney-proxy, parsed leniently: only the fields that Kiln uses. */

const { read, unreadable } = createReader('midjourney');

const submitted = z.object({
  code: z.number(),
  description: text,
  result: id,
  properties: z.object({ bannedWord: text }).nullish().catch(null),
});

const task = z.object({
  id: requiredId,
  state: text,
  status: text,
  progress: text,
  imageUrl: text,
  videoUrl: text,
  videoUrls: optionalListOf(z.object({ url: text })),
  failReason: text,
  prompt: text,
  action: text,
  properties: z.object({ finalPrompt: text }).nullish().catch(null),
});

/** The fields of a midjourney-proxy task that Kiln uses. */
export type MidjourneyTask = z.infer<typeof task>;

/** The task id of a submission. Throws the error of the proxy's code; aggregators send codes with HTTP 400. */
export function submittedId(answer: ExchangeAnswer): string {
  const parsed = submitted.safeParse(answer.json);
  if (answer.status === 400 && parsed.success) throw submissionError(parsed.data);
  const refused = errorOfStatus(answer, 'midjourney refused the submission');
  if (refused !== undefined) throw refused;
  if (!parsed.success) throw unreadable(parsed.error, 'a submission');
  const { code, result } = parsed.data;
  // 1 accepted, 22 accepted and queued, 21 the same submission exists already.
  if (code !== 1 && code !== 22 && code !== 21) throw submissionError(parsed.data);
  if (result === null || result === undefined) {
    throw unreadable(new Error(`code ${code} without a result`), 'a submission');
  }
  return result;
}

function submissionError({ code, description, properties }: z.infer<typeof submitted>): UpstreamError {
  const reason = description?.trim() || `code ${code}`;
  if (code === 23) {
    const message = 'the midjourney queue is full';
    return new UpstreamError('RATE_LIMITED', message, { retryAfter: 5 });
  }
  if (code === 24) {
    const word = properties?.bannedWord ? ` (${properties.bannedWord})` : '';
    const message = `midjourney refuses this prompt${word}; change its wording`;
    return new UpstreamError('MODERATION_REFUSED', message, { field: 'prompt' });
  }
  // new-api uses code 4 for this, which means "invalid input" everywhere else.
  if (/quota/i.test(reason)) {
    return new UpstreamError('OUT_OF_CREDIT', 'midjourney: out of credit');
  }
  if (code === 4) return new UpstreamError('INVALID_INPUT', `midjourney: ${reason}`);
  return new UpstreamError('UNAVAILABLE', `midjourney answered code ${code}: ${reason}`);
}

/**
 * The task of a fetch. An unknown id is LOST: the proxy answers nothing, aggregators 404 or (new-api) 400 with code 4.
 */
export function asTask(answer: ExchangeAnswer): MidjourneyTask {
  const isUnknown = answer.status === 400 || (answer.status < 300 && isNothing(answer.json));
  if (isUnknown) throw new UpstreamError('LOST', 'midjourney has lost this task');
  const refused = errorOfStatus(answer, 'midjourney does not know this task');
  if (refused !== undefined) throw refused;
  return read(task, answer, 'a task');
}

function isNothing(json: unknown): boolean {
  return json === undefined || json === null || (json as { code?: unknown }).code === 3;
}

/** Length of trueai-org/midjourney-proxy's listing: older tasks are not in it. */
const SHORT_LIST = 100;

/**
 * The task with this reference in a listing of all tasks. `unknowable` when there is no listing (new-api answers an
 * HTML page), or when it may be cut off.
 */
export function foundIn(answer: ExchangeAnswer, reference: string): MidjourneyTask | 'absent' | 'unknowable' {
  if (answer.status === 404 || answer.status === 405) return 'unknowable';
  const refused = errorOfStatus(answer, 'midjourney refused the listing');
  if (refused !== undefined) throw refused;
  const { data: tasks } = z.array(task.nullable().catch(null)).safeParse(answer.json);
  if (tasks === undefined) return 'unknowable';
  const found = tasks.find((one) => one?.state === reference);
  // One that can't be read may be any.
  const isCut = tasks.length === SHORT_LIST || tasks.includes(null);
  return found ?? (isCut ? 'unknowable' : 'absent');
}

/**
 * The result of a cancel request; `unknown` when only the task's status tells (trueai-org answers 200 without a body).
 */
export function cancelVerdict(answer: ExchangeAnswer): 'cancelled' | 'too-late' | 'unknown' {
  // Of these the task may still be cancelled; any other refusal is about the task.
  const isPassing = [401, 403, 408, 429].includes(answer.status) || answer.status >= 500;
  const refused = isPassing ? errorOfStatus(answer, 'midjourney did not take the cancelling') : undefined;
  if (refused !== undefined) throw refused;
  if (answer.status >= 400) return 'too-late';
  if (answer.json === undefined) return 'unknown';
  return submitted.safeParse(answer.json).data?.code === 1 ? 'cancelled' : 'too-late';
}

/** Whether a task has ended without a result. */
export function hasStopped({ status }: MidjourneyTask): boolean {
  return status === 'CANCEL' || status === 'FAILURE';
}

/** The status of the work. Unknown states mean running: a new state must never fail a paid task. */
export function jobStatus(found: MidjourneyTask): JobStatus {
  switch (found.status) {
    case '': // new-api, before its first poll
    case 'NOT_START':
    case 'SUBMITTED':
      return { state: 'queued' };
    case 'SUCCESS':
      return finished(found);
    case 'FAILURE':
      return { state: 'failed', error: failureReason(found.failReason ?? '') };
    case 'CANCEL':
      return { state: 'failed', error: cancelledThere() };
    default:
      return {
        state: 'running',
        progress: parsePercent(found.progress),
        stage: 'rendering',
        partial: isVideo(found) ? [] : listImages(found),
      };
  }
}

function finished(found: MidjourneyTask): JobStatus {
  const outcome = { files: listResults(found), texts: listPrompts(found) };
  if (outcome.files.length + outcome.texts.length > 0) return { state: 'finished', outcome };
  throw unreadable(new Error('no result'), 'a finished task');
}

function parsePercent(progress: string | null | undefined): number | null {
  const match = /^(\d{1,3})\s*%$/.exec(progress ?? '');
  return match === null ? null : Math.min(100, Number(match[1]));
}

function isVideo({ action }: MidjourneyTask): boolean {
  return action?.startsWith('VIDEO') ?? false;
}

/** The forks use different fields for a video's URL; without any of them it is in imageUrl. */
function listResults(found: MidjourneyTask): RemoteFile[] {
  const url = isVideo(found) ? found.videoUrl || found.videoUrls?.[0]?.url : null;
  return url ? [{ url }] : listImages(found);
}

function listImages(found: MidjourneyTask): RemoteFile[] {
  // The imageUrl of a description is its input, not a result.
  const isDescription = found.action === 'DESCRIBE';
  return found.imageUrl && !isDescription ? [{ url: found.imageUrl }] : [];
}

/** The four numbered prompts of a description. */
function listPrompts(found: MidjourneyTask): string[] {
  const text = found.action === 'DESCRIBE' ? (found.properties?.finalPrompt ?? found.prompt ?? '') : '';
  return text
    .split(/(?:^|\n)[^\S\n]*(?:[1-4]\uFE0F?\u20E3|[1-4][.)])\s*/u)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function failureReason(reason: string): UpstreamError {
  if (/banned|moderat|sensitive|nsfw|community standards|敏感/i.test(reason)) {
    const message = `midjourney refused the image: ${reason}`;
    return new UpstreamError('MODERATION_REFUSED', message);
  }
  // The same prompt would fail, and cost, again.
  if (/invalid (parameter|link|request)/i.test(reason)) {
    const message = `midjourney: ${reason}`;
    return new UpstreamError('INVALID_INPUT', message, { field: 'prompt' });
  }
  // trueai-org has no state for cancelled tasks: they fail with this reason.
  if (reason.includes('取消任务')) return cancelledThere();
  return new UpstreamError('UNAVAILABLE', `midjourney failed: ${reason || 'no reason given'}`);
}

function cancelledThere(): UpstreamError {
  return new UpstreamError('LOST', 'the task was cancelled at midjourney', { retryable: false });
}
