import { z } from 'zod';

import { MOST_COUNTED } from '../../../platform/paging.ts';
import { runDocument } from '../../../rest-compat/replies/results.ts';
import { isEnded } from '../../../rest-compat/replies/task.ts';
import { McpMedias } from '../work/documents.ts';
import { toResult, runningResult, linkTo } from '../work/results.ts';
import { cancelTask, readTask } from '../work/tasks.ts';
import { LOOKS, textResult, type Tool, tool, type ToolScope } from './tool.ts';

/** Tasks for clients that don't know the protocol's own: they are found again by their id, also after days. */

const taskId = z.string().min(1).max(100).describe('The task_id of an earlier answer.');

async function answerTask(id: string, scope: ToolScope, seconds = 0) {
  const task = await readTask(scope, id);
  const now = isEnded(task) || seconds === 0 ? task : await scope.wait(task, seconds);
  return { result: isEnded(now) ? await toResult(now, scope.readFile) : runningResult(now) };
}

/** Below the minute after which common clients give up. */
const MAX_WAIT_SECONDS = 50;

/** The tools. */
export const taskTools: readonly Tool[] = [
  tool({
    name: 'get_task',
    title: 'Look at a task',
    description: 'How far a task is; its result when it has ended. Answers at once.',
    rateClass: 'status',
    annotations: LOOKS,
    arguments: () => ({ task_id: taskId }),
    run: ({ task_id: id }, scope) => answerTask(id, scope),
  }),
  tool({
    name: 'wait_for_task',
    title: 'Wait for a task',
    description: `Waits for the end of a task and answers its result. Where it takes longer than that, it says so: call again, as often as needed.`,
    rateClass: 'status',
    annotations: LOOKS,
    arguments: () => ({
      task_id: taskId,
      seconds: z
        .number()
        .int()
        .min(1)
        .max(MAX_WAIT_SECONDS)
        .default(45)
        .describe('How long to wait at most.'),
    }),
    run: ({ task_id: id, seconds }, scope) => answerTask(id, scope, seconds),
  }),
  tool({
    name: 'cancel_task',
    title: 'Stop a task',
    description: 'Asks a task to stop. What its provider has done by then may be charged.',
    rateClass: 'write',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    arguments: () => ({ task_id: taskId }),
    async run({ task_id: id }, scope) {
      await cancelTask(scope, id);
      const { state } = await readTask(scope, id);
      const text = state === 'CANCELLED' ? 'was cancelled' : `is asked to stop; now it is ${state}`;
      return textResult(`Task ${id} ${text}.`, { task_id: id, state });
    },
  }),
];

const MAX_FILES = 50;

/** What the caller has made and uploaded. */
export const libraryTools: readonly Tool[] = [
  tool({
    name: 'list_my_media',
    title: 'My files',
    description:
      'Your own files, results and uploads, newest first, as links. Other tools take their media ids.',
    rateClass: 'read',
    annotations: LOOKS,
    arguments: () => ({
      kind: z.enum(['IMAGE', 'VIDEO', 'AUDIO', 'OTHER']).optional().describe('Only these.'),
      text: z.string().optional().describe('Only those made from a prompt with this text.'),
      count: z.number().int().min(1).max(MAX_FILES).default(10).describe('How many.'),
      after: z.string().optional().describe('The cursor of an earlier answer.'),
    }),
    async run({ kind, text, count, after }, scope) {
      const filter = { text, ...(kind !== undefined && { kinds: [kind] }) };
      const { medias } = await runDocument(scope, McpMedias, { filter, first: count, after });
      const files = medias.edges.map(({ node }) => node);
      const next = medias.pageInfo.hasNextPage ? medias.pageInfo.endCursor : null;
      const more = next === null ? '' : `; more with after: ${next}`;
      const total = medias.totalCount > MOST_COUNTED ? `more than ${MOST_COUNTED}` : medias.totalCount;
      const summary = `${files.length} of ${total} file(s)${more}`;
      return {
        result: {
          content: [{ type: 'text', text: summary }, ...files.map(linkTo)],
          structuredContent: { media: files, total: medias.totalCount, after: next },
        },
      };
    },
  }),
];
