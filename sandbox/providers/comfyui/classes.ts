/**
 * The node classes that this machine has: a few of ComfyUI's own (nodes.py, comfy_extras/nodes_video.py) and one of
 * VideoHelperSuite, with the inputs that each demands. Everything else is a custom node that is not installed.
 */
export interface NodeClass {
  /** Required inputs: a link to another node, or a value. */
  readonly inputs: Readonly<Record<string, InputType>>;
  /** Whether a graph may end here. */
  readonly isOutput?: boolean;
}

/** What an input of a node takes. */
export type InputType =
  | 'LINK'
  | 'STRING'
  /** A file in the input folder. */
  | 'FILE'
  | { readonly number: 'INT' | 'FLOAT'; readonly min: number; readonly max: number };

const int = (min: number, max: number): InputType => ({ number: 'INT', min, max });
const float = (min: number, max: number): InputType => ({ number: 'FLOAT', min, max });
const EDGE = int(16, 16_384);
const latent: NodeClass = { inputs: { width: EDGE, height: EDGE, batch_size: int(1, 4_096) } };

/** The node classes that this machine knows. */
export const CLASSES: Readonly<Record<string, NodeClass>> = {
  CheckpointLoaderSimple: { inputs: { ckpt_name: 'STRING' } },
  UNETLoader: { inputs: { unet_name: 'STRING', weight_dtype: 'STRING' } },
  VAELoader: { inputs: { vae_name: 'STRING' } },
  CLIPLoader: { inputs: { clip_name: 'STRING', type: 'STRING' } },
  LoraLoader: {
    inputs: {
      model: 'LINK',
      clip: 'LINK',
      lora_name: 'STRING',
      strength_model: float(-100, 100),
      strength_clip: float(-100, 100),
    },
  },
  CLIPTextEncode: { inputs: { text: 'STRING', clip: 'LINK' } },
  EmptyLatentImage: latent,
  EmptySD3LatentImage: latent,
  KSampler: {
    inputs: {
      model: 'LINK',
      seed: int(0, 2 ** 64),
      steps: int(1, 10_000),
      cfg: float(0, 100),
      sampler_name: 'STRING',
      scheduler: 'STRING',
      positive: 'LINK',
      negative: 'LINK',
      latent_image: 'LINK',
      denoise: float(0, 1),
    },
  },
  VAEDecode: { inputs: { samples: 'LINK', vae: 'LINK' } },
  VAEEncode: { inputs: { pixels: 'LINK', vae: 'LINK' } },
  LoadImage: { inputs: { image: 'FILE' } },
  ImageScale: {
    inputs: {
      image: 'LINK',
      upscale_method: 'STRING',
      width: int(0, 16_384),
      height: int(0, 16_384),
      crop: 'STRING',
    },
  },
  ImageScaleBy: { inputs: { image: 'LINK', upscale_method: 'STRING', scale_by: float(0.01, 8) } },
  SaveImage: { inputs: { images: 'LINK', filename_prefix: 'STRING' }, isOutput: true },
  PreviewImage: { inputs: { images: 'LINK' }, isOutput: true },
  CreateVideo: { inputs: { images: 'LINK', fps: float(1, 120) } },
  SaveVideo: {
    inputs: { video: 'LINK', filename_prefix: 'STRING', format: 'STRING', codec: 'STRING' },
    isOutput: true,
  },
  VHS_VideoCombine: {
    inputs: { images: 'LINK', frame_rate: float(1, 120), filename_prefix: 'STRING', format: 'STRING' },
    isOutput: true,
  },
};
