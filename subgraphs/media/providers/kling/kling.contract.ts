import { videoRequest, type ContractRow } from '../../../../test/providers/contract/row.ts';
import { readFixture } from '../../../../test/providers/contract/wire-shape.ts';
import { SECRET } from '../../../../test/providers/environment/environment.ts';

/** Kling with an API key. Images and signed tokens are in kling.test.ts. */
const kling: ContractRow = {
  provider: 'kling',
  basePath: '/kling',
  headers: { authorization: `Bearer ${SECRET}` },
  fixture: readFixture(new URL('wire.fixture.json', import.meta.url)),
  jobs: [
    {
      kind: 'VIDEO',
      operation: 'text2video',
      request: videoRequest({
        negativePrompt: 'people',
        aspectRatio: '9:16',
        resolution: '1080p',
        duration: 10,
      }),
      fields: {
        model_name: 'kling-v2-5-turbo',
        prompt: 'a lighthouse',
        negative_prompt: 'people',
        mode: 'pro',
        aspect_ratio: '9:16',
        duration: '10',
      },
      referenceField: 'external_task_id',
      operations: { status: 'query', list: 'list', cancel: 'none', download: 'download' },
      unplayed: ['lost-silently'],
      results: { type: 'mp4', isHidden: true },
      tellsProgress: false,
      unknownState: {
        body: { code: 0, message: 'SUCCEED', data: { task_id: '1', task_status: 'a_new_word' } },
      },
      outcome: { files: 1, texts: 0 },
    },
  ],
  short: [],
};

/** What the contract suite tries. */
export const rows: readonly ContractRow[] = [kling];
