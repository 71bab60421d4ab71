import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { until } from '../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';
import { MINIMAL_IMAGE, graphqlClient, GENERATE, UNKNOWN_ID } from './graphql-client.ts';

/** Files, descriptions and cancelling over GraphQL: what works, and what each refusal says. */

let kiln: KilnUnderTest;
let asking: ReturnType<typeof graphqlClient>;
beforeAll(async () => {
  kiln = await startKiln({ isQuick: true });
  asking = graphqlClient(kiln.url);
});
afterAll(() => kiln.close());

const createImage = async (colour = 'red') =>
  new Uint8Array(
    await sharp({ create: { width: 8, height: 6, channels: 3, background: colour } })
      .png()
      .toBuffer(),
  );

describe('describeImage and uploadFile', () => {
  it('describe what was uploaded, by id and in the same request', async () => {
    const stored = await asking.upload(
      await createImage(),
      'red square.png',
      'mutation ($file: Upload!) { uploadFile(file: $file) { id url contentType width height bytes createdAt } }',
    );
    expect(stored.data.uploadFile).toMatchObject({
      url: `${kiln.url}/files/${stored.data.uploadFile.id}/red-square.png`,
      contentType: 'image/png',
      width: 8,
      height: 6,
    });
    const byId = await asking.ok(
      'mutation ($id: ID!) { describeImage(generator: "agg/imga", image: { fileId: $id }) { id kind } }',
      {
        id: stored.data.uploadFile.id,
      },
    );
    const direct = await asking.upload(
      await createImage('blue'),
      'blue.png',
      'mutation ($file: Upload!) { describeImage(generator: "agg/imga", image: { upload: $file }) { id kind } }',
    );
    for (const { id, kind } of [byId.describeImage, direct.data.describeImage]) {
      expect(kind).toBe('DESCRIPTION');
      const task = await asking.ended(id);
      expect(task).toMatchObject({ state: 'SUCCEEDED', result: { __typename: 'Description' }, outputs: [] });
      expect(task.result.prompts).toContain(task.text);
    }
  });

  it('refuse what is no file, no image or not there', async () => {
    expect(
      await asking.refusal(
        'mutation { describeImage(generator: "agg/imga", image: { fileId: "x" }) { id } }',
      ),
    ).toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'image.fileId',
    });
    expect(
      await asking.refusal(
        'mutation { describeImage(generator: "union", image: { url: "https://a.test/b.png" }) { id } }',
      ),
    ).toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'generator',
    });
    expect(
      await asking.refusal('mutation ($file: Upload!) { uploadFile(file: $file) { id } }', {
        file: 'a text',
      }),
    ).toMatchObject({
      code: 'BAD_USER_INPUT',
    });
    const text = new Uint8Array(Buffer.from('no image'));
    const { data } = await asking.upload(
      text,
      'a.png',
      'mutation ($file: Upload!) { describeImage(generator: "agg/imga", image: { upload: $file }) { id } }',
    );
    expect(await asking.ended(data.describeImage.id)).toMatchObject({
      state: 'FAILED',
      error: { code: 'INVALID_INPUT' },
    });
  });

  it('keep a temporary file that a task has taken', async () => {
    const stored = await asking.upload(
      await createImage(),
      'x.png',
      'mutation ($file: Upload!) { uploadFile(file: $file, temporary: true) { id } }',
    );
    const { id } = stored.data.uploadFile;
    const untilWhen = async () =>
      (
        await kiln.runtime.database.pool.query<{ until: Date | null }>(
          'select temporary_until as until from media.media where id = $1',
          [id],
        )
      ).rows[0]?.until;
    expect(await untilWhen()).toBeInstanceOf(Date);
    await asking.ok(
      'mutation ($id: ID!) { describeImage(generator: "agg/imga", image: { fileId: $id }) { id } }',
      {
        id,
      },
    );
    expect(await untilWhen()).toBeNull();
  });
});

describe('cancelTask', () => {
  const CANCEL = 'mutation ($id: ID!) { cancelTask(id: $id) { id state stage cancelRequestedAt } }';

  it('stops a running task, and is answered the same again', async () => {
    await kiln.control('latency', { runningMs: 20_000 });
    const { generateImage } = await asking.ok(GENERATE, { input: MINIMAL_IMAGE });
    await until(
      () => asking.ok('query ($id: ID!) { task(id: $id) { stage } }', generateImage),
      ({ task }) => task.stage !== 'queued',
    );
    await kiln.control('latency', { runningMs: 0 });
    const { cancelTask } = await asking.ok(CANCEL, generateImage);
    expect(cancelTask.cancelRequestedAt).not.toBeNull();
    const task = await asking.ended(generateImage.id);
    expect(task).toMatchObject({ state: 'CANCELLED', outputs: [], attempts: [{ state: 'CANCELLED' }] });
    expect((await asking.ok(CANCEL, generateImage)).cancelTask.state).toBe('CANCELLED');
  });

  it('comes too late for a task that has ended', async () => {
    const { generateImage } = await asking.ok(GENERATE, { input: MINIMAL_IMAGE });
    await asking.ended(generateImage.id);
    expect(await asking.refusal(CANCEL, generateImage)).toMatchObject({ code: 'TOO_LATE' });
  });

  it.each([UNKNOWN_ID, 'nonsense', ''])('knows no task %j', async (id) => {
    expect(await asking.refusal(CANCEL, { id })).toMatchObject({ code: 'NOT_FOUND' });
    expect(await asking.ok('query ($id: ID!) { task(id: $id) { id } }', { id })).toEqual({ task: null });
    expect(await asking.refusal('mutation ($id: ID!) { deleteMedia(id: $id) { id } }', { id })).toMatchObject(
      {
        code: 'NOT_FOUND',
      },
    );
  });
});
