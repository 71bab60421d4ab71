import type { FaceModel } from '../documents/models.ts';

/** OpenAI's `size` in the words of each model: a size that it has, else the aspect ratio nearest to it. Pure. */

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
  const [, width, height] = /^(\d{1,5})[x:](\d{1,5})$/.exec(size) ?? [];
  const takesRatios = inputs.includes('aspectRatio');
  if (takesRatios && Number(width) > 0 && Number(height) > 0) {
    return { aspectRatio: nearest(Number(width) / Number(height), aspectRatios ?? RATIOS) };
  }
  // A size that the model does not list is refused with those that it has.
  return takesSizes ? { resolution: size } : null;
}

function nearest(shape: number, ratios: readonly string[]): string {
  const distance = (ratio: string): number => {
    const [width = 1, height = 1] = ratio.split(':').map(Number);
    return Math.abs(Math.log(width / height / shape));
  };
  return [...ratios].sort((one, other) => distance(one) - distance(other))[0] ?? '1:1';
}
