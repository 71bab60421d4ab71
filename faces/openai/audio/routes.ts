import { Readable } from 'node:stream';

import { AppError, badInput } from '../../../platform/errors.ts';
import type { StreamPermit } from '../../../platform/graphql/operations/executor.ts';
import type { Json, JsonObject } from '../../../platform/json.ts';
import { UploadFile } from '../../../rest-compat/documents/media/file.ts';
import { Voices, type VoiceFields } from '../../../rest-compat/documents/media/questions.ts';
import { CancelTask, TaskEvents } from '../../../rest-compat/documents/media/task.ts';
import { runDocument } from '../../../rest-compat/replies/results.ts';
import { encodeFile, openFile } from '../answers/files.ts';
import { reserveStream } from '../answers/send.ts';
import { type FaceModel, FaceModelByName, FaceModels } from '../documents/models.ts';
import { FaceSpeech, type SpeechInput, FaceTranscription } from '../documents/starts.ts';
import { type FaceTask, FaceTaskById } from '../documents/task.ts';
import {
  givenIn,
  readJson,
  isObject,
  neededText,
  numberIn,
  objectIn,
  textIn,
  wordIn,
} from '../request/fields.ts';
import { identifyCall, readBody } from '../request/media.ts';
import type { FaceAnswer, FaceCall, FaceEvent, FaceRoute } from '../table/route.ts';
import { enforceWait, finished, nameIgnored, startTask } from '../tasks/follow.ts';
import { readJoining } from '../tasks/joining.ts';

/** Speech. */
export const audioRoutes: readonly FaceRoute[] = [
  {
    method: 'POST',
    path: '/audio/speech',
    summary: 'Says a text; answers the sound.',
    rateClass: 'start',
    documents: [FaceModels, FaceModelByName, Voices, FaceSpeech, TaskEvents, FaceTaskById, CancelTask],
    async run(call) {
      enforceWait(call);
      const body = await readJson(call);
      const model = await call.models.find('SPEECH', textIn(body, 'model'), call.context);
      const voiceId = await findVoice(call, body['voice'], model);
      const format = wordIn(body, 'stream_format', ['audio', 'sse'] as const) ?? 'audio';
      const permit = format === 'sse' ? reserveStream(call.context) : null;
      const content = identifyCall('speech', body, { model: `${model.generator}:${model.model}` });
      const input = readSpeech(body, { model, voiceId });
      const task = await startTask(call, FaceSpeech, { input, ...readJoining(call, content) });
      nameIgnored(call, givenIn(body, ['instructions']));
      return soundAnswer(call, await finished(call, task, false), permit);
    },
  },
];

function readSpeech(
  body: JsonObject,
  { model, voiceId }: { readonly model: FaceModel; readonly voiceId: string },
): SpeechInput {
  const speed = numberIn(body, 'speed');
  const options = objectIn(body, 'options');
  return {
    generator: model.generator,
    model: model.model,
    text: neededText(body, 'input'),
    voiceId,
    format: textIn(body, 'response_format') ?? 'mp3',
    ...(speed !== undefined && { speed }),
    ...(options !== undefined && { options }),
  };
}

async function soundAnswer(call: FaceCall, task: FaceTask, permit: StreamPermit | null): Promise<FaceAnswer> {
  const { id, outputs } = task;
  if (task.state !== 'SUCCEEDED')
    return { status: 202, body: { id, object: 'audio.speech', status: 'in_progress' } };
  const [sound] = outputs;
  if (sound === undefined) throw new AppError('NOT_FOUND', 'the sound was deleted');
  const stream = await openFile(call, sound.url);
  if (permit !== null) return { permit, events: soundEvents(stream, task) };
  return {
    contentType: sound.contentType,
    headers: { 'Content-Length': String(sound.bytes) },
    stream,
  };
}

async function* soundEvents(stream: Readable, { cost }: FaceTask): AsyncGenerator<FaceEvent> {
  for await (const audio of encodeFile(stream)) {
    yield { name: 'speech.audio.delta', data: { type: 'speech.audio.delta', audio } };
  }
  const { inputTokens, outputTokens } = cost?.units ?? {};
  const input = inputTokens ?? 0;
  const output = outputTokens ?? 0;
  const usage = { input_tokens: input, output_tokens: output, total_tokens: input + output };
  yield { name: 'speech.audio.done', data: { type: 'speech.audio.done', usage } };
}

/** OpenAI's own voices, which clients send by default: each stands for one of the model's. */
const OPENAI_VOICES = [
  'alloy',
  'ash',
  'ballad',
  'coral',
  'echo',
  'fable',
  'nova',
  'onyx',
  'sage',
  'shimmer',
  'verse',
  'marin',
  'cedar',
];

/** The voice that is named, by its id or name. */
async function findVoice(call: FaceCall, voice: Json | undefined, { generator }: FaceModel): Promise<string> {
  const named = isObject(voice) ? voice['id'] : (voice ?? 'alloy');
  const { voices } = await runDocument(call, Voices, { generator });
  const found = voices.find(({ id, name }) => id === named || name === named);
  if (found !== undefined) return found.id;
  const stands = standIn(
    voices,
    OPENAI_VOICES.findIndex((own) => own === named),
  );
  if (stands !== undefined) return stands.id;
  const some = voices.slice(0, 5).map(({ id }) => id);
  throw badInput('voice', `voice must be one of ${generator}'s, such as ${some.join(', ')}`);
}

function standIn(voices: readonly VoiceFields[], index: number): VoiceFields | undefined {
  const own = voices.filter(({ cloned }) => !cloned);
  return index === -1 || own.length === 0 ? undefined : own[index % own.length];
}

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
      enforceWait(call);
      const { body, files } = await readBody(call);
      const [sound] = files.get('file') ?? [];
      if (sound === undefined) throw badInput('file', "Missing required parameter: 'file'.");
      const format = wordIn(body, 'response_format', ['json', 'text', 'verbose_json'] as const) ?? 'json';
      const model = await call.models.find('ANALYSIS', textIn(body, 'model'), call.context);
      const content = identifyCall('transcription', body, {
        model: `${model.generator}:${model.model}`,
        files: [sound],
      });
      const task = await startTask(call, FaceTranscription, {
        input: {
          generator: model.generator,
          model: model.model,
          media: sound.media,
          prompt: readPrompt(body),
        },
        ...readJoining(call, content),
      });
      nameIgnored(call, givenIn(body, UNHEARD));
      return wordsAnswer(await finished(call, task, false), format, textIn(body, 'language'));
    },
  },
];

/** What OpenAI's models take of a recording, and those that are only asked for its words do not. */
const UNHEARD = ['temperature', 'timestamp_granularities', 'stream', 'include', 'chunking_strategy'];

function readPrompt(body: JsonObject): string {
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
