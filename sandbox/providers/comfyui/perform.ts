import path from 'node:path';

import type { Json, JsonObject } from '../../../platform/json.ts';
import type { Job, JobResult } from '../../jobs/job.ts';
import type { Journal } from '../../jobs/journal.ts';
import type { ImageRequest, Studio } from '../../studio/types/studio.ts';
import { repaint } from '../shared/mask.ts';
import { parsePlace } from './files.ts';
import type { FilePlace, Files } from './files.ts';
import { CLASSES } from './graph/classes.ts';
import { findLinkedNode, readGraph } from './graph/graph.ts';
import type { Graph } from './graph/graph.ts';
import { emptyImages, linked, maskAt, must, pad, scale, sizeIn, measureSize } from './image-nodes.ts';
import { NodeFailure } from './node-failure.ts';

/** Executes a graph: the studio renders what a sampler would; other nodes are approximated. */
export interface Executor {
  readonly studio: Studio;
  readonly journal: Journal;
  readonly files: Files;
}

interface Execution extends Executor {
  readonly graph: Graph;
  readonly job: Job;
  readonly signal: AbortSignal;
}

/** The result's `facts.outputs` become the outputs of the history. */
export async function perform(executor: Executor, job: Job, signal: AbortSignal): Promise<JobResult> {
  const graph = readGraph(job.input['graph']);
  if (graph === null) throw new Error('the job has no graph');
  const execution = { ...executor, graph, job, signal };
  const ends = Array.isArray(job.input['outputs']) ? job.input['outputs'].map(String) : [];
  const outputs: Record<string, JsonObject> = {};
  const files: JobResult['files'][number][] = [];
  for (const id of ends) {
    const made = await executeOutput(execution, id);
    outputs[id] = made.output;
    files.push(...made.files);
  }
  return { files, texts: [], facts: { outputs } };
}

interface Made {
  readonly output: JsonObject;
  readonly files: JobResult['files'];
}

async function executeOutput(execution: Execution, id: string): Promise<Made> {
  const { classType, inputs } = must(execution.graph.get(id), id);
  if (classType === 'SaveVideo') return saveVideo(execution, id, 'images');
  if (classType === 'VHS_VideoCombine') return saveVideo(execution, id, 'gifs');
  if (classType === 'PreviewAny')
    return { output: { text: [resolveText(execution, inputs['source'])] }, files: [] };
  const images = await imagesAt(execution, linked(inputs, 'images'));
  const type = classType === 'PreviewImage' ? 'temp' : 'output';
  const items: JsonObject[] = [];
  const files: JobResult['files'][number][] = [];
  for (const [index, image] of images.entries()) {
    const place = resultPlace(execution, { id, index, type, ending: 'png' });
    const name = execution.files.keptName(place);
    await execution.journal.writeImage(name, image);
    execution.signal.throwIfAborted();
    items.push({ ...place });
    files.push({ name, contentType: 'image/png' });
  }
  return { output: { images: items }, files };
}

/** Core nodes list an MP4 under `images` with `animated`; VideoHelperSuite under `gifs` with its path. */
async function saveVideo(execution: Execution, id: string, list: 'images' | 'gifs'): Promise<Made> {
  const { graph, studio, journal, signal } = execution;
  const { inputs } = must(graph.get(id), id);
  const source = list === 'images' ? must(graph.get(linked(inputs, 'video')), 'video').inputs : inputs;
  const at = linked(source, 'images');
  const [firstFrame] = await imagesAt(execution, at);
  const video = await studio.video(
    {
      prompt: textAt(graph, at, 'positive') ?? '',
      durationSeconds: 2,
      ...(firstFrame === undefined ? {} : { firstFrame }),
    },
    { signal },
  );
  const place = resultPlace(execution, { id, index: 0, type: 'output', ending: 'mp4' });
  const name = execution.files.keptName(place);
  await journal.writeImage(name, video.bytes);
  const output =
    list === 'images'
      ? { images: [{ ...place }], animated: [true] }
      : {
          gifs: [
            {
              ...place,
              format: 'video/h264-mp4',
              fullpath: `/ComfyUI/output/${place.filename}`,
              frame_rate: 24,
            },
          ],
        };
  return { output, files: [{ name, contentType: 'video/mp4' }] };
}

/** A text or number that a node gives, or that stands in its place. */
function resolveText({ graph }: Pick<Execution, 'graph'>, value: Json | undefined): string {
  const from = findLinkedNode(value);
  if (from === null) return typeof value === 'string' ? value : JSON.stringify(value ?? null);
  const { classType, inputs } = must(graph.get(from), from);
  if (classType.startsWith('Primitive')) return resolveText({ graph }, inputs['value']);
  if (classType === 'PreviewAny') return resolveText({ graph }, inputs['source']);
  return `<${CLASSES[classType]?.outputs[0] ?? 'None'} of node ${from}>`;
}

/** `<prefix>_<number>_.png`; the number is derived from the prompt's id, so that it is the same after a crash. */
function resultPlace(
  { graph, job }: Execution,
  result: { readonly id: string; readonly index: number; readonly type: string; readonly ending: string },
): FilePlace {
  const prefix = graph.get(result.id)?.inputs['filename_prefix'];
  const { filename, subfolder } = parsePlace(typeof prefix === 'string' ? prefix : 'ComfyUI_temp');
  if (subfolder.split('/').includes('..') || subfolder.startsWith('/'))
    throw refuseOutside(result.id, subfolder);
  const number = `${job.id.slice(0, 8)}-${result.id}-${String(result.index + 1).padStart(5, '0')}`;
  return { filename: `${filename}_${number}_.${result.ending}`, subfolder, type: result.type };
}

function refuseOutside(id: string, subfolder: string): NodeFailure {
  const folder = '/home/comfy/ComfyUI/output';
  const message = `**** ERROR: Saving image outside the output folder is not allowed.\n full_output_folder: ${path.posix.resolve(folder, subfolder)}\n         output_dir: ${folder}\n         commonpath: /home/comfy`;
  return new NodeFailure(id, 'Exception', message);
}

async function imagesAt(execution: Execution, id: string): Promise<readonly Buffer[]> {
  const { graph, files } = execution;
  const { classType, inputs } = must(graph.get(id), id);
  switch (classType) {
    case 'LoadImage':
      return [must(await files.read(parsePlace(inputs['image'] as string)), 'input image')];
    case 'EmptyImage':
      return emptyImages(inputs);
    case 'ImagePadForOutpaint':
      return Promise.all((await imagesAt(execution, linked(inputs, 'image'))).map((one) => pad(one, inputs)));
    case 'VAEDecode':
      return sampled(execution, linked(inputs, 'samples'));
    case 'ImageScale':
    case 'ImageScaleBy':
      return Promise.all(
        (await imagesAt(execution, linked(inputs, 'image'))).map((image) => scale(image, inputs)),
      );
    default:
      throw new Error(`node ${id} (${classType}) gives no image`);
  }
}

/** The latent of a sampler: an empty one with a size, or an encoded image. */
async function sampled(execution: Execution, id: string): Promise<readonly Buffer[]> {
  const { graph, studio, signal } = execution;
  const { classType, inputs } = must(graph.get(id), id);
  if (classType === 'VAEEncode' || classType === 'VAEEncodeForInpaint') {
    return imagesAt(execution, linked(inputs, 'pixels'));
  }
  if (classType !== 'KSampler') throw new Error(`node ${id} (${classType}) gives no samples`);
  checkModel(execution, id);
  const latent = must(graph.get(linked(inputs, 'latent_image')), 'latent_image');
  const isEmpty = latent.classType.startsWith('Empty');
  const references = isEmpty ? [] : await sampled(execution, linked(inputs, 'latent_image'));
  const size = isEmpty ? sizeIn(latent.inputs) : await measureSize(references[0]);
  const count = isEmpty ? Math.min(8, Number(latent.inputs['batch_size'] ?? 1)) : 1;
  const images: Buffer[] = [];
  for (let index = 0; index < count; index += 1) {
    const request: ImageRequest = {
      prompt: textAt(graph, id, 'positive') ?? '',
      seed: (Number(inputs['seed']) + index) % 2 ** 32,
      size,
      references,
    };
    images.push((await studio.image(request, { signal })).bytes);
  }
  if (latent.classType !== 'VAEEncodeForInpaint') return images;
  const mask = await maskAt(execution, latent.inputs['mask']);
  const [image] = references;
  if (mask === null || image === undefined) return images;
  return Promise.all(images.map((drawn) => repaint({ image, drawn, mask, marked: 'bright' })));
}

/** A sampler whose conditioning comes from another kind of model's CLIP fails, as matrices of different shapes do. */
function checkModel({ graph }: Execution, id: string): void {
  const classAt = (from: string, input: string): string => {
    const link = findLinkedNode(graph.get(from)?.inputs[input]);
    return link === null ? '' : (graph.get(link)?.classType ?? '');
  };
  const conditioning = findLinkedNode(graph.get(id)?.inputs['positive']);
  const clip = conditioning === null ? '' : classAt(conditioning, 'clip');
  if (classAt(id, 'model') === 'CheckpointLoaderSimple' && clip === 'CLIPLoader') {
    const message = 'mat1 and mat2 shapes cannot be multiplied (77x4096 and 768x320)';
    throw new NodeFailure(id, 'RuntimeError', message);
  }
}

/** The text that leads to an input, however far up. */
function textAt(graph: Graph, id: string, input: string): string | null {
  const seen = new Set<string>();
  const search = (from: string, names: readonly string[]): string | null => {
    const node = graph.get(from);
    if (node === undefined || seen.has(from)) return null;
    seen.add(from);
    const { inputs } = node;
    if (typeof inputs['text'] === 'string') return inputs['text'];
    const wanted = names.filter((name) => name in inputs);
    for (const name of wanted.length > 0 ? wanted : Object.keys(inputs)) {
      const next = findLinkedNode(inputs[name]);
      const text = next === null ? null : search(next, names);
      if (text !== null) return text;
    }
    return null;
  };
  return search(id, [input]);
}
