import type { Task } from '../tasks/task.ts';
import { builder } from './builder.ts';

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

/** The typed result of the kinds that have one; more members arrive with their kinds. */
export const TaskResult = builder.unionType('TaskResult', {
  description: 'The typed result of those kinds of task that make more than files.',
  types: [Description],
  resolveType: () => Description,
});

/** The typed result of a finished task, or null. */
export function resultOf(task: Task): DescriptionShape | null {
  if (task.result === null || task.kind !== 'DESCRIPTION') return null;
  return { kind: 'DESCRIPTION', prompts: task.result.texts };
}
