import type { Attempt as AttemptShape, attemptStates } from '../domain/attempt.ts';
import type { Failure as FailureShape, failureCodes } from '../domain/failure.ts';
import { builder } from './builder.ts';

const FailureCode = builder.enumType('FailureCode', {
  description: 'Why something failed. The codes up to LOST come from the upstream.',
  values: {
    MODERATION_REFUSED: { description: 'The content was refused by moderation.' },
    INVALID_INPUT: { description: 'An input is not usable; the message says which and why.' },
    RATE_LIMITED: { description: 'The upstream limits the rate of requests.' },
    OUT_OF_CREDIT: { description: 'The account at the upstream has no credit left.' },
    MODEL_GONE: {
      description: 'The upstream does not have the model any more, or not for the credentials of the call.',
    },
    UNAVAILABLE: { description: 'The upstream is unavailable, or answers with an error.' },
    TIMED_OUT: { description: 'It took longer than allowed.' },
    LOST: { description: 'The upstream no longer knows the work.' },
    START_UNKNOWN: {
      description:
        'Whether the work was started can not be known; it is not started again, as it may cost twice.',
    },
    STORAGE_FAILED: { description: 'The result could not be stored.' },
    INTERNAL: { description: 'An internal error.' },
  } satisfies Record<(typeof failureCodes)[number], { description: string }>,
});

/** Why a task or attempt failed. */
export const Failure = builder.objectRef<FailureShape>('Failure').implement({
  description: 'Why a task or an attempt failed.',
  fields: (t) => ({
    code: t.expose('code', { type: FailureCode, description: 'The code of what went wrong.' }),
    message: t.exposeString('message', { description: 'What went wrong, in a sentence for people.' }),
    retryable: t.exposeBoolean('retryable', { description: 'Whether the same request may succeed later.' }),
    field: t.string({
      nullable: true,
      description: 'The input at fault, when one is.',
      resolve: (failure) => failure.field ?? null,
    }),
  }),
});

const AttemptState = builder.enumType('AttemptState', {
  description: 'Where one start at one provider stands.',
  values: {
    STARTING: { description: 'About to be sent, or sent and not answered yet.' },
    RUNNING: { description: 'The upstream has it.' },
    SUCCEEDED: { description: 'The upstream has finished it.' },
    FAILED: { description: 'It failed; another attempt may follow.' },
    CANCELLED: { description: 'It was cancelled, or its late result was discarded.' },
    UNKNOWN: { description: 'It is not known whether it was started.' },
  } satisfies Record<(typeof attemptStates)[number], { description: string }>,
});

/** One start at one provider. */
export const Attempt = builder.objectRef<AttemptShape>('Attempt').implement({
  description: 'One start at one provider: a task has steps, a step has one or more attempts.',
  fields: (t) => ({
    step: t.exposeInt('step', { description: 'Number of the step within the task.' }),
    number: t.exposeInt('number', { description: 'Number of the attempt within the step, from 1.' }),
    provider: t.exposeString('provider', { description: 'The provider it was sent to.' }),
    model: t.exposeString('model', {
      nullable: true,
      description: 'The model it was sent to; null where the graph names its own.',
    }),
    reference: t.exposeString('reference', {
      description:
        'The reference that was sent to the upstream, to ask its operator about; it does not tell the id of the task.',
    }),
    state: t.expose('state', { type: AttemptState, description: 'Where it stands.' }),
    error: t.expose('error', { type: Failure, nullable: true, description: 'Why it failed.' }),
    startedAt: t.expose('startedAt', {
      type: 'DateTime',
      description: 'When it was written down, before anything was sent.',
    }),
    endedAt: t.expose('endedAt', { type: 'DateTime', nullable: true, description: 'When it ended.' }),
  }),
});
