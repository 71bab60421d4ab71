import type { HttpClient } from '../../../../platform/http/http-client.ts';
import { UpstreamError } from '../../domain/failure.ts';
import type { InputFile } from '../../domain/inputs/input.ts';
import type { RequestOf } from '../../domain/work/request.ts';
import type { Outcome, StartContext } from '../contract/provider.ts';
import type { Exchange } from '../shared/exchange.ts';
import { generateText } from './chat.ts';
import { uploadFile } from './files.ts';
import { inlinePart } from './images.ts';

/** Words about a picture, a recording or a video: inside the request while it is small, else by the Files API. */

/** Largest file inside a request, in bytes: with base64's third on top it stays below the 20 MB that a request may have. */
const MAX_INLINE = 14 << 20;

type AnalysisRequest = RequestOf<'ANALYSIS'>;

interface Tools {
  readonly http: HttpClient;
  readonly exchange: Exchange;
}

/** Analyses. Throws UpstreamError. */
export async function analyse(
  tools: Tools,
  request: AnalysisRequest,
  context: StartContext,
): Promise<Outcome> {
  const { media } = request;
  const kept = media.uploaded?.uri;
  if (kept) {
    try {
      return await ask(tools, request, { context, part: filePart(media, kept) });
    } catch (error) {
      if (!isGone(error)) throw error;
      // Expired or deleted sooner than it was said to: the model has seen nothing yet.
    }
  }
  const part = await partOf(tools, media, context);
  return ask(tools, request, { context, part });
}

async function partOf(tools: Tools, media: InputFile, context: StartContext): Promise<object> {
  if (media.bytes <= MAX_INLINE) return inlinePart(media, 'media');
  return filePart(media, (await uploadFile(tools, media, context)).uri);
}

function filePart({ contentType }: InputFile, fileUri: string): object {
  return { fileData: { mimeType: contentType, fileUri } };
}

async function ask(
  { exchange }: Tools,
  { prompt, system }: AnalysisRequest,
  { context, part }: { readonly context: StartContext; readonly part: object },
): Promise<Outcome> {
  const body = {
    contents: [{ role: 'user', parts: [part, { text: prompt }] }],
    systemInstruction: system === undefined ? undefined : { parts: [{ text: system }] },
  };
  const { text, model, usage } = await generateText(exchange, context, { body, field: 'prompt' });
  if (text === '') {
    throw new UpstreamError('UNAVAILABLE', 'gemini had nothing to say about it');
  }
  return { files: [], texts: [text], facts: { model, usage: { ...usage } } };
}

/** Google's words for a file that is not there (any more), or belongs to another key. */
function isGone(error: unknown): boolean {
  return error instanceof UpstreamError && error.code === 'LOST';
}
