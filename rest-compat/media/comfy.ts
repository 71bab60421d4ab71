import { RunningNode } from '../documents/media/questions.ts';
import { RunComfyWorkflow } from '../documents/media/start.ts';
import { failure, success } from '../replies/envelopes.ts';
import { route } from '../route/define-route.ts';
import type { Values } from '../route/param.ts';
import { form, path, query } from '../route/params.ts';
import type { Section } from '../route/route.ts';
import { optional, urlencoded } from './shared/inputs.ts';
import { submission, synchronous } from './shared/start-operations.ts';
import { statusRoute } from './shared/status.ts';

/** The largest GraphQL Int. */
const most = 2 ** 31 - 1;

const params = {
  workflow: form.jsonText(optional),
  workflow_name: form.text(optional),
  inputs: form.jsonText(optional),
  node: form.text(optional),
};

/** What both ways to start have: a graph of the caller's own, or one of ours by its name. */
const start = {
  params,
  body: { ...urlencoded, oneOf: [['workflow', 'workflow_name']] },
  variables: ({ workflow_name, ...fields }: Values<typeof params>) => ({
    input: { ...fields, workflowName: workflow_name },
  }),
};

const namedParams = {
  name: path.text(),
  inputs: form.jsonText(optional),
  version: form.integer(optional),
};

/** A graph by the name in the path: one that comes with Kiln, a published one, or one of the caller's own. */
const named = {
  extension: true,
  params: namedParams,
  // A graph has a value for each of its inputs.
  body: { ...urlencoded, required: false },
  variables: ({ name, ...fields }: Values<typeof namedParams>) => ({
    input: { ...fields, workflowName: name },
  }),
} as const;

/** Workflow execution. */
export const comfy: Section = {
  service: 'media',
  title: 'Workflow execution',
  routes: [
    route(RunningNode)({
      method: 'GET',
      path: '/api/comfy/fetch/running/node',
      params: { task_count: query.integer({ fallback: 1 }) },
      variables: ({ task_count }) => ({ taskCount: Math.min(Math.max(task_count, 1), most) }),
      responseSchema: 'RunningNode',
      reply: ({ runningNode }, { input: { task_count } }) => {
        if (runningNode === null) return failure(`no node has room for ${Math.max(task_count, 1)} more now`);
        const { node, queueRunning, queuePending, capacity } = runningNode;
        return success({ node, queue_running: queueRunning, queue_pending: queuePending, capacity });
      },
    }),
    submission(RunComfyWorkflow)({ ...start, path: '/api/comfy/async/submit/task' }),
    statusRoute({
      path: '/api/comfy/async/task/status',
      group: { generators: ['comfy'], kinds: ['COMFY_WORKFLOW'] },
    }),
    synchronous(RunComfyWorkflow)({ ...start, path: '/api/comfy/sync/execute/workflow' }),
    submission(RunComfyWorkflow)({
      ...named,
      path: '/api/comfy/async/submit/workflow/{name}',
      summary: 'Starts a named graph, and answers its task.',
    }),
    synchronous(RunComfyWorkflow)({
      ...named,
      path: '/api/comfy/sync/execute/workflow/{name}',
      summary: 'Runs a named graph, and answers its result.',
    }),
  ],
};
