import { expect } from 'vitest';

import { TRIAL_AVATAR } from '../../../../sandbox/providers/volcengine/perform.ts';
import { until } from '../../../../test/kit/clients/requests.ts';
import type { ContractRow, JobRow } from '../../../../test/providers/contract/row.ts';
import { readFixture } from '../../../../test/providers/contract/wire-shape.ts';
import {
  makeContext,
  must,
  createImage,
  SECRET,
  type Environment,
} from '../../../../test/providers/environment/environment.ts';
import type { InputKind } from '../../../../test/providers/environment/input-server.ts';
import type { InputFile } from '../../domain/inputs/input-files.ts';

const credentials = { accessKey: 'AKLTcontract', secretKey: SECRET, vodSpace: 'a-space' };
const endpoints = { vod: '/volcengine-vod' };

/** An input where the upstream can fetch it. */
function at(world: Environment, kind: InputKind): InputFile {
  return createImage({ name: kind, publicUrl: world.fileUrl(kind) });
}

/** A video that the upstream has already, handed over past the proxy. */
export async function uploadedVideo(world: Environment): Promise<string> {
  const job = must(world.providers['volcengine']?.jobs?.AVATAR_SOURCE, 'job');
  const { url } = world.sandbox;
  const connection = {
    ...world.connection('/volcengine', {}, { credentials }),
    baseUrl: `${url}/volcengine`,
    endpoints: { vod: `${url}/volcengine-vod` },
  };
  const context = { ...makeContext(connection), reference: 'before/1/1' };
  const handle = await job.start({ kind: 'AVATAR_SOURCE', video: at(world, 'clip') }, context);
  const ended = await until(
    () => job.status(handle, context),
    ({ state }) => state === 'finished',
  );
  const { facts = {} } = must(ended.state === 'finished' ? ended.outcome : null, 'outcome');
  return facts['videoId'] as string;
}

const shared = {
  // The wire has no field for it, and no listing.
  referenceField: null,
  operations: { status: 'result', list: 'none', cancel: 'none', download: 'download' },
  unplayed: ['lost-silently'],
  postsStatus: true,
  tellsProgress: false,
  unknownState: { body: { code: 10_000, data: { status: 'a_new_word' }, message: 'Success' } },
  outcome: { files: 0, texts: 0 },
} as const satisfies Partial<JobRow>;

const film = {
  results: { type: 'mp4', isHidden: true },
  outcome: { files: 1, texts: 0 },
} as const satisfies Partial<JobRow>;

const FILE = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/(image|speech|clip)$/);

/** Volcengine's visual service and its storage of videos. Signatures, verdicts and codes are in volcengine.test.ts. */
export const volcengine: ContractRow = {
  provider: 'volcengine',
  basePath: '/volcengine',
  headers: {},
  credentials,
  endpoints,
  fixture: readFixture(new URL('wire.fixture.json', import.meta.url)),
  jobs: [
    {
      ...shared,
      kind: 'PERSON_DETECTION',
      operation: 'detect',
      request: (world) => ({ kind: 'PERSON_DETECTION', image: at(world, 'image') }),
      fields: { req_key: 'jimeng_realman_avatar_picture_create_role_omni_v15', image_url: FILE },
    },
    {
      ...shared,
      ...film,
      kind: 'HUMAN_VIDEO',
      operation: 'humanVideo',
      request: (world) => ({
        kind: 'HUMAN_VIDEO',
        image: at(world, 'image'),
        audio: at(world, 'speech'),
        prompt: 'she nods',
        resolution: '720p',
      }),
      fields: {
        req_key: 'jimeng_realman_avatar_picture_omni_v15',
        image_url: FILE,
        audio_url: FILE,
        prompt: 'she nods',
        output_resolution: 720,
      },
    },
    {
      ...shared,
      kind: 'AVATAR_SOURCE',
      operation: 'upload',
      basePath: '/volcengine-vod',
      request: (world) => ({ kind: 'AVATAR_SOURCE', video: at(world, 'clip') }),
      fields: { SpaceName: 'a-space', URLSets: expect.stringContaining('/clip') },
      operations: { ...shared.operations, status: 'query' },
      postsStatus: false,
      // Content is not looked at.
      unplayed: ['retired-model', 'moderation', 'late-moderation', 'lost-silently'],
      unknownState: {
        body: {
          ResponseMetadata: {},
          Result: { Data: { MediaInfoList: [{ JobId: '1', State: 'a_new_word' }] } },
        },
      },
    },
    {
      ...shared,
      kind: 'AVATAR',
      operation: 'train',
      request: async (world) => ({ kind: 'AVATAR', videoId: await uploadedVideo(world), name: 'Ada' }),
      fields: { req_key: 'realman_avatar_training_task_streaming', vid: expect.stringMatching(/^v0/) },
      // The video's upload.
      handsOver: 1,
    },
    {
      ...shared,
      ...film,
      kind: 'AVATAR_VIDEO',
      operation: 'talk',
      request: (world) => ({
        kind: 'AVATAR_VIDEO',
        digitalId: TRIAL_AVATAR,
        audio: at(world, 'speech'),
        resolution: undefined,
      }),
      fields: { req_key: 'realman_avatar_creation_task', resource_id: TRIAL_AVATAR, audio_url: FILE },
    },
  ],
  short: [],
};

/** What the contract suite tries. */
export const rows: readonly ContractRow[] = [volcengine];
