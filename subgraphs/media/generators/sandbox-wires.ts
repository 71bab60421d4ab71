/** Base URLs of the sandbox's stand-ins, as the bindings take them. */
export interface SandboxWires {
  readonly midjourney: string;
  readonly openai: string;
  readonly minimax: string;
  readonly kling: string;
  readonly gemini: string;
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
    comfyui: [`${base}/comfyui-a`, `${base}/comfyui-b`],
  };
}
