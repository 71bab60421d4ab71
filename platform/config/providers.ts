import type { Values } from './settings/settings.ts';

/** The upstreams that are configured; null is one that is not. */
export interface ProvidersConfig {
  readonly openai: { readonly apiKey: string | null; readonly baseUrl: string } | null;
  readonly gemini: { readonly apiKey: string; readonly baseUrl: string } | null;
  readonly kling: {
    /** An API key, or the key pair that signs tokens. */
    readonly login: { readonly apiKey: string } | { readonly accessKey: string; readonly secretKey: string };
    readonly baseUrl: string;
  } | null;
  readonly minimax: {
    readonly apiKey: string;
    readonly groupId: string | null;
    readonly baseUrl: string;
  } | null;
  readonly hedra: { readonly apiKey: string; readonly baseUrl: string } | null;
  /** `KEY_ID:KEY_SECRET`. */
  readonly higgsfield: { readonly key: string; readonly baseUrl: string } | null;
  readonly volcengine: {
    readonly accessKey: string;
    readonly secretKey: string;
    readonly baseUrl: string;
    readonly vodBaseUrl: string;
    /** VOD space that videos are uploaded to; null: avatars are not available. */
    readonly vodSpace: string | null;
  } | null;
  readonly fal: { readonly key: string; readonly baseUrl: string; readonly restBaseUrl: string } | null;
  readonly replicate: { readonly token: string; readonly baseUrl: string } | null;
  readonly comfyui: { readonly urls: readonly string[]; readonly apiKey: string | null } | null;
  readonly midjourney: { readonly baseUrl: string; readonly secret: string | null } | null;
  readonly aggregator: { readonly baseUrl: string; readonly apiKey: string } | null;
}

const OPENAI_BASE_URL = 'https://api.openai.com/v1';
const GEMINI_BASE_URL = 'https://generativelanguage.googleapis.com/v1beta';
const KLING_BASE_URL = 'https://api-singapore.klingai.com';
const MINIMAX_BASE_URL = 'https://api.minimax.io';
const HEDRA_BASE_URL = 'https://api.hedra.com/web-app';
const HIGGSFIELD_BASE_URL = 'https://api.higgsfield.ai';
const VOLCENGINE_BASE_URL = 'https://visual.volcengineapi.com';
const VOLCENGINE_VOD_BASE_URL = 'https://vod.volcengineapi.com';
const FAL_BASE_URL = 'https://queue.fal.run';
const FAL_REST_BASE_URL = 'https://rest.fal.ai';
const REPLICATE_BASE_URL = 'https://api.replicate.com/v1';

/** The configuration of checked settings (combinations.ts). */
export function providersOf(values: Values): ProvidersConfig {
  const { OPENAI_API_KEY: openaiKey, GEMINI_API_KEY: geminiKey, MINIMAX_API_KEY: minimaxKey } = values;
  const { MIDJOURNEY_BASE_URL: midjourneyUrl, COMFYUI_URLS: comfyuiUrls } = values;
  const { AGG_BASE_URL: aggregatorUrl, AGG_API_KEY: aggregatorKey } = values;
  const hasOpenai = openaiKey !== null || values.OPENAI_BASE_URL !== null;
  return {
    openai: hasOpenai ? { apiKey: openaiKey, baseUrl: values.OPENAI_BASE_URL ?? OPENAI_BASE_URL } : null,
    gemini: geminiKey ? { apiKey: geminiKey, baseUrl: values.GEMINI_BASE_URL ?? GEMINI_BASE_URL } : null,
    kling: klingOf(values),
    minimax: minimaxKey
      ? {
          apiKey: minimaxKey,
          groupId: values.MINIMAX_GROUP_ID,
          baseUrl: values.MINIMAX_BASE_URL ?? MINIMAX_BASE_URL,
        }
      : null,
    ...specialistsOf(values),
    comfyui: comfyuiUrls?.length ? { urls: comfyuiUrls, apiKey: values.COMFYUI_API_KEY } : null,
    midjourney: midjourneyUrl ? { baseUrl: midjourneyUrl, secret: values.MIDJOURNEY_SECRET } : null,
    aggregator: aggregatorUrl && aggregatorKey ? { baseUrl: aggregatorUrl, apiKey: aggregatorKey } : null,
  };
}

function klingOf(values: Values): ProvidersConfig['kling'] {
  const { KLING_API_KEY: apiKey, KLING_ACCESS_KEY: accessKey, KLING_SECRET_KEY: secretKey } = values;
  const baseUrl = values.KLING_BASE_URL ?? KLING_BASE_URL;
  if (apiKey !== null) return { login: { apiKey }, baseUrl };
  return accessKey !== null && secretKey !== null ? { login: { accessKey, secretKey }, baseUrl } : null;
}

type Specialist = 'hedra' | 'higgsfield' | 'volcengine' | 'fal' | 'replicate';

/** Upstreams of lip-sync, characters, avatars, and of models by name. */
function specialistsOf(values: Values): Pick<ProvidersConfig, Specialist> {
  const { HEDRA_API_KEY: hedraKey, HIGGSFIELD_KEY: higgsfieldKey } = values;
  const { FAL_KEY: falKey, REPLICATE_API_TOKEN: token } = values;
  return {
    hedra: hedraKey ? { apiKey: hedraKey, baseUrl: values.HEDRA_BASE_URL ?? HEDRA_BASE_URL } : null,
    higgsfield: higgsfieldKey
      ? { key: higgsfieldKey, baseUrl: values.HIGGSFIELD_BASE_URL ?? HIGGSFIELD_BASE_URL }
      : null,
    volcengine: volcengineOf(values),
    fal: falKey
      ? {
          key: falKey,
          baseUrl: values.FAL_BASE_URL ?? FAL_BASE_URL,
          restBaseUrl: values.FAL_REST_BASE_URL ?? FAL_REST_BASE_URL,
        }
      : null,
    replicate: token ? { token, baseUrl: values.REPLICATE_BASE_URL ?? REPLICATE_BASE_URL } : null,
  };
}

function volcengineOf(values: Values): ProvidersConfig['volcengine'] {
  const { VOLCENGINE_ACCESS_KEY: accessKey, VOLCENGINE_SECRET_KEY: secretKey } = values;
  if (accessKey === null || secretKey === null) return null;
  return {
    accessKey,
    secretKey,
    baseUrl: values.VOLCENGINE_BASE_URL ?? VOLCENGINE_BASE_URL,
    vodBaseUrl: values.VOLCENGINE_VOD_BASE_URL ?? VOLCENGINE_VOD_BASE_URL,
    vodSpace: values.VOLCENGINE_VOD_SPACE,
  };
}
