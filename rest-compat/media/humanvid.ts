import { DetectPerson, GenerateHumanVideo, type MediaInput } from '../documents/media/start.ts';
import type { UploadedFile } from '../route/param.ts';
import { form, linkOrFile, query } from '../route/params.ts';
import type { Section } from '../route/route.ts';
import {
  oneImage,
  optional,
  optionalMultipart,
  imageInputFields,
  requiredInput,
  vendorOptions,
} from './shared/inputs.ts';
import { submission } from './shared/start-operations.ts';
import { statusRoute } from './shared/status.ts';

/** Human-video cloud generator: whether somebody is in an image, and what they say. */
export const humanVideo: Section = {
  service: 'media',
  title: 'Human-video cloud generator',
  routes: [
    submission(DetectPerson)({
      path: '/api/cloud/humanvid/img/recognition',
      params: imageInputFields,
      body: { ...optionalMultipart, atMostOneOf: [oneImage] },
      variables: ({ img_file, img_url }) => ({ image: requiredInput(oneImage, img_file, img_url) }),
    }),
    submission(GenerateHumanVideo)({
      path: '/api/cloud/humanvid/video/submit/task',
      params: {
        img_input: linkOrFile(optional),
        audio_input: linkOrFile(optional),
        prompt: form.text(optional),
        resolution: form.text(optional),
        ...vendorOptions,
      },
      body: optionalMultipart,
      variables: ({ img_input, audio_input, ...fields }) => ({
        input: {
          ...fields,
          image: linkOrFileInput('img_input', img_input),
          audio: linkOrFileInput('audio_input', audio_input),
        },
      }),
    }),
    statusRoute({
      path: '/api/cloud/humanvid/task/status',
      group: { generators: ['cloud/humanvid'], kinds: ['PERSON_DETECTION', 'HUMAN_VIDEO'] },
      hints: {
        task_type: query.text({ fallback: 'face_detect', known: ['face_detect', 'video_generate'] }),
      },
    }),
  ],
};

function linkOrFileInput(name: string, sent: UploadedFile | string | undefined): MediaInput {
  return typeof sent === 'string'
    ? requiredInput([name], undefined, sent)
    : requiredInput([name], sent, undefined);
}
