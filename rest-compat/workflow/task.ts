import { AppError } from '../../platform/errors.ts';
import { isUuid } from '../../platform/ids.ts';
import type { JsonObject } from '../../platform/json.ts';
import { ExecuteTemplate, ExecutionByTask, TaskTaken } from '../documents/workflow/execution.ts';
import { done } from '../replies/envelopes.ts';
import { route, twoStepRoute } from '../route/define-route.ts';
import { json, path } from '../route/params.ts';
import type { Section } from '../route/route.ts';
import { pick } from '../schemas/json-schema.ts';
import { taskSchemas } from './shared/response-schemas.ts';
import { executionByTask, requireExecution, taskData } from './shared/task-replies.ts';

const optional = { optional: true } as const;
const body = { type: 'application/json', required: true } as const;

const fieldNames = { code: 'templateCode', onBehalfOf: 'userId', externalId: 'taskId' } as const;

/** Adds the caller's `type`, a free text, to the execution's parameters. */
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
      summary: 'Returns the state of a task, and its result.',
      params: { taskId: path.text() },
      rateClass: 'status',
      variables: executionByTask,
      dataSchema: taskSchemas.task,
      reply(executions, { input: { taskId } }) {
        const data = taskData(requireExecution(executions, taskId), taskId);
        return done('success', pick(taskSchemas.task, { ...data, id: data.taskId }));
      },
    }),
    route(ExecuteTemplate)({
      method: 'POST',
      path: '/task',
      summary: 'Runs a template, and returns the id of its task.',
      params: {
        type: json.text(optional),
        templateCode: json.text(),
        userId: json.text(optional),
        parameters: json.object(optional),
      },
      body,
      fieldNames,
      variables: ({ type, templateCode, userId, parameters }) => ({
        code: templateCode,
        parameters: withType(parameters, type),
        onBehalfOf: userId,
      }),
      dataSchema: taskSchemas.taskId,
      reply: ({ executeTemplate: { taskId } }) => done('task sent to the queue', taskId),
    }),
    twoStepRoute(
      TaskTaken,
      ExecuteTemplate,
    )({
      method: 'POST',
      path: '/task/{taskId}',
      summary: 'Runs a template under an id of your own.',
      params: {
        taskId: path.text(),
        type: json.text(optional),
        templateCode: json.text(),
        parameters: json.object(optional),
      },
      body,
      fieldNames,
      // The id must not be that of another execution.
      first: ({ taskId }) => (isUuid(taskId) ? { taskId } : null),
      variables({ taskId, type, templateCode, parameters }, found) {
        if (found !== null && found.execution !== null) {
          throw new AppError('CONFLICT', `the task id ${taskId} is taken`, { field: 'taskId' });
        }
        return {
          code: templateCode,
          parameters: withType(parameters, type),
          externalId: taskId,
        };
      },
      dataSchema: taskSchemas.taskId,
      reply: (_, { input: { taskId } }) => done('task sent to the queue', taskId),
    }),
  ],
};
