import { expect } from 'vitest';

import type { ContractRow, JobRow } from '../../../../test/providers/contract/row.ts';
import { readFixture } from '../../../../test/providers/contract/wire-shape.ts';
import { createImage, SECRET } from '../../../../test/providers/environment/environment.ts';

const shared = {
  referenceField: { header: 'idempotency-key' },
  tellsProgress: false,
  outcome: { files: 0, texts: 0 },
} as const satisfies Partial<JobRow>;

/** Higgsfield's characters and images. Credits, moderation, notices and a character's own images are in higgsfield.test.ts. */
const higgsfield: ContractRow = {
  provider: 'higgsfield',
  basePath: '/higgsfield',
  headers: { authorization: `Key ${SECRET}` },
  fixture: readFixture(new URL('wire.fixture.json', import.meta.url)),
  jobs: [
    {
      ...shared,
      kind: 'CHARACTER',
      operation: 'character',
      request: { kind: 'CHARACTER', name: 'Ada', images: [createImage()] },
      fields: {
        name: 'Ada',
        input_images: [{ type: 'image_url', image_url: expect.stringContaining('/higgsfield/files/') }],
      },
      operations: {
        status: 'characterStatus',
        list: 'none',
        cancel: 'none',
        download: 'none',
        besides: ['upload'],
      },
      // There is no word for refused content, before or after.
      unplayed: ['moderation', 'late-moderation', 'lost-silently'],
      handsOver: 1,
      unknownState: { body: { id: '1', name: 'Ada', status: 'a_new_word' } },
    },
    {
      ...shared,
      kind: 'CHARACTER_IMAGE',
      operation: 'soul',
      request: {
        kind: 'CHARACTER_IMAGE',
        characterId: undefined,
        prompt: 'a lighthouse',
        aspectRatio: '9:16',
        resolution: '1080p',
        count: 4,
        seed: 7,
      },
      fields: { prompt: 'a lighthouse', aspect_ratio: '9:16', resolution: '1080p', batch_size: 4, seed: 7 },
      operations: { status: 'status', list: 'none', cancel: 'cancel', download: 'download' },
      // Content is looked at when it runs.
      unplayed: ['moderation', 'lost-silently'],
      results: { isHidden: true },
      cancelsRunning: false,
      unknownState: { body: { request_id: '1', status: 'a_new_word' } },
      outcome: { files: 4, texts: 0 },
    },
  ],
  short: [],
};

/** What the contract suite tries. */
export const rows: readonly ContractRow[] = [higgsfield];
