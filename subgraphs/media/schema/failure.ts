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
