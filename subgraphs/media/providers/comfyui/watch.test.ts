import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';

import {
  must,
  openEnvironment,
  SECRET,
  type Environment,
} from '../../../../test/providers/environment/environment.ts';
import type { StartContext, WatchedProgress } from '../contract/provider.ts';
import { comfyGraph } from './comfyui.contract.ts';

/** Following a graph when its socket is taken away. */

let world: Environment;
beforeAll(async () => {
  world = await openEnvironment();
});
afterAll(() => world?.close());

/** What starts and follows graphs, and how. */
function followed() {
  const job = must(must(world.providers['comfyui'], 'provider').jobs?.COMFY_WORKFLOW, 'job');
  const base = `${world.sandbox.url}/comfyui-a`;
  const context: StartContext = {
    connection: {
      ...world.connection('/comfyui-a', { 'x-api-key': SECRET }),
      baseUrl: base,
      nodes: [base],
    },
    signal: AbortSignal.timeout(100_000),
    reference: 'task/1/1',
  };
  return { job, base, context };
}

const MANY = 20;
const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

describe('whoever follows a graph', () => {
  it('leaves no timer behind when it stops', async () => {
    const { job, base, context } = followed();
    const leaving = new AbortController();
    const before = timers();
    const watching = Array.from({ length: MANY }, async (_, index) => {
      const handle = { promptId: `prompt-${index}`, node: base, classes: {}, size: 0 };
      await job.watch?.(handle, { ...context, signal: leaving.signal }, () => undefined);
    });
    expect(timers()).toBeGreaterThanOrEqual(before + MANY);
    leaving.abort();
    await Promise.all(watching);
    // Some timers of this process are the sandbox's.
    await expect.poll(timers).toBeLessThan(before + MANY / 2);
  });

  it('leaves a socket whose server answers no ping', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1', autoPong: false });
    await once(server, 'listening');
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { job, context } = followed();
    const leaving = new AbortController();
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const connected = once(server, 'connection') as Promise<[WebSocket]>;
      const connection = { ...context.connection, baseUrl: base, nodes: [base] };
      const handle = { promptId: 'prompt', node: base, classes: {}, size: 0 };
      const watching = job.watch?.(
        handle,
        { ...context, connection, signal: leaving.signal },
        () => undefined,
      );
      const [socket] = await connected;
      const heard: string[] = [];
      socket.on('ping', () => heard.push('ping')).on('close', () => heard.push('close'));
      socket.ping();
      // It is open at both ends.
      await once(socket, 'pong');
      for (const count of [1, 2]) {
        vi.advanceTimersByTime(15_000);
        await expect.poll(() => heard).toHaveLength(count);
      }
      expect(heard).toEqual(['ping', 'close']);
      leaving.abort();
      await watching;
    } finally {
      vi.useRealTimers();
      leaving.abort();
      for (const client of server.clients) client.terminate();
      server.close();
    }
  });

  it('opens the socket anew when it breaks, and still learns of the end', async () => {
    await world.setLatency({ wire: 'comfyui-a', runningMs: 5_000, progressSteps: 40 });
    const { job, base, context } = followed();
    const { '10': _load, '11': _encode, ...rest } = comfyGraph;
    const workflow = {
      ...rest,
      '3': { ...rest['3'], inputs: { ...rest['3'].inputs, latent_image: ['5', 0] } },
      '5': { class_type: 'EmptyLatentImage', inputs: { width: 64, height: 64, batch_size: 1 } },
    };
    const handle = await job.start({ kind: 'COMFY_WORKFLOW', workflow, files: {}, node: undefined }, context);
    const heard: WatchedProgress[] = [];
    const watching = job.watch?.(handle, context, (progress) => void heard.push(progress));
    await expect.poll(() => heard.length).toBeGreaterThan(1);

    // A second socket of the same client throws the first one out, as a ComfyUI server does.
    const client = handle['promptId'] as string;
    const thief = new WebSocket(`${base.replace(/^http/, 'ws')}/ws?clientId=${client}`, {
      headers: { 'x-api-key': SECRET },
    });
    await once(thief, 'message');
    const before = heard.length;
    await once(thief, 'close');
    await expect.poll(() => heard.length).toBeGreaterThan(before);

    await watching;
    const images = heard.flatMap(({ image }) => image ?? []);
    expect(images[0]?.subarray(0, 3).toString('hex')).toBe('ffd8ff');
    await expect.poll(async () => (await job.status(handle, context)).state).toBe('finished');
  });
});
