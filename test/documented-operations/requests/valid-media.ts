import { expect } from 'vitest';

import type { LiveServer } from './live-server.ts';
import type { ValidRequest } from './valid-requests.ts';

/** What the sound requests of the media service have beyond what is needed of every one, and what they answer. */

const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/);
const told = { status: true, msg: expect.stringMatching(/\w/) };

/** Who made a result. */
const producer = { provider: expect.any(String), model: expect.any(String) };
const submission = { ...told, data: uuid };
const health = {
  ...told,
  data: {
    service: 'media',
    version: expect.any(String),
    time: expect.any(String),
    checks: expect.objectContaining({ database: 'ok' }),
  },
};
const models = (category: unknown) => ({
  ...told,
  data: expect.arrayContaining([expect.objectContaining({ id: expect.any(String), category })]),
});
const file = (type: string) => ({
  data: expect.stringContaining('/files/'),
  extra: {
    key: expect.any(String),
    content_type: type,
    bytes: expect.any(Number),
    sha256: expect.any(String),
  },
});
/** A finished task with media of this kind. */
const finished = (kind: string) => {
  const address = expect.stringContaining('/files/');
  const media = {
    url: address,
    content_type: expect.stringMatching(new RegExp(`^${kind}/`)),
    bytes: expect.any(Number),
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  };
  const urls = expect.arrayContaining([address]);
  return {
    ...told,
    data: { task_id: uuid, ...producer, url: address, urls, media: [expect.objectContaining(media)] },
  };
};
const described = {
  ...told,
  data: {
    task_id: uuid,
    ...producer,
    prompt: expect.any(String),
    prompts: expect.arrayContaining([expect.any(String)]),
  },
};
const languageFacts = {
  model: expect.any(String),
  provider: expect.any(String),
  usage: { input_tokens: expect.any(Number), output_tokens: expect.any(Number) },
};
const analysed = { data: expect.stringMatching(/\w/), extra: { task_id: uuid, ...languageFacts } };
const said = { ...told, data: expect.stringMatching(/\w/), extra: languageFacts };

/** Where a task is: one that was submitted by another operation, running or finished; a finished one may answer otherwise. */
function makeStatus(
  submittedBy: string,
  more: Readonly<Record<string, string>> = {},
  finishedAs: object = {},
): ValidRequest {
  const facts = { data: expect.objectContaining({ task_id: uuid }), msg: expect.any(String) };
  return {
    with: async (world) => ({ task_id: (await world.once(submittedBy)).body.data as string, ...more }),
    answer: expect.toBeOneOf([
      { ...facts, status: 'queued' },
      { ...facts, status: 'running' },
      { ...facts, status: true, ...finishedAs },
    ]),
  };
}

const image = async ({ links }: LiveServer) => ({ img_url: await links.image() });
const template = {
  ...told,
  data: expect.objectContaining({ id: expect.any(Number), task_type: expect.any(String), presetPrompts: '' }),
};
const newTaskType = async () => ({ task_type: `made-${Math.random()}` });
/** A living template that nobody needs, by its id under this name. */
const newTemplate = (name: string) => async (world: LiveServer) => ({ [name]: await world.newTemplate() });
const changed = async (world: LiveServer) => ({ id: await world.newTemplate(), ...(await newTaskType()) });

const root: Readonly<Record<string, ValidRequest>> = {
  'GET /': {
    answer: {
      ...told,
      data: {
        name: 'Kiln',
        version: expect.any(String),
        docs: expect.stringContaining('/docs'),
        graphql: expect.stringContaining('/graphql'),
      },
    },
  },
  'POST /api/file/upload': { answer: { ...told, ...file('image/png') } },
  'POST /api/file/upload/s3': { answer: { ...told, ...file('image/png') } },
  'GET /api/file/health': { answer: health },
  'GET /api/template/default': {
    answer: {
      status: true,
      data: expect.any(Array),
      page: 1,
      page_size: 100,
      total: expect.any(Number),
      total_pages: 1,
    },
  },
  'GET /api/template/check/task_type': {
    with: async () => ({ task_type: 'nobody-has-this' }),
    answer: { ...told, data: { task_type: 'nobody-has-this', available: true } },
  },
  'POST /api/template/create': { with: newTaskType, answer: template },
  'PUT /api/template/update': { with: changed, answer: template },
  'DELETE /api/template/delete/{template_id}': {
    with: newTemplate('template_id'),
    answer: { ...told, data: { id: expect.any(Number), deleted: true } },
  },
  'POST /api/task/create/task': { answer: submission },
  'POST /api/task/create/task/v2': { answer: submission },
  'GET /api/task/status/{task_id}': makeStatus('POST /api/task/create/task'),
  'GET /api/task/health': { answer: health },
};

const videos: Readonly<Record<string, ValidRequest>> = {
  'POST /api/vidb/generate-video': { answer: submission },
  'POST /api/vidb/sync/generate/video': { answer: finished('video') },
  'POST /api/vidb/async/generate/video': { answer: submission },
  'GET /api/vidb/async/query/status': makeStatus('POST /api/vidb/async/generate/video'),
  'GET /api/vidb/health': { answer: health },
  'POST /api/agg/vidb/sync/generate/video': { answer: finished('video') },
  'POST /api/agg/vidb/async/generate/video': { answer: submission },
  'GET /api/agg/vidb/async/query/status': makeStatus('POST /api/agg/vidb/async/generate/video'),
  'POST /api/agg/imga/video/async/submit': { answer: submission },
  'POST /api/agg/imga/video/async/task/status': makeStatus('POST /api/agg/imga/video/async/submit'),
  'POST /api/agg/imga/video/sync/generate/video': { answer: finished('video') },
  'POST /api/agg/vidc/video/async/submit': { answer: submission },
  'POST /api/agg/vidc/video/sync/generate/video': { answer: finished('video') },
  'GET /api/agg/vidc/video/task/{task_id}': makeStatus('POST /api/agg/vidc/video/async/submit'),
  'GET /api/union/video/model/list': { answer: models('video') },
  'POST /api/union/video/async/generate/video': { answer: submission },
  'GET /api/union/video/async/{task_id}/status': makeStatus('POST /api/union/video/async/generate/video'),
  'POST /api/custom/video/submit/task': { answer: submission },
  'POST /api/custom/extend/frame/submit/task': { answer: submission },
  'GET /api/custom/extend/frame/task/status': makeStatus('POST /api/custom/extend/frame/submit/task'),
  'POST /api/imga/video/async/submit': { with: image, answer: submission },
  'POST /api/imga/video/async/task/status': makeStatus('POST /api/imga/video/async/submit'),
  'POST /api/imga/video/sync/gen': { with: image, answer: finished('video') },
  'GET /api/imga/video/health': { answer: health },
};

const images: Readonly<Record<string, ValidRequest>> = {
  'POST /api/agg/imga/async/generate/image': { answer: submission },
  'POST /api/agg/imga/task/cancel': {
    with: async (world) => ({
      task_id: (await world.fresh('POST /api/agg/imga/async/generate/image')).body.data,
    }),
    answer: {
      ...told,
      data: {
        task_id: uuid,
        outcome: expect.toSatisfy((word) => ['cancelled', 'canceling', 'too_late'].includes(word)),
      },
    },
  },
  'GET /api/agg/imga/async/query/status': makeStatus('POST /api/agg/imga/async/generate/image'),
  'POST /api/agg/imga/sync/img/describe': { answer: described },
  'POST /api/agg/imga/sync/file/img/describe': { answer: described },
  'POST /api/agg/imga/sync/image': { answer: finished('image') },
  'GET /api/union/img/model/list': { answer: models('image') },
  'POST /api/union/img/sync/generate/image': { answer: finished('image') },
  'GET /api/custom/model/list': { answer: models('image') },
  'POST /api/custom/image/submit/task': { answer: submission },
  'GET /api/custom/task/status': makeStatus('POST /api/custom/image/submit/task'),
  'GET /api/custom/extend/model/list': { answer: models(expect.any(String)) },
  'POST /api/custom/extend/charv/create/character': { answer: submission },
  'POST /api/custom/extend/charv/character/status': makeStatus(
    'POST /api/custom/extend/charv/create/character',
  ),
  'POST /api/custom/extend/charv/submit/task': { answer: submission },
  'GET /api/custom/extend/charv/task/status': makeStatus('POST /api/custom/extend/charv/submit/task'),
  'GET /api/imga/prompt/check': { answer: { ...told, data: { allowed: true, reasons: [] } } },
  'POST /api/imga/sync/image': { answer: finished('image') },
  'POST /api/imga/generate-image': { answer: submission },
  'POST /api/imga/sync/img/describe': { answer: described },
  'POST /api/imga/sync/file/img/describe': { answer: described },
  'GET /api/imga/health': { answer: health },
  'POST /api/imga/async/generate/image': { answer: submission },
  'GET /api/imga/async/query/status': makeStatus('POST /api/imga/async/generate/image'),
};

const resource = { ...told, data: expect.stringMatching(/\w/), extra: expect.any(Object) };
/** Long enough to be a sample of a voice. */
const speech = 'This is a sample of a voice, and it goes on for as long as anybody could wish for. '.repeat(
  3,
);

const people: Readonly<Record<string, ValidRequest>> = {
  'POST /api/agg/lipsync/v3/file/upload': { answer: resource },
  'POST /api/agg/lipsync/v3/submit/task': { answer: submission },
  'GET /api/agg/lipsync/v3/task/status': makeStatus('POST /api/agg/lipsync/v3/submit/task'),
  'POST /api/agg/lipsync/v2/submit/task': { answer: submission },
  'GET /api/agg/lipsync/v2/task/status': makeStatus('POST /api/agg/lipsync/v2/submit/task'),
  'POST /api/agg/lipsync/v2/upload': { answer: resource },
  'POST /api/agg/speech_router/sync/generate/speech': {
    with: async () => ({ text: speech, format: 'wav' }),
    answer: finished('audio'),
  },
  'GET /api/agg/speech_router/sync/get/voices': {
    answer: {
      ...told,
      data: expect.any(Array),
      extra: { voices: expect.any(Array), provider: expect.any(Object) },
    },
  },
  'POST /api/agg/speech_router/sync/file/upload': {
    with: async ({ files }) => ({ file: await files.recording() }),
    answer: resource,
  },
  'POST /api/agg/speech_router/sync/voice/clone': {
    with: async ({ files }) => ({
      voice_id: `KilnVoice${String(Math.random()).slice(2)}`,
      file: await files.recording(),
    }),
    answer: { ...told, data: { ...producer, voice_id: expect.stringMatching(/^KilnVoice/), demo_url: null } },
  },
  'POST /api/cloud/humanvid/img/recognition': { with: image, answer: submission },
  'POST /api/cloud/humanvid/video/submit/task': {
    with: async ({ links }) => ({ img_input: await links.image(), audio_input: await links.recording() }),
    answer: submission,
  },
  'GET /api/cloud/humanvid/task/status': makeStatus('POST /api/cloud/humanvid/img/recognition'),
  'POST /api/cloud/digital/url2vid': {
    with: async ({ links }) => ({ video_url: await links.video() }),
    answer: submission,
  },
  'POST /api/cloud/digital/create': { answer: submission },
  'POST /api/cloud/digital/video/submit/task': {
    with: async (world) => ({
      digital_id: (await world.ended('POST /api/cloud/digital/create'))['digital_id'],
      audio_url: await world.links.recording(),
    }),
    answer: submission,
  },
  'GET /api/cloud/digital/task/status': makeStatus('POST /api/cloud/digital/url2vid', {
    task_type: 'upload',
  }),
};

/** A graph by its name. */
const named = async () => ({
  workflow: undefined,
  workflow_name: 'text-to-image',
  inputs: '{"prompt":"a boat"}',
});

const others: Readonly<Record<string, ValidRequest>> = {
  'GET /api/comfy/fetch/running/node': {
    answer: {
      ...told,
      data: {
        node: expect.any(String),
        queue_running: expect.any(Number),
        queue_pending: expect.any(Number),
        capacity: expect.any(Number),
      },
    },
  },
  'POST /api/comfy/async/submit/task': { with: named, answer: submission },
  'GET /api/comfy/async/task/status': makeStatus('POST /api/comfy/async/submit/task'),
  'POST /api/comfy/sync/execute/workflow': { with: named, answer: finished('image') },
  'GET /api/llm/model/list': { answer: models('language') },
  'POST /api/llm/chat': { answer: said },
  'POST /api/llm/altllm/chat': { answer: said },
  'POST /api/llm/altllm/sync/media/analysis': { answer: { ...told, ...analysed } },
  'POST /api/llm/altllm/async/media/analysis': { answer: submission },
  'POST /api/llm/altllm/cloudstore/upload': { answer: resource },
  'GET /api/llm/task/status': makeStatus('POST /api/llm/altllm/async/media/analysis', {}, analysed),
  'GET /api/prompt/default': { answer: { ...told, data: { task_type: 'tea', prompt: expect.any(String) } } },
  'GET /api/prompt/health': { answer: health },
};

/** By method and path. */
export const validMedia: Readonly<Record<string, ValidRequest>> = {
  ...root,
  ...videos,
  ...images,
  ...people,
  ...others,
};
