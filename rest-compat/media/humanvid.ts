import { DetectPerson, GenerateHumanVideo } from '../documents/media/people.ts';
import type { MediaInput } from '../documents/media/start.ts';
import { submitted } from '../replies/task.ts';
import { form, linkOrFile, query, type UploadedFile } from '../route/params.ts';
import { route, type Section } from '../route/route.ts';
import { inputNeeded, optional, optionalMultipart, pictureFields } from './shared/inputs.ts';
import { statusRoute } from './shared/status.ts';
import { onePicture } from './shared/video-operations.ts';

/** Human-video cloud generator: whether somebody is in a picture, and what they say. */
export const humanVideo: Section = {
  service: 'media',
  title: 'Human-video cloud generator',
  routes: [
    route(DetectPerson)({
      method: 'POST',
      path: '/api/cloud/humanvid/img/recognition',
      params: pictureFields,
      body: { ...optionalMultipart, atMostOneOf: [onePicture] },
      rateClass: 'start',
      variables: ({ img_file, img_url }) => ({ image: inputNeeded(onePicture, img_file, img_url) }),
      answers: 'Submission',
      reply: ({ detectPerson }) => submitted(detectPerson),
    }),
    route(GenerateHumanVideo)({
      method: 'POST',
      path: '/api/cloud/humanvid/video/submit/task',
      params: {
        img_input: linkOrFile(optional),
        audio_input: linkOrFile(optional),
        prompt: form.text(optional),
        resolution: form.text(optional),
      },
      body: optionalMultipart,
      rateClass: 'start',
      variables: ({ img_input, audio_input, ...fields }) => ({
        input: {
          ...fields,
          image: linkOrFileInput('img_input', img_input),
          audio: linkOrFileInput('audio_input', audio_input),
        },
      }),
      answers: 'Submission',
      reply: ({ generateHumanVideo }) => submitted(generateHumanVideo),
    }),
    statusRoute({
      path: '/api/cloud/humanvid/task/status',
      group: { generators: ['cloud/humanvid'], kinds: ['PERSON_DETECTION', 'HUMAN_VIDEO'] },
      hint: {
        task_type: query.text({ fallback: 'face_detect', known: ['face_detect', 'video_generate'] }),
      },
    }),
  ],
};

function linkOrFileInput(name: string, sent: UploadedFile | string | undefined): MediaInput {
  return typeof sent === 'string'
    ? inputNeeded([name], undefined, sent)
    : inputNeeded([name], sent, undefined);
}
