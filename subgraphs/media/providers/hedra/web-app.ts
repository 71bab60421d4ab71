import { createHash } from 'node:crypto';

import type { HttpClient } from '../../../../platform/http/http-client.ts';
import { invalidInput } from '../../domain/failure.ts';
import type { RequestOf } from '../../domain/work/request.ts';
import type {
  CallContext,
  Handle,
  JobCapability,
  StartContext,
  UploadedFile,
  VoiceList,
} from '../contract/provider.ts';
import { beforeStart, type Exchange } from '../shared/exchange.ts';
import { withVendorOptions } from '../shared/request-body.ts';
import type { SourceFile } from './files.ts';
import { createAsset } from './web-app-assets.ts';
import { asGeneration, jobStatus, parseVoices } from './web-app-wire.ts';
import { firstVoice } from './wire.ts';

type TalkRequest = RequestOf<'LIP_SYNC'>;

interface Wire {
  readonly http: HttpClient;
  readonly exchange: Exchange;
}

/** The verbs of the older API. */
interface WebApp extends Required<Pick<JobCapability<TalkRequest>, 'start' | 'find' | 'status'>> {
  /** The voices of the account. */
  voices(context: CallContext): Promise<VoiceList>;
  /** Uploads a file as an asset. */
  upload(source: SourceFile, context: CallContext): Promise<UploadedFile>;
}

/**
 * Hedra's older API, below `/web-app`. It accepts our id for a generation (`generation_id`), derived from the reference,
 * which finds a start again.
 */
export function createWebApp(wire: Wire): WebApp {
  return {
    start: (request, context) => start(wire, request, context),
    find: (reference, context) => find(wire.exchange, reference, context),
    async status({ id }, context) {
      const path = statusPath(typeof id === 'string' ? id : '');
      const answer = await wire.exchange(context, { method: 'GET', path, retry: 'safe' });
      return jobStatus(asGeneration(answer, 'work'));
    },
    voices: (context) => listVoices(wire.exchange, context),
    upload: (source, context) => createAsset(wire, source, context),
  };
}

/** The vendor's ids of its models; others are slugs, or already ids. */
const MODEL_IDS: Readonly<Record<string, string>> = {
  'hedra-avatar': '26f0fc66-152b-40ab-abed-76c43df99bc8',
  'hedra-omnia': 'ab372b84-432f-44f5-bacc-c2542465f712',
};
const DEFAULT_MODEL = 'hedra-avatar';
/** The wire requires a prompt. */
const DEFAULT_PROMPT = 'A person speaking to the camera';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

async function start(wire: Wire, request: TalkRequest, context: StartContext): Promise<Handle> {
  const parts = await beforeStart(uploadParts(wire, request, context));
  const id = generationId(context.reference);
  const { prompt, aspectRatio, resolution } = request;
  const answer = await wire.exchange(context, {
    method: 'POST',
    path: '/public/generations',
    json: {
      type: 'video',
      generation_id: id,
      ...toModelField(context.connection.model ?? DEFAULT_MODEL),
      ...parts,
      generated_video_inputs: withVendorOptions(request, {
        text_prompt: prompt ?? DEFAULT_PROMPT,
        aspect_ratio: aspectRatio,
        resolution,
      }),
    },
  });
  // Only this start has the id, so a generation with it is this one.
  if (answer.status === 409) return { id };
  return { id: asGeneration(answer, 'start').id };
}

/** The image of the speaker, and the speech. */
async function uploadParts(
  wire: Wire,
  request: TalkRequest,
  context: CallContext,
): Promise<Record<string, unknown>> {
  const { image, audio, text, voiceId } = request;
  if (image === undefined) throw invalidInput('video', 'hedra animates images, not videos; send an image');
  if (audio === undefined && text === undefined) throw invalidInput('audio', 'an audio or a text is needed');
  const keyframe = await assetId(wire, { file: image, field: 'image' }, context);
  if (audio !== undefined) {
    return {
      start_keyframe_id: keyframe,
      audio_id: await assetId(wire, { file: audio, field: 'audio' }, context),
    };
  }
  const voice = voiceId ?? firstVoice(await listVoices(wire.exchange, context));
  return {
    start_keyframe_id: keyframe,
    audio_generation: { type: 'text_to_speech', voice_id: voice, text },
  };
}

const VOICES = '/public/voices';

async function listVoices(exchange: Exchange, context: CallContext): Promise<VoiceList> {
  return parseVoices(await exchange(context, { method: 'GET', path: VOICES, retry: 'safe' }));
}

/** The existing asset of the file, or a new one. */
async function assetId(wire: Wire, source: SourceFile, context: CallContext): Promise<string> {
  return source.file.uploaded?.id ?? (await createAsset(wire, source, context)).id;
}

function toModelField(model: string): Record<string, string> {
  const id = MODEL_IDS[model] ?? (UUID.test(model) ? model : null);
  return id === null ? { model_slug: model } : { ai_model_id: id };
}

/** The generation id for a reference. */
export function generationId(reference: string): string {
  const hash = createHash('sha256').update(`kiln:hedra:${reference}`).digest('hex');
  // Version 8 of RFC 9562: custom derivation.
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `a${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join('-');
}

async function find(
  exchange: Exchange,
  reference: string,
  context: CallContext,
): Promise<Handle | 'absent' | 'unknowable'> {
  const path = statusPath(generationId(reference));
  const answer = await exchange(context, { method: 'GET', path, retry: 'safe', mayBePage: true });
  // An HTML page: an aggregator without this path.
  if (answer.status === 404) return answer.json === undefined ? 'unknowable' : 'absent';
  return { id: asGeneration(answer, 'work').id };
}

function statusPath(id: string): string {
  return `/public/generations/${encodeURIComponent(id)}/status`;
}
