/** Addresses of the sandbox's services: where it mounts them, and where the providers find them. */

/** Base URL of each service, as the setting of its provider takes it. */
export interface SandboxAddresses {
  readonly midjourney: string;
  readonly openai: string;
  readonly minimax: string;
  readonly kling: string;
  readonly gemini: string;
  readonly hedra: string;
  readonly higgsfield: string;
  readonly volcengine: string;
  /** Volcengine's video storage, a separate service. */
  readonly volcengineVod: string;
  readonly fal: string;
  /** fal's storage, a separate service. */
  readonly falRest: string;
  readonly replicate: string;
  /** ModelArk of Volcengine. */
  readonly ark: string;
  /** The servers of the ComfyUI pool. */
  readonly comfyui: readonly string[];
}

/** The services of the sandbox at this address. */
export function sandboxAddresses(url: string): SandboxAddresses {
  const base = url.replace(/\/+$/, '');
  return {
    midjourney: `${base}/midjourney`,
    openai: `${base}/openai/v1`,
    minimax: `${base}/minimax`,
    kling: `${base}/kling`,
    gemini: `${base}/gemini/v1beta`,
    hedra: `${base}/hedra/v3`,
    higgsfield: `${base}/higgsfield`,
    volcengine: `${base}/volcengine`,
    volcengineVod: `${base}/volcengine-vod`,
    fal: `${base}/fal`,
    falRest: `${base}/fal-rest`,
    replicate: `${base}/replicate/v1`,
    ark: `${base}/ark/api/v3`,
    comfyui: [`${base}/comfyui-a`, `${base}/comfyui-b`],
  };
}
