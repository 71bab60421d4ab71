import type { Answer } from '../../http/answer.ts';
import { openaiError } from './errors.ts';

/** The vendor's names, so that clients need no other; behind them are local-rules and local-studio. */
const NAMES = {
  chat: [
    'local-rules',
    'gpt-6-luna',
    'gpt-6.1-sol',
    'gpt-6.1-terra',
    'gpt-6-astra',
    'gpt-4o-mini',
    'gpt-4o',
    'gpt-5',
    'gpt-5-mini',
  ],
  images: [
    'local-studio',
    'gpt-image-2',
    'gpt-image-2.5-flare',
    'gpt-image-2.5-sunburst',
    'gpt-image-2.6-flare',
    'gpt-image-2.6-sunburst',
    'gpt-image-1.5',
    'gpt-image-1',
    'gpt-image-1-mini',
  ],
  speech: ['local-studio', 'gpt-4o-mini-tts', 'tts-1', 'tts-1-hd'],
  videos: ['local-studio', 'sora-2', 'sora-2-pro'],
} as const;

/** What a model is asked for. */
type Purpose = keyof typeof NAMES;

/** Names that the vendor may give its next models: a CATALOG_FILE can be tried before there is a key. */
const NEXT_NAMES: Readonly<Record<Purpose, RegExp>> = {
  chat: /^(gpt-\d(\.\d+)?|o\d)(?!.*-tts)(-[\w.-]+)?$/,
  images: /^gpt-image-\d[\w.-]*$/,
  speech: /^(gpt-[\w.-]+-tts|tts-\d[\w-]*)$/,
  videos: /^sora-\d[\w-]*$/,
};

/** Ends that the vendor has announced; nothing ends here. */
const SHUTDOWN_DATES: Readonly<Record<string, string>> = {
  'gpt-image-1': '2026-10-23',
  'gpt-image-1.5': '2026-12-01',
  'gpt-image-1-mini': '2026-12-01',
  'sora-2': '2026-09-24',
  'sora-2-pro': '2026-09-24',
  'gpt-4o': '2027-01-14',
  'gpt-4o-mini': '2027-01-14',
  'gpt-5': '2026-12-11',
  'gpt-5-mini': '2026-12-11',
};

/** GET /v1/models. */
export const MODELS = [...new Set<string>(Object.values(NAMES).flat())].map((id) => ({
  id,
  object: 'model',
  created: 1_760_000_000,
  owned_by: id.startsWith('local-') ? 'local' : 'system',
  shutdown_date: SHUTDOWN_DATES[id] ?? null,
}));

/** Why this model can't do it: 404 for one that is not there; null when it can. */
export function modelRefusal(id: string, purpose: Purpose): Answer | null {
  const names: readonly string[] = NAMES[purpose];
  return names.includes(id) || NEXT_NAMES[purpose].test(id) ? null : noModel(id);
}

/** 404: the model has ended, as OpenAI says it. */
export function endedModel(id: string): Answer {
  return openaiError(404, {
    message: `The model \`${id}\` has been deprecated, learn more here: https://platform.openai.com/docs/deprecations`,
    type: 'invalid_request_error',
    code: 'model_not_found',
  });
}

/** 404: there is no such model. */
export function noModel(id: string): Answer {
  return openaiError(404, {
    message: `The model '${id}' does not exist or you do not have access to it.`,
    type: 'invalid_request_error',
    param: 'model',
    code: 'model_not_found',
  });
}
