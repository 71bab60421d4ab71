import type { HttpClient } from '../../../../platform/http/http-client.ts';
import type { RequestOf } from '../../domain/work/request.ts';
import type { Provider } from '../contract/provider.ts';
import { createEventStream } from '../shared/event-stream.ts';
import { createByteExchange, createExchange, type ExchangeRequest } from '../shared/exchange.ts';
import { chat, chatStream } from './chat.ts';
import { makeImages, buildPrompt } from './images.ts';
import { speak } from './speech.ts';
import { videoJob } from './videos.ts';

/**
 * The OpenAI wire as other servers speak it (LiteLLM, vLLM, LocalAI, OpenRouter): only what all of them know is sent, by
 * its older name where it has two, and a size only when somebody asked for one. Its models are those of GENERATORS_FILE.
 */
export function createOpenaiCompatible(options: { readonly http: HttpClient }): Provider {
  const exchange = createExchange(options.http);
  const fetchBytes = createByteExchange(options.http);
  const events = createEventStream(options.http);
  return {
    name: 'openai-compatible',
    jobs: { VIDEO: videoJob(exchange, { isSizeOptional: true }) },
    calls: {
      IMAGE: {
        call: (request, context) => makeImages(exchange, request, context, { buildFields: imageFields }),
      },
      SPEECH: { call: (request, context) => speak(fetchBytes, request, context) },
    },
    chat: (request, context) => chat((...call) => exchange(...olderNames(...call)), request, context),
    chatStream: (request, context) =>
      chatStream((...call) => events(...olderNames(...call)), request, context),
  };
}

/** `max_tokens` is what every server reads. */
function olderNames<Context, Request extends ExchangeRequest>(
  context: Context,
  request: Request,
): [Context, Request] {
  const { max_completion_tokens: most, ...rest } = request.json as Readonly<Record<string, unknown>>;
  return [context, most === undefined ? request : { ...request, json: { ...rest, max_tokens: most } }];
}

function imageFields(request: RequestOf<'IMAGE'>, model: string): Record<string, string | number> {
  const size = chooseSize(request);
  return {
    model,
    prompt: buildPrompt(request),
    n: request.count ?? 1,
    // Not OpenAI's own: a server that does not know it says so.
    ...(request.seed !== undefined && { seed: request.seed }),
    ...(size !== undefined && { size }),
  };
}

/** Pixels of an image whose shape alone is asked for, and what its edges are multiples of. */
const PIXELS = 1024 * 1024;
const STEP = 64;

/** An explicit WxH, or about a megapixel in the asked shape; the server's own size otherwise. */
function chooseSize({ resolution, aspectRatio }: RequestOf<'IMAGE'>): string | undefined {
  if (resolution !== undefined || aspectRatio === undefined) return resolution;
  const [width = 1, height = 1] = aspectRatio.split(':').map(Number);
  const edge = (share: number) => Math.max(STEP, Math.round(Math.sqrt(PIXELS * share) / STEP) * STEP);
  return `${edge(width / height)}x${edge(height / width)}`;
}
