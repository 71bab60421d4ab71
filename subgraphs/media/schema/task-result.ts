import type { Task as TaskShape } from '../tasks/task.ts';
import { Attempt } from './attempt.ts';
import { builder } from './builder.ts';
import type { MediaContext } from './context.ts';
import { Failure } from './failure.ts';
import { Media } from './media.ts';
import { Task } from './task.ts';

interface DescriptionShape {
  readonly kind: 'DESCRIPTION';
  readonly prompts: readonly string[];
}

const Description = builder.objectRef<DescriptionShape>('Description').implement({
  description: 'What describeImage found.',
  fields: (t) => ({
    prompts: t.stringList({
      description: 'Prompts that would make such an image, best first.',
      resolve: ({ prompts }) => [...prompts],
    }),
  }),
});

// More members arrive with their kinds.
const TaskResult = builder.unionType('TaskResult', {
  description: 'The typed result of those kinds of task that make more than files.',
  types: [Description],
  resolveType: () => Description,
});

builder.objectFields(Task, (t) => ({
  outputs: t.field({
    type: [Media],
    description: 'What it made, in order; deleted files are left out.',
    resolve: (task, _, context) => outputsOf(task, context),
  }),
  text: t.string({
    nullable: true,
    description: 'What it made in words, for kinds that make text.',
    resolve: ({ result }) => result?.texts[0] ?? null,
  }),
  notes: t.stringList({
    description: 'What is missing in the result, and why.',
    resolve: ({ result }) => [...(result?.notes ?? [])],
  }),
  result: t.field({
    type: TaskResult,
    nullable: true,
    description: 'The typed result, for kinds that have one.',
    resolve: resultOf,
  }),
  error: t.expose('error', {
    type: Failure,
    nullable: true,
    description: 'Why it failed or was cancelled.',
  }),
  attempts: t.field({
    type: [Attempt],
    description: 'Every start at a provider, oldest first.',
    resolve: async ({ id }, _, { loaders }) => [...(await loaders.attempts.load(id))],
  }),
}));

function resultOf(task: TaskShape): DescriptionShape | null {
  if (task.result === null || task.kind !== 'DESCRIPTION') return null;
  return { kind: 'DESCRIPTION', prompts: task.result.texts };
}

async function outputsOf({ result }: TaskShape, { loaders }: MediaContext) {
  const files = await Promise.all((result?.mediaIds ?? []).map((id) => loaders.media.load(id)));
  return files.filter((file) => file !== null);
}
