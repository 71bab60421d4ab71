import type { HttpClient } from '../../../../platform/http/http-client.ts';
import { openImage } from '../../../../platform/object-store/measure/image.ts';
import { invalidInput, modelGone } from '../../domain/failure.ts';
import type { InputFile } from '../../domain/inputs/input-files.ts';
import type { RequestOf } from '../../domain/work/request.ts';
import type { Provider, CallStartContext, Outcome } from '../contract/provider.ts';
import { createExchange, type Exchange, beforeStart, readInput } from '../shared/exchange.ts';
import { withVendorOptions } from '../shared/request-body.ts';
import { followTask, interruptTask } from './progress.ts';
import { findTitle, imageFiles, throwRefusal } from './wire.ts';

/**
 * The API of Stable Diffusion web UI (AUTOMATIC1111, Forge and its family, started with `--api`): images from words
 * and from an image, one call that returns them. Kiln's reference is the id of the call's task there, by which its
 * progress is asked for and a cancelled call is interrupted; an ended one can't be found by it. Basic authentication,
 * where the server wants it, has `user` and `password` of the credentials.
 */
export function createStableDiffusionWebui({ http }: { readonly http: HttpClient }): Provider {
  const exchange = withLogin(createExchange(http));
  return {
    name: 'stable-diffusion-webui',
    calls: { IMAGE: { call: (request, context) => makeImages(exchange, request, context) } },
  };
}

function withLogin(exchange: Exchange): Exchange {
  return (context, request) => {
    const { user, password } = context.connection.credentials;
    if (user === undefined || password === undefined) return exchange(context, request);
    const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
    return exchange(context, { ...request, headers: { ...request.headers, authorization } });
  };
}

type ImageRequest = RequestOf<'IMAGE'>;

/** The catalog's name for the checkpoint that the server has loaded. */
const LOADED = 'stable-diffusion-webui';
/** The attempt's own limit is shorter. */
const TIMEOUT_MS = 3_600_000;
const MAX_BYTES = 96 << 20;
/** Most pixels of an image whose header is read here. */
const MAX_PIXELS = 64_000_000;
/** Pixels of an image whose shape alone is asked for, and most of one made from another. */
const PIXELS = 1024 * 1024;
const MOST_PIXELS = 4 * PIXELS;
/** Edges are multiples of this. */
const STEP = 8;

/** Makes the images. When the signal is aborted, a task that is being worked on is interrupted there. */
async function makeImages(
  exchange: Exchange,
  request: ImageRequest,
  context: CallStartContext,
): Promise<Outcome> {
  const { path, fields } = await beforeStart(prepare(exchange, request, context));
  const { reference, report } = context;
  const over = new AbortController();
  const watched = { ...context, signal: AbortSignal.any([context.signal, over.signal]) };
  const following = report === undefined ? Promise.resolve() : followTask(exchange, watched, report);
  try {
    const answer = await exchange(context, {
      method: 'POST',
      path,
      json: withVendorOptions(request, { ...fields, force_task_id: reference }),
      timeoutMs: context.connection.callTimeoutMs ?? TIMEOUT_MS,
      maxBytes: MAX_BYTES,
    });
    throwRefusal(answer);
    return { files: imageFiles(answer, request.count ?? 1), texts: [] };
  } catch (error) {
    if (context.signal.aborted) await interruptTask(exchange, context);
    throw error;
  } finally {
    over.abort();
    await following;
  }
}

interface Call {
  readonly path: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

async function prepare(exchange: Exchange, request: ImageRequest, context: CallStartContext): Promise<Call> {
  const { prompt, negativePrompt, count = 1, seed, images = [], mask } = request;
  const { model } = context.connection;
  const checkpoint =
    model === null || model === LOADED ? null : await findCheckpoint(exchange, model, context);
  const shared = {
    prompt,
    negative_prompt: negativePrompt,
    seed,
    // One after another: several at once need their memory at once.
    n_iter: count,
    ...(checkpoint !== null && { override_settings: { sd_model_checkpoint: checkpoint } }),
  };
  const [image, ...others] = images;
  if (others.length > 0) throw invalidInput('images', 'this provider takes one image');
  if (image === undefined) {
    return { path: '/sdapi/v1/txt2img', fields: { ...shared, ...chooseSize(request, null) } };
  }
  const bytes = await readInput(image, 'images');
  const fields = {
    ...shared,
    ...chooseSize(request, await measure(bytes)),
    init_images: [bytes.toString('base64')],
    // The whole image, so that the mask may have another size.
    ...(mask !== undefined && { mask: await greyMask(mask), inpaint_full_res: false, inpainting_fill: 1 }),
  };
  return { path: '/sdapi/v1/img2img', fields };
}

/** The server's title of a checkpoint. It would ignore one that it does not have, and use another. */
async function findCheckpoint(exchange: Exchange, model: string, context: CallStartContext): Promise<string> {
  const answer = await exchange(context, { method: 'GET', path: '/sdapi/v1/sd-models', retry: 'safe' });
  throwRefusal(answer);
  const title = findTitle(answer, model);
  if (title !== null) return title;
  throw modelGone(`stable-diffusion-webui: there is no checkpoint ${model}`);
}

type Size = { readonly width: number; readonly height: number };

/** An explicit WxH; else about a megapixel in the asked shape, or the image's size; else what the server takes. */
function chooseSize({ resolution, aspectRatio }: ImageRequest, image: Size | null): Partial<Size> {
  const [, width, height] = /^(\d{2,4})x(\d{2,4})$/.exec(resolution ?? '') ?? [];
  if (width !== undefined && height !== undefined) return { width: Number(width), height: Number(height) };
  if (resolution !== undefined) throw invalidInput('resolution', 'WIDTHxHEIGHT in pixels, such as 1024x768');
  if (aspectRatio !== undefined) {
    const [across = 1, down = 1] = aspectRatio.split(':').map(Number);
    return within({ width: across, height: down }, Math.sqrt(PIXELS / (across * down)));
  }
  if (image === null) return {};
  return within(image, Math.min(1, Math.sqrt(MOST_PIXELS / (image.width * image.height))));
}

function within({ width, height }: Size, scale: number): Size {
  const edge = (length: number) => Math.max(STEP, Math.round((length * scale) / STEP) * STEP);
  return { width: edge(width), height: edge(height) };
}

async function measure(image: Uint8Array): Promise<Size> {
  try {
    // Loaded only when needed.
    const { default: sharp } = await import('sharp');
    // Turned as the server turns it.
    const { autoOrient } = await sharp(image, { limitInputPixels: MAX_PIXELS }).metadata();
    return autoOrient;
  } catch (cause) {
    throw invalidInput('images', 'it can not be read', cause);
  }
}

/** The mask without an alpha channel, which the server would take for the mask. */
async function greyMask(mask: InputFile): Promise<string> {
  const bytes = await readInput(mask, 'mask');
  try {
    const { image } = await openImage(bytes);
    const grey = await image.flatten({ background: 'white' }).greyscale().png().toBuffer();
    return grey.toString('base64');
  } catch (cause) {
    throw invalidInput('mask', 'it can not be read', cause);
  }
}
