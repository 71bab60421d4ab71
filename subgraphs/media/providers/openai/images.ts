import { openImage } from '../../../../platform/object-store/measure/image.ts';
import { invalidInput } from '../../domain/failure.ts';
import type { InputFile } from '../../domain/inputs/input-files.ts';
import { nearestRatio } from '../../domain/inputs/options.ts';
import type { RequestOf } from '../../domain/work/request.ts';
import type { Connection, Outcome, StartContext } from '../contract/provider.ts';
import { dataUri, readInput, type Exchange, type ExchangeRequest } from '../shared/exchange.ts';
import { encodeForm, formValue, withVendorOptions } from '../shared/request-body.ts';
import { imageOutcome, throwStartRefusal } from './wire.ts';

/** Images from text (/images/generations) and from images (/images/edits): one call that returns the images. */

type ImageRequest = RequestOf<'IMAGE'>;
type Sent = Pick<ExchangeRequest, 'path' | 'json' | 'bytes'> & { readonly headers: Record<string, string> };

const TIMEOUT_MS = 600_000;
const MAX_BYTES = 96 << 20;
const DEFAULT_MODEL = 'gpt-image-2';

/** What differs between servers of this wire: what is sent besides images, and where nobody says otherwise. */
interface ImageDialect {
  readonly buildFields: (request: ImageRequest, model: string) => Record<string, string | number>;
  readonly defaults?: Readonly<Record<string, string>>;
}

/** The quality is sent, as prices are estimated by it: left out, the vendor chooses one that may cost four times as much. */
const OWN: ImageDialect = { buildFields: imageFields, defaults: { output_format: 'png', quality: 'medium' } };

/** Generates the images. */
export async function makeImages(
  exchange: Exchange,
  request: ImageRequest,
  context: StartContext,
  { buildFields, defaults }: ImageDialect = OWN,
): Promise<Outcome> {
  const fields = sentFields(request, context, { buildFields, defaults: defaults ?? {} });
  const { images = [] } = request;
  const sent: Sent =
    images.length === 0
      ? { path: '/images/generations', json: fields, headers: {} }
      : await edit(fields, images, request.mask);
  const answer = await exchange(context, {
    ...sent,
    method: 'POST',
    headers: { ...sent.headers, 'idempotency-key': context.reference },
    timeoutMs: context.connection.callTimeoutMs ?? TIMEOUT_MS,
    maxBytes: MAX_BYTES,
  });
  throwStartRefusal(answer);
  return imageOutcome(answer);
}

/** The same as one line of a batch: edits are JSON there, with their images inside. */
export async function imageLine(
  request: ImageRequest,
  context: StartContext,
): Promise<{ readonly endpoint: string; readonly model: string; readonly body: object }> {
  const fields = sentFields(request, context, OWN);
  const { images = [], mask } = request;
  const model = context.connection.model ?? DEFAULT_MODEL;
  if (images.length === 0) return { endpoint: '/v1/images/generations', model, body: fields };
  const sources: { image_url: string }[] = [];
  for (const image of images) sources.push({ image_url: await dataUri(image, 'images') });
  const [first] = images;
  const drawn =
    mask === undefined || first === undefined
      ? null
      : await transparentMask(mask, await readInput(first, 'images'));
  const masked = drawn && {
    mask: { image_url: `data:image/png;base64,${Buffer.from(drawn).toString('base64')}` },
  };
  return { endpoint: '/v1/images/edits', model, body: { ...fields, images: sources, ...masked } };
}

function sentFields(
  request: ImageRequest,
  { connection }: Pick<StartContext, 'connection'>,
  { buildFields, defaults }: ImageDialect,
): Record<string, unknown> {
  const own = buildFields(request, connection.model ?? DEFAULT_MODEL);
  return withVendorOptions(request, own, fitting(defaults, connection));
}

/** The defaults that the model has, with a value that it has; all of them where its options are not known. */
function fitting(defaults: ImageDialect['defaults'] = {}, { options }: Connection): Record<string, string> {
  const taken = Object.entries(defaults).filter(([name, value]) => {
    const option = options?.properties[name];
    return options === undefined || (option !== undefined && option.enum?.includes(value) !== false);
  });
  return Object.fromEntries(taken);
}

function imageFields(request: ImageRequest, model: string): Record<string, string | number> {
  return {
    model,
    prompt: buildPrompt(request),
    n: request.count ?? 1,
    size: chooseSize(request),
  };
}

/** The prompt with what is to be avoided: the wire has no field for that. */
export function buildPrompt({ prompt, negativePrompt }: ImageRequest): string {
  return negativePrompt === undefined ? prompt : `${prompt}\n\nAvoid: ${negativePrompt}`;
}

/** The three sizes of the image models; the nearest aspect ratio wins. An explicit WxH is sent unchanged. */
const SIZES: Readonly<Record<string, string>> = {
  '1:1': '1024x1024',
  '3:2': '1536x1024',
  '2:3': '1024x1536',
};

function chooseSize({ resolution, aspectRatio = '1:1' }: ImageRequest): string {
  if (resolution !== undefined && /^\d{2,5}x\d{2,5}$/.test(resolution)) return resolution;
  const nearest = nearestRatio(aspectRatio, Object.keys(SIZES)) ?? '1:1';
  return SIZES[nearest] ?? '1024x1024';
}

async function edit(
  fields: Readonly<Record<string, unknown>>,
  images: readonly InputFile[],
  mask: InputFile | undefined,
): Promise<Sent> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, formValue(value));
  for (const [index, image] of images.entries()) {
    const bytes = new Uint8Array(await readInput(image, 'images'));
    form.append('image[]', new Blob([bytes], { type: image.contentType }), image.name);
    // A mask belongs to the first image.
    if (index > 0 || mask === undefined) continue;
    form.append('mask', new Blob([await transparentMask(mask, bytes)], { type: 'image/png' }), 'mask.png');
  }
  return { path: '/images/edits', ...(await encodeForm(form)) };
}

/** Most pixels of the image of a mask, which is not decoded. */
const MAX_PIXELS = 64_000_000;

/**
 * A mask for wires that draw anew what is transparent: a PNG of the image's size, transparent where the mask is white.
 * Throws INVALID_INPUT when it is no image.
 */
async function transparentMask(mask: InputFile, image: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  // Loaded only when needed.
  const { default: sharp } = await import('sharp');
  const drawn = await readInput(mask, 'mask');
  try {
    const { width, height } = await sharp(image, { limitInputPixels: MAX_PIXELS }).metadata();
    const white = await openImage(drawn);
    const grey = await white.image
      .flatten({ background: 'white' })
      .resize({ width, height, fit: 'fill' })
      .greyscale()
      .negate()
      .toColourspace('b-w')
      .raw()
      .toBuffer();
    const black = { create: { width, height, channels: 3, background: 'black' } } as const;
    const alpha = { raw: { width, height, channels: 1 } } as const;
    return new Uint8Array(await sharp(black).joinChannel(grey, alpha).png().toBuffer());
  } catch (cause) {
    throw invalidInput('mask', 'it or its image can not be read', cause);
  }
}
