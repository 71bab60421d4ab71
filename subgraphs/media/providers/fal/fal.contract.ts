import {
  imageRequest,
  videoRequest,
  type ContractRow,
  type JobRow,
} from '../../../../test/providers/contract/row.ts';
import { readFixture } from '../../../../test/providers/contract/wire-shape.ts';
import { SECRET } from '../../../../test/providers/environment/environment.ts';

const shared = {
  // The wire has no field for it.
  referenceField: null,
  // Content is looked at behind the queue, by the model; a request that is forgotten is answered 404.
  unplayed: ['moderation', 'lost-silently'],
  operations: { status: 'status', list: 'none', cancel: 'cancel', download: 'download', besides: ['result'] },
  unknownState: { body: { status: 'A_NEW_WORD', request_id: '1' } },
} as const satisfies Partial<JobRow>;

/** fal's queue. Uploads, streams, notices and the forms of its errors are in fal.test.ts. */
const fal: ContractRow = {
  provider: 'fal',
  basePath: '/fal',
  headers: { authorization: `Key ${SECRET}` },
  fixture: readFixture(new URL('wire.fixture.json', import.meta.url)),
  jobs: [
    {
      ...shared,
      kind: 'IMAGE',
      operation: 'image',
      request: imageRequest({ aspectRatio: '16:9', count: 2, seed: 7 }),
      fields: { prompt: 'a lighthouse', image_size: 'landscape_16_9', num_images: 2, seed: 7 },
      results: { isHidden: true, isLasting: true },
      outcome: { files: 2, texts: 0 },
    },
    {
      ...shared,
      kind: 'VIDEO',
      operation: 'video',
      request: videoRequest({ negativePrompt: 'people', aspectRatio: '9:16', duration: 10 }),
      fields: { prompt: 'a lighthouse', negative_prompt: 'people', aspect_ratio: '9:16', duration: '10' },
      results: { type: 'mp4', isHidden: true, isLasting: true },
      outcome: { files: 1, texts: 0 },
    },
  ],
  short: [],
};

/** What the contract suite tries. */
export const rows: readonly ContractRow[] = [fal];
