import type { SpeechWork, VoiceCloneWork } from '../../domain/task.ts';
import { notEmpty, prepared, resolveNamed, withoutAbsent, type Asker, type Prepared } from '../prepare.ts';
import type { InputFileDependencies } from '../resolve-inputs.ts';
import type { SpeechRequest, VoiceCloneRequest } from '../submissions.ts';

/** Speech, and voices after a sample. */

/** Checks a text and who says it. Throws BAD_USER_INPUT. */
export function prepareSpeech({ generator, text, voiceId, ...rest }: SpeechRequest): Prepared {
  notEmpty('text', text);
  notEmpty('voiceId', voiceId);
  const asked: SpeechWork = { generator, text, voiceId, ...withoutAbsent(rest) };
  return prepared('synthesizeSpeech', { kind: 'SPEECH', ...asked }, asked, []);
}

/** Checks the sample that a voice is cloned from. Throws BAD_USER_INPUT. */
export async function prepareVoiceClone(
  dependencies: InputFileDependencies,
  asker: Asker,
  { generator, sample: input, ...rest }: VoiceCloneRequest,
): Promise<Prepared> {
  const asked: Omit<VoiceCloneWork, 'sample'> = { generator, ...withoutAbsent(rest) };
  const { sample } = await resolveNamed(dependencies, asker, { sample: input }, { sample: 'sound' });
  if (sample === undefined) throw new Error('one input was resolved to none');
  return prepared('cloneVoice', { kind: 'VOICE_CLONE', ...asked, sample: sample.ref }, asked, [sample]);
}
