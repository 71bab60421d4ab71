import { AppError } from '../../platform/errors.ts';
import type { JsonObject } from '../../platform/json.ts';
import { json, path } from '../params.ts';
import { done } from '../replies/workflow-envelope.ts';
import { route } from '../route.ts';
import type { Section } from '../route.ts';
import { ExecuteTemplate, ExecutionByTask } from './documents/execution.ts';
import { foundTask, resultOf, taskNamed, taskWord } from './task-replies.ts';

const optional = { optional: true } as const;
const body = { type: 'application/json', required: true } as const;

/** Free text of the caller's, kept with the execution's parameters. */
function withType(parameters: JsonObject | undefined, type: string | undefined): JsonObject {
  return { ...parameters, ...(type === undefined ? {} : { type }) };
}

/** Tasks. */
export const tasks: Section = {
  service: 'workflow',
  title: 'Tasks (/task)',
  routes: [
    route(ExecutionByTask)({
      method: 'GET',
      path: '/task/{taskId}',
      params: { taskId: path.text() },
      rateClass: 'status',
      variables: ({ taskId }) => taskNamed(taskId),
      reply({ execution }, { input: { taskId } }) {
        const found = foundTask(execution, taskId);
        return done('success', {
          id: found.taskId,
          status: taskWord(found.status),
          progress: found.status === 'COMPLETED' ? 100 : found.progress,
          result: resultOf(found),
          createdAt: found.createdAt,
          completedAt: found.endedAt,
        });
      },
    }),
    route(ExecuteTemplate)({
      method: 'POST',
      path: '/task',
      params: {
        type: json.text(optional),
        templateCode: json.text(),
        userId: json.text(optional),
        parameters: json.object(optional),
      },
      body,
      rateClass: 'start',
      variables: ({ type, templateCode, userId, parameters }) => ({
        code: templateCode,
        parameters: withType(parameters, type),
        onBehalfOf: userId ?? null,
        externalId: null,
      }),
      reply: ({ executeTemplate: { taskId } }) => done('task sent to the queue', taskId),
    }),
    route(ExecuteTemplate)({
      method: 'POST',
      path: '/task/{taskId}',
      params: {
        taskId: path.text(),
        type: json.text(optional),
        templateCode: json.text(),
        parameters: json.object(optional),
      },
      body,
      rateClass: 'start',
      variables: ({ taskId, type, templateCode, parameters }) => ({
        code: templateCode,
        parameters: withType(parameters, type),
        onBehalfOf: null,
        externalId: taskId,
      }),
      refusals: {
        // A taken id is a bad request here, unless it is the same request again, which answers the same.
        CONFLICT({ input: { taskId } }) {
          throw new AppError('BAD_USER_INPUT', `the task id ${taskId} is taken: choose another one`, {
            field: 'taskId',
          });
        },
      },
      reply: (_, { input: { taskId } }) => done('task sent to the queue', taskId),
    }),
  ],
};
