import type { Values } from './settings/settings.ts';

/** The upstreams that are configured; null is one that is not. */
export type ProvidersConfig = ReturnType<typeof readProviders>;

/** The configuration of checked settings (combinations.ts). */
export function readProviders(values: Values) {
  return {
    openai:
      values.OPENAI_API_KEY === null && values.OPENAI_BASE_URL === null
        ? null
        : { apiKey: values.OPENAI_API_KEY, baseUrl: values.OPENAI_BASE_URL ?? 'https://api.openai.com/v1' },
    gemini: configured(values.GEMINI_API_KEY, (apiKey) => ({
      apiKey,
      baseUrl: values.GEMINI_BASE_URL ?? 'https://generativelanguage.googleapis.com/v1beta',
    })),
    kling: readKling(values),
    minimax: configured(values.MINIMAX_API_KEY, (apiKey) => ({
      apiKey,
      groupId: values.MINIMAX_GROUP_ID,
      baseUrl: values.MINIMAX_BASE_URL ?? 'https://api.minimax.io',
    })),
    hedra: configured(values.HEDRA_API_KEY, (apiKey) => {
      const baseUrl = values.HEDRA_BASE_URL ?? 'https://api.hedra.com/v3';
      return { apiKey, baseUrl, isOlderApi: baseUrl.endsWith('/web-app') };
    }),
    higgsfield: configured(values.HIGGSFIELD_KEY, (key) => ({
      /** `KEY_ID:KEY_SECRET`. */
      key,
      baseUrl: values.HIGGSFIELD_BASE_URL ?? 'https://api.higgsfield.ai',
    })),
    volcengine: readVolcengine(values),
    fal: configured(values.FAL_KEY, (key) => ({
      key,
      baseUrl: values.FAL_BASE_URL ?? 'https://queue.fal.run',
      restBaseUrl: values.FAL_REST_BASE_URL ?? 'https://rest.fal.ai',
      schemaBaseUrl: values.FAL_SCHEMA_BASE_URL ?? 'https://fal.ai',
    })),
    replicate: configured(values.REPLICATE_API_TOKEN, (token) => ({
      token,
      baseUrl: values.REPLICATE_BASE_URL ?? 'https://api.replicate.com/v1',
    })),
    ark: configured(values.ARK_API_KEY, (apiKey) => ({
      apiKey,
      baseUrl: values.ARK_BASE_URL ?? 'https://ark.cn-beijing.volces.com/api/v3',
    })),
    comfyui: values.COMFYUI_URLS?.length
      ? { urls: values.COMFYUI_URLS, apiKey: values.COMFYUI_API_KEY }
      : null,
    midjourney: configured(values.MIDJOURNEY_BASE_URL, (baseUrl) => ({
      baseUrl,
      secret: values.MIDJOURNEY_SECRET,
    })),
    aggregator:
      values.AGG_BASE_URL && values.AGG_API_KEY
        ? { baseUrl: values.AGG_BASE_URL, apiKey: values.AGG_API_KEY }
        : null,
  };
}

function configured<Value>(text: string | null, make: (text: string) => Value): Value | null {
  return text === null ? null : make(text);
}

function readKling(values: Values) {
  const { KLING_API_KEY: apiKey, KLING_ACCESS_KEY: accessKey, KLING_SECRET_KEY: secretKey } = values;
  const baseUrl = values.KLING_BASE_URL ?? 'https://api-singapore.klingai.com';
  if (apiKey !== null) return { login: { apiKey }, baseUrl };
  // The key pair signs tokens.
  return accessKey !== null && secretKey !== null ? { login: { accessKey, secretKey }, baseUrl } : null;
}

function readVolcengine(values: Values) {
  const { VOLCENGINE_ACCESS_KEY: accessKey, VOLCENGINE_SECRET_KEY: secretKey } = values;
  if (accessKey === null || secretKey === null) return null;
  return {
    accessKey,
    secretKey,
    baseUrl: values.VOLCENGINE_BASE_URL ?? 'https://visual.volcengineapi.com',
    vodBaseUrl: values.VOLCENGINE_VOD_BASE_URL ?? 'https://vod.volcengineapi.com',
    /** VOD space that videos are uploaded to; null: avatars are not available. */
    vodSpace: values.VOLCENGINE_VOD_SPACE,
  };
}
