import { Readable } from 'node:stream';

import { badInput } from '../../../platform/errors.ts';
import type { JsonObject } from '../../../platform/json.ts';
import { UploadFile } from '../../../rest-compat/documents/media/file.ts';
import { CancelTask, TaskEvents } from '../../../rest-compat/documents/media/task.ts';
import { FaceModelByName, FaceModels } from '../documents/models.ts';
import { type FaceTask, FaceTaskById } from '../documents/task.ts';
import { FaceTranscription } from '../documents/transcription.ts';
import { textIn, wordIn } from '../request/fields.ts';
import { contentOf, readBody } from '../request/media.ts';
import type { FaceAnswer, FaceRoute } from '../table/route.ts';
import { finished, startTask } from '../tasks/follow.ts';
import { joiningOf } from '../tasks/joining.ts';

/** Recordings put into words by a model that listens: it is asked for nothing but them. */
export const transcriptionRoutes: readonly FaceRoute[] = [
  {
    method: 'POST',
    path: '/audio/transcriptions',
    summary: 'Puts a recording into words.',
    rateClass: 'start',
    documents: [
      FaceModels,
      FaceModelByName,
      FaceTranscription,
      UploadFile,
      TaskEvents,
      FaceTaskById,
      CancelTask,
    ],
    async run(call) {
      const { body, files } = await readBody(call);
      const [sound] = files.get('file') ?? [];
      if (sound === undefined) throw badInput('file', "Missing required parameter: 'file'.");
      const format = wordIn(body, 'response_format', ['json', 'text', 'verbose_json'] as const) ?? 'json';
      const model = await call.models.find('ANALYSIS', textIn(body, 'model'), call.context);
      const content = contentOf('transcription', body, {
        model: `${model.generator}:${model.model}`,
        files: [sound],
      });
      const task = await startTask(call, FaceTranscription, {
        input: {
          generator: model.generator,
          model: model.model,
          media: sound.media,
          prompt: promptOf(body),
        },
        ...joiningOf(call, content),
      });
      return wordsAnswer(await finished(call, task, false), format, textIn(body, 'language'));
    },
  },
];

function promptOf(body: JsonObject): string {
  const language = textIn(body, 'language');
  const hint = textIn(body, 'prompt');
  return [
    'Write down word for word what is said in this recording. Answer with these words alone.',
    ...(language === undefined ? [] : [`It is in the language ${language}.`]),
    ...(hint === undefined ? [] : [`What was said before, or how words are spelled: ${hint}`]),
  ].join('\n');
}

/** Nobody here measures times: `verbose_json`, which LiteLLM asks for whatever its caller wants, has neither segments nor a duration. */
function wordsAnswer(
  task: FaceTask,
  format: 'json' | 'text' | 'verbose_json',
  language: string | undefined,
): FaceAnswer {
  const { id, state, text } = task;
  if (state !== 'SUCCEEDED')
    return { status: 202, body: { id, object: 'audio.transcription', status: 'in_progress' } };
  if (format === 'json') return { body: { text: text ?? '' } };
  if (format === 'verbose_json') {
    return { body: { task: 'transcribe', ...(language !== undefined && { language }), text: text ?? '' } };
  }
  return { contentType: 'text/plain; charset=utf-8', stream: Readable.from([text ?? '']) };
}
