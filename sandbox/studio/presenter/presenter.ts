import { seedsOf } from '../art/picture.ts';
import type { PresenterRequest, StudioPresenter } from '../media-types.ts';
import { largestFace } from '../people/detect-person.ts';
import type { Size } from '../size.ts';
import type { Film } from '../video/film.ts';
import { produceVideo } from '../video/produce.ts';
import { copyVideo } from './copied-video.ts';
import type { CopiedVideo } from './copied-video.ts';
import { createDrawnFilm } from './drawn-film.ts';
import type { Performance } from './drawn-film.ts';
import { framesOf, mouthTrack } from './mouth.ts';
import { createPictureFilm } from './picture-film.ts';
import { openVoice } from './voice.ts';
import type { Voice } from './voice.ts';

/** What the studio has decided about a talking video. */
export interface PresenterPlan {
  readonly request: PresenterRequest;
  /** Even edges. */
  readonly size: Size;
  readonly framesPerSecond: number;
}

type OnProgress = (percent: number, stage: string) => void;

/** Percent that is reached when the text is spoken. */
const SPOKEN = 6;
const DEFAULT_TITLE = 'A presenter';

/** Makes somebody talk. The same plan gives the same bytes. */
export async function makePresenter(plan: PresenterPlan, onProgress: OnProgress): Promise<StudioPresenter> {
  const { request } = plan;
  const voice = await openVoice(request, (percent, stage) =>
    onProgress(Math.floor((percent * SPOKEN) / 100), stage),
  );
  onProgress(SPOKEN, 'voice');
  const prompt = request.prompt?.trim() ?? '';
  const { seed, mixed } = seedsOf(prompt, request.seed ?? null);
  const title = prompt === '' ? DEFAULT_TITLE : prompt;
  if (request.video !== undefined) {
    const { codec, originalDuration, ...copied } = await copyVideo({
      video: request.video,
      sound: voice.sound,
      title,
      seed,
    });
    return { ...copied, redrawn: false, note: notes(voice, [copyNote({ codec, originalDuration })]) };
  }
  const { framesPerSecond, size } = plan;
  const frames = framesOf(voice.sound, framesPerSecond);
  const performance = {
    track: mouthTrack(voice.sound, frames, { ...voice, framesPerSecond }),
    framesPerSecond,
  };
  const { film, note } = await openFilm(plan, { prompt, seed: mixed }, performance);
  const video = await produceVideo(
    { film, size, framesPerSecond, frames, sound: voice.sound, title, seed },
    onProgress,
  );
  return { ...video, redrawn: true, note: notes(voice, note) };
}

async function openFilm(
  { request, size }: PresenterPlan,
  idea: { readonly prompt: string; readonly seed: number },
  performance: Performance,
): Promise<{ film: Film; note: readonly string[] }> {
  const { picture } = request;
  if (picture === undefined) return { film: await createDrawnFilm({ ...idea, size }, performance), note: [] };
  const face = await largestFace(picture);
  const film = await createPictureFilm({ picture, face, size }, performance);
  return { film, note: face === null ? [NO_FACE] : [] };
}

const NO_FACE =
  'The file of the picture declares no face region, and faces are not recognised here: the picture moves with the voice, no mouth is drawn.';

const CODECS: Readonly<Record<string, string>> = { avc: 'H.264', hevc: 'H.265' };

function copyNote({ codec, originalDuration }: Pick<CopiedVideo, 'codec' | 'originalDuration'>): string {
  const name = CODECS[codec] ?? codec.toUpperCase();
  const seconds = Math.round(originalDuration * 10) / 10;
  return `The pictures of the video (${name}, ${seconds} s) cannot be decoded here: they were copied under the new sound, repeated or cut to its length, and no mouth moves.`;
}

function notes({ omitted }: Voice, others: readonly string[]): string | null {
  const unspoken = omitted === null ? [] : [`Not spoken, as the voices speak English only: ${omitted}`];
  const all = [...others, ...unspoken];
  return all.length === 0 ? null : all.join(' ');
}
