import type { HttpClient } from '../../../../platform/http/http-client.ts';
import type { Provider } from '../contract/provider.ts';
import { createEventStream } from '../shared/event-stream.ts';
import { createByteExchange, createExchange } from '../shared/exchange.ts';
import { chat, chatStream } from './chat.ts';
import { makeImages } from './images.ts';
import { speak } from './speech.ts';
import { videoJob } from './videos.ts';

/**
 * The OpenAI wire, spoken by OpenAI and by everything compatible: chat completions (whole or word by word), image
 * generations and edits and speech as calls that answer with the result, videos as jobs that are asked for. Kiln's
 * reference travels as Idempotency-Key; the wire has no way to ask for a start by it.
 */
export function createOpenai(options: { readonly http: HttpClient }): Provider {
  const exchange = createExchange(options.http);
  const fetchBytes = createByteExchange(options.http);
  const events = createEventStream(options.http);
  return {
    name: 'openai',
    jobs: { VIDEO: videoJob(exchange) },
    calls: {
      IMAGE: { call: (request, context) => makeImages(exchange, request, context) },
      SPEECH: { call: (request, context) => speak(fetchBytes, request, context) },
    },
    chat: (request, context) => chat(exchange, request, context),
    chatStream: (request, context) => chatStream(events, request, context),
  };
}
