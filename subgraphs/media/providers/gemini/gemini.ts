import type { HttpClient } from '../../../../platform/http/http-client.ts';
import type { Provider } from '../contract/provider.ts';
import { createEventStream } from '../shared/event-stream.ts';
import { createExchange } from '../shared/exchange.ts';
import { analyse } from './analysis.ts';
import { chat, chatStream } from './chat.ts';
import { uploadFile } from './files.ts';
import { makeImages } from './images.ts';
import { speak, VOICES } from './speech.ts';
import { videoJob } from './veo.ts';

/**
 * The Gemini API: chat (whole or streamed), images, speech and analyses as calls of generateContent, files in Google's own
 * storage, and videos (Veo) as long-running operations. The key is sent as `x-goog-api-key`. The wire has no field for
 * our reference, and no way to find a start by it.
 */
export function createGemini({ http }: { readonly http: HttpClient }): Provider {
  const exchange = createExchange(http);
  const events = createEventStream(http);
  const tools = { http, exchange };
  return {
    name: 'gemini',
    jobs: { VIDEO: videoJob(exchange) },
    calls: {
      IMAGE: { call: (request, context) => makeImages(exchange, request, context) },
      SPEECH: { call: (request, context) => speak(exchange, request, context) },
      ANALYSIS: { call: (request, context) => analyse(tools, request, context) },
    },
    chat: (request, context) => chat(exchange, request, context),
    chatStream: (request, context) => chatStream(events, request, context),
    voices: async () => VOICES,
    upload: ({ file }, context) => uploadFile(tools, file, context),
  };
}
