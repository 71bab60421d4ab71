import sharp from 'sharp';

import type { JsonObject } from '../../../platform/json.ts';
import type { Job, JobResult } from '../../jobs/job.ts';
import type { Journal } from '../../jobs/journal.ts';
import type { ImageRequest, Studio } from '../../studio/types/studio.ts';
import { placeOf } from './files.ts';
import type { FilePlace, Files } from './files.ts';
import { linkOf, readGraph } from './graph.ts';
import type { Graph } from './graph.ts';

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
  const pictures = await picturesAt(execution, linked(inputs, 'images'));
  const type = classType === 'PreviewImage' ? 'temp' : 'output';
  const items: JsonObject[] = [];
  const files: JobResult['files'][number][] = [];
  for (const [index, picture] of pictures.entries()) {
    const place = resultPlace(execution, { id, index, type, ending: 'png' });
    const name = execution.files.keptName(place);
    await execution.journal.writePicture(name, picture);
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
  const [firstFrame] = await picturesAt(execution, at);
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
  await journal.writePicture(name, video.bytes);
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

/** `<prefix>_<number>_.png`; the number is derived from the prompt's id, so that it is the same after a crash. */
function resultPlace(
  { graph, job }: Execution,
  result: { readonly id: string; readonly index: number; readonly type: string; readonly ending: string },
): FilePlace {
  const prefix = graph.get(result.id)?.inputs['filename_prefix'];
  const { filename, subfolder } = placeOf(typeof prefix === 'string' ? prefix : 'ComfyUI_temp');
  const number = `${job.id.slice(0, 8)}-${result.id}-${String(result.index + 1).padStart(5, '0')}`;
  return { filename: `${filename}_${number}_.${result.ending}`, subfolder, type: result.type };
}

async function picturesAt(execution: Execution, id: string): Promise<readonly Buffer[]> {
  const { graph, files } = execution;
  const { classType, inputs } = must(graph.get(id), id);
  switch (classType) {
    case 'LoadImage':
      return [must(await files.read(placeOf(inputs['image'] as string)), 'input picture')];
    case 'VAEDecode':
      return sampled(execution, linked(inputs, 'samples'));
    case 'ImageScale':
    case 'ImageScaleBy':
      return Promise.all(
        (await picturesAt(execution, linked(inputs, 'image'))).map((picture) => scale(picture, inputs)),
      );
    default:
      throw new Error(`node ${id} (${classType}) gives no picture`);
  }
}

/** The latent of a sampler: an empty one with a size, or an encoded picture. */
async function sampled(execution: Execution, id: string): Promise<readonly Buffer[]> {
  const { graph, studio, signal } = execution;
  const { classType, inputs } = must(graph.get(id), id);
  if (classType === 'VAEEncode') return picturesAt(execution, linked(inputs, 'pixels'));
  if (classType !== 'KSampler') throw new Error(`node ${id} (${classType}) gives no samples`);
  const latent = must(graph.get(linked(inputs, 'latent_image')), 'latent_image');
  const isEmpty = latent.classType.startsWith('Empty');
  const references = isEmpty ? [] : await sampled(execution, linked(inputs, 'latent_image'));
  const size = isEmpty ? sizeIn(latent.inputs) : await sizeOf(references[0]);
  const count = isEmpty ? Math.min(8, Number(latent.inputs['batch_size'] ?? 1)) : 1;
  const pictures: Buffer[] = [];
  for (let index = 0; index < count; index += 1) {
    const request: ImageRequest = {
      prompt: textAt(graph, id, 'positive') ?? '',
      seed: (Number(inputs['seed']) + index) % 2 ** 32,
      size,
      references,
    };
    pictures.push((await studio.image(request, { signal })).bytes);
  }
  return pictures;
}

/** The studio's edges: 16 to 2048. */
function bounded(edge: number): number {
  return Math.min(2_048, Math.max(16, Math.round(edge)));
}

function sizeIn(inputs: JsonObject): { width: number; height: number } {
  return { width: bounded(Number(inputs['width'])), height: bounded(Number(inputs['height'])) };
}

async function sizeOf(picture: Buffer | undefined): Promise<{ width: number; height: number }> {
  const { width = 512, height = 512 } = picture === undefined ? {} : await sharp(picture).metadata();
  return { width: bounded(width), height: bounded(height) };
}

async function scale(picture: Buffer, inputs: JsonObject): Promise<Buffer> {
  const { width: oldWidth, height: oldHeight } = await sizeOf(picture);
  const by = Number(inputs['scale_by'] ?? 1);
  const edge = (name: string, old: number) => bounded(Number(inputs[name] ?? old * by) || old);
  const fit = inputs['crop'] === 'center' ? 'cover' : 'fill';
  return sharp(picture).resize(edge('width', oldWidth), edge('height', oldHeight), { fit }).png().toBuffer();
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
      const next = linkOf(inputs[name]);
      const text = next === null ? null : search(next, names);
      if (text !== null) return text;
    }
    return null;
  };
  return search(id, [input]);
}

function linked(inputs: JsonObject, name: string): string {
  return must(linkOf(inputs[name]), name);
}

function must<Value>(value: Value | null | undefined, what: string): Value {
  if (value === null || value === undefined) throw new Error(`${what} is missing`);
  return value;
}
