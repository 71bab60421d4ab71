import { describe, expect, it } from 'vitest';

import { call, rpc } from '../../faces/mcp/mcp-client.fixture.ts';
import { until } from '../kit/clients/requests.ts';
import { useKilledKiln } from './killed-kiln.fixture.ts';

/** An agent whose server is killed in the middle of its film: the film is still made, once, and found again. */

const world = useKilledKiln();

describe.skipIf(process.platform !== 'linux')('kill -9 in the middle of a film', () => {
  it('leaves the task to be found by its id, and by the same call', async () => {
    await world.sandbox.latency({ wire: 'midjourney', queuedMs: 0, runningMs: 6_000 });
    const film = { prompt: 'a ship comes home', model: 'imga:midjourney-video' };
    const first = await world.start();
    const { result } = await call(first.url, 'generate_video', film);
    expect(result).toMatchObject({ resultType: 'task', status: 'working' });
    const taskId: string = result.taskId;
    await until(
      async () => Object.keys(await world.sandbox.starts()).length,
      (starts) => starts === 1,
    );
    await first.killEverything();

    const second = await world.start();
    const again = await call(second.url, 'generate_video', film);
    expect(again.result.taskId ?? again.result.structuredContent.task_id).toBe(taskId);
    const ended = await until(
      async () => (await rpc(second.url, 'tasks/get', { taskId })).result,
      ({ status }) => status !== 'working',
      100_000,
    );
    expect(ended.status).toBe('completed');
    const [, link] = ended.result.content;
    expect(link).toMatchObject({ type: 'resource_link', mimeType: 'video/mp4' });
    expect((await fetch(link.uri)).status).toBe(200);
    expect(Object.keys(await world.sandbox.starts())).toHaveLength(1);
  });
});
