import type { Problem } from '../../../../platform/errors.ts';
import type { HttpClient } from '../../../../platform/http/http-client.ts';
import type { StepInput } from '../../domain/work/work.ts';
import type { Provider } from '../contract/provider.ts';
import { createEventStream } from '../shared/event-stream.ts';
import { createByteExchange, createExchange } from '../shared/exchange.ts';
import { chat, chatStream } from './chat.ts';
import { imageBatches } from './image-batches.ts';
import { streamedExchange, wholeExchange } from './image-stream.ts';
import { makeImages } from './images.ts';
import { speak } from './speech.ts';
import { videoJob } from './videos.ts';

/**
 * The OpenAI wire, offered by OpenAI and compatible services: chat completions (whole or streamed), image generations
 * and edits (one image as a stream) and speech as synchronous calls, videos as jobs. Kiln's reference is sent as Idempotency-Key; the wire has
 * no way to find a start by it. Images may also go in the vendor's batches, as jobs.
 */
export function createOpenai(options: { readonly http: HttpClient }): Provider {
  const exchange = createExchange(options.http);
  const fetchBytes = createByteExchange(options.http);
  const events = createEventStream(options.http);
  return {
    name: 'openai',
    inputProblems: editProblems,
    jobs: { VIDEO: videoJob(exchange) },
    calls: {
      IMAGE: {
        call: (request, context) => {
          const parts = { exchange, events, report: context.report };
          return makeImages(
            (request.count ?? 1) === 1 ? streamedExchange(parts) : wholeExchange(exchange),
            request,
            context,
          );
        },
      },
      SPEECH: { call: (request, context) => speak(fetchBytes, request, context) },
    },
    batches: {
      jobs: { IMAGE: imageBatches(options) },
      // Servers of the same wire have none, or run them at the usual price.
      isAt: (baseUrl) => /(?:^|\.)api\.openai\.com$/.test(new URL(baseUrl).hostname),
    },
    chat: (request, context) => chat(exchange, request, context),
    chatStream: (request, context) => chatStream(events, request, context),
  };
}

/** Edits of images have no `moderation`, which images from words have. */
function editProblems(work: StepInput): readonly Problem[] {
  if (work.kind !== 'IMAGE' || work.options?.['moderation'] === undefined) return [];
  const isEdit = work.mask !== undefined || (work.images ?? []).length > 0;
  return isEdit ? [{ field: 'options.moderation', message: 'is not taken together with images' }] : [];
}
