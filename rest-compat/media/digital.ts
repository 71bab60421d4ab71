import { badInput } from '../../platform/errors.ts';
import { CreateAvatar, GenerateAvatarVideo, UploadAvatarSource } from '../documents/media/start.ts';
import { file, form, query } from '../route/params.ts';
import type { Section } from '../route/route.ts';
import {
  toMediaInput,
  optional,
  optionalMultipart,
  requiredInput,
  urlencoded,
  vendorOptions,
} from './shared/inputs.ts';
import { submission } from './shared/start-operations.ts';
import { statusRoute } from './shared/status.ts';

const oneVideo = ['video_url', 'video_file'] as const;
const oneSound = ['audio_file', 'audio_url', 'text'] as const;

/** Avatar cloud generator: a video of somebody becomes an avatar that speaks. */
export const digital: Section = {
  service: 'media',
  title: 'Avatar cloud generator',
  routes: [
    submission(UploadAvatarSource)({
      path: '/api/cloud/digital/url2vid',
      params: { video_url: form.url(optional), video_file: file({ optional: true, accepts: ['video/mp4'] }) },
      body: { ...optionalMultipart, atMostOneOf: [oneVideo] },
      variables: ({ video_file, video_url }) => ({ source: requiredInput(oneVideo, video_file, video_url) }),
    }),
    submission(CreateAvatar)({
      path: '/api/cloud/digital/create',
      params: { video_id: form.text(), name: form.text(optional), ...vendorOptions },
      body: urlencoded,
      variables: ({ video_id, ...fields }) => ({ input: { videoId: video_id, ...fields } }),
    }),
    submission(GenerateAvatarVideo)({
      path: '/api/cloud/digital/video/submit/task',
      params: {
        digital_id: form.text(optional),
        audio_file: file(optional),
        audio_url: form.url(optional),
        text: form.text(optional),
        voice_id: form.text(optional),
        resolution: form.text(optional),
        ...vendorOptions,
      },
      body: { ...optionalMultipart, atMostOneOf: [oneSound] },
      variables: ({ digital_id, audio_file, audio_url, voice_id, ...fields }) => {
        if (digital_id === undefined) throw badInput('digital_id', 'digital_id: send the id of an avatar');
        const audio = toMediaInput(audio_file, audio_url);
        if (audio === undefined && fields.text === undefined) {
          throw badInput('audio_file', `${oneSound.join(' or ')}: nothing was sent, send one of them`);
        }
        return { input: { ...fields, digitalId: digital_id, audio, voiceId: voice_id } };
      },
    }),
    statusRoute({
      path: '/api/cloud/digital/task/status',
      group: { generators: ['cloud/digital'], kinds: ['AVATAR_SOURCE', 'AVATAR', 'AVATAR_VIDEO'] },
      hints: {
        task_type: query.choice(['upload', 'create_digital', 'video_generate'], {
          fallback: 'video_generate',
        }),
      },
    }),
  ],
};
