import { UpstreamError } from '../../domain/failure.ts';
import type { CallContext, Handle } from '../contract/provider.ts';
import type { Exchange } from '../shared/exchange.ts';
import { at, readHandle } from './handle.ts';
import { readQueue } from './status.ts';
import { throwHttpRefusal } from './wire.ts';

/** Stops a prompt, pending or running. Servers without the jobs API (before v0.26) have one request for each. */
export async function cancelJob(
  exchange: Exchange,
  handle: Handle,
  context: CallContext,
): Promise<'cancelled' | 'too-late'> {
  const { node, promptId } = readHandle(handle, context.connection);
  const there = at(context, node);
  const answer = await exchange(there, {
    method: 'POST',
    path: `/api/jobs/${encodeURIComponent(promptId)}/cancel`,
    json: {},
    mayBePage: true,
  });
  if (answer.status === 404 || answer.status === 405) return cancelByQueue(exchange, there, promptId);
  throwHttpRefusal(answer);
  const { json } = answer;
  const isObject = typeof json === 'object' && json !== null && 'cancelled' in json;
  if (!isObject) {
    throw new UpstreamError('UNAVAILABLE', "comfyui answered something that can't be read");
  }
  return json.cancelled === true ? 'cancelled' : 'too-late';
}

/** Takes a prompt out of its machine's history. The files that it made stay there: no request removes them. */
export async function eraseJob(exchange: Exchange, handle: Handle, context: CallContext): Promise<void> {
  const { node, promptId } = readHandle(handle, context.connection);
  await send(exchange, at(context, node), { path: '/history', json: { delete: [promptId] } });
}

async function cancelByQueue(
  exchange: Exchange,
  there: CallContext,
  promptId: string,
): Promise<'cancelled' | 'too-late'> {
  const { running, pending } = await readQueue(exchange, there);
  const isThis = (item: { readonly promptId: string }) => item.promptId === promptId;
  if (pending.some(isThis)) {
    await send(exchange, there, { path: '/queue', json: { delete: [promptId] } });
    return 'cancelled';
  }
  if (!running.some(isThis)) return 'too-late';
  // With its id: without it, whatever prompt runs by now would be interrupted.
  await send(exchange, there, { path: '/interrupt', json: { prompt_id: promptId } });
  return 'cancelled';
}

async function send(
  exchange: Exchange,
  there: CallContext,
  request: { readonly path: string; readonly json: object },
): Promise<void> {
  throwHttpRefusal(await exchange(there, { method: 'POST', ...request }));
}
