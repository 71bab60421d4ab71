import { badInput } from '../../platform/errors.ts';
import { ProviderVoices, Voices, type VoiceFields } from '../documents/media/questions.ts';
import { CloneVoice, SynthesizeSpeech } from '../documents/media/start.ts';
import { success } from '../replies/envelopes.ts';
import { taskReply } from '../replies/task.ts';
import { route, twoStepRoute, localRoute } from '../route/define-route.ts';
import { file, form } from '../route/params.ts';
import type { Section } from '../route/route.ts';
import { multipart, optional, resourceReply, urlencoded, vendorOptions } from './shared/inputs.ts';
import { synchronous } from './shared/start-operations.ts';

const generator = 'agg/speech_router';

/** Speech. */
export const speech: Section = {
  service: 'media',
  title: 'Speech',
  routes: [
    twoStepRoute(
      Voices,
      SynthesizeSpeech,
    )({
      method: 'POST',
      path: '/api/agg/speech_router/sync/generate/speech',
      params: {
        text: form.text(),
        voice_id: form.text(optional),
        model: form.text(optional),
        speed: form.number(optional),
        pitch: form.number(optional),
        volume: form.number(optional),
        emotion: form.text(optional),
        format: form.text(optional),
        ...vendorOptions,
      },
      body: urlencoded,
      first: ({ voice_id }) => (voice_id === undefined ? { generator } : null),
      variables: ({ voice_id, ...fields }, found) => ({
        input: { generator, ...fields, voiceId: voice_id ?? firstVoice(found?.voices ?? []) },
      }),
      wait: {},
      responseSchema: 'MediaTask',
      reply: ({ synthesizeSpeech }) => taskReply(synthesizeSpeech),
    }),
    route(ProviderVoices)({
      method: 'GET',
      path: '/api/agg/speech_router/sync/get/voices',
      variables: () => ({ generator }),
      responseSchema: 'Voices',
      reply: ({ voices, providerVoices }) => {
        const cloned = voices.filter((voice) => voice.cloned);
        const list = cloned.map(({ id, name, language }) => ({ voice_id: id, name, language }));
        const ids = cloned.map(({ id }) => id);
        const extra = { voices: list, provider: providerVoices };
        return { ...success(ids, `cloned voices: ${ids.length}`), extra };
      },
    }),
    localRoute({
      method: 'POST',
      path: '/api/agg/speech_router/sync/file/upload',
      params: {
        file: file({ destination: { to: 'voice-samples', generator } }),
        // Accepted for old callers: uploads are always samples to clone.
        purpose: form.text(optional),
      },
      body: multipart,
      rule: 'spend',
      responseSchema: 'StoredResource',
      reply: (_, { input }) => resourceReply(input.file, 'sample stored'),
    }),
    synchronous(CloneVoice, { responseSchema: 'VoiceTask', reply: taskReply })({
      path: '/api/agg/speech_router/sync/voice/clone',
      params: {
        voice_id: form.text(),
        file_id: form.text(optional),
        file: file(optional),
        text: form.text(optional),
        model: form.text(optional),
        ...vendorOptions,
      },
      body: { ...multipart, oneOf: [['file_id', 'file']] },
      variables: ({ voice_id, file_id, file: sample, ...fields }) => ({
        input: { generator, ...fields, sample: { fileId: file_id ?? sample?.id ?? '' }, voiceId: voice_id },
      }),
    }),
  ],
};

/** The default voice: the first one of the provider's own. */
function firstVoice(voices: readonly VoiceFields[]): string {
  const voice = voices.find(({ cloned }) => !cloned) ?? voices[0];
  if (voice === undefined) throw badInput('voice_id', 'voice_id: name a voice; the provider lists none');
  return voice.id;
}
