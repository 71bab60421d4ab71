import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

import {
  type CallToolResult,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

import { createMcpEndpoint } from '../../faces/mcp/protocol/endpoint.ts';
import { declaresTasks, TASKS_CAPABILITY, createOriginRule } from '../../faces/mcp/protocol/exchange.ts';
import { anonymousCaller } from '../../platform/access/caller.ts';
import { disconnectSignal, listenOn } from '../../platform/http/server.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { prompts, resources, results, templated } from './fixtures.ts';

/**
 * The endpoint of the MCP face with the suite's own tools behind it, so that the suite can tell what the protocol's side
 * answers. What Kiln's tools do is looked at in faces/mcp.
 */

const RUNNING_TOOLS = ['slow_compute', 'failing_job', 'protocol_error_job'];
const OTHER_TOOLS = [
  'greet',
  'test_tool_with_progress',
  'test_missing_capability',
  'test_logging_tool',
  'test_streaming_elicitation',
];

/** A task of a fixture, in memory. */
interface FixtureTask {
  status: 'working' | 'completed' | 'failed' | 'cancelled';
  result?: CallToolResult;
  error?: object;
}

const tasks = new Map<string, FixtureTask>();

/** Starts it on a free port of this machine. */
export async function startFixtureServer(): Promise<{ readonly url: string; readonly close: () => void }> {
  const server = createServer();
  const { url } = await listenOn(server, '127.0.0.1', 0);
  const endpoint = createMcpEndpoint({
    url: `${url}/mcp`,
    serverFor: (_exchange, isModern) => fixtureServer(isModern),
    findRateClass: () => 'read',
    listen: async ({ response }) => void response.end(),
    allowsOrigin: createOriginRule([], url),
    logger: silentLogger(),
  });
  server.on('request', (request, response) => {
    const caller = anonymousCaller('0'.repeat(32), null);
    void endpoint.serve({ request, response, context: { caller, signal: disconnectSignal(response) } });
  });
  const close = (): void => {
    server.close().closeAllConnections();
  };
  return { url: `${url}/mcp`, close };
}

function fixtureServer(isModern: boolean): Server {
  const capabilities = { tools: {}, resources: {}, prompts: {}, ...(isModern && TASKS_CAPABILITY) };
  const server = new Server({ name: 'fixtures', version: '1.0.0' }, { capabilities });
  const inputSchema = { type: 'object' } as const;
  const names = [...Object.keys(results), ...RUNNING_TOOLS, ...OTHER_TOOLS];
  server.setRequestHandler('tools/list', () => ({
    tools: names.map((name) => ({ name, description: name, inputSchema })),
  }));
  server.setRequestHandler('tools/call', ({ params }, context) => call(params, context, isModern));
  server.setRequestHandler('resources/list', () => ({
    resources: resources.map(({ uri, name, mimeType }) => ({ uri, name, mimeType })),
  }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'template' }],
  }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    const found = resources.find((one) => one.uri === uri) ?? templated(uri);
    if (found === undefined) throw invalid('there is no such resource', { uri });
    return { contents: [found] };
  });
  server.setRequestHandler('prompts/list', () => ({
    prompts: Object.keys(prompts).map((name) => ({ name, description: name })),
  }));
  server.setRequestHandler('prompts/get', ({ params }) => {
    const messages = prompts[params.name]?.(params.arguments ?? {});
    if (messages === undefined) throw invalid('there is no such prompt');
    return { messages };
  });
  if (isModern) handleTasks(server);
  return server;
}

async function call(
  { name, arguments: given = {} }: { readonly name: string; readonly arguments?: unknown },
  context: ServerContext,
  isModern: boolean,
): Promise<CallToolResult> {
  const known = results[name];
  if (known !== undefined) return known;
  if (RUNNING_TOOLS.includes(name)) return run(name, given, isModern && knowsTasks(context));
  if (name === 'test_missing_capability') {
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
  }
  if (!OTHER_TOOLS.includes(name)) throw invalid(`there is no tool ${name}`);
  if (name === 'test_tool_with_progress') await tellProgress(context);
  const { name: whom } = given as { readonly name?: string };
  return { content: [{ type: 'text', text: whom === undefined ? 'done' : `Hello, ${whom}!` }] };
}

function knowsTasks({ mcpReq: { envelope } }: ServerContext): boolean {
  const declared = Object(envelope) as Readonly<Record<string, unknown>>;
  return declaresTasks(declared['io.modelcontextprotocol/clientCapabilities']);
}

async function tellProgress({ mcpReq }: ServerContext): Promise<void> {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return;
  for (const progress of [0, 50, 100]) {
    const params = { progressToken, progress, total: 100 };
    await mcpReq.notify({ method: 'notifications/progress', params });
  }
}

async function run(name: string, given: unknown, asTask: boolean): Promise<CallToolResult> {
  const { seconds = 1 } = given as { readonly seconds?: number };
  const result: CallToolResult = {
    content: [{ type: 'text', text: name }],
    ...(name === 'failing_job' && { isError: true }),
  };
  if (!asTask) return result;
  const taskId = randomUUID();
  const task: FixtureTask = { status: 'working' };
  tasks.set(taskId, task);
  void finish(name, task, { seconds, result });
  return { resultType: 'task', ...seed(taskId, task) } as never;
}

async function finish(
  name: string,
  task: FixtureTask,
  { seconds, result }: { readonly seconds: number; readonly result: CallToolResult },
): Promise<void> {
  await pause(seconds * 1_000, undefined, { ref: false });
  if (task.status !== 'working') return;
  const isBroken = name === 'protocol_error_job';
  task.status = isBroken ? 'failed' : 'completed';
  if (isBroken) task.error = { code: -32_603, message: 'internal error' };
  else task.result = result;
}

function seed(taskId: string, { status }: FixtureTask) {
  const now = new Date().toISOString();
  return { taskId, status, createdAt: now, lastUpdatedAt: now, ttlMs: 60_000, pollIntervalMs: 100 };
}

function handleTasks(server: Server): void {
  const schemas = { params: z.looseObject({ taskId: z.string() }), result: z.looseObject({}) };
  const findTask = (taskId: string, context: ServerContext): FixtureTask => {
    if (!knowsTasks(context)) {
      throw new MissingRequiredClientCapabilityError({ requiredCapabilities: TASKS_CAPABILITY });
    }
    const task = tasks.get(taskId);
    if (task === undefined) throw invalid('there is no such task');
    return task;
  };
  server.setRequestHandler('tasks/get', schemas, ({ taskId }, context) => {
    const task = findTask(taskId, context);
    const { result, error } = task;
    return { ...seed(taskId, task), ...(result && { result }), ...(error && { error }) };
  });
  server.setRequestHandler('tasks/cancel', schemas, ({ taskId }, context) => {
    const task = findTask(taskId, context);
    if (task.status === 'working') task.status = 'cancelled';
    return {};
  });
  server.setRequestHandler('tasks/update', schemas, ({ taskId }, context) => {
    findTask(taskId, context);
    return {};
  });
}

function invalid(message: string, data?: object): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message, data);
}
