import { setTimeout as pause } from 'node:timers/promises';

import { UpstreamError } from '../../domain/failure.ts';
import type { CallContext, StartContext, VoiceList } from '../contract/provider.ts';
import type { Exchange } from '../shared/exchange.ts';
import { asJob, firstVoice, hasEnded, speechOf, submittedJob, voicesOf } from './wire.ts';

/** The model that speaks texts for avatars; at most 5,000 characters. */
const MODEL = 'elevenlabs-v3';
const VOICES = `/models/${MODEL}/voices`;
const POLL_MS = 500;
/** A speech takes seconds; the start of a task has a minute. */
const MAX_WAIT_MS = 45_000;

/** The voices that texts for avatars are spoken with: the first page of the vendor's list. */
export async function listVoices(exchange: Exchange, context: CallContext): Promise<VoiceList> {
  return voicesOf(await exchange(context, { method: 'GET', path: VOICES, retry: 'safe' }));
}

/**
 * Speaks a text by a job of its own and waits for it: the avatar models take audio only. Throws UpstreamError. The key
 * of idempotency follows from the reference, so that a repeated start does not pay for the speech again.
 */
export async function speak(
  exchange: Exchange,
  { text, voiceId }: { readonly text: string; readonly voiceId: string | undefined },
  context: StartContext,
): Promise<Record<string, string>> {
  const path = `/models/${MODEL}`;
  const voice =
    voiceId ?? firstVoice(await exchange(context, { method: 'GET', path: VOICES, retry: 'safe' }));
  const answer = await exchange(context, {
    method: 'POST',
    path,
    headers: { 'idempotency-key': `${context.reference}/speech` },
    json: { input: { text, voice_id: voice } },
  });
  const id = encodeURIComponent(submittedJob(answer));
  const deadline = performance.now() + MAX_WAIT_MS;
  while (performance.now() < deadline && !context.signal.aborted) {
    const job = asJob(await exchange(context, { method: 'GET', path: `/jobs/${id}`, retry: 'safe' }));
    if (hasEnded(job)) return { source: 'asset', asset_id: speechOf(job) };
    await pause(POLL_MS, undefined, { signal: context.signal }).catch(() => undefined);
  }
  throw new UpstreamError('TIMED_OUT', 'hedra: the speech of the text took too long');
}
