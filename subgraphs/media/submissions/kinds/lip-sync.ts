import type { LipSyncWork } from '../../domain/task.ts';
import {
  exactlyOne,
  preparedNamed,
  refsOf,
  resolveNamed,
  withoutAbsent,
  type Asker,
  type Prepared,
} from '../prepare.ts';
import type { LipSyncRequest } from '../requests/person-requests.ts';
import type { InputFile, InputFileDependencies } from '../resolve-inputs.ts';

/** A face that says something. */
export async function prepareLipSync(
  dependencies: InputFileDependencies,
  asker: Asker,
  { generator, image, video, audio, text, ...rest }: LipSyncRequest,
): Promise<Prepared> {
  exactlyOne({ image, video });
  exactlyOne({ audio, text: (text ?? '').trim() });
  const spoken = audio ? {} : withoutAbsent({ text });
  const asked: Omit<LipSyncWork, 'image' | 'video' | 'audio'> = {
    generator,
    ...spoken,
    ...withoutAbsent(rest),
  };
  const files = asMeasured(
    await resolveNamed(
      dependencies,
      asker,
      { image, video, audio },
      { image: 'face', video: 'face', audio: 'sound' },
    ),
  );
  return preparedNamed('lipSync', { kind: 'LIP_SYNC', ...asked, ...refsOf(files) }, asked, files);
}

type Files = Partial<Record<'image' | 'video' | 'audio', InputFile>>;

/** An uploaded video counts as one under either name: who hands over a resource by its id can't say what it is. */
function asMeasured({ image, video, audio }: Files): Files {
  const face = image ?? video;
  if (face === undefined) return {};
  const isVideo = face.contentType === null ? image === undefined : face.contentType.startsWith('video/');
  return { [isVideo ? 'video' : 'image']: face, ...(audio === undefined ? {} : { audio }) };
}
