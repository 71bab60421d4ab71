import { request } from 'node:http';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { graphql, until } from '../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';

/** Notices of upstreams through the whole server: the sandbox tells the gateway, and the attempt is asked about. */

let kiln: KilnUnderTest;
beforeAll(async () => {
  kiln = await startKiln();
});
afterAll(() => kiln.close());

const START_IMAGE = `mutation ($generator: String!, $model: String) {
  generateImage(input: { generator: $generator, model: $model, prompt: "a fox" }) { id }
}`;
const START_VIDEO = `mutation ($generator: String!, $model: String) {
  generateVideo(input: { generator: $generator, model: $model, prompt: "a fox" }) { id }
}`;

describe('the sandbox', () => {
  it.concurrent.each([
    ['fal', 'status', 'custom', START_IMAGE, 'fal-ai/flux/schnell'],
    ['replicate', 'get', 'custom', START_IMAGE, 'black-forest-labs/flux-schnell'],
    ['midjourney', 'fetch', 'imga', START_IMAGE, null],
    ['kling', 'query', 'vidc', START_VIDEO, null],
    ['minimax', 'query', 'vidb', START_VIDEO, null],
  ])(
    'of %s reports an attempt, and the poller learns of it',
    async (wire, asking, generator, document, model) => {
      await kiln.control('latency', { wire, queuedMs: 500, runningMs: 500 });
      // Every question takes its time, so that none learns of the end before the notice is heard.
      await kiln.control('faults', { wire, operation: asking, fault: 'slow', delayMs: 2_500, times: 100 });
      const hinted = new Set<string>();
      const unlisten = kiln.runtime.bus.listen('poll', (key) => void hinted.add(key));
      try {
        const { data, errors } = await graphql(kiln.url, document, { generator, model });
        expect(errors).toBeUndefined();
        const started = data.generateImage ?? data.generateVideo;
        const read = () => graphql(kiln.url, `{ task(id: "${started.id}") { state } }`);
        await until(read, (answer) => answer.data.task.state === 'SUCCEEDED');
        expect([...hinted]).toContain(`${started.id}/1/1`);
      } finally {
        unlisten();
      }
    },
  );
});

describe('the public server', () => {
  const post = (path: string, body = '{}') => fetch(`${kiln.url}${path}`, { method: 'POST', body });
  /** Of a request for a target that fetch would not send. */
  const statusOf = (path: string) =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(kiln.url);
      const sent = request({ hostname, port, path, method: 'POST' }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      sent.once('error', reject).end();
    });

  it('takes no notice that it did not ask for', async () => {
    expect((await post('/hooks/fal')).status).toBe(401);
    expect(
      (await post('/hooks/replicate?attempt=01890000-0000-7000-8000-000000000001%2F1%2F1&mac=x')).status,
    ).toBe(401);
    expect((await post('/hooks/nobody')).status).toBe(404);
    expect((await post('/hooks')).status).toBe(404);
    expect((await fetch(`${kiln.url}/hooks/fal`)).status).toBe(405);
    expect(await statusOf('http://kiln:99999/hooks/fal')).toBe(404);
  });
});
