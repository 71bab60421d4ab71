import { AppError, notFound } from '../../../platform/errors.ts';
import { type TaskAnswer, TaskById } from '../../documents/media/task.ts';
import type { Envelope } from '../../replies/envelope.ts';
import { taskReply } from '../../replies/task.ts';
import { query, type Param } from '../../route/params.ts';
import { route, type AnswerName, type Method, type Route } from '../../route/route.ts';

/** Whose tasks a status path tells about: those of its generators and kinds, however they were started. */
export interface TaskGroup {
  readonly generators: readonly string[];
  readonly kinds: readonly TaskAnswer['kind'][];
}

interface StatusOptions {
  readonly path: string;
  readonly group: TaskGroup;
  /** GET when absent. */
  readonly method?: Method;
  readonly deprecated?: true;
  /** A hint at what kind of task it is; the task's own truth is answered whatever it says. */
  readonly hint?: Readonly<Record<'task_type', Param<string | undefined>>>;
}

/** A status operation that takes `task_id`, and perhaps a hint that changes nothing. */
export function statusRoute({ path, group, method = 'GET', hint, ...options }: StatusOptions): Route {
  return route(TaskById)({
    method,
    path,
    ...options,
    params: { task_id: query.text(), ...hint },
    rateClass: 'status',
    variables: ({ task_id }) => ({ id: task_id, cdn: false }),
    answers: answerFor(group),
    reply: ({ task }, { input: { task_id } }) => statusReply(task, task_id, group),
  });
}

/** What is made by tasks of kinds that make something else than media. */
const answers: Readonly<Partial<Record<TaskAnswer['kind'], AnswerName>>> = {
  DESCRIPTION: 'PictureTask',
  ANALYSIS: 'AnalysisTask',
  CHARACTER: 'CharacterTask',
  PERSON_DETECTION: 'PersonTask',
  AVATAR: 'AvatarTask',
};

function answerFor({ kinds }: TaskGroup): AnswerName {
  const [answer = 'MediaTask'] = kinds.flatMap((kind) => answers[kind] ?? []);
  return answer;
}

/** The state of a task of the group. Throws NOT_FOUND for any other. */
export function statusReply(task: TaskAnswer | null, id: string, group: TaskGroup): Envelope {
  return taskReply(taskOfGroup(task, id, group));
}

/** The task, when it is one of the group. Throws NOT_FOUND for any other, saying where to ask. */
export function taskOfGroup(task: TaskAnswer | null, id: string, group: TaskGroup): TaskAnswer {
  if (task === null) throw notFound('task', id);
  if (group.generators.includes(task.generator) && group.kinds.includes(task.kind)) return task;
  const kind = task.kind.toLowerCase().replaceAll('_', ' ');
  throw new AppError(
    'NOT_FOUND',
    `task ${task.id} (${task.generator}, ${kind}) is none of this path; ask GET /api/task/status/${task.id}`,
  );
}
