import { badInput } from '../../../../platform/errors.ts';
import type { VideoWork } from '../../domain/task.ts';
import {
  exactlyOne,
  preparedNamed,
  refsOf,
  resolveNamed,
  withoutAbsent,
  type Asker,
  type Prepared,
} from '../prepare.ts';
import { DEFAULT_GENERATORS, type FrameVideoRequest } from '../requests/person-requests.ts';
import type { InputFileDependencies } from '../resolve-inputs.ts';
import type { VideoRequest } from '../submissions.ts';

const pictures = { image: 'picture', firstFrame: 'picture', lastFrame: 'picture' } as const;

/** A video from words, from a picture, or between two frames. What a model takes of it is its limits' business. */
export async function prepareVideo(
  dependencies: InputFileDependencies,
  asker: Asker,
  request: VideoRequest,
): Promise<Prepared> {
  const { image, firstFrame, lastFrame, generator, ...rest } = request;
  const asked: Omit<VideoWork, 'image' | 'firstFrame' | 'lastFrame'> = { generator, ...withoutAbsent(rest) };
  if (image && firstFrame) {
    throw badInput('firstFrame', 'firstFrame and image are the same thing here: give only one of them');
  }
  if ((asked.prompt ?? '').trim() === '' && !image && !firstFrame) {
    throw badInput('prompt', 'a video needs a prompt, an image or a firstFrame');
  }
  const files = await resolveNamed(dependencies, asker, { image, firstFrame, lastFrame }, pictures);
  return preparedNamed('generateVideo', { kind: 'VIDEO', ...asked, ...refsOf(files) }, asked, files);
}

/** A video that begins with one picture and ends with another. */
export async function prepareFrameVideo(
  dependencies: InputFileDependencies,
  asker: Asker,
  request: FrameVideoRequest,
): Promise<Prepared> {
  const { image, firstFrame, lastFrame, generator: named, ...rest } = request;
  const generator = named ?? DEFAULT_GENERATORS.frameVideo;
  const asked: Omit<VideoWork, 'image' | 'firstFrame' | 'lastFrame'> = { generator, ...withoutAbsent(rest) };
  exactlyOne({ firstFrame, image });
  if (!lastFrame) throw badInput('lastFrame', 'lastFrame is needed: the video ends with it');
  const files = await resolveNamed(
    dependencies,
    asker,
    { firstFrame: firstFrame ?? image, lastFrame },
    pictures,
  );
  return preparedNamed(
    'generateFrameVideo',
    { kind: 'FRAME_VIDEO', ...asked, ...refsOf(files) },
    asked,
    files,
  );
}
