import { mixSeeds } from '../art/painted-image.ts';
import { openVideoFrames } from '../decode/video-frames.ts';
import { largestFace } from '../people/detect-person.ts';
import type { PresenterRequest, StudioPresenter } from '../types/media-types.ts';
import { sizeByShortEdge, type Size } from '../types/size.ts';
import type { FrameRenderer, AsyncFrameRenderer } from '../video/frame-renderer.ts';
import { produceVideo } from '../video/produce.ts';
import { countFrames, mouthTrack } from './drawing/mouth.ts';
import { copyVideo } from './renderers/copied-video.ts';
import { createDrawnPresenter, type VoiceTrack } from './renderers/drawn-presenter.ts';
import { createTalkingImage, createTalkingVideo } from './renderers/talking-image.ts';
import { openVoice, type Voice } from './voice.ts';

/** The plan of a talking video. */
export interface PresenterPlan {
  readonly request: PresenterRequest;
  /** Even edges. */
  readonly size: Size;
  readonly framesPerSecond: number;
}

type OnProgress = (percent: number, stage: string) => void;

/** The plan together with its voice. */
interface Scene extends PresenterPlan {
  readonly voice: Voice;
  readonly prompt: string;
  /** The reported seed, and the one used for drawing. */
  readonly seeds: { readonly seed: number; readonly mixed: number };
  readonly title: string;
  readonly onProgress: OnProgress;
}

/** Progress in percent when the speech is done. */
const SPOKEN = 6;
const DEFAULT_TITLE = 'A presenter';

/** Renders a talking video. Deterministic. */
export async function makePresenter(plan: PresenterPlan, onProgress: OnProgress): Promise<StudioPresenter> {
  const { request } = plan;
  const voice = await openVoice(request, (percent, stage) =>
    onProgress(Math.floor((percent * SPOKEN) / 100), stage),
  );
  onProgress(SPOKEN, 'voice');
  const prompt = request.prompt?.trim() ?? '';
  const seeds = mixSeeds(prompt, request.seed ?? null);
  const scene = { ...plan, voice, prompt, seeds, title: prompt === '' ? DEFAULT_TITLE : prompt, onProgress };
  if (request.video !== undefined) return withVideo(scene, request.video);
  return request.image === undefined ? withNobody(scene) : withImage(scene, request.image);
}

async function withNobody(scene: Scene): Promise<StudioPresenter> {
  const { prompt, seeds, size } = scene;
  const performance = perform(scene);
  const renderer = await createDrawnPresenter({ prompt, seed: seeds.mixed, size }, performance);
  return produce(scene, { renderer, performance, note: null });
}

async function withImage(scene: Scene, image: Uint8Array): Promise<StudioPresenter> {
  const performance = perform(scene);
  const face = await largestFace(image);
  const renderer = await createTalkingImage({ image, face, size: scene.size }, performance);
  return produce(scene, { renderer, performance, note: face === null ? NO_FACE : null });
}

async function withVideo(scene: Scene, video: Uint8Array): Promise<StudioPresenter> {
  const images = await openVideoFrames(video);
  if (images === null) return copy(scene, video);
  try {
    const performance = perform(scene);
    const size = fitSize(scene, images.size);
    const renderer = createTalkingVideo(images, size, performance);
    return await produce({ ...scene, size }, { renderer, performance, note: NOT_RECOGNISED });
  } finally {
    await images.close();
  }
}

/** The video's own size by default, and never larger. */
function fitSize({ request, size }: Scene, own: Size): Size {
  const shortEdge = Math.min(size.width, size.height, own.width, own.height);
  return sizeByShortEdge(request.aspectRatio ?? `${own.width}:${own.height}`, shortEdge);
}

async function copy({ voice, title, seeds }: Scene, video: Uint8Array): Promise<StudioPresenter> {
  const { codec, ...copied } = await copyVideo({
    video,
    sound: voice.sound,
    title,
    seed: seeds.seed,
  });
  const note = inOneNote(copyNote(codec), voice.omitted);
  return { ...copied, redrawn: false, note };
}

function perform({ voice, framesPerSecond }: Scene): VoiceTrack {
  const frames = countFrames(voice.sound, framesPerSecond);
  const track = mouthTrack(voice.sound, frames, { framesPerSecond, phones: voice.phones });
  return { track, framesPerSecond };
}

interface Shot {
  readonly renderer: FrameRenderer | AsyncFrameRenderer;
  readonly performance: VoiceTrack;
  readonly note: string | null;
}

async function produce(scene: Scene, { renderer, performance, note }: Shot): Promise<StudioPresenter> {
  const { size, framesPerSecond, voice, title, seeds, onProgress } = scene;
  const frames = performance.track.length;
  const video = await produceVideo(
    { renderer, size, framesPerSecond, frames, sound: voice.sound, title, seed: seeds.seed },
    onProgress,
  );
  return { ...video, redrawn: true, note: inOneNote(note, voice.omitted) };
}

/** The note of an image without a known face. */
const NO_FACE =
  'The file of the image declares no face region, and faces are not recognised here: the image moves with the voice, no mouth is drawn.';

/** The note of a video. */
const NOT_RECOGNISED = 'Faces are not recognised here: the video moves with the voice, no mouth is drawn.';

const CODECS: Readonly<Record<string, string>> = { avc: 'H.264', hevc: 'H.265' };

/** The note of a video with copied frames. */
function copyNote(codec: string): string {
  const kind = CODECS[codec] ?? codec.toUpperCase();
  return `The frames of the video (${kind}) cannot be decoded here: they were copied under the new sound, repeated or cut to its length, and no mouth moves.`;
}

/** The note, and what of the text was not spoken; null when there is neither. */
function inOneNote(note: string | null, omitted: string | null): string | null {
  if (omitted === null) return note;
  const unspoken = `Not spoken, as the voices have no sound for it: ${omitted}`;
  return note === null ? unspoken : `${note} ${unspoken}`;
}
