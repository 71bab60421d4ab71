import { badInput } from '../../platform/errors.ts';
import { CreateAvatar, GenerateAvatarVideo, UploadAvatarSource } from '../documents/media/people.ts';
import { submitted } from '../replies/task.ts';
import { file, form, query } from '../route/params.ts';
import { route, type Section } from '../route/route.ts';
import { inputNeeded, inputOf, optional, optionalMultipart, urlencoded } from './shared/inputs.ts';
import { statusRoute } from './shared/status.ts';

const oneVideo = ['video_url', 'video_file'] as const;
const oneSound = ['audio_file', 'audio_url', 'text'] as const;

/** Avatar cloud generator: a video of somebody becomes an avatar that speaks. */
export const digital: Section = {
  service: 'media',
  title: 'Avatar cloud generator',
  routes: [
    route(UploadAvatarSource)({
      method: 'POST',
      path: '/api/cloud/digital/url2vid',
      params: { video_url: form.url(optional), video_file: file({ optional: true, accepts: ['video/mp4'] }) },
      body: { ...optionalMultipart, atMostOneOf: [oneVideo] },
      rateClass: 'start',
      variables: ({ video_file, video_url }) => ({ source: inputNeeded(oneVideo, video_file, video_url) }),
      answers: 'Submission',
      reply: ({ uploadAvatarSource }) => submitted(uploadAvatarSource),
    }),
    route(CreateAvatar)({
      method: 'POST',
      path: '/api/cloud/digital/create',
      params: { video_id: form.text(), name: form.text(optional) },
      body: urlencoded,
      rateClass: 'start',
      variables: ({ video_id, name }) => ({ input: { videoId: video_id, name } }),
      answers: 'Submission',
      reply: ({ createAvatar }) => submitted(createAvatar),
    }),
    route(GenerateAvatarVideo)({
      method: 'POST',
      path: '/api/cloud/digital/video/submit/task',
      params: {
        digital_id: form.text(optional),
        audio_file: file(optional),
        audio_url: form.url(optional),
        text: form.text(optional),
        voice_id: form.text(optional),
        resolution: form.text(optional),
      },
      body: { ...optionalMultipart, atMostOneOf: [oneSound] },
      rateClass: 'start',
      variables: ({ digital_id, audio_file, audio_url, voice_id, ...fields }) => {
        if (digital_id === undefined) throw badInput('digital_id', 'digital_id: send the id of an avatar');
        const audio = inputOf(audio_file, audio_url);
        if (audio === undefined && fields.text === undefined) {
          throw badInput('audio_file', `${oneSound.join(' or ')}: nothing was sent, send one of them`);
        }
        return { input: { ...fields, digitalId: digital_id, audio, voiceId: voice_id } };
      },
      answers: 'Submission',
      reply: ({ generateAvatarVideo }) => submitted(generateAvatarVideo),
    }),
    statusRoute({
      path: '/api/cloud/digital/task/status',
      group: { generators: ['cloud/digital'], kinds: ['AVATAR_SOURCE', 'AVATAR', 'AVATAR_VIDEO'] },
      hint: {
        task_type: query.choice(['upload', 'create_digital', 'video_generate'], {
          fallback: 'video_generate',
        }),
      },
    }),
  ],
};
