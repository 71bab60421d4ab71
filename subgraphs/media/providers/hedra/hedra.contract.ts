import { expect } from 'vitest';

import type { ContractRow } from '../../../../test/providers/contract/row.ts';
import { readFixture } from '../../../../test/providers/contract/wire-shape.ts';
import { createImage, SECRET } from '../../../../test/providers/environment/environment.ts';
import { generationId } from './web-app.ts';

const ID = /^[0-9a-f-]{36}$/;
const request = {
  kind: 'LIP_SYNC',
  image: createImage(),
  video: undefined,
  audio: createImage({ name: 'voice.mp3', contentType: 'audio/mpeg' }),
  text: undefined,
  voiceId: undefined,
  prompt: 'she smiles',
  aspectRatio: '9:16',
  resolution: '720p',
} as const;
const upload = { source: 'url', url: expect.stringMatching(/\/uploads\/[0-9a-f-]{36}\?signature=/) };

/** Hedra's API v3 with an image and a sound. Texts, voices, streams and uploads are in hedra.test.ts. */
const hedra: ContractRow = {
  provider: 'hedra',
  basePath: '/hedra/v3',
  headers: { authorization: `Bearer ${SECRET}` },
  fixture: readFixture(new URL('wire.fixture.json', import.meta.url)),
  jobs: [
    {
      kind: 'LIP_SYNC',
      operation: 'submit',
      request,
      fields: {
        input: {
          prompt: 'she smiles',
          aspect_ratio: '9:16',
          resolution: '720p',
          start_image: upload,
          audio: upload,
        },
      },
      referenceField: { header: 'idempotency-key' },
      operations: {
        status: 'jobStatus',
        list: 'none',
        cancel: 'none',
        download: 'download',
        besides: ['uploadFile', 'job'],
      },
      canFind: false,
      refusedAs: { find: 'unknowable' },
      // Content is looked at when it runs; a job that is forgotten is answered 404.
      unplayed: ['moderation', 'lost-silently'],
      results: { type: 'mp4', isHidden: true },
      handsOver: 2,
      unknownState: { body: { job_id: 'job_1', status: 'A_NEW_WORD', progress: 0.5 } },
      outcome: { files: 1, texts: 0 },
    },
  ],
  short: [],
};

/** Its older API with the same. */
const hedraWebApp: ContractRow = {
  provider: 'hedra',
  api: 'web-app',
  basePath: '/hedra/web-app',
  headers: { 'x-api-key': SECRET },
  fixture: readFixture(new URL('web-app-wire.fixture.json', import.meta.url)),
  jobs: [
    {
      kind: 'LIP_SYNC',
      operation: 'generate',
      request,
      fields: {
        type: 'video',
        ai_model_id: '26f0fc66-152b-40ab-abed-76c43df99bc8',
        start_keyframe_id: expect.stringMatching(ID),
        audio_id: expect.stringMatching(ID),
        generated_video_inputs: { text_prompt: 'she smiles', resolution: '720p', aspect_ratio: '9:16' },
      },
      referenceField: 'generation_id',
      carried: generationId,
      operations: {
        status: 'status',
        list: 'status',
        cancel: 'none',
        download: 'download',
        besides: ['createAsset', 'uploadAsset'],
      },
      // Content is looked at when it runs; a generation that is forgotten is answered 404.
      unplayed: ['moderation', 'lost-silently'],
      results: { type: 'mp4', isHidden: true },
      handsOver: 2,
      unknownState: { body: { id: '1', status: 'a_new_word', progress: 0.5 } },
      outcome: { files: 1, texts: 0 },
    },
  ],
  short: [],
};

/** What the contract suite tries. */
export const rows: readonly ContractRow[] = [hedra, hedraWebApp];
