import { REFERENCE, type ContractRow } from '../../../../test/providers/contract/row.ts';
import { readFixture } from '../../../../test/providers/contract/wire-shape.ts';
import { createImage, SECRET } from '../../../../test/providers/environment/environment.ts';
import { derivePromptId } from './handle.ts';

const promptId = derivePromptId(REFERENCE);

/** ComfyUI's own example (script_examples/basic_api_example.py), starting from an image. */
export const comfyGraph = {
  '3': {
    class_type: 'KSampler',
    inputs: {
      cfg: 8,
      denoise: 0.7,
      latent_image: ['11', 0],
      model: ['4', 0],
      negative: ['7', 0],
      positive: ['6', 0],
      sampler_name: 'euler',
      scheduler: 'normal',
      seed: 8_566_257,
      steps: 20,
    },
  },
  '4': { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: 'v1-5-pruned-emaonly.safetensors' } },
  '6': { class_type: 'CLIPTextEncode', inputs: { clip: ['4', 1], text: 'a lighthouse' } },
  '7': { class_type: 'CLIPTextEncode', inputs: { clip: ['4', 1], text: 'bad hands' } },
  '8': { class_type: 'VAEDecode', inputs: { samples: ['3', 0], vae: ['4', 2] } },
  '9': { class_type: 'SaveImage', inputs: { filename_prefix: 'ComfyUI', images: ['8', 0] } },
  '10': { class_type: 'LoadImage', inputs: { image: '' } },
  '11': { class_type: 'VAEEncode', inputs: { pixels: ['10', 0], vae: ['4', 2] } },
};

/** A ComfyUI server, behind a proxy that wants a key; here a pool of one machine. */
const comfyui: ContractRow = {
  provider: 'comfyui',
  basePath: '/comfyui-a',
  headers: { 'x-api-key': SECRET },
  fixture: readFixture(new URL('wire.fixture.json', import.meta.url)),
  jobs: [
    {
      kind: 'COMFY_WORKFLOW',
      operation: 'prompt',
      request: {
        kind: 'COMFY_WORKFLOW',
        workflow: comfyGraph,
        files: { '10.image': createImage() },
        node: undefined,
      },
      fields: {
        client_id: promptId,
        prompt: {
          ...comfyGraph,
          '10': { class_type: 'LoadImage', inputs: { image: `kiln/${promptId}-0.png` } },
        },
      },
      referenceField: 'prompt_id',
      mostStatusBytes: 32 << 20,
      carried: derivePromptId,
      operations: {
        status: 'history',
        list: 'history',
        cancel: 'cancel',
        erase: 'forget',
        download: 'view',
        besides: ['queue', 'upload'],
      },
      unplayed: ['retired-model', 'queue-full', 'moderation', 'late-moderation'],
      results: { needsKey: true, isLasting: true, isHidden: true },
      forgetsCancelled: true,
      tellsProgress: false,
      unknownState: {
        body: {
          [promptId]: { outputs: {}, status: { status_str: 'a_new_word', completed: false, messages: [] } },
        },
      },
      outcome: { files: 1, texts: 0 },
    },
  ],
  short: [],
};

/** What the contract suite tries. */
export const rows: readonly ContractRow[] = [comfyui];
