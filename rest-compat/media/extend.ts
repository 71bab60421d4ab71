import { Models } from '../documents/media/questions.ts';
import { CreateCharacter, GenerateCharacterImage, GenerateFrameVideo } from '../documents/media/start.ts';
import { route } from '../route/define-route.ts';
import { form } from '../route/params.ts';
import type { Section } from '../route/route.ts';
import { extension, optional, urlencoded, vendorOptions } from './shared/inputs.ts';
import { modelsReply } from './shared/questions.ts';
import { submission } from './shared/start-operations.ts';
import { statusRoute } from './shared/status.ts';

const characters = 'custom/charv';
const frames = 'custom/frame';

/** What the forms of this section call inputs that others have under other names. */
const fieldNames = {
  image: ['first_img_url'],
  firstFrame: ['first_img_url'],
  lastFrame: ['last_img_url'],
  images: ['img_urls'],
  // Videos between two frames take no others.
  references: [],
};

/** Special-model group: characters and their images, and videos between two frames. */
export const extend: Section = {
  service: 'media',
  title: 'Special-model group',
  routes: [
    route(Models)({
      method: 'GET',
      path: '/api/custom/extend/model/list',
      variables: () => ({}),
      responseSchema: 'Models',
      reply: ({ models }) =>
        modelsReply(
          models.filter(({ generator }) => [characters, frames].includes(generator)),
          fieldNames,
        ),
    }),
    submission(CreateCharacter)({
      path: '/api/custom/extend/charv/create/character',
      params: { name: form.text(), img_urls: form.urls(), ...vendorOptions },
      body: urlencoded,
      variables: ({ name, img_urls, options }) => ({
        input: { name, images: img_urls.map((url) => ({ url })), options },
      }),
    }),
    statusRoute({
      method: 'POST',
      path: '/api/custom/extend/charv/character/status',
      group: { generators: [characters], kinds: ['CHARACTER'] },
    }),
    submission(GenerateCharacterImage)({
      path: '/api/custom/extend/charv/submit/task',
      params: {
        prompt: form.text(),
        character_id: form.text(optional),
        ar: form.text(optional),
        resolution: form.text(optional),
        n: form.integer(optional),
        seed: form.integer(optional),
        model: form.text(optional),
        ...vendorOptions,
      },
      body: urlencoded,
      variables: ({ character_id, ar, n, ...fields }) => ({
        input: { ...fields, characterId: character_id, aspectRatio: ar, count: n },
      }),
    }),
    statusRoute({
      path: '/api/custom/extend/charv/task/status',
      group: { generators: [characters], kinds: ['CHARACTER_IMAGE'] },
    }),
    submission(GenerateFrameVideo)({
      path: '/api/custom/extend/frame/submit/task',
      params: {
        first_img_url: form.url(),
        last_img_url: form.url(),
        prompt: form.text(optional),
        negative_prompt: form.text(optional),
        model: form.text(optional),
        duration: form.integer(optional),
        resolution: form.text(optional),
        ar: form.text(optional),
        seed: form.integer(optional),
        generate_audio: form.boolean(extension),
        ...vendorOptions,
      },
      body: urlencoded,
      variables: ({ first_img_url, last_img_url, ar, negative_prompt, generate_audio, ...fields }) => ({
        input: {
          generator: frames,
          ...fields,
          firstFrame: { url: first_img_url },
          lastFrame: { url: last_img_url },
          aspectRatio: ar,
          negativePrompt: negative_prompt,
          generateAudio: generate_audio,
        },
      }),
    }),
    statusRoute({
      path: '/api/custom/extend/frame/task/status',
      group: { generators: [frames], kinds: ['FRAME_VIDEO'] },
    }),
  ],
};
