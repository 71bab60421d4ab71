import { describe, expect, it } from 'vitest';

import { useSandbox } from '../../../sandbox/use-sandbox.fixture.ts';
import { differences, readByAdapter, readRecordings, SECRETS, type Recording } from './replay.ts';

/** What real services answered, against the stand-ins and the adapters. */

const sandbox = useSandbox();

const sample: Recording = {
  provider: 'comfyui',
  mount: 'comfyui-a',
  recorded: 'by hand, from the source of ComfyUI',
  exchanges: [
    { method: 'GET', path: '/history/p', status: 200, answer: {} },
    {
      method: 'GET',
      path: '/queue',
      status: 200,
      answer: { queue_running: [], queue_pending: [[1, 'p', {}, {}, []]] },
    },
  ],
  adapter: {
    kind: 'COMFY_WORKFLOW',
    handle: { node: 'ORIGIN', promptId: 'p' },
    expected: { state: 'queued', position: 1 },
  },
};
const recordings: readonly (readonly [string, Recording])[] = [
  ['the sample', sample],
  ...readRecordings().map(([name, recording]) => [name, recording] as const),
];

describe.each(recordings)('%s', (_, recording) => {
  it('is answered in the same form by the stand-in', async () => {
    expect(await differences(sandbox.url(recording.mount), recording)).toEqual([]);
  });

  it('is read by the adapter as it says', async () => {
    const read = recording.adapter === undefined ? {} : await readByAdapter(recording);
    expect(read).toMatchObject(recording.adapter?.expected ?? {});
  });
});

it('names what differs', async () => {
  const exchanges = [
    { method: 'GET', path: '/queue', status: 201, answer: { queue_running: {}, more: 1 } },
  ] as const;
  expect(await differences(sandbox.url('comfyui-a'), { ...sample, exchanges: [...exchanges] })).toEqual([
    '/queue: 200 instead of 201',
    '/queue.queue_running: another type',
    '/queue.more is absent',
  ]);
});

it('holds no secrets', () => {
  const revealing = readRecordings().filter(([, , text]) => SECRETS.test(text));
  expect(revealing.map(([name]) => name)).toEqual([]);
  expect('{"authorization": "x"}').toMatch(SECRETS);
  expect('https://a.example/x?X-Amz-Signature=1').toMatch(SECRETS);
});
