import { UpstreamError } from '../../domain/failure.ts';
import type { CallContext } from '../contract/provider.ts';
import type { Exchange } from '../shared/exchange.ts';
import { readQueue } from './status.ts';
import { throwHttpRefusal } from './wire.ts';

/** Stopping a prompt. */

/** Stops a prompt, pending or running. Servers without the jobs API (before v0.26) have one request for each. */
export async function cancelPrompt(
  exchange: Exchange,
  there: CallContext,
  promptId: string,
): Promise<'cancelled' | 'too-late'> {
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

async function cancelByQueue(
  exchange: Exchange,
  there: CallContext,
  promptId: string,
): Promise<'cancelled' | 'too-late'> {
  const { running, pending } = await readQueue(exchange, there);
  const isThis = (item: { readonly promptId: string }) => item.promptId === promptId;
  if (pending.some(isThis)) {
    await send(exchange, there, { path: '/queue', json: { delete: [promptId] } });
    // It may have begun meanwhile: nothing was deleted then.
    const now = await readQueue(exchange, there);
    if (!now.running.some(isThis)) return 'cancelled';
  } else if (!running.some(isThis)) return 'too-late';
  // With its id: without it, whatever prompt runs by now would be interrupted.
  await send(exchange, there, { path: '/interrupt', json: { prompt_id: promptId } });
  return 'cancelled';
}

/** Sends what is answered without words. */
export async function send(
  exchange: Exchange,
  there: CallContext,
  request: { readonly path: string; readonly json: object },
): Promise<void> {
  throwHttpRefusal(await exchange(there, { method: 'POST', ...request }));
}
