import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';

import { until } from '../kit/clients/requests.ts';
import { useKilledKiln } from './killed-kiln.fixture.ts';
import { allTasks } from './workload.ts';

/** kill -9 of everything while OpenAI's SDK waits for a picture: it sends the call again, and gets what it had begun. */

const world = useKilledKiln();

describe.skipIf(process.platform !== 'linux')('kill -9 while the SDK waits', () => {
  it('its retry gets the picture of the first task, which was started once', async () => {
    await world.sandbox.latency({ wire: 'midjourney', queuedMs: 0, runningMs: 5_000 });
    const first = await world.start({ PORT: '0' });
    const client = new OpenAI({ apiKey: 'sk-of-nobody', baseURL: `${first.url}/v1`, maxRetries: 30 });
    const picture = client.images.generate({ model: 'midjourney', prompt: 'a lighthouse' }).withResponse();
    const isRunning = (tasks: Awaited<ReturnType<typeof allTasks>>): boolean =>
      tasks.some(({ attempts }) => attempts[0]?.state === 'RUNNING');
    const [task] = await until(() => allTasks(first.url), isRunning, 60_000);
    await first.killEverything();
    await world.start({ PORT: new URL(first.url).port });
    const { data, response } = await picture;
    expect(response.headers.get('x-kiln-task')).toBe(task?.id);
    expect(data.data?.[0]?.b64_json).toBeTruthy();
    expect(Object.values(await world.sandbox.starts())).toEqual([1]);
  });
});
