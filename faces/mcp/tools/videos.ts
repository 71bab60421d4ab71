import { z } from 'zod';

import { LipSync, GenerateVideo, type VideoInput } from '../../../rest-compat/documents/media/start.ts';
import { runDocument } from '../../../rest-compat/replies/results.ts';
import { startOnce } from '../work/tasks.ts';
import { FILE_TEXT, file, mediaInput, modelArgument, options, spending, factArgument } from './arguments.ts';
import { SPENDS, type Tool, tool } from './tool.ts';

/** Videos, and faces that speak. */

const toFile = (name: string, text: string | undefined) =>
  text === undefined ? undefined : mediaInput(name, text);

/** The tools. */
export const videoTools: readonly Tool[] = [
  tool({
    name: 'generate_video',
    title: 'Make a video',
    description:
      'Makes a video from a text, or sets an image in motion. Takes minutes and spends money: say max_cost, or ask estimate_cost first. Answers a link.',
    rateClass: 'start',
    annotations: SPENDS,
    arguments: (catalog) => ({
      prompt: z.string().optional().describe('What to show; needed when there is no image.'),
      image: file.optional().describe(`The first frame: ${FILE_TEXT}.`),
      last_image: file.optional().describe('The last frame, where the model takes one.'),
      model: modelArgument(catalog, 'VIDEO'),
      duration: z.number().positive().optional().describe('Seconds, of those the model takes.'),
      aspect_ratio: factArgument(catalog.of('VIDEO'), 'aspectRatios', 'Shape, of those the model takes.'),
      resolution: factArgument(catalog.of('VIDEO'), 'sizes', 'Size, of those the model takes.'),
      sound: z.boolean().optional().describe('Whether it has sound, where the model leaves that open.'),
      seed: z.int32().optional(),
      options,
      ...spending,
    }),
    async run(video, scope) {
      const { generator, model } = scope.catalog.find('VIDEO', video.model);
      const { prompt, duration, resolution, seed } = video;
      const input = {
        generator,
        model,
        prompt,
        image: toFile('image', video.image),
        lastFrame: toFile('last_image', video.last_image),
        duration,
        resolution,
        aspectRatio: video.aspect_ratio,
        generateAudio: video.sound,
        seed,
        options: video.options as VideoInput['options'],
      };
      const task = await startOnce(scope, {
        call: ['video', input, video.variation],
        maxCost: video.max_cost,
        estimate: {
          kind: 'VIDEO',
          generator,
          model,
          duration,
          resolution,
          text: prompt,
          generateAudio: video.sound,
          options: input.options,
          hasImage: video.image !== undefined,
        },
        start: async (idempotencyKey) =>
          (await runDocument(scope, GenerateVideo, { input, idempotencyKey })).generateVideo.id,
      });
      return { task };
    },
  }),
  tool({
    name: 'lip_sync',
    title: 'Let a face speak',
    description:
      'Moves a face in an image or a video with speech: a recording, or a text that is spoken. Takes minutes and spends money. Answers a link.',
    rateClass: 'start',
    annotations: SPENDS,
    arguments: (catalog) => ({
      image: file.optional().describe(`An image of the face, or video: ${FILE_TEXT}.`),
      video: file.optional().describe('A video of the face, instead of image.'),
      audio: file.optional().describe('The recording; one of audio and text.'),
      text: z.string().optional().describe('What is spoken; one of audio and text.'),
      voice: z
        .string()
        .optional()
        .describe("Who speaks the text; the provider's own voice unless said otherwise."),
      prompt: z.string().optional().describe('How the face moves.'),
      model: modelArgument(catalog, 'LIP_SYNC'),
      aspect_ratio: factArgument(catalog.of('LIP_SYNC'), 'aspectRatios', 'Shape, of those the model takes.'),
      resolution: factArgument(catalog.of('LIP_SYNC'), 'sizes', 'Size, of those the model takes.'),
      ...spending,
    }),
    async run(face, scope) {
      const { generator, model } = scope.catalog.find('LIP_SYNC', face.model);
      const { text, prompt, resolution } = face;
      const input = {
        generator,
        model,
        image: toFile('image', face.image),
        video: toFile('video', face.video),
        audio: toFile('audio', face.audio),
        text,
        voiceId: face.voice,
        prompt,
        aspectRatio: face.aspect_ratio,
        resolution,
      };
      const task = await startOnce(scope, {
        call: ['lip-sync', input, face.variation],
        maxCost: face.max_cost,
        estimate: { kind: 'LIP_SYNC', generator, model, text, resolution },
        start: async (idempotencyKey) =>
          (await runDocument(scope, LipSync, { input, idempotencyKey })).lipSync.id,
      });
      return { task };
    },
  }),
];
