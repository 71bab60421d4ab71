import { expect } from 'vitest';

import {
  imageRequest,
  type ContractRow,
  type ImageRequest,
  type ShortRow,
} from '../../../../test/providers/contract/row.ts';
import { readFixture } from '../../../../test/providers/contract/wire-shape.ts';
import { isPng, must, createImage, SECRET } from '../../../../test/providers/environment/environment.ts';
import type { Outcome } from '../contract/provider.ts';

/** Stable Diffusion web UI: images from words and from an image with a mask. Progress and interrupt are in stable-diffusion-webui.test.ts. */
const stableDiffusionWebui: ContractRow = {
  provider: 'stable-diffusion-webui',
  basePath: '/stable-diffusion-webui',
  headers: { authorization: `Basic ${Buffer.from(`kiln:${SECRET}`).toString('base64')}` },
  fixture: readFixture(new URL('wire.fixture.json', import.meta.url)),
  jobs: [],
  short: [
    imagesRow(
      { title: 'images from words', operation: 'txt2img' },
      { aspectRatio: '16:9', negativePrompt: 'people', count: 2, seed: 7 },
      { negative_prompt: 'people', n_iter: 2, seed: 7, width: 1368, height: 768 },
    ),
    imagesRow(
      { title: 'an image from an image', operation: 'img2img' },
      { images: [createImage()], mask: createImage(), resolution: '640x512' },
      { width: 640, height: 512, init_images: [expect.any(String)], mask: expect.any(String) },
    ),
  ],
};

function imagesRow(
  row: Pick<ShortRow, 'title' | 'operation'>,
  change: Partial<ImageRequest>,
  fields: ShortRow['fields'],
): ShortRow {
  return {
    ...row,
    before: ['internalProgress', 'interrupt'],
    hasReference: true,
    // Nothing is moderated; a failure in its own words is none that may have happened.
    unplayed: ['retired-model', 'moderation', 'late-moderation', 'upstream-error'],
    isInterrupted: true,
    fields: { prompt: 'a lighthouse', ...fields },
    run: async (provider, context) => provider.calls?.IMAGE?.call(imageRequest(change), context),
    check(answer) {
      const { files } = answer as Outcome;
      expect(files).toHaveLength(change.count ?? 1);
      for (const file of files) {
        expect(isPng(must('content' in file ? file.content : null, 'inline image'))).toBe(true);
      }
    },
  };
}

/** What the contract suite tries. */
export const rows: readonly ContractRow[] = [stableDiffusionWebui];
