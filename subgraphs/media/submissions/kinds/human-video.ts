import type { HumanVideoWork } from '../../domain/task.ts';
import {
  prepared,
  preparedNamed,
  resolveNamed,
  withoutAbsent,
  type Asker,
  type Prepared,
} from '../prepare.ts';
import {
  DEFAULT_GENERATORS,
  type DetectionRequest,
  type HumanVideoRequest,
} from '../requests/person-requests.ts';
import type { InputFileDependencies } from '../resolve-inputs.ts';

/** Whether somebody is in a picture, and a video of them saying what is heard. */

const generator = DEFAULT_GENERATORS.humanVideo;

/** Checks a picture that persons are looked for in. Throws BAD_USER_INPUT. */
export async function prepareDetection(
  dependencies: InputFileDependencies,
  asker: Asker,
  { image: input }: DetectionRequest,
): Promise<Prepared> {
  const { image } = await resolveNamed(dependencies, asker, { image: input }, { image: 'picture' });
  if (image === undefined) throw new Error('one input was resolved to none');
  const work = { kind: 'PERSON_DETECTION', generator, image: image.ref } as const;
  return prepared('detectPerson', work, { generator }, [image]);
}

/** Checks the picture that shall speak and the sound it speaks with. Throws BAD_USER_INPUT. */
export async function prepareHumanVideo(
  dependencies: InputFileDependencies,
  asker: Asker,
  { image: picture, audio: sound, ...rest }: HumanVideoRequest,
): Promise<Prepared> {
  const asked: Omit<HumanVideoWork, 'image' | 'audio'> = { generator, ...withoutAbsent(rest) };
  const { image, audio } = await resolveNamed(
    dependencies,
    asker,
    { image: picture, audio: sound },
    { image: 'picture', audio: 'sound' },
  );
  if (image === undefined || audio === undefined) throw new Error('two inputs were resolved to fewer');
  const work = { kind: 'HUMAN_VIDEO', ...asked, image: image.ref, audio: audio.ref } as const;
  return preparedNamed('generateHumanVideo', work, asked, { image, audio });
}
