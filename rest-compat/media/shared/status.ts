import { AppError, notFound } from '../../../platform/errors.ts';
import { type TaskFields, TaskById } from '../../documents/media/task.ts';
import type { Envelope } from '../../replies/envelopes.ts';
import { taskReply } from '../../replies/task.ts';
import { route } from '../../route/define-route.ts';
import type { Params } from '../../route/param.ts';
import { path, query } from '../../route/params.ts';
import type { Method, ResponseSchemaName, Route } from '../../route/route.ts';

/** The tasks that a status path knows: those of its generators and kinds, however they were started. */
export interface TaskGroup {
  readonly generators: readonly string[];
  readonly kinds: readonly TaskFields['kind'][];
}

interface StatusOptions {
  /** The task's id is a part of the path when that has `{task_id}`, else of the query. */
  readonly path: string;
  readonly group: TaskGroup;
  /** GET when absent. */
  readonly method?: Method;
  readonly deprecated?: true;
  /** Parameters of old callers that change nothing: the task itself knows what it is. */
  readonly hints?: Params;
}

/** An operation that replies the state of one of the group's tasks. */
export function statusRoute({ group, method = 'GET', hints, ...facts }: StatusOptions): Route {
  const id = facts.path.includes('{task_id}') ? path.text() : query.text();
  return route(TaskById)({
    method,
    ...facts,
    params: { task_id: id, ...hints },
    rateClass: 'status',
    variables: ({ task_id }) => ({ id: task_id }),
    responseSchema: schemaFor(group),
    reply: ({ task }, { input: { task_id } }) => statusReply(task, task_id, group),
  });
}

/** Schemas of the kinds of work whose result is not media alone. */
const schemas: Readonly<Partial<Record<TaskFields['kind'], ResponseSchemaName>>> = {
  DESCRIPTION: 'ImageTask',
  ANALYSIS: 'AnalysisTask',
  CHARACTER: 'CharacterTask',
  PERSON_DETECTION: 'PersonTask',
  AVATAR: 'AvatarTask',
};

function schemaFor({ kinds }: TaskGroup): ResponseSchemaName {
  const [schema = 'MediaTask'] = kinds.flatMap((kind) => schemas[kind] ?? []);
  return schema;
}

/** The state of a task of the group. Throws NOT_FOUND for any other. */
export function statusReply(task: TaskFields | null, id: string, group: TaskGroup): Envelope {
  return taskReply(requireTaskOfGroup(task, id, group));
}

/** The task, when it is one of the group. Throws NOT_FOUND for any other, saying where to ask. */
export function requireTaskOfGroup(task: TaskFields | null, id: string, group: TaskGroup): TaskFields {
  if (task === null) throw notFound('task', id);
  if (group.generators.includes(task.generator) && group.kinds.includes(task.kind)) return task;
  const kind = task.kind.toLowerCase().replaceAll('_', ' ');
  throw new AppError(
    'NOT_FOUND',
    `task ${task.id} (${task.generator}, ${kind}) is none of this path; ask GET /api/task/status/${task.id}`,
  );
}
