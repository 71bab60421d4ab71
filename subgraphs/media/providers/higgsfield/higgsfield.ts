import type { HttpClient } from '../../../../platform/http/http-client.ts';
import { UpstreamError } from '../../domain/failure.ts';
import type { InputFile } from '../../domain/inputs/input-files.ts';
import type { RequestOf } from '../../domain/work/request.ts';
import type {
  CallContext,
  Connection,
  Handle,
  JobCapability,
  Provider,
  StartContext,
} from '../contract/provider.ts';
import { buildUrl, beforeStart, createExchange, type Exchange } from '../shared/exchange.ts';
import { withVendorOptions } from '../shared/request-body.ts';
import { putFile } from '../shared/upload-address.ts';
import { asCharacter, asUpload, asRequest, characterStatus, requestStatus, throwRefusal } from './wire.ts';

type CharacterImageRequest = RequestOf<'CHARACTER_IMAGE'>;

interface Wire {
  readonly http: HttpClient;
  readonly exchange: Exchange;
}

/**
 * Higgsfield's Soul: characters (custom references) trained on images, and images of them. Kiln's reference is sent as
 * Idempotency-Key, which can't be looked up afterwards. Only queued image requests can be cancelled.
 */
export function createHiggsfield({ http }: { readonly http: HttpClient }): Provider {
  const wire = { http, exchange: createExchange(http) };
  return { name: 'higgsfield', jobs: { CHARACTER: characters(wire), CHARACTER_IMAGE: images(wire) } };
}

function characters(wire: Wire): JobCapability<RequestOf<'CHARACTER'>> {
  const { exchange } = wire;
  return {
    pollMs: 3_000,
    async start(request, context) {
      const urls = await beforeStart(uploadAll(wire, request.images, context));
      const answer = await exchange(context, {
        method: 'POST',
        path: '/v1/custom-references',
        headers: { 'idempotency-key': context.reference },
        json: withVendorOptions(request, {
          name: request.name,
          input_images: urls.map((url) => ({ type: 'image_url', image_url: url })),
        }),
      });
      return { id: asCharacter(answer, 'start').id };
    },
    async status(handle, context) {
      const path = `/v1/custom-references/${readId(handle)}`;
      return characterStatus(
        asCharacter(await exchange(context, { method: 'GET', path, retry: 'safe' }), 'work'),
      );
    },
  };
}

function images({ exchange }: Wire): JobCapability<CharacterImageRequest> {
  return {
    pollMs: 1_500,
    start: (request, context) => startImages(exchange, request, context),
    async status(handle, context) {
      const path = formatPath(handle, 'status');
      return requestStatus(
        asRequest(await exchange(context, { method: 'GET', path, retry: 'safe' }), 'work'),
      );
    },
    async cancel(handle, context) {
      const answer = await exchange(context, { method: 'POST', path: formatPath(handle, 'cancel') });
      // 400: it has started or ended.
      if (answer.status === 400 || answer.status === 404) return 'too-late';
      throwRefusal(answer, 'work');
      return 'cancelled';
    },
  };
}

const DEFAULT_MODEL = 'higgsfield-ai/soul/standard';

async function startImages(
  exchange: Exchange,
  request: CharacterImageRequest,
  context: StartContext,
): Promise<Handle> {
  const { connection, reference, webhookUrl } = context;
  const model = (connection.model ?? DEFAULT_MODEL).split('/').map(encodeURIComponent).join('/');
  const query = webhookUrl === undefined ? '' : `?hf_webhook=${encodeURIComponent(webhookUrl)}`;
  const answer = await exchange(context, {
    method: 'POST',
    path: `/${model}${query}`,
    headers: { 'idempotency-key': reference },
    json: withVendorOptions(request, settings(request)),
  });
  const { request_id: id, status_url: status, cancel_url: cancel } = asRequest(answer, 'start');
  return { id, status: pathAtHome(status, connection), cancel: pathAtHome(cancel, connection) };
}

function settings(request: CharacterImageRequest): Record<string, unknown> {
  const { prompt, aspectRatio, resolution, count, seed, characterId } = request;
  if (count !== undefined && count !== 1 && count !== 4) {
    const message = 'count: higgsfield makes one image or four';
    throw new UpstreamError('INVALID_INPUT', message, { field: 'count' });
  }
  return {
    prompt,
    aspect_ratio: aspectRatio,
    resolution,
    batch_size: count,
    seed,
    custom_reference_id: characterId,
  };
}

/** The URLs of images: our own when they are public, else of their copies in Higgsfield's storage. */
async function uploadAll(
  { http, exchange }: Wire,
  files: readonly InputFile[],
  context: CallContext,
): Promise<string[]> {
  const urls: string[] = [];
  for (const file of files) {
    if (file.publicUrl !== null) {
      urls.push(file.publicUrl);
      continue;
    }
    const answer = await exchange(context, {
      method: 'POST',
      path: '/files/generate-upload-url',
      json: { content_type: file.contentType },
    });
    const { upload_url: url, public_url: address, upload_headers: headers } = asUpload(answer);
    throwRefusal(await putFile(http, { file, url, context, headers: headers ?? {} }), 'file');
    urls.push(address);
  }
  return urls;
}

/** The path of a URL from the upstream, when it is below our base URL: credentials go nowhere else. */
function pathAtHome(url: string | null | undefined, connection: Connection): string | null {
  const home = `${buildUrl(connection, '')}/`;
  if (!url || !URL.canParse(url)) return null;
  const { origin, pathname, search } = new URL(url);
  const address = `${origin}${pathname}${search}`;
  return address.startsWith(home) ? address.slice(home.length - 1) : null;
}

function formatPath(handle: Handle, what: 'status' | 'cancel'): string {
  const path = handle[what];
  return typeof path === 'string' ? path : `/requests/${readId(handle)}/${what}`;
}

function readId({ id }: Handle): string {
  if (typeof id === 'string') return encodeURIComponent(id);
  throw new UpstreamError('LOST', 'higgsfield: the handle names no work');
}
