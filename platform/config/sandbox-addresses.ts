/** Where the sandbox's stand-ins are, told once: the sandbox mounts them there, and who uses one elsewhere finds them there. */

/** Base URL of each stand-in, as its provider's setting takes it. */
export interface SandboxAddresses {
  readonly midjourney: string;
  readonly openai: string;
  readonly minimax: string;
  readonly kling: string;
  readonly gemini: string;
  readonly hedra: string;
  readonly higgsfield: string;
  readonly volcengine: string;
  /** Volcengine's storage of videos, a service of its own. */
  readonly volcengineVod: string;
  readonly fal: string;
  /** fal's storage, a service of its own. */
  readonly falRest: string;
  readonly replicate: string;
  /** The machines of the ComfyUI pool. */
  readonly comfyui: readonly string[];
}

/** Where each stand-in of the sandbox at this address is reached. */
export function sandboxAddresses(url: string): SandboxAddresses {
  const base = url.replace(/\/+$/, '');
  return {
    midjourney: `${base}/midjourney`,
    openai: `${base}/openai/v1`,
    minimax: `${base}/minimax`,
    kling: `${base}/kling`,
    gemini: `${base}/gemini/v1beta`,
    hedra: `${base}/hedra/web-app`,
    higgsfield: `${base}/higgsfield`,
    volcengine: `${base}/volcengine`,
    volcengineVod: `${base}/volcengine-vod`,
    fal: `${base}/fal`,
    falRest: `${base}/fal-rest`,
    replicate: `${base}/replicate/v1`,
    comfyui: [`${base}/comfyui-a`, `${base}/comfyui-b`],
  };
}
