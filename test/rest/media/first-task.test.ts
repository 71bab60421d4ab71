import { afterAll, beforeAll, expect, it } from 'vitest';

import { rest, taskEnd } from '../../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../../kit/kiln.ts';

let kiln: KilnUnderTest;
beforeAll(async () => {
  kiln = await startKiln();
});
afterAll(() => kiln.close());

it('takes a task at once and ends it with images', async () => {
  const submitted = await rest(kiln.url, 'POST', '/api/task/create/task', {
    task_type: 'tea',
    prompt: 'a lighthouse',
  });
  expect(submitted.body).toMatchObject({ status: true, data: expect.any(String) });
  const ended = await taskEnd(kiln.url, submitted.body.data);
  expect(ended.body).toMatchObject({
    status: true,
    data: { task_id: submitted.body.data, urls: expect.any(Array) },
  });
});
