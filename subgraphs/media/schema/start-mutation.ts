import type { InputObjectRef, InputFieldBuilder } from '@pothos/core';

import type { SubmissionService, Submit } from '../submissions/submissions.ts';
import { builder } from './builder.ts';
import { Task } from './task.ts';

type Types = (typeof builder)['$inferSchemaTypes'];

/** The arguments of everything that starts a task. */
export function startArguments(t: Parameters<Parameters<typeof builder.mutationField>[1]>[0]) {
  return {
    callbackUrl: t.arg.string({
      description:
        'Public http or https address that gets a signed POST (Standard Webhooks) when the task ends; of repeated requests under one key the first counts.',
    }),
    idempotencyKey: t.arg.string({
      description:
        'The same key and input again answer the same task; other input under it is IDEMPOTENCY_CONFLICT.',
    }),
    joinSeconds: t.arg.int({
      description:
        'Narrows `idempotencyKey` to a repeated request while its work goes on: a task that has ended, or was accepted longer ago, is not answered, and the key stands for a new one. Absent: any task under the key, for a day after its end.',
    }),
  };
}

type Submissions = Omit<SubmissionService, 'startTask' | 'checkStart' | 'uploadFile'>;

/** Adds the mutation that starts one kind of work, named as its submission, with one argument `input`. */
export function startMutation<Name extends keyof Submissions>(
  name: Name,
  input: InputObjectRef<Types, Parameters<Submissions[Name]>[1]>,
  { description, inputDescription }: { readonly description: string; readonly inputDescription: string },
): void {
  // What is inferred of any input fits the submission of its name: the parameters above hold it.
  const type = input as InputObjectRef<Types, object>;
  builder.mutationField(name, (t) =>
    t.field({
      type: Task,
      description,
      rule: 'spend',
      args: {
        input: t.arg({ type, required: true, description: inputDescription }),
        ...startArguments(t),
      },
      resolve: (_, { input: request, idempotencyKey = null, ...options }, { caller, services, signal }) => {
        const submit = services.submissions[name] as Submit<object>;
        return submit(caller, request, { idempotencyKey, ...options, signal });
      },
    }),
  );
}

/** The member `options` of every input that starts work. */
export function vendorOptions(t: InputFieldBuilder<Types, 'InputObject'>) {
  return {
    options: t.field({
      type: 'JSON',
      description:
        'What the model takes besides, an object in the names of its vendor: see `optionsSchema` of `models`. Checked before anything is stored; an option that says what another member says too is refused.',
    }),
  };
}
