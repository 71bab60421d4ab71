import { createHash } from 'node:crypto';

import { z } from 'zod';

import type { Problem } from '../../../../platform/errors.ts';
import type { Json } from '../../../../platform/json.ts';
import { invalidInput, UpstreamError } from '../../domain/failure.ts';
import type { InputFile } from '../../domain/inputs/input-files.ts';
import type { RequestOf } from '../../domain/work/request.ts';
import type {
  CallContext,
  Outcome,
  StartContext,
  UploadedFile,
  UploadRequest,
  VoiceList,
} from '../contract/provider.ts';
import { beforeStart, readInput, type Exchange, type ExchangeAnswer } from '../shared/exchange.ts';
import { id, optionalListOf, text } from '../shared/reader.ts';
import { encodeForm, withVendorOptions } from '../shared/request-body.ts';
import { DEFAULT_SPEECH_MODEL } from './speech.ts';
import { buildPath, read, throwRefusal, unreadable } from './wire.ts';

/** Voices: samples are uploaded and cloned under an id of the caller's choice; lists include the vendor's own. */

const CLONE_TIMEOUT_MS = 180_000;
const UPLOAD_TIMEOUT_MS = 120_000;

const uploaded = z.object({ file: z.object({ file_id: id }) });
const cloned = z.object({ demo_audio: text, input_sensitive: z.boolean().nullish().catch(null) });
const voice = z.object({ voice_id: z.string(), voice_name: text });
const voices = optionalListOf(voice);
const listed = z.object({ system_voice: voices, voice_cloning: voices, voice_generation: voices });

/** POST /v1/get_voice. */
export async function listVoices(exchange: Exchange, context: CallContext): Promise<VoiceList> {
  const answer = await exchange(context, {
    method: 'POST',
    path: buildPath(context.connection, '/v1/get_voice'),
    json: { voice_type: 'all' },
    retry: 'safe',
    maxBytes: 16 << 20,
  });
  throwRefusal(answer, { content: 'voiceId', invalid: 'INVALID_INPUT' });
  const lists = read(listed, answer);
  const own = [...(lists.voice_cloning ?? []), ...(lists.voice_generation ?? [])];
  return {
    voices: [
      ...(lists.system_voice ?? []).map((entry) => toVoice(entry, false)),
      ...own.map((entry) => toVoice(entry, true)),
    ],
    answer: answer.json as Json,
  };
}

type Voice = VoiceList['voices'][number];

function toVoice({ voice_id: id, voice_name: name }: z.output<typeof voice>, isOwn: boolean): Voice {
  return { id, name: name || id, language: isOwn ? null : readLanguage(id), cloned: isOwn };
}

/** The vendor's voice ids mostly begin with their language: `English_Graceful_Lady`, `Chinese (Mandarin)_...`. */
function readLanguage(voiceId: string): string | null {
  return /^([A-Z][a-z]+(?: \([A-Z][a-z]+\))?)_/.exec(voiceId)?.[1] ?? null;
}

/** POST /v1/files/upload, for voice samples. */
export async function uploadFile(
  exchange: Exchange,
  { file, purpose }: UploadRequest,
  context: CallContext,
): Promise<UploadedFile> {
  if (purpose !== 'voice-sample') {
    throw new UpstreamError('INVALID_INPUT', 'minimax keeps samples of voices only', { field: 'purpose' });
  }
  const answer = await sendFile(exchange, file, context);
  throwRefusal(answer, { content: 'sample', invalid: 'INVALID_INPUT' });
  const fileId = read(uploaded, answer).file.file_id;
  if (fileId === null || fileId === undefined) throw unreadable(new Error('no file_id'));
  return { id: fileId, uri: null, expiresAt: null, answer: answer.json as Json };
}

async function sendFile(exchange: Exchange, file: InputFile, context: CallContext): Promise<ExchangeAnswer> {
  const bytes = new Uint8Array(await readInput(file, 'sample'));
  const form = new FormData();
  form.append('purpose', 'voice_clone');
  form.append('file', new Blob([bytes], { type: file.contentType }), file.name);
  return exchange(context, {
    method: 'POST',
    path: buildPath(context.connection, '/v1/files/upload'),
    ...(await encodeForm(form)),
    timeoutMs: UPLOAD_TIMEOUT_MS,
  });
}

/** POST /v1/voice_clone. The vendor deletes a voice that is unused for seven days. */
export async function cloneVoice(
  exchange: Exchange,
  request: RequestOf<'VOICE_CLONE'>,
  context: StartContext,
): Promise<Outcome> {
  const voiceId = request.voiceId ?? newVoiceId(context.reference);
  const [problem] = voiceIdProblems(request.voiceId);
  if (problem !== undefined) throw invalidInput(problem.field, problem.message);
  const fileId = await uploadSample(exchange, request.sample, context);
  const answer = await exchange(context, {
    method: 'POST',
    path: buildPath(context.connection, '/v1/voice_clone'),
    json: withVendorOptions(request, {
      file_id: Number.isSafeInteger(Number(fileId)) ? Number(fileId) : fileId,
      voice_id: voiceId,
      ...(request.text !== undefined && {
        text: request.text,
        model: context.connection.model ?? DEFAULT_SPEECH_MODEL,
      }),
    }),
    timeoutMs: context.connection.callTimeoutMs ?? CLONE_TIMEOUT_MS,
  });
  throwRefusal(answer, { content: 'sample', invalid: 'INVALID_INPUT' });
  const { demo_audio: demo, input_sensitive: isRefused } = read(cloned, answer);
  if (isRefused === true) {
    const message = 'minimax refuses the words of this sample; use another';
    throw new UpstreamError('MODERATION_REFUSED', message, { field: 'sample' });
  }
  return {
    files: demo ? [{ url: demo }] : [],
    texts: [],
    facts: { voiceId, name: request.name ?? voiceId, language: null },
  };
}

/** The file id of the sample, uploaded now unless it is there already. An upload starts no paid work. */
async function uploadSample(exchange: Exchange, sample: InputFile, context: CallContext): Promise<string> {
  if (sample.uploaded !== null) return sample.uploaded.id;
  const { id: fileId } = await beforeStart(
    uploadFile(exchange, { file: sample, purpose: 'voice-sample' }, context),
  );
  return fileId;
}

const MIN_VOICE_ID = 8;
const MAX_VOICE_ID = 256;

/** An id that a new voice can't have. */
export function voiceIdProblems(voiceId: string | undefined): readonly Problem[] {
  if (voiceId === undefined) return [];
  const isGood =
    voiceId.length >= MIN_VOICE_ID &&
    voiceId.length <= MAX_VOICE_ID &&
    /^[A-Za-z][\w-]*[A-Za-z\d]$/.test(voiceId);
  if (isGood) return [];
  const message = 'use 8 to 256 letters, digits, - and _, with a letter first and a letter or digit last';
  return [{ field: 'voiceId', message }];
}

/** Derived from the reference: the same attempt gets the same id. */
function newVoiceId(reference: string): string {
  return `kiln-${createHash('sha256').update(reference).digest('hex').slice(0, 24)}`;
}
