import { invalidInput } from '../../domain/failure.ts';
import type { InputFile } from '../../domain/inputs/input-files.ts';
import type { ModelWire, VendorField } from '../../domain/inputs/model-limits.ts';
import type { RequestOf } from '../../domain/work/request.ts';

/** Requests in the fields of a model, for wires on which every model has fields of its own. */

/** Uploads a file and returns its URL. */
export type AddressOfInput = (file: InputFile, field: string) => Promise<string>;

/** Images or a video. */
export type FieldRequest = RequestOf<'IMAGE' | 'VIDEO'>;

/** The input of a request, by the model's fields. What is left open, or has no field, is not sent. */
export async function inputIn(
  { fields }: Pick<ModelWire, 'fields'>,
  request: FieldRequest,
  resolveAddress: AddressOfInput,
): Promise<Record<string, unknown>> {
  const given: Readonly<Record<string, unknown>> = { ...request };
  const startsWithImage = given['firstFrame'] !== undefined;
  if (given['lastFrame'] !== undefined && !startsWithImage)
    throw invalidInput('firstFrame', 'a last frame needs a first one');
  const sent: Record<string, unknown> = {};
  for (const [input, field] of Object.entries(fields)) {
    // With a first frame, the aspect ratio is the image's.
    if (input === 'aspectRatio' && startsWithImage) continue;
    const value =
      field.as === 'size'
        ? toSize(given)
        : await toValue(given[input], (file) => resolveAddress(file, input));
    if (value !== undefined) sent[field.name] = inForm(value, field);
  }
  return sent;
}

async function toValue(
  value: unknown,
  resolveAddress: (file: InputFile) => Promise<string>,
): Promise<unknown> {
  if (Array.isArray(value)) {
    const addresses: string[] = [];
    for (const file of value) addresses.push(await resolveAddress(file as InputFile));
    return addresses.length === 0 ? undefined : addresses;
  }
  return typeof value === 'object' && value !== null ? resolveAddress(value as InputFile) : value;
}

function inForm(value: unknown, { as: form }: VendorField): unknown {
  if (Array.isArray(value)) return form === 'list' ? value : (value as readonly unknown[])[0];
  if (form === 'list') return [value];
  if (form === 'text') return String(value);
  return form === 'seconds' ? `${String(value)}s` : value;
}

/** fal's words for aspect ratios. */
const SIZES: Readonly<Record<string, string>> = {
  '1:1': 'square_hd',
  '4:3': 'landscape_4_3',
  '3:4': 'portrait_4_3',
  '16:9': 'landscape_16_9',
  '9:16': 'portrait_16_9',
};

/** An exact size wins over an aspect ratio. */
function toSize({ resolution, aspectRatio }: Readonly<Record<string, unknown>>): unknown {
  const exact = typeof resolution === 'string' ? resolution : '';
  const [, width, height] = /^(\d{2,4})x(\d{2,4})$/.exec(exact) ?? [];
  if (width !== undefined) return { width: Number(width), height: Number(height) };
  if (typeof aspectRatio !== 'string') return undefined;
  const size = SIZES[aspectRatio];
  if (size === undefined) throw invalidInput('aspectRatio', `takes one of ${Object.keys(SIZES).join(', ')}`);
  return size;
}
