import {
  imageRequest,
  videoRequest,
  type ContractRow,
  type JobRow,
} from '../../../../test/providers/contract/row.ts';
import { readFixture } from '../../../../test/providers/contract/wire-shape.ts';
import { SECRET } from '../../../../test/providers/environment/environment.ts';

const shared = {
  // The API has no field for it.
  referenceField: null,
  // Content is looked at by the model, when it runs; a prediction that is forgotten is answered 404.
  unplayed: ['moderation', 'lost-silently'],
  operations: { status: 'get', list: 'none', cancel: 'cancel', download: 'download' },
  unknownState: { body: { id: '1', status: 'a_new_word', output: null, error: null } },
} as const satisfies Partial<JobRow>;

/** Replicate's predictions. Files, versions, notices and deletion are in replicate.test.ts. */
const replicate: ContractRow = {
  provider: 'replicate',
  basePath: '/replicate/v1',
  headers: { authorization: `Bearer ${SECRET}` },
  fixture: readFixture(new URL('wire.fixture.json', import.meta.url)),
  jobs: [
    {
      ...shared,
      kind: 'IMAGE',
      operation: 'image',
      request: imageRequest({ aspectRatio: '16:9', count: 2, seed: 7 }),
      fields: { input: { prompt: 'a lighthouse', aspect_ratio: '16:9', num_outputs: 2, seed: 7 } },
      results: { isHidden: true, isLasting: true },
      outcome: { files: 2, texts: 0 },
    },
    {
      ...shared,
      kind: 'VIDEO',
      operation: 'video',
      request: videoRequest({ aspectRatio: '9:16', resolution: '720p', duration: 10, seed: 7 }),
      fields: {
        input: { prompt: 'a lighthouse', aspect_ratio: '9:16', resolution: '720p', duration: 10, seed: 7 },
      },
      results: { type: 'mp4', isHidden: true, isLasting: true },
      outcome: { files: 1, texts: 0 },
    },
  ],
  short: [],
};

/** What the contract suite tries. */
export const rows: readonly ContractRow[] = [replicate];
