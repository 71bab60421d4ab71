import type { HttpClient } from '../../../../platform/http/http-client.ts';
import { tokenUnits } from '../../domain/cost.ts';
import { UpstreamError } from '../../domain/failure.ts';
import type { InputFile } from '../../domain/inputs/input-files.ts';
import type { RequestOf } from '../../domain/work/request.ts';
import type { Outcome, StartContext } from '../contract/provider.ts';
import { beforeStart, type Exchange } from '../shared/exchange.ts';
import { withVendorOptions } from '../shared/request-body.ts';
import { generateText } from './chat.ts';
import { uploadFile } from './files.ts';
import { inlinePart } from './images.ts';

/** Analysis of an image, a recording or a video: sent inline while it is small, else through the Files API. */

/** Largest inline file in bytes: in base64 it stays below the request limit of 20 MB. */
const MAX_INLINE = 14 << 20;

type AnalysisRequest = RequestOf<'ANALYSIS'>;

interface Tools {
  readonly http: HttpClient;
  readonly exchange: Exchange;
}

/** Runs an analysis. Throws UpstreamError. */
export async function analyse(
  tools: Tools,
  request: AnalysisRequest,
  context: StartContext,
): Promise<Outcome> {
  const { media } = request;
  const storedUri = media.uploaded?.uri;
  if (storedUri) {
    try {
      return await generate(tools, request, { context, part: filePart(media, storedUri) });
    } catch (error) {
      if (!isGone(error)) throw error;
      // Expired or deleted early: the model has not run yet.
    }
  }
  const part = await beforeStart(toPart(tools, media, context));
  return generate(tools, request, { context, part });
}

async function toPart(tools: Tools, media: InputFile, context: StartContext): Promise<object> {
  if (media.bytes <= MAX_INLINE) return inlinePart(media, 'media');
  return filePart(media, (await uploadFile(tools, media, context)).uri);
}

function filePart({ contentType }: InputFile, fileUri: string): object {
  return { fileData: { mimeType: contentType, fileUri } };
}

async function generate(
  { exchange }: Tools,
  request: AnalysisRequest,
  { context, part }: { readonly context: StartContext; readonly part: object },
): Promise<Outcome> {
  const { prompt, system } = request;
  const body = withVendorOptions(request, {
    contents: [{ role: 'user', parts: [part, { text: prompt }] }],
    systemInstruction: system === undefined ? undefined : { parts: [{ text: system }] },
  });
  const { text, model, usage } = await generateText(exchange, context, { body, field: 'prompt' });
  if (text === '') {
    throw new UpstreamError('UNAVAILABLE', 'gemini had nothing to say about it');
  }
  return {
    files: [],
    texts: [text],
    facts: { model, usage: { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens } },
    units: tokenUnits(usage),
  };
}

/** Google's messages for a file that does not exist (any more), or belongs to another key. */
function isGone(error: unknown): boolean {
  return error instanceof UpstreamError && error.code === 'LOST';
}
