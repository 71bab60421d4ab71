import type { StepInput } from '../../../domain/work/work.ts';
import type { Binding, CatalogModel } from '../../../generators/bindings/binding.ts';

/** Pixels from which a picture takes longer than the catalog says for usual ones: those of 4K, not of 2K. */
const MANY_PIXELS = 6_000_000;
const LONG_QUALITIES: ReadonlySet<unknown> = new Set(['high', 'xhigh', 'max']);

/**
 * Most milliseconds of a call that makes the result itself: what the binding says, else what the model's usual pieces take, half as
 * long again for 4K and for the best qualities. Undefined: as long as the wire usually takes.
 */
export function callTimeoutMs(
  { callTimeoutSeconds }: Pick<Binding, 'callTimeoutSeconds'>,
  model: Pick<CatalogModel, 'longestSeconds'> | undefined,
  input: StepInput,
): number | undefined {
  if (callTimeoutSeconds !== undefined) return callTimeoutSeconds * 1000;
  const seconds = model?.longestSeconds ?? null;
  if (seconds === null) return undefined;
  const slower = [isLarge(input), LONG_QUALITIES.has(qualityOf(input))].filter(Boolean).length;
  return seconds * 1.5 ** slower * 1000;
}

function isLarge(input: StepInput): boolean {
  const size = 'resolution' in input && typeof input.resolution === 'string' ? input.resolution : '';
  const [width = 0, height = 0] = size.split('x').map(Number);
  return size.toUpperCase() === '4K' || width * height >= MANY_PIXELS;
}

/** The quality that was asked for, as a field of its own or among the vendor's options. */
function qualityOf(input: StepInput): unknown {
  if ('quality' in input) return input.quality;
  const options: unknown = 'options' in input ? input.options : null;
  return typeof options === 'object' && options !== null && 'quality' in options ? options.quality : null;
}
