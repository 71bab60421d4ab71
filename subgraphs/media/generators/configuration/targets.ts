import type { ProvidersConfig } from '../../../../platform/config/providers.ts';
import type { SandboxAddresses } from '../../../../platform/config/sandbox-addresses.ts';

/** Where the bundled generators find their upstreams: what the settings say, or the sandbox. */

/** Address and credentials of an upstream. */
interface Target {
  readonly baseUrl: string;
  readonly pathPrefix?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly credentials?: Readonly<Record<string, string>>;
  readonly nodes?: readonly string[];
  readonly endpoints?: Readonly<Record<string, string>>;
  /** Models of the catalog that this upstream lacks. */
  readonly lacks?: readonly string[];
}

/** One way to reach an upstream. */
export interface Route {
  /** The real upstream, or null when its settings are absent. */
  readonly real: (settings: ProvidersConfig) => Target | null;
  /** The sandbox's stand-in for it. */
  readonly sandbox: (wires: SandboxAddresses) => Target;
  /** The settings that would configure it, for the error that says so. */
  readonly settings: string;
  /** Whether a start that can't be known may be made again: the machines are one's own and cost nothing. */
  readonly isFree?: boolean;
  /** Whether it goes through the aggregator. */
  readonly isAggregated?: boolean;
  /** Most pieces of work at once that an account may have open at the real upstream, where that is known. */
  readonly concurrency?: number;
}

const bearer = (key: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${key}` });

/** A midjourney-proxy of one's own. */
export const midjourney: Route = {
  real: ({ midjourney: proxy }) =>
    proxy && {
      baseUrl: proxy.baseUrl,
      headers: proxy.secret === null ? {} : { 'mj-api-secret': proxy.secret },
    },
  sandbox: (wires) => ({ baseUrl: wires.midjourney }),
  settings: 'MIDJOURNEY_BASE_URL',
};

/** OpenAI, or what speaks its wire. */
export const openai: Route = {
  real: ({ openai: vendor }) =>
    vendor && { baseUrl: vendor.baseUrl, headers: vendor.apiKey === null ? {} : bearer(vendor.apiKey) },
  sandbox: (wires) => ({ baseUrl: wires.openai }),
  settings: 'OPENAI_API_KEY',
};

/** The Gemini API. */
export const gemini: Route = {
  real: ({ gemini: vendor }) =>
    vendor && { baseUrl: vendor.baseUrl, headers: { 'x-goog-api-key': vendor.apiKey } },
  // The stand-in wants a key too, as the wire does.
  sandbox: (wires) => ({ baseUrl: wires.gemini, headers: { 'x-goog-api-key': 'sandbox' } }),
  settings: 'GEMINI_API_KEY',
};

/** MiniMax, whose older paths also name the group of the account. */
export const minimax: Route = {
  real: ({ minimax: vendor }) =>
    vendor && {
      baseUrl: vendor.baseUrl,
      headers: bearer(vendor.apiKey),
      credentials: vendor.groupId === null ? {} : { groupId: vendor.groupId },
    },
  sandbox: (wires) => ({ baseUrl: wires.minimax, headers: bearer('sandbox') }),
  settings: 'MINIMAX_API_KEY',
};

/** Kling, by an API key or by tokens that are signed for each call. */
export const kling: Route = {
  real: ({ kling: vendor }) => {
    if (vendor === null) return null;
    const { baseUrl, login } = vendor;
    return 'apiKey' in login ? { baseUrl, headers: bearer(login.apiKey) } : { baseUrl, credentials: login };
  },
  sandbox: (wires) => ({
    baseUrl: wires.kling,
    credentials: { accessKey: 'sandbox', secretKey: 'sandbox-secret-key-of-32-characters' },
  }),
  settings: 'KLING_ACCESS_KEY and KLING_SECRET_KEY, or KLING_API_KEY',
};

/** Hedra, by its API v3 or the older one: each has models that the other lacks. */
export const hedra: Route = {
  real: ({ hedra: vendor }) => {
    if (vendor === null) return null;
    const { baseUrl, apiKey, isOlderApi } = vendor;
    return isOlderApi
      ? { baseUrl, headers: { 'x-api-key': apiKey }, lacks: ['hedra-character-3'] }
      : { baseUrl, headers: bearer(apiKey), lacks: ['hedra-omnia'] };
  },
  sandbox: (wires) => ({ baseUrl: wires.hedra, headers: bearer('sandbox:sandbox'), lacks: ['hedra-omnia'] }),
  settings: 'HEDRA_API_KEY',
};

/** Higgsfield. */
export const higgsfield: Route = {
  real: ({ higgsfield: vendor }) =>
    vendor && { baseUrl: vendor.baseUrl, headers: { authorization: `Key ${vendor.key}` } },
  sandbox: (wires) => ({ baseUrl: wires.higgsfield, headers: { authorization: 'Key sandbox:sandbox' } }),
  settings: 'HIGGSFIELD_KEY',
};

/** Volcengine's visual service and its storage of videos. */
export const volcengine: Route = {
  real: ({ volcengine: vendor }) => {
    if (vendor === null) return null;
    const { baseUrl, vodBaseUrl, vodSpace, accessKey, secretKey } = vendor;
    const space = vodSpace === null ? {} : { vodSpace };
    return { baseUrl, endpoints: { vod: vodBaseUrl }, credentials: { accessKey, secretKey, ...space } };
  },
  sandbox: (wires) => ({
    baseUrl: wires.volcengine,
    endpoints: { vod: wires.volcengineVod },
    credentials: { accessKey: 'sandbox', secretKey: 'sandbox-secret-key', vodSpace: 'sandbox' },
  }),
  settings: 'VOLCENGINE_ACCESS_KEY, VOLCENGINE_SECRET_KEY and VOLCENGINE_VOD_SPACE',
  // What an account has until it buys more; beyond it starts are refused (50430).
  concurrency: 1,
};

/** fal's queue and its storage. */
export const fal: Route = {
  real: ({ fal: vendor }) =>
    vendor && {
      baseUrl: vendor.baseUrl,
      endpoints: { rest: vendor.restBaseUrl, schema: vendor.schemaBaseUrl },
      headers: { authorization: `Key ${vendor.key}` },
    },
  sandbox: (wires) => ({
    baseUrl: wires.fal,
    endpoints: { rest: wires.falRest, schema: wires.falRest, api: wires.fal },
    headers: { authorization: 'Key sandbox' },
  }),
  settings: 'FAL_KEY',
};

/** ModelArk of Volcengine, or of BytePlus. */
export const ark: Route = {
  real: ({ ark: vendor }) => vendor && { baseUrl: vendor.baseUrl, headers: bearer(vendor.apiKey) },
  sandbox: (wires) => ({ baseUrl: wires.ark, headers: bearer('sandbox') }),
  settings: 'ARK_API_KEY',
};

/** Replicate. */
export const replicate: Route = {
  real: ({ replicate: vendor }) => vendor && { baseUrl: vendor.baseUrl, headers: bearer(vendor.token) },
  sandbox: (wires) => ({ baseUrl: wires.replicate, headers: bearer('sandbox') }),
  settings: 'REPLICATE_API_TOKEN',
};

/** A pool of ComfyUI machines of one's own. */
export const comfyui: Route = {
  real: ({ comfyui: pool }) =>
    pool && createPool(pool.urls, pool.apiKey === null ? {} : { 'x-api-key': pool.apiKey }),
  sandbox: (wires) => createPool(wires.comfyui, {}),
  settings: 'COMFYUI_URLS',
  isFree: true,
};

function createPool(nodes: readonly string[], headers: Readonly<Record<string, string>>): Target {
  return { baseUrl: nodes[0] ?? '', headers, nodes };
}

/**
 * The same wire behind the aggregator's one bearer key, its paths below a prefix: midjourney's own `/mj`, Kling's below
 * `/kling` (QuantumNous/new-api, router/video-router.go), MiniMax's below `/minimax`. An aggregator with others is
 * configured by GENERATORS_FILE.
 */
export function aggregated(direct: Route, pathPrefix: string): Route {
  return {
    real: ({ aggregator }) =>
      aggregator && { baseUrl: aggregator.baseUrl, pathPrefix, headers: bearer(aggregator.apiKey) },
    sandbox: direct.sandbox,
    settings: 'AGG_BASE_URL and AGG_API_KEY',
    isAggregated: true,
  };
}
