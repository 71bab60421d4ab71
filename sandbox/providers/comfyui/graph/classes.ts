import { MODELS, SAMPLERS, SCHEDULERS } from './models.ts';

/**
 * The node classes that this machine has: a few of ComfyUI's own and one of VideoHelperSuite, with what each takes and
 * gives. Everything else is a custom node that is not installed.
 */
export interface NodeClass {
  /** Required inputs. */
  readonly inputs: Readonly<Record<string, InputType>>;
  /** Types of its outputs, in order. */
  readonly outputs: readonly LinkType[];
  /** Whether a graph may end here. */
  readonly isOutput?: boolean;
}

/** What flows between nodes. */
type LinkType =
  | 'AUDIO'
  | 'CLIP'
  | 'CONDITIONING'
  | 'FLOAT'
  | 'IMAGE'
  | 'INT'
  | 'LATENT'
  | 'MASK'
  | 'MODEL'
  | 'STRING'
  | 'VAE'
  | 'VIDEO'
  | 'VHS_FILENAMES';

/** What an input of a node takes. */
export type InputType =
  /** A link to a node's output of this type. */
  | { readonly link: LinkType }
  /** A link to anything. */
  | 'ANY'
  /** A text, or a link to one. */
  | 'STRING'
  /** A file in the input folder. */
  | 'FILE'
  /** One of these values. */
  | { readonly list: readonly string[] }
  | { readonly number: 'INT' | 'FLOAT'; readonly min: number; readonly max: number };

const link = (type: LinkType): InputType => ({ link: type });
const list = (...values: readonly string[]): InputType => ({ list: values });
const int = (min: number, max: number): InputType => ({ number: 'INT', min, max });
const float = (min: number, max: number): InputType => ({ number: 'FLOAT', min, max });
const EDGE = int(16, 16_384);
const BORDER = int(0, 16_384);
const latent: NodeClass = {
  inputs: { width: EDGE, height: EDGE, batch_size: int(1, 4_096) },
  outputs: ['LATENT'],
};
const METHODS = list('nearest-exact', 'bilinear', 'area', 'bicubic', 'lanczos');

/** The node classes that this machine knows. */
export const CLASSES: Readonly<Record<string, NodeClass>> = {
  CheckpointLoaderSimple: {
    inputs: { ckpt_name: list(...MODELS.checkpoints) },
    outputs: ['MODEL', 'CLIP', 'VAE'],
  },
  UNETLoader: {
    inputs: {
      unet_name: list(...MODELS.diffusion),
      weight_dtype: list('default', 'fp8_e4m3fn', 'fp8_e4m3fn_fast', 'fp8_e5m2'),
    },
    outputs: ['MODEL'],
  },
  VAELoader: { inputs: { vae_name: list(...MODELS.vae) }, outputs: ['VAE'] },
  CLIPLoader: {
    inputs: {
      clip_name: list(...MODELS.clip),
      type: list('stable_diffusion', 'sd3', 'flux2', 'qwen_image', 'wan'),
    },
    outputs: ['CLIP'],
  },
  LoraLoader: {
    inputs: {
      model: link('MODEL'),
      clip: link('CLIP'),
      lora_name: list(...MODELS.loras),
      strength_model: float(-100, 100),
      strength_clip: float(-100, 100),
    },
    outputs: ['MODEL', 'CLIP'],
  },
  CLIPTextEncode: { inputs: { text: 'STRING', clip: link('CLIP') }, outputs: ['CONDITIONING'] },
  EmptyLatentImage: latent,
  EmptySD3LatentImage: latent,
  EmptyImage: {
    inputs: {
      width: int(1, 16_384),
      height: int(1, 16_384),
      batch_size: int(1, 4_096),
      color: int(0, 0xffffff),
    },
    outputs: ['IMAGE'],
  },
  KSampler: {
    inputs: {
      model: link('MODEL'),
      seed: int(0, 2 ** 64),
      steps: int(1, 10_000),
      cfg: float(0, 100),
      sampler_name: list(...SAMPLERS),
      scheduler: list(...SCHEDULERS),
      positive: link('CONDITIONING'),
      negative: link('CONDITIONING'),
      latent_image: link('LATENT'),
      denoise: float(0, 1),
    },
    outputs: ['LATENT'],
  },
  VAEDecode: { inputs: { samples: link('LATENT'), vae: link('VAE') }, outputs: ['IMAGE'] },
  VAEEncode: { inputs: { pixels: link('IMAGE'), vae: link('VAE') }, outputs: ['LATENT'] },
  VAEEncodeForInpaint: {
    inputs: { pixels: link('IMAGE'), vae: link('VAE'), mask: link('MASK'), grow_mask_by: int(0, 64) },
    outputs: ['LATENT'],
  },
  LoadImage: { inputs: { image: 'FILE' }, outputs: ['IMAGE', 'MASK'] },
  LoadImageMask: {
    inputs: { image: 'FILE', channel: list('alpha', 'red', 'green', 'blue') },
    outputs: ['MASK'],
  },
  ImagePadForOutpaint: {
    inputs: {
      image: link('IMAGE'),
      left: BORDER,
      top: BORDER,
      right: BORDER,
      bottom: BORDER,
      feathering: BORDER,
    },
    outputs: ['IMAGE', 'MASK'],
  },
  ImageScale: {
    inputs: {
      image: link('IMAGE'),
      upscale_method: METHODS,
      width: BORDER,
      height: BORDER,
      crop: list('disabled', 'center'),
    },
    outputs: ['IMAGE'],
  },
  ImageScaleBy: {
    inputs: { image: link('IMAGE'), upscale_method: METHODS, scale_by: float(0.01, 8) },
    outputs: ['IMAGE'],
  },
  SaveImage: {
    inputs: { images: link('IMAGE'), filename_prefix: 'STRING' },
    outputs: [],
    isOutput: true,
  },
  PreviewImage: { inputs: { images: link('IMAGE') }, outputs: [], isOutput: true },
  PrimitiveString: { inputs: { value: 'STRING' }, outputs: ['STRING'] },
  PrimitiveInt: { inputs: { value: int(-(2 ** 53), 2 ** 53) }, outputs: ['INT'] },
  PreviewAny: { inputs: { source: 'ANY' }, outputs: ['STRING'], isOutput: true },
  CreateVideo: { inputs: { images: link('IMAGE'), fps: float(1, 120) }, outputs: ['VIDEO'] },
  SaveVideo: {
    inputs: {
      video: link('VIDEO'),
      filename_prefix: 'STRING',
      format: list('auto', 'mp4'),
      codec: list('auto', 'h264'),
    },
    outputs: [],
    isOutput: true,
  },
  VHS_VideoCombine: {
    inputs: {
      images: link('IMAGE'),
      frame_rate: float(1, 120),
      filename_prefix: 'STRING',
      format: list('image/gif', 'image/webp', 'video/h264-mp4'),
    },
    outputs: ['VHS_FILENAMES'],
    isOutput: true,
  },
};
