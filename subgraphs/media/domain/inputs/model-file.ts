/** Extensions of the files that loaders of models list. */
const MODEL_FILE = /\.(safetensors|sft|ckpt|pt|pth|bin|gguf|onnx|engine)$/i;

/** Whether a value of a ComfyUI graph names a model file. */
export function isModelFile(value: unknown): value is string {
  return typeof value === 'string' && MODEL_FILE.test(value);
}
