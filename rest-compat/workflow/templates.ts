import { notFound } from '../../platform/errors.ts';
import { ExecuteTemplate, ExecutionByTask, ExecutionsOfUser } from '../documents/workflow/execution.ts';
import {
  CreateTemplate,
  CreateTestTemplate,
  DeleteTemplate,
  TemplateByCode,
  Templates,
  UpdateTemplate,
  WorkflowHealth,
  type TemplateFields,
} from '../documents/workflow/template.ts';
import { done } from '../replies/envelopes.ts';
import { route } from '../route/define-route.ts';
import { json, path } from '../route/params.ts';
import type { Section } from '../route/route.ts';
import { pick } from '../schemas/json-schema.ts';
import { takePage, pageParameters } from './shared/pages.ts';
import { itemSchemas, taskSchemas, templateSchemas } from './shared/response-schemas.ts';
import { executionByTask, requireExecution, taskData, taskStatus } from './shared/task-replies.ts';
import { templateCatalog } from './template-catalog.ts';

const optional = { optional: true } as const;
const extension = { optional: true, extension: true } as const;
const body = { type: 'application/json', required: true } as const;

const created = (template: TemplateFields, ignored: readonly string[] = []) =>
  done(withLeft('template created', ignored), pick(templateSchemas.created, template));

/** A message with the fields that a template does not have. */
function withLeft(message: string, ignored: readonly string[]): string {
  return ignored.length === 0 ? message : `${message}; not written: ${ignored.join(', ')}`;
}

/** The fields that an update takes. */
const changeable =
  'name, description, workflow, creditCost, price, currency, version, templateType, tags, imageModel, imagePrompt, isActive';

/** A route that activates or deactivates a template. */
function activity(word: 'activate' | 'deactivate') {
  return route(UpdateTemplate)({
    method: 'POST',
    path: `/templates/${word}/{code}`,
    summary:
      word === 'activate' ? 'Activates a template, so that it can be executed.' : 'Deactivates a template.',
    params: { code: path.text() },
    variables: ({ code }) => ({ code, change: { isActive: word === 'activate' } }),
    dataSchema: templateSchemas.activity,
    reply: ({ updateTemplate }) => done('success', pick(templateSchemas.activity, updateTemplate)),
  });
}

/** Templates. */
export const templates: Section = {
  service: 'workflow',
  title: 'Templates (/templates)',
  routes: [
    route(Templates)({
      method: 'GET',
      path: '/templates',
      summary: 'Lists the templates that can be executed.',
      variables: () => ({ activeOnly: true }),
      dataSchema: templateSchemas.active,
      reply({ templatesConnection: { edges } }) {
        const all = edges.map(({ node: template }) => pick(itemSchemas.template, template));
        return done('success', { templates: all, total: all.length });
      },
    }),
    route(TemplateByCode)({
      method: 'GET',
      path: '/templates/get/{code}',
      summary: 'Returns one template.',
      params: { code: path.text() },
      variables: ({ code }) => ({ code }),
      dataSchema: templateSchemas.template,
      reply({ template }, { input: { code } }) {
        if (template === null) throw notFound('template', code);
        return done('success', pick(templateSchemas.template, template));
      },
    }),
    route(CreateTemplate)({
      method: 'POST',
      path: '/templates',
      summary: 'Creates a template.',
      params: {
        code: json.text(),
        name: json.text(),
        description: json.text(optional),
        workflow: json.text(optional),
        creditCost: json.integer(optional),
        price: json.integer(extension),
        currency: json.text(extension),
        version: json.text(optional),
        templateType: json.choice(['IMAGE', 'VIDEO'], optional),
        tags: json.texts(optional),
        imageModel: json.text(optional),
        imagePrompt: json.text(optional),
      },
      body,
      variables: (input) => ({ input }),
      fieldNames: {},
      dataSchema: templateSchemas.created,
      reply: ({ createTemplate }, { ignored }) => created(createTemplate, ignored),
    }),
    route(UpdateTemplate)({
      method: 'PUT',
      path: '/templates/update/{code}',
      summary: 'Updates a template.',
      params: {
        code: path.text(),
        name: json.text(optional),
        description: json.text(optional),
        workflow: json.text(extension),
        creditCost: json.integer(optional),
        price: json.integer(extension),
        currency: json.text(extension),
        version: json.text(extension),
        templateType: json.choice(['IMAGE', 'VIDEO'], extension),
        tags: json.texts(extension),
        imageModel: json.text(extension),
        imagePrompt: json.text(extension),
        isActive: json.boolean(optional),
      },
      body,
      fieldNames: {},
      variables: ({ code, ...change }) => ({ code, change }),
      dataSchema: templateSchemas.updated,
      reply({ updateTemplate: { ppSynced } }, { input, ignored }) {
        const named = Object.entries(input).filter(([, value]) => value !== undefined);
        const updated = named.some(([name]) => name !== 'code');
        const message = updated ? 'template updated' : `nothing to change: name any of ${changeable}`;
        return done(withLeft(message, ignored), { updated, ppSynced });
      },
    }),
    route(DeleteTemplate)({
      method: 'DELETE',
      path: '/templates/delete/{code}',
      summary: 'Deletes a template; its purchases stay.',
      params: { code: path.text() },
      variables: ({ code }) => ({ code }),
      dataSchema: templateSchemas.deleted,
      reply: ({ deleteTemplate }) => done('template deleted', { deleted: deleteTemplate }),
    }),
    route(ExecuteTemplate)({
      method: 'POST',
      path: '/templates/execute/{code}',
      summary: 'Runs a template without a payment.',
      params: {
        code: path.text(),
        userId: json.text(optional),
        imageUrl: json.url(optional),
        prompt: json.text(extension),
        aspectRatio: json.text(extension),
      },
      body,
      fieldNames: { onBehalfOf: 'userId', parameters: '', templateCode: 'code' },
      variables: ({ code, userId, imageUrl, prompt, aspectRatio }) => ({
        code,
        parameters: {
          ...(imageUrl === undefined ? {} : { imageUrl }),
          ...(prompt === undefined ? {} : { prompt }),
          ...(aspectRatio === undefined ? {} : { aspectRatio }),
        },
        onBehalfOf: userId,
      }),
      dataSchema: taskSchemas.started,
      reply: ({ executeTemplate: { id, taskId } }) =>
        done('execution started', { executionId: id, taskId, status: 'running' }),
    }),
    activity('activate'),
    activity('deactivate'),
    route(ExecutionByTask)({
      method: 'GET',
      path: '/templates/execution/{taskId}/progress',
      summary: 'Returns the state of an execution, and its result.',
      params: { taskId: path.text() },
      rateClass: 'status',
      variables: executionByTask,
      dataSchema: taskSchemas.progress,
      reply(executions, { input: { taskId } }) {
        const data = taskData(requireExecution(executions, taskId), taskId);
        return done('success', pick(taskSchemas.progress, data));
      },
    }),
    route(ExecutionsOfUser)({
      method: 'GET',
      path: '/templates/executions/user/{userId}',
      summary: "Lists a user's executions, newest first.",
      params: { userId: path.text(), ...pageParameters },
      variables: ({ userId }) => ({ userId }),
      dataSchema: taskSchemas.executions,
      reply({ executions: { edges, totalCount } }, { input }) {
        const all = edges.map(({ node: { id, status, createdAt, template } }) => ({
          executionId: id,
          templateCode: template.code,
          status: taskStatus(status),
          createdAt,
        }));
        return done('success', { executions: takePage(all, input), total: totalCount });
      },
    }),
    ...templateCatalog,
    route(WorkflowHealth)({
      method: 'GET',
      path: '/templates/health',
      summary: 'Returns the health of the service.',
      variables: () => ({}),
      dataSchema: templateSchemas.health,
      reply: ({ workflowHealth: { totalTemplates, time } }) =>
        done('success', { totalTemplates, timestamp: time, service: 'templates' }),
    }),
    route(CreateTestTemplate)({
      method: 'POST',
      path: '/templates/test/create',
      summary: 'Creates a template for tests; refused in production.',
      variables: () => ({}),
      dataSchema: templateSchemas.created,
      reply: ({ createTestTemplate }) => created(createTestTemplate),
    }),
  ],
};
