import { AppError } from '../../platform/errors.ts';
import { ExecuteTemplate, ExecutionByTask, ExecutionsOfUser } from '../documents/workflow/execution.ts';
import {
  CreateTemplate,
  CreateTestTemplate,
  DeleteTemplate,
  TemplateByCode,
  Templates,
  UpdateTemplate,
  WorkflowHealth,
  type TemplateAnswer,
} from '../documents/workflow/template.ts';
import { done } from '../replies/workflow-envelope.ts';
import { json, path } from '../route/params.ts';
import { route, type Section } from '../route/route.ts';
import { pageOf, pageParameters } from './shared/pages.ts';
import { taskShapes, templateShapes } from './shared/shapes.ts';
import { foundTask, progressOf, resultOf, taskNamed, taskWord } from './shared/task-replies.ts';
import { templateCatalog } from './template-catalog.ts';

const optional = { optional: true } as const;
const ours = { optional: true, extension: true } as const;
const body = { type: 'application/json', required: true } as const;

const created = ({ code, ppProductId, ppPriceId }: TemplateAnswer) =>
  done('template created', { code, ppProductId, ppPriceId });

/** Activates, or deactivates. */
function activity(word: 'activate' | 'deactivate') {
  return route(UpdateTemplate)({
    method: 'POST',
    path: `/templates/${word}/{code}`,
    summary:
      word === 'activate' ? 'Lets a template be executed.' : 'Lets a template not be executed any more.',
    params: { code: path.text() },
    rateClass: 'start',
    variables: ({ code }) => ({ code, change: { isActive: word === 'activate' } }),
    data: templateShapes.activity,
    reply: ({ updateTemplate: { isActive, ppSynced } }) => done('success', { isActive, ppSynced }),
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
      params: {},
      rateClass: 'read',
      variables: () => ({ activeOnly: true }),
      data: templateShapes.active,
      reply: ({ templates: found }) =>
        done('success', {
          templates: found.map(({ code, name, description, creditCost, templateType, isActive, tags }) => ({
            code,
            name,
            description,
            creditCost,
            templateType,
            isActive,
            tags,
          })),
          total: found.length,
        }),
    }),
    route(TemplateByCode)({
      method: 'GET',
      path: '/templates/get/{code}',
      summary: 'Tells of one template.',
      params: { code: path.text() },
      rateClass: 'read',
      variables: ({ code }) => ({ code }),
      data: templateShapes.template,
      reply({ template }, { input }) {
        if (template === null) {
          throw new AppError('NOT_FOUND', `no template ${JSON.stringify(input.code.slice(0, 100))}`);
        }
        const { code, name, description, creditCost, templateType, workflow, isActive, ppProductId } =
          template;
        const { createdAt } = template;
        return done('success', {
          code,
          name,
          description,
          creditCost,
          templateType,
          workflow,
          isActive,
          ppProductId,
          createdAt,
        });
      },
    }),
    route(CreateTemplate)({
      method: 'POST',
      path: '/templates',
      summary: 'Makes a template.',
      params: {
        code: json.text(),
        name: json.text(),
        description: json.text(optional),
        workflow: json.text(optional),
        creditCost: json.integer(optional),
        version: json.text(optional),
        templateType: json.choice(['IMAGE', 'VIDEO'], optional),
        tags: json.texts(optional),
        imageModel: json.text(optional),
        imagePrompt: json.text(optional),
      },
      body,
      rateClass: 'start',
      variables: (input) => ({ input }),
      fieldNames: {},
      data: templateShapes.created,
      reply: ({ createTemplate }) => created(createTemplate),
    }),
    route(UpdateTemplate)({
      method: 'PUT',
      path: '/templates/update/{code}',
      summary: 'Changes a template.',
      params: {
        code: path.text(),
        name: json.text(optional),
        description: json.text(optional),
        creditCost: json.integer(optional),
        isActive: json.boolean(optional),
      },
      body,
      rateClass: 'start',
      fieldNames: {},
      variables: ({ code, ...change }) => ({ code, change }),
      data: templateShapes.updated,
      reply: ({ updateTemplate: { ppSynced } }) => done('template updated', { updated: true, ppSynced }),
    }),
    route(DeleteTemplate)({
      method: 'DELETE',
      path: '/templates/delete/{code}',
      summary: 'Deletes a template; what was bought of it stays.',
      params: { code: path.text() },
      rateClass: 'start',
      variables: ({ code }) => ({ code }),
      data: templateShapes.deleted,
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
        prompt: json.text(ours),
        aspectRatio: json.text(ours),
      },
      body,
      rateClass: 'start',
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
      data: taskShapes.started,
      reply: ({ executeTemplate: { id, taskId } }) =>
        done('execution started', { executionId: id, taskId, status: 'running' }),
    }),
    activity('activate'),
    activity('deactivate'),
    route(ExecutionByTask)({
      method: 'GET',
      path: '/templates/execution/{taskId}/progress',
      summary: 'Tells where an execution stands, and what it has made.',
      params: { taskId: path.text() },
      rateClass: 'status',
      variables: taskNamed,
      data: taskShapes.progress,
      reply(named, { input: { taskId } }) {
        const found = foundTask(named, taskId);
        return done('success', {
          taskId: found.taskId,
          executionId: found.id,
          status: taskWord(found.status),
          progress: progressOf(found),
          result: resultOf(found),
        });
      },
    }),
    route(ExecutionsOfUser)({
      method: 'GET',
      path: '/templates/executions/user/{userId}',
      summary: "Lists a user's executions, newest first.",
      params: { userId: path.text(), ...pageParameters },
      rateClass: 'read',
      variables: ({ userId }) => ({ userId }),
      data: taskShapes.executions,
      reply({ executions: { edges, totalCount } }, { input }) {
        const all = edges.map(({ node: { id, status, createdAt, template } }) => ({
          executionId: id,
          templateCode: template.code,
          status: taskWord(status),
          createdAt,
        }));
        return done('success', { executions: pageOf(all, input), total: totalCount });
      },
    }),
    ...templateCatalog,
    route(WorkflowHealth)({
      method: 'GET',
      path: '/templates/health',
      summary: 'Tells whether the service works.',
      params: {},
      rateClass: 'read',
      variables: () => ({}),
      data: templateShapes.health,
      reply: ({ workflowHealth: { totalTemplates, time } }) =>
        done('success', { totalTemplates, timestamp: time, service: 'templates' }),
    }),
    route(CreateTestTemplate)({
      method: 'POST',
      path: '/templates/test/create',
      summary: 'Makes a template to try things with; refused in production.',
      params: {},
      rateClass: 'start',
      variables: () => ({}),
      data: templateShapes.created,
      reply: ({ createTestTemplate }) => created(createTestTemplate),
    }),
  ],
};
