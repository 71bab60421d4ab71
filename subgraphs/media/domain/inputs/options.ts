import type { Problem } from '../../../../platform/errors.ts';
import type { Note } from '../words/notes.ts';
import { isAspectRatio, unsupportedProblems, type Limits } from './checks.ts';

/** Options of work: inputs that a model may lack. A model that does not list one refuses it. Pure. */

/** Their names. `count` is not among them: every model makes one. */
const OPTIONS = [
  'negativePrompt',
  'aspectRatio',
  'resolution',
  'duration',
  'seed',
  'speedMode',
  'speed',
  'pitch',
  'volume',
  'emotion',
  'format',
  'temperature',
  'maxTokens',
] as const;

/** Work as far as its options matter here. */
type Options = Readonly<Record<string, unknown>>;

/** Options that the model does not list: it would ignore them. */
export function optionProblems(work: object, limits: Limits): readonly Problem[] {
  const options = work as Options;
  // Every model is as fast as it is by default.
  const isSent = (name: string) => options[name] !== undefined && options[name] !== 'fast';
  return OPTIONS.flatMap((name) => unsupportedProblems(name, isSent(name), limits));
}

/** The ratio nearest to this one. */
export function nearestRatio(aspectRatio: string, ratios: readonly string[]): string | undefined {
  const distance = (ratio: string) => Math.abs(Math.log(parseRatio(ratio) / parseRatio(aspectRatio)));
  return [...ratios].sort((one, other) => distance(one) - distance(other))[0];
}

/** What is only met approximately or decided by another input, in words for whoever gets the result. */
export function approximations(work: object, limits: Limits): readonly Note[] {
  const { aspectRatio, resolution, image, firstFrame } = work as {
    readonly [Name in 'aspectRatio' | 'resolution']?: string;
  } & Options;
  if (limits === undefined || aspectRatio === undefined || !isAspectRatio(aspectRatio)) return [];
  const begins = image !== undefined || firstFrame !== undefined;
  if (begins && limits.imageDecidesShape) {
    return [`aspect ratio ${aspectRatio} was not used: the video has the shape of its picture`];
  }
  const [, width, height] = /^(\d+)x(\d+)$/i.exec(resolution ?? '') ?? [];
  if (width !== undefined && height !== undefined) {
    const isSame = Math.abs(Math.log(parseRatio(`${width}:${height}`) / parseRatio(aspectRatio))) < 0.01;
    return isSame ? [] : [`aspect ratio ${aspectRatio} was not used: the size ${resolution} decides`];
  }
  const nearest = limits.nearestRatios === null ? undefined : nearestRatio(aspectRatio, limits.nearestRatios);
  if (nearest === undefined || nearest === aspectRatio) return [];
  return [`aspect ratio ${aspectRatio} was met by ${nearest}, the nearest that this model makes`];
}

function parseRatio(ratio: string): number {
  const [width = 1, height = 1] = ratio.split(':').map(Number);
  return width / height;
}
