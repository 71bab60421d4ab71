import type { NextSteps, StepSoFar } from '../domain/task.ts';
import type { AvatarVideoWork } from '../domain/work/avatar.ts';
import type { StepInput, Work } from '../domain/work/work.ts';

/**
 * An avatar that says a text: avatars take audio only, so the text is spoken first, by the generator of speech. The
 * result is the video alone.
 */

type AvatarVideo = { readonly kind: 'AVATAR_VIDEO' } & AvatarVideoWork;
type Spoken = AvatarVideo & { readonly text: string };

/** The share of the speech in the task's progress: it is much faster than the video. */
const SPEECH_SHARE = 0.15;

/** The generator that speaks the texts of avatars. */
export const SPEECH_GENERATOR = 'agg/speech_router';

/** Whether the work has a text instead of audio. */
export function isSpokenFirst(work: Work): work is Spoken {
  return work.kind === 'AVATAR_VIDEO' && work.audio === undefined && work.text !== undefined;
}

/** The speech, then the video with its audio. */
export function spokenSteps(work: Spoken, steps: readonly StepSoFar[]): NextSteps {
  const [spoken, video] = steps;
  if (spoken === undefined) {
    const { text, voiceId = '' } = work;
    const input: StepInput = { kind: 'SPEECH', generator: SPEECH_GENERATOR, text, voiceId };
    return { kind: 'start', steps: [{ label: 'speaking the text', input }] };
  }
  if (spoken.state !== 'SUCCEEDED') return { kind: 'wait' };
  if (video === undefined) {
    return { kind: 'start', steps: [{ label: 'video', input: videoInput(work, spoken) }] };
  }
  return video.state === 'SUCCEEDED' && video.outcome !== null
    ? { kind: 'done', outcome: video.outcome }
    : { kind: 'wait' };
}

function videoInput(
  { generator, model, digitalId, resolution, options }: Spoken,
  spoken: StepSoFar,
): StepInput {
  const [audioId] = spoken.outcome?.mediaIds ?? [];
  if (audioId === undefined) throw new Error('a speech without a file succeeded');
  return {
    kind: 'AVATAR_VIDEO',
    generator,
    digitalId,
    audio: { fileId: audioId },
    ...(model === undefined ? {} : { model }),
    ...(resolution === undefined ? {} : { resolution }),
    ...(options === undefined ? {} : { options }),
  };
}

/** 0 to 100 over both steps, whether the second has begun or not. */
export function progressOfSpoken(steps: readonly Pick<StepSoFar, 'progress'>[]): number {
  const [speech, video] = steps;
  const reached = (speech?.progress ?? 0) * SPEECH_SHARE + (video?.progress ?? 0) * (1 - SPEECH_SHARE);
  return Math.min(100, Math.floor(reached));
}
