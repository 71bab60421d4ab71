import { badInput } from '../../../../platform/errors.ts';
import { AVATAR_SOURCE_TYPE, type AvatarVideoWork, type AvatarWork } from '../../domain/task.ts';
import {
  exactlyOne,
  notEmpty,
  prepared,
  preparedNamed,
  refsOf,
  resolveNamed,
  withoutAbsent,
  type Asker,
  type Prepared,
} from '../prepare.ts';
import {
  DEFAULT_GENERATORS,
  type AvatarRequest,
  type AvatarSourceRequest,
  type AvatarVideoRequest,
} from '../requests/person-requests.ts';
import type { InputFileDependencies } from '../resolve-inputs.ts';

/** The avatar's three tasks: its video to the cloud, the avatar itself, and what it says. */

const generator = DEFAULT_GENERATORS.avatar;

/** Checks a video that an avatar shall be made from. Throws BAD_USER_INPUT where its type is known to be wrong. */
export async function prepareAvatarSource(
  dependencies: InputFileDependencies,
  asker: Asker,
  { source: input }: AvatarSourceRequest,
): Promise<Prepared> {
  const { source } = await resolveNamed(dependencies, asker, { source: input });
  if (source === undefined) throw new Error('one input was resolved to none');
  // By what it is, not by its name. A foreign one is looked at once the worker has fetched it.
  if (source.contentType !== null && source.contentType !== AVATAR_SOURCE_TYPE) {
    throw badInput('source', `source: wrong file format, send an MP4 video; this is ${source.contentType}`);
  }
  const work = { kind: 'AVATAR_SOURCE', generator, video: source.ref } as const;
  return prepared('uploadAvatarSource', work, { generator }, [source]);
}

/** Checks what an avatar shall be made from. Throws BAD_USER_INPUT. */
export function prepareAvatar({ videoId, ...rest }: AvatarRequest): Prepared {
  notEmpty('videoId', videoId);
  const asked: AvatarWork = { generator, videoId, ...withoutAbsent(rest) };
  return prepared('createAvatar', { kind: 'AVATAR', ...asked }, asked, []);
}

/** What is needed where a voice may have to be found. */
export interface AvatarDependencies extends InputFileDependencies {
  /** The voice that speaks when none is named. Throws what asking for voices throws. */
  readonly firstVoice: () => Promise<string>;
}

/** Checks what an avatar shall say, by a sound or by a text. Throws BAD_USER_INPUT. */
export async function prepareAvatarVideo(
  dependencies: AvatarDependencies,
  asker: Asker,
  { digitalId, audio, text, voiceId, ...rest }: AvatarVideoRequest,
): Promise<Prepared> {
  notEmpty('digitalId', digitalId);
  exactlyOne({ audio, text: (text ?? '').trim() });
  const asked: Omit<AvatarVideoWork, 'audio'> = {
    generator,
    digitalId,
    ...withoutAbsent(rest),
    // Who hears a sound needs no voice.
    ...(audio ? {} : withoutAbsent({ text, voiceId })),
  };
  const files = await resolveNamed(dependencies, asker, { audio }, { audio: 'sound' });
  const voice = audio || voiceId ? {} : { voiceId: await dependencies.firstVoice() };
  const work = { kind: 'AVATAR_VIDEO', ...asked, ...voice, ...refsOf(files) } as const;
  return preparedNamed('generateAvatarVideo', work, asked, files);
}
