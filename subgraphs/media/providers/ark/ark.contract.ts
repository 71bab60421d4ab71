import { expect } from 'vitest';

import { videoRequest, type ContractRow } from '../../../../test/providers/contract/row.ts';
import { readFixture } from '../../../../test/providers/contract/wire-shape.ts';
import { createImage, SECRET } from '../../../../test/providers/environment/environment.ts';

/** ModelArk's videos. Its wire has no place for a reference, and Kiln cancels nothing there. */
const ark: ContractRow = {
  provider: 'ark',
  basePath: '/ark/api/v3',
  headers: { authorization: `Bearer ${SECRET}` },
  fixture: readFixture(new URL('wire.fixture.json', import.meta.url)),
  jobs: [
    {
      kind: 'VIDEO',
      operation: 'create',
      request: videoRequest({
        firstFrame: createImage(),
        lastFrame: createImage(),
        resolution: '480p',
        duration: 4,
        seed: 7,
      }),
      fields: {
        model: 'doubao-seedance-2-0-260128',
        content: [
          { type: 'text', text: 'a lighthouse' },
          {
            type: 'image_url',
            role: 'first_frame',
            image_url: { url: expect.stringMatching(/^data:image\/png;base64,iVBOR/) },
          },
          {
            type: 'image_url',
            role: 'last_frame',
            image_url: { url: expect.stringMatching(/^data:image\/png;base64,iVBOR/) },
          },
        ],
        resolution: '480p',
        duration: 4,
        ratio: 'adaptive',
        seed: 7,
      },
      referenceField: null,
      operations: { status: 'get', list: 'none', cancel: 'none', download: 'download', erase: 'delete' },
      unplayed: ['lost-silently'],
      results: { type: 'mp4', isHidden: true },
      tellsProgress: false,
      unknownState: { body: { id: 'cgt-1', status: 'a_new_word' } },
      outcome: { files: 1, texts: 0 },
    },
  ],
  short: [],
};

/** What the contract suite tries. */
export const rows: readonly ContractRow[] = [ark];
