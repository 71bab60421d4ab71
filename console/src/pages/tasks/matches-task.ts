import type { TaskFilter } from '../../api/documents/operations.ts';
import type { FedTask } from '../../api/use-task-feed.ts';

/** Whether a list that is filtered so has this task. What the server alone can tell counts as yes. */
export function matchesTask(task: FedTask, filter: TaskFilter): boolean {
  const { states, kinds, text, owner, generator, model, createdAfter, createdBefore } = filter;
  if (states && !states.includes(task.state)) return false;
  if (kinds && !kinds.includes(task.kind)) return false;
  // Nobody's tasks have no owner to compare.
  if (owner && owner !== 'anon' && task.owner !== owner) return false;
  if (generator && task.generator !== generator) return false;
  if (model && task.model !== model && task.input?.model !== model) return false;
  if (createdAfter && task.createdAt <= createdAfter) return false;
  if (createdBefore && task.createdAt >= createdBefore) return false;
  // What the server finds by words is not repeated here: a task whose prompt is not told stays.
  const prompt = task.input?.prompt;
  return !text || typeof prompt !== 'string' || prompt.toLowerCase().includes(text.toLowerCase());
}
