import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

import { enforceScope } from '../../platform/access/policy.ts';
import { AppError, toError } from '../../platform/errors.ts';
import type { GraphqlExecutor } from '../../platform/graphql/operations/executor.ts';
import type { Logger } from '../../platform/process/logger.ts';
import { isEnded } from '../../rest-compat/replies/task.ts';
import { waitForEnd } from '../../rest-compat/wait.ts';
import type { RequestLimiter } from '../shared/rate-limits.ts';
import { fillPrompt, prompts } from './prompts.ts';
import { declaresTasks, type Exchange, TASKS_CAPABILITY } from './protocol/exchange.ts';
import { listResources, readResource, resourceTemplates } from './resources.ts';
import { toolNamed, tools } from './tools/all.ts';
import { withArgumentName } from './tools/arguments.ts';
import type { ToolAnswer } from './tools/tool.ts';
import type { ReadCatalog } from './work/catalog.ts';
import type { McpTask } from './work/documents.ts';
import { toResult, runningResult } from './work/results.ts';
import { cancelTask, detailedTask, readTask, type TaskOptions, taskSeed } from './work/tasks.ts';

/** What Kiln answers through the protocol: its tools, tasks, resources and prompts, for one request. */

/** What answers are made of. */
export interface McpServerOptions extends TaskOptions {
  readonly executor: GraphqlExecutor;
  readonly readCatalog: ReadCatalog;
  readonly version: string;
  /** Aborted when nothing waits any more, because the server stops. */
  readonly stopping: AbortSignal;
  readonly rates?: Pick<RequestLimiter, 'refuseStart'> | undefined;
  readonly logger: Logger;
}

const INSTRUCTIONS = `Kiln makes images, videos, speech and texts with many models behind one price list.
Tools that spend say so. Ask estimate_cost, or pass max_cost. Work becomes a task at once, and goes on whether or not you wait: keep its task_id, and call wait_for_task. The same call again joins the same task. Results are links to files; their media ids are inputs of other tools.`;

/** Seconds that a call waits where its client knows no tasks: below the minute after which common ones give up. */
const CALL_SECONDS = 45;
/** Milliseconds that lists may be kept; they differ by caller. */
const LISTS = { ttlMs: 60_000, cacheScope: 'private' } as const;

/** Makes the server of one request. */
export function createMcpServer(options: McpServerOptions, exchange: Exchange, isModern: boolean): Server {
  const { executor, readCatalog, version, readFile } = options;
  const execution = { executor, context: exchange.context };
  const capabilities = { tools: {}, resources: {}, prompts: {}, ...(isModern && TASKS_CAPABILITY) };
  const server = new Server(
    { name: 'kiln', title: 'Kiln', version },
    { capabilities, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler('tools/list', async ({ params }) => {
    requireFirstPage(params);
    const catalog = await readCatalog(execution);
    const listed = tools.map(({ name, title, description, annotations, inputSchema }) => ({
      name,
      title,
      description,
      annotations,
      inputSchema: inputSchema(catalog),
    }));
    return { tools: listed, ...LISTS };
  });
  server.setRequestHandler('tools/call', ({ params }, context) =>
    callTool(options, { exchange, params, context, isModern }),
  );
  server.setRequestHandler('resources/list', ({ params }) =>
    protocolErrors(() => listResources(execution, params?.cursor)),
  );
  server.setRequestHandler('resources/templates/list', ({ params }) => {
    requireFirstPage(params);
    return { resourceTemplates: [...resourceTemplates], ...LISTS };
  });
  server.setRequestHandler('resources/read', ({ params }) =>
    protocolErrors(() => readResource(execution, params.uri, readFile)),
  );
  server.setRequestHandler('prompts/list', ({ params }) => {
    requireFirstPage(params);
    return { prompts: [...prompts], ...LISTS };
  });
  server.setRequestHandler('prompts/get', ({ params }) => {
    const prompt = fillPrompt(params.name, params.arguments ?? {});
    if (prompt === undefined) throw invalid('there is no such prompt, or an argument of it is missing');
    return prompt;
  });
  if (isModern) handleTasks(server, options, exchange);
  return server;
}

/** These lists are one page, which gives no cursor. */
function requireFirstPage(params: { readonly cursor?: string | undefined } | undefined): void {
  if (params?.cursor !== undefined) throw invalid('cursor must be one of this list, which is a single page');
}

const taskParams = z.looseObject({ taskId: z.string() });
const anything = z.looseObject({});

/** The methods of the tasks extension. */
function handleTasks(server: Server, options: McpServerOptions, { context }: Exchange): void {
  const execution = { executor: options.executor, context };
  const schemas = { params: taskParams, result: anything };
  server.setRequestHandler('tasks/get', schemas, async ({ taskId }, { mcpReq }) => {
    requireTasks(mcpReq);
    return protocolErrors(async () => detailedTask(await readTask(execution, taskId), options));
  });
  server.setRequestHandler('tasks/cancel', schemas, async ({ taskId }, { mcpReq }) => {
    requireTasks(mcpReq);
    await protocolErrors(async () => {
      const task = await readTask(execution, taskId);
      if (!isEnded(task)) await cancelTask(execution, taskId).catch(unlessTooLate);
    });
    return {};
  });
  // No work here asks anything while it runs, so whatever is answered is answered to nothing.
  server.setRequestHandler('tasks/update', schemas, async ({ taskId }, { mcpReq }) => {
    requireTasks(mcpReq);
    await protocolErrors(() => readTask(execution, taskId));
    return {};
  });
}

/** Asking to stop is acknowledged although the work is over: `tasks/get` says how it ended. */
function unlessTooLate(error: unknown): void {
  if (!(error instanceof AppError) || error.code !== 'TOO_LATE') throw error;
}

type McpRequest = ServerContext['mcpReq'];

function knowsTasks({ envelope }: McpRequest): boolean {
  const declared = Object(envelope) as Readonly<Record<string, unknown>>;
  return declaresTasks(declared['io.modelcontextprotocol/clientCapabilities']);
}

function requireTasks(request: McpRequest): void {
  if (knowsTasks(request)) return;
  const data = { requiredCapabilities: TASKS_CAPABILITY };
  throw new ProtocolError(-32_021, 'Missing required client capability', data);
}

interface Call {
  readonly exchange: Exchange;
  readonly params: { readonly name: string; readonly arguments?: unknown };
  readonly context: ServerContext;
  readonly isModern: boolean;
}

async function callTool(options: McpServerOptions, call: Call): Promise<CallToolResult> {
  const { exchange, params, context, isModern } = call;
  const tool = toolNamed(params.name);
  if (tool === undefined) throw invalid(`there is no tool ${params.name.slice(0, 100)}`);
  const { executor, readCatalog, readFile } = options;
  const execution = { executor, context: exchange.context };
  const wait = (task: McpTask, seconds: number) => waitFor(options, { task, seconds, exchange, context });
  try {
    // What is started is read for its answer: whoever may not is refused before it is paid for.
    if (tool.rateClass === 'start') enforceScope(exchange.context.caller, 'read');
    const catalog = await readCatalog(execution);
    const answer = await tool.run(params.arguments, { ...execution, catalog, readFile, wait });
    if (!('task' in answer)) return answer.result;
    const asTask = isModern && knowsTasks(context.mcpReq) && !isEnded(answer.task);
    if (asTask) return { resultType: 'task', ...taskSeed(answer.task, options) } as never;
    return await waitedResult(answer, wait, options);
  } catch (error) {
    if (tool.rateClass === 'start') await options.rates?.refuseStart(exchange.context.caller);
    return refusal(error, exchange, options.logger);
  }
}

async function waitedResult(
  { task }: Extract<ToolAnswer, { readonly task: McpTask }>,
  wait: (task: McpTask, seconds: number) => Promise<McpTask>,
  { readFile }: McpServerOptions,
): Promise<CallToolResult> {
  const now = isEnded(task) ? task : await wait(task, CALL_SECONDS);
  return isEnded(now) ? toResult(now, readFile) : runningResult(now);
}

/** Waits, and tells the client how far it is when that wants to know. */
async function waitFor(
  { executor, stopping }: McpServerOptions,
  {
    task,
    seconds,
    exchange,
    context: { mcpReq },
  }: Pick<Call, 'exchange' | 'context'> & { readonly task: McpTask; readonly seconds: number },
): Promise<McpTask> {
  const execution = { executor, context: exchange.context };
  const progressToken = mcpReq._meta?.progressToken;
  let reported = -1;
  await waitForEnd({
    ...execution,
    task,
    maxWaitSeconds: seconds,
    stopping,
    onProgress({ progress, stage: message }) {
      if (progressToken === undefined || progress <= reported) return;
      reported = progress;
      const params = { progressToken, progress, total: 100, message };
      void mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
    },
  });
  return readTask(execution, task.id);
}

/** What the graph refused, for the agent to read; mistakes of ours are masked. */
function refusal(error: unknown, { context }: Exchange, logger: Logger): CallToolResult {
  const { traceId } = context.caller;
  if (!(error instanceof AppError) || error.code === 'INTERNAL') {
    logger.error({ traceId, error: toError(error) }, 'an MCP tool failed');
    return failed(`INTERNAL: internal error, trace id ${traceId}`);
  }
  const { code, message, retryAfter } = error;
  return failed(
    `${code}: ${withArgumentName(message)}${retryAfter === undefined ? '' : ` (again after ${retryAfter} s)`}`,
  );
}

function failed(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

/** Refusals of the graph as errors of the protocol, for methods that have no results of tools. */
async function protocolErrors<Value>(run: () => Promise<Value>): Promise<Value> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'INTERNAL') throw error;
    const isWrong = error.code === 'NOT_FOUND' || error.code === 'BAD_USER_INPUT';
    const code = isWrong ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
    throw new ProtocolError(code, error.message, { code: error.code });
  }
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
