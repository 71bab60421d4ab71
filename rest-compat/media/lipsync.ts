import { LipSync, type MediaInput } from '../documents/media/start.ts';
import { localRoute } from '../route/define-route.ts';
import { file, form } from '../route/params.ts';
import type { Route, Section } from '../route/route.ts';
import { toMediaInput, multipart, optional, resourceReply, vendorOptions } from './shared/inputs.ts';
import { submission } from './shared/start-operations.ts';
import { statusRoute, type TaskGroup } from './shared/status.ts';

/** Lip-sync, current and deprecated: the same generator under two sets of paths. */

const generator = 'agg/lipsync';
const group: TaskGroup = { generators: [generator], kinds: ['LIP_SYNC'] };

interface Version {
  readonly path: string;
  readonly deprecated?: true;
}

/** Starts the video, and replies the task's id. */
function submit(version: Version): Route {
  return submission(LipSync)({
    ...version,
    params: {
      img_id: form.text(optional),
      img_file: file(optional),
      img_url: form.url(optional),
      audio_id: form.text(optional),
      audio_file: file(optional),
      audio_url: form.url(optional),
      text: form.text(optional),
      voice_id: form.text(optional),
      prompt: form.text(optional),
      ar: form.text(optional),
      resolution: form.text(optional),
      ...vendorOptions,
    },
    body: {
      ...multipart,
      oneOf: [
        ['img_id', 'img_file', 'img_url'],
        ['audio_id', 'audio_file', 'audio_url', 'text'],
      ],
    },
    variables: ({ text, voice_id, prompt, ar, resolution, options, ...files }) => ({
      input: {
        generator,
        image: toResourceInput(files.img_id) ?? toMediaInput(files.img_file, files.img_url),
        audio: toResourceInput(files.audio_id) ?? toMediaInput(files.audio_file, files.audio_url),
        text,
        // A recording brings its own voice.
        voiceId: text === undefined ? undefined : voice_id,
        prompt,
        aspectRatio: ar,
        resolution,
        options,
      },
    }),
  });
}

/** What an upload of this section replied. */
function toResourceInput(id: string | undefined): MediaInput | undefined {
  return id === undefined ? undefined : { fileId: id };
}

/** Sends a file to the provider, and replies the id that a submission takes. */
function upload({ accepts, ...version }: Version & { readonly accepts?: readonly string[] }): Route {
  return localRoute({
    ...version,
    method: 'POST',
    params: {
      file: file({
        destination: { to: 'lip-sync', generator },
        ...(accepts === undefined ? {} : { accepts }),
      }),
    },
    body: multipart,
    rule: 'anyone',
    responseSchema: 'StoredResource',
    reply: (_, { input }) => resourceReply(input.file, 'resource stored'),
  });
}

/** Lip-sync generator (current). */
export const lipSync: Section = {
  service: 'media',
  title: 'Lip-sync generator (current)',
  routes: [
    upload({ path: '/api/agg/lipsync/v3/file/upload' }),
    submit({ path: '/api/agg/lipsync/v3/submit/task' }),
    statusRoute({ path: '/api/agg/lipsync/v3/task/status', group }),
  ],
};

const deprecated = true;

/** Lip-sync generator (deprecated). */
export const lipSyncOld: Section = {
  service: 'media',
  title: 'Lip-sync generator (deprecated)',
  routes: [
    submit({ path: '/api/agg/lipsync/v2/submit/task', deprecated }),
    statusRoute({ path: '/api/agg/lipsync/v2/task/status', group, deprecated }),
    upload({ path: '/api/agg/lipsync/v2/upload', deprecated, accepts: ['image/*', 'audio/*'] }),
  ],
};
