import { z } from 'zod';

import type { Fault } from '../../faults/faults.ts';
import type { Answer } from '../../http/answer.ts';
import { readForm } from '../../http/multipart.ts';
import { jsonObject, type WireRequest } from '../../http/wire.ts';
import type { JobRunner } from '../../jobs/job-runner.ts';
import type { Job } from '../../jobs/job.ts';
import type { MatchedVoice, StudioVoiceId } from '../../studio/types/media-types.ts';
import { readText } from '../shared/inputs.ts';
import { newNumericId } from '../shared/numeric-id.ts';
import { refusal, success } from './answers.ts';
import { runCall, ID, type MinimaxParts } from './parts.ts';
import { fileJson } from './videos.ts';

/** A voice of this stand-in under one of the vendor's names, spoken by one of the studio's. */
interface SystemVoice {
  readonly voice_id: string;
  readonly voice_name: string;
  readonly description: readonly string[];
  readonly base: StudioVoiceId;
  /** Semitones added to the requested pitch. */
  readonly pitch: number;
}

const SYSTEM_VOICES: readonly SystemVoice[] = [
  systemVoice('English_Graceful_Lady', 'Graceful Lady', { base: 'slt', pitch: 0 }),
  systemVoice('English_radiant_girl', 'Radiant Girl', { base: 'slt', pitch: 2 }),
  systemVoice('English_Persuasive_Man', 'Persuasive Man', { base: 'rms', pitch: 0 }),
  systemVoice('English_ManWithDeepVoice', 'Man With Deep Voice', { base: 'awb', pitch: -2 }),
  systemVoice('English_Trustworthy_Man', 'Trustworthy Man', { base: 'kal16', pitch: 0 }),
  systemVoice('male-qn-qingse', 'Young Man', { base: 'rms', pitch: 2 }),
  systemVoice('female-shaonv', 'Young Lady', { base: 'slt', pitch: 3 }),
];

function systemVoice(
  id: string,
  name: string,
  { base, pitch }: Pick<SystemVoice, 'base' | 'pitch'>,
): SystemVoice {
  const description = [`The studio's voice ${base}, not the vendor's. It speaks English.`];
  return { voice_id: id, voice_name: name, description, base, pitch };
}

/** A usable voice. */
export interface KnownVoice {
  readonly voice: StudioVoiceId | MatchedVoice;
  readonly pitch: number;
}

/** The voice of this id: one of the wire's own, or a clone that is finished. */
export function findVoice(runner: JobRunner, id: string): KnownVoice | null {
  const own = SYSTEM_VOICES.find((voice) => voice.voice_id === id);
  if (own !== undefined) return { voice: own.base, pitch: own.pitch };
  const clone = clones(runner).find((job) => job.input['voiceId'] === id);
  const matched = clone?.result?.facts['voice'];
  // Written by perform(): MatchedVoice is plain JSON.
  return matched === undefined ? null : { voice: matched as unknown as MatchedVoice, pitch: 0 };
}

function clones(runner: JobRunner): readonly Job[] {
  return runner.list().filter(({ operation, state }) => operation === 'clone' && state === 'finished');
}

const voiceTypes = z.enum(['system', 'voice_cloning', 'voice_generation', 'all']);

/** POST /v1/get_voice. */
export function getVoices({ runner }: MinimaxParts, request: WireRequest): Answer {
  const requested = voiceTypes.safeParse(jsonObject(request)?.['voice_type']);
  if (!requested.success) return refusal(2013, 'voice_type');
  const has = (type: z.output<typeof voiceTypes>) => requested.data === 'all' || requested.data === type;
  return success({
    system_voice: has('system') ? SYSTEM_VOICES.map(({ base: _base, pitch: _pitch, ...voice }) => voice) : [],
    voice_cloning: has('voice_cloning') ? clones(runner).map(clonedVoice) : [],
    voice_generation: [],
  });
}

/** Clones have no name on this wire. */
function clonedVoice({ input, submittedAt }: Job): object {
  const created = new Date(submittedAt).toISOString().slice(0, 10);
  return { voice_id: input['voiceId'], description: [], created_time: created };
}

/** POST /v1/files/upload: multipart with `purpose` and `file`. Stored as an ended job, so that it is deleted like one. */
export async function uploadFile(
  { journal }: MinimaxParts,
  request: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const form = await readForm(request);
  const file = form?.files.find(({ field }) => field === 'file');
  if (form === null || file === undefined || file.bytes.length === 0) return refusal(2013, 'file is empty');
  const { purpose } = form.fields;
  if (purpose !== 'voice_clone' && purpose !== 'prompt_audio') return refusal(2013, 'purpose');
  if (fault?.fault === 'moderation') return refusal(1026);
  const id = newNumericId(ID.upload, ID.digits);
  const name = `${id}-input-0`;
  await journal.writeImage(name, file.bytes);
  const now = Date.now();
  const upload: Job = {
    id,
    wire: 'minimax',
    operation: 'upload',
    reference: null,
    input: { purpose, filename: 'sample', bytes: file.bytes.length, pictures: [name] },
    state: 'finished',
    submittedAt: now,
    startedAt: now,
    endedAt: now,
    result: { files: [], texts: [], facts: {} },
    failure: null,
    fault: null,
    isForgotten: false,
  };
  await journal.save(upload);
  return success({ file: fileJson(upload) });
}

const cloneRequest = z.object({
  file_id: z.number().int(),
  voice_id: z.string().regex(/^[A-Za-z][\w-]{6,254}[A-Za-z\d]$/),
  text: z.string().max(1_000).nullish(),
  model: z.string().nullish(),
});

/** POST /v1/voice_clone. */
export async function cloneVoice(
  parts: MinimaxParts,
  request: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const { runner, journal, results } = parts;
  const parsed = cloneRequest.safeParse(jsonObject(request));
  if (!parsed.success) return refusal(2013, parsed.error.issues[0]?.path.join('.') ?? 'body');
  const { file_id: fileId, voice_id: voiceId, text } = parsed.data;
  const upload = runner.get(String(fileId));
  if (upload?.operation !== 'upload') return refusal(2013, 'file_id not exist');
  if (text && !parsed.data.model) return refusal(2013, 'model is required with text');
  if (findVoice(runner, voiceId) !== null) return refusal(2039);
  const [name] = Array.isArray(upload.input['pictures']) ? upload.input['pictures'] : [];
  const sample = await journal.readImage(readText(name) ?? '');
  if (sample === null) return refusal(2013, 'file_id not exist');
  const input = { voiceId, text: text ?? null };
  const outcome = await runCall(parts, { operation: 'clone', request, fault, input, samples: [sample] });
  if ('answer' in outcome) return outcome.answer;
  return success({
    input_sensitive: false,
    input_sensitive_type: 0,
    demo_audio: results.toUrl(outcome.job, request.baseUrl) ?? '',
  });
}
