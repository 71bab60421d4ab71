import { z } from 'zod';

import { modelGone, UpstreamError } from '../../domain/failure.ts';
import type { JobStatus } from '../contract/provider.ts';
import { throwStatus, type ExchangeAnswer } from '../shared/exchange.ts';
import { createReader, text } from '../shared/reader.ts';

/** The bodies of ModelArk, parsed leniently; errors have an HTTP status and a more precise `error.code`. */

const { read } = createReader('ark');

const problem = z.object({ code: text, message: text });
const envelope = z.object({ error: problem.nullish().catch(null) });
const started = z.object({ id: z.string().min(1) });
const task = z.object({
  status: text,
  error: problem.nullish().catch(null),
  content: z.object({ video_url: text }).nullish().catch(null),
});

/** The id of a task that was accepted. */
export function startedId(answer: ExchangeAnswer): string {
  throwRefusal(answer, true);
  return read(started, answer, 'a start').id;
}

/** Throws what refuses a deletion; a task that is not there any more is deleted. */
export function throwUnlessErased(answer: ExchangeAnswer): void {
  if (answer.status !== 404) throwRefusal(answer, false);
}

/** The status of a task. Unknown states mean running. */
export function jobStatus(answer: ExchangeAnswer): JobStatus {
  throwRefusal(answer, false);
  const { status, error, content } = read(task, answer, 'a task');
  switch (status) {
    case 'queued':
      return { state: 'queued' };
    case 'succeeded':
      if (!content?.video_url)
        throw new UpstreamError('UNAVAILABLE', 'ark finished a video without its address');
      return { state: 'finished', outcome: { files: [{ url: content.video_url }], texts: [] } };
    case 'failed':
    case 'cancelled':
    case 'expired':
      return { state: 'failed', error: toFailure(status, error) };
    default:
      return { state: 'running', progress: null, stage: 'rendering' };
  }
}

type Problem = z.output<typeof problem> | null | undefined;

function toFailure(status: string, error: Problem): UpstreamError {
  const said = `ark: ${error?.message || status} (${error?.code || status})`.slice(0, 400);
  return ofCode(error?.code ?? '', said) ?? new UpstreamError('UNAVAILABLE', said);
}

function throwRefusal(answer: ExchangeAnswer, isStart: boolean): void {
  if (answer.status < 400) return;
  const { error } = envelope.safeParse(answer.json).data ?? {};
  const message =
    `ark: ${error?.message || `HTTP ${answer.status}`}${error?.code ? ` (${error.code})` : ''}`.slice(0, 400);
  const known = answer.status < 500 ? ofCode(error?.code ?? '', message) : null;
  if (known !== null && (isStart || known.code !== 'MODEL_GONE')) throw known;
  throwStatus(answer, { message, isAboutWork: !isStart, start: isStart ? 'body' : undefined });
}

/** The error of codes that say more than their HTTP status. */
function ofCode(code: string, said: string): UpstreamError | null {
  if (/SensitiveContent|RiskDetection$|PolicyViolation|PrivacyInformation/.test(code)) {
    return new UpstreamError('MODERATION_REFUSED', `${said}; change the content`, {
      field: code.startsWith('InputImage') ? 'image' : 'prompt',
    });
  }
  if (/^(AccountOverdue|OperationDenied\.ServiceOverdue)/.test(code)) {
    return new UpstreamError('OUT_OF_CREDIT', 'ark: out of credit');
  }
  const isOfModel = /^(ModelNotOpen|InvalidEndpoint|UnsupportedModel|OperationDenied\.ServiceNotOpen)/;
  if (isOfModel.test(code)) return modelGone(said);
  return null;
}
