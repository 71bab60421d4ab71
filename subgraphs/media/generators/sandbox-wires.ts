/** Base URLs of the sandbox's stand-ins, as the bindings take them. */
export interface SandboxWires {
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

/** Where each stand-in of the sandbox at this address is mounted (sandbox/stand-ins.ts). */
export function sandboxWires(url: string): SandboxWires {
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
