import type { HttpClient } from '../../../../platform/http/http-client.ts';
import type { Provider } from '../contract/provider.ts';
import { createExchange } from '../shared/exchange.ts';
import { synthesize } from './speech.ts';
import { eraseVideo, startVideo, videoStatus } from './video.ts';
import { cloneVoice, listVoices, uploadFile, voiceIdProblems } from './voices.ts';
import { answerChallenge } from './wire.ts';

/**
 * The MiniMax wire (v1, and v2 for the videos of MiniMax-H3): videos are jobs; speech, cloned voices, voice lists and uploads are synchronous. The result
 * code is `base_resp.status_code`, not the HTTP status (wire.ts). The wire has no field for Kiln's reference and no
 * list of tasks, so a start without an answer can't be found again, and it has no cancel.
 */
export function createMinimax(options: { readonly http: HttpClient }): Provider {
  const exchange = createExchange(options.http);
  return {
    name: 'minimax',
    inputProblems: (work) => (work.kind === 'VOICE_CLONE' ? voiceIdProblems(work.voiceId) : []),
    jobs: {
      VIDEO: {
        pollMs: 2_000,
        start: (request, context) => startVideo(exchange, request, context),
        status: (handle, context) => videoStatus(exchange, handle, context),
        erase: (handle, context) => eraseVideo(exchange, handle, context),
      },
    },
    calls: {
      SPEECH: { call: (request, context) => synthesize(exchange, request, context) },
      VOICE_CLONE: { call: (request, context) => cloneVoice(exchange, request, context) },
    },
    voices: (context) => listVoices(exchange, context),
    upload: (request, context) => uploadFile(exchange, request, context),
    answerChallenge,
  };
}
