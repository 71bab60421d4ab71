import type { FaceModel } from '../documents/models.ts';

/** OpenAI's `size` in the words of each model: a size that it has, and the aspect ratio nearest to it. Pure. */

type Shape = { readonly resolution?: string; readonly aspectRatio?: string };

/** Aspect ratios that models make, where one names none. */
const RATIOS = ['1:1', '3:2', '2:3', '4:3', '3:4', '16:9', '9:16', '4:5', '5:4', '21:9', '9:21'];

/** Null: the model has nothing for this size. */
export function shapeOf(
  size: string | undefined,
  { inputs, sizes, aspectRatios }: Pick<FaceModel, 'inputs' | 'sizes' | 'aspectRatios'>,
): Shape | null {
  if (size === undefined || size === '' || size === 'auto') return {};
  const takesSizes = inputs.includes('resolution');
  if (takesSizes && sizes?.includes(size) === true) return { resolution: size };
  const [, width = 0, height = 0] = (/^(\d{1,5})[x:](\d{1,5})$/.exec(size) ?? []).map(Number);
  if (width > 0 && height > 0 && inputs.includes('aspectRatio')) {
    const resolution = takesSizes ? classOf(width, height, sizes ?? []) : undefined;
    const aspectRatio = nearest(width / height, aspectRatios ?? RATIOS);
    return { aspectRatio, ...(resolution !== undefined && { resolution }) };
  }
  // A size that the model does not list is refused with those that it has.
  return takesSizes ? { resolution: size } : null;
}

/** The class of a size where a model has such: 720p for 1280x720, 2K for 2048x2048. */
function classOf(width: number, height: number, sizes: readonly string[]): string | undefined {
  const names = [`${Math.min(width, height)}P`, `${Math.round(Math.max(width, height) / 1024)}K`];
  return sizes.find((size) => names.includes(size.toUpperCase()));
}

function nearest(shape: number, ratios: readonly string[]): string {
  const distance = (ratio: string): number => {
    const [width = 1, height = 1] = ratio.split(':').map(Number);
    return Math.abs(Math.log(width / height / shape));
  };
  return [...ratios].sort((one, other) => distance(one) - distance(other))[0] ?? '1:1';
}
