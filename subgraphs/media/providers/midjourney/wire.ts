import { z } from 'zod';

import { errorOfStatus, type ExchangeAnswer } from '../exchange.ts';
import { UpstreamError, type JobStatus, type RemoteFile } from '../provider.ts';

/** The bodies of midjourney-proxy, read leniently: only what Kiln uses, everything else may change. */

const submitted = z.object({
  code: z.number(),
  description: z.string().nullish(),
  result: z.union([z.string(), z.number()]).nullish(),
  properties: z.object({ bannedWord: z.string().nullish() }).nullish(),
});

const task = z.object({
  id: z.union([z.string(), z.number()]).transform(String),
  state: z.string().nullish(),
  status: z.string().nullish(),
  progress: z.string().nullish(),
  imageUrl: z.string().nullish(),
  failReason: z.string().nullish(),
  prompt: z.string().nullish(),
  action: z.string().nullish(),
  properties: z.object({ finalPrompt: z.string().nullish() }).nullish(),
});

/** A task of midjourney-proxy as far as Kiln reads it. */
export type MidjourneyTask = z.infer<typeof task>;

/** The task id of a submission; the proxy's codes become errors. */
export function submittedId(answer: ExchangeAnswer): string {
  const refused = errorOfStatus(answer, 'midjourney refused the submission');
  if (refused !== undefined) throw refused;
  const parsed = submitted.safeParse(answer.json);
  if (!parsed.success) throw unreadable('submission', parsed.error);
  const { code, result, description } = parsed.data;
  // 1 accepted, 22 accepted and waiting, 21 the same submission exists already.
  if ((code === 1 || code === 22 || code === 21) && result !== null && result !== undefined)
    return String(result);
  throw submissionError(code, description ?? '', parsed.data.properties?.bannedWord ?? null);
}

function submissionError(code: number, description: string, bannedWord: string | null): UpstreamError {
  if (code === 23)
    return new UpstreamError('RATE_LIMITED', 'the midjourney queue is full', {
      retryable: true,
      retryAfter: 5,
    });
  if (code === 24) {
    const word = bannedWord === null ? '' : ` (${bannedWord})`;
    return new UpstreamError(
      'MODERATION_REFUSED',
      `midjourney refuses this prompt${word}; change its wording`,
      {
        retryable: false,
        field: 'prompt',
      },
    );
  }
  if (code === 4)
    return new UpstreamError('INVALID_INPUT', `midjourney: ${description || 'invalid input'}`, {
      retryable: false,
    });
  return new UpstreamError('UNAVAILABLE', `midjourney answered code ${code}: ${description}`, {
    retryable: true,
  });
}

/** The task of a fetch; an unknown id is LOST (the proxy keeps tasks in memory, or 30 days). */
export function asTask(answer: ExchangeAnswer): MidjourneyTask {
  const refused = errorOfStatus(answer, 'midjourney does not know this task');
  if (refused !== undefined) throw refused;
  const parsed = task.safeParse(answer.json);
  if (parsed.success) return parsed.data;
  const unknown =
    answer.json === undefined || answer.json === null || (answer.json as { code?: unknown }).code === 3;
  if (unknown) throw new UpstreamError('LOST', 'midjourney has lost this task', { retryable: true });
  throw unreadable('task', parsed.error);
}

/** Every task of a listing, or undefined where the proxy has no listing. */
export function asList(answer: ExchangeAnswer): readonly MidjourneyTask[] | undefined {
  if (answer.status === 404 || answer.status === 405) return undefined;
  const refused = errorOfStatus(answer, 'midjourney refused the listing');
  if (refused !== undefined) throw refused;
  const parsed = z.array(task).safeParse(answer.json);
  return parsed.success ? parsed.data : undefined;
}

/** Where the work stands. Words we do not know mean running: a new word must never fail a paid task. */
export function jobStatus(found: MidjourneyTask): JobStatus {
  switch (found.status) {
    case 'NOT_START':
    case 'SUBMITTED':
      return { state: 'queued', stage: 'queued upstream' };
    case 'SUCCESS':
      return { state: 'finished', outcome: { files: imagesOf(found), texts: promptsOf(found) } };
    case 'FAILURE':
      return { state: 'failed', error: failureReason(found.failReason ?? '') };
    case 'CANCEL':
      return {
        state: 'failed',
        error: new UpstreamError('LOST', 'the task was cancelled at midjourney', { retryable: false }),
      };
    default:
      return {
        state: 'running',
        progress: percentOf(found.progress),
        stage: 'rendering',
        partial: imagesOf(found),
      };
  }
}

function percentOf(progress: string | null | undefined): number | null {
  const match = /^(\d{1,3})\s*%$/.exec(progress ?? '');
  return match === null ? null : Math.min(100, Number(match[1]));
}

function imagesOf(found: MidjourneyTask): RemoteFile[] {
  // A description's task carries the described picture in imageUrl; that is no result.
  const isDescription = found.action === 'DESCRIBE';
  return found.imageUrl && !isDescription ? [{ url: found.imageUrl }] : [];
}

/** The four numbered prompts of a description. */
function promptsOf(found: MidjourneyTask): string[] {
  const text = found.action === 'DESCRIBE' ? (found.properties?.finalPrompt ?? found.prompt ?? '') : '';
  return text
    .split(/(?:^|\n)\s*(?:[1-4]\uFE0F?\u20E3|[1-4][.)])\s*/u)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function failureReason(reason: string): UpstreamError {
  if (/banned|moderat|sensitive|nsfw/i.test(reason)) {
    return new UpstreamError('MODERATION_REFUSED', `midjourney refused the picture: ${reason}`, {
      retryable: false,
    });
  }
  return new UpstreamError('UNAVAILABLE', `midjourney failed: ${reason || 'no reason given'}`, {
    retryable: true,
  });
}

function unreadable(what: string, cause: unknown): UpstreamError {
  return new UpstreamError('UNAVAILABLE', `midjourney answered a ${what} that can't be read`, {
    retryable: true,
    startUnknown: true,
    cause,
  });
}
