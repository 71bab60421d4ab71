import type { Attempt as AttemptShape, attemptStates } from '../domain/attempt.ts';
import { builder } from './builder.ts';
import { Failure } from './failure.ts';

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
