import { expect } from 'vitest';

import {
  imageRequest,
  videoRequest,
  type ContractRow,
  type JobRow,
} from '../../../../test/providers/contract/row.ts';
import { readFixture } from '../../../../test/providers/contract/wire-shape.ts';
import { createImage, SECRET } from '../../../../test/providers/environment/environment.ts';

/** midjourney-proxy, its forks and the aggregators that re-expose it. */
const midjourney: ContractRow = {
  provider: 'midjourney',
  basePath: '/midjourney',
  headers: { 'mj-api-secret': SECRET },
  fixture: readFixture(new URL('wire.fixture.json', import.meta.url)),
  jobs: [
    midjourneyJob({
      kind: 'IMAGE',
      operation: 'imagine',
      request: imageRequest({
        aspectRatio: '16:9',
        negativePrompt: 'people',
        seed: 7,
        images: [createImage()],
      }),
      fields: {
        prompt: 'a lighthouse --ar 16:9 --no people --seed 7',
        base64Array: [expect.stringMatching(/^data:image\/png;base64,iVBOR/)],
      },
      outcome: { files: 1, texts: 0 },
    }),
    midjourneyJob({
      kind: 'DESCRIPTION',
      operation: 'describe',
      request: { kind: 'DESCRIPTION', image: createImage() },
      fields: { base64: expect.stringMatching(/^data:image\/png;base64,iVBOR/) },
      outcome: { files: 0, texts: 4 },
    }),
    midjourneyJob({
      kind: 'VIDEO',
      operation: 'video',
      request: videoRequest({ firstFrame: createImage(), lastFrame: createImage() }),
      fields: {
        prompt: 'a lighthouse',
        image: expect.stringMatching(/^data:image\/png;base64,iVBOR/),
        endImage: expect.stringMatching(/^data:image\/png;base64,iVBOR/),
        batchSize: 1,
      },
      results: { type: 'mp4', isHidden: true },
      outcome: { files: 1, texts: 0 },
    }),
  ],
  short: [],
};

function midjourneyJob(row: Omit<JobRow, 'referenceField' | 'operations' | 'unknownState'>): JobRow {
  return {
    ...row,
    referenceField: 'state',
    unplayed: ['retired-model'],
    operations: { status: 'fetch', list: 'list', cancel: 'cancel', download: 'download' },
    unknownState: { body: { id: '1', status: 'A_NEW_WORD', progress: 61, buttons: 'none' } },
  };
}

/** What the contract suite tries. */
export const rows: readonly ContractRow[] = [midjourney];
