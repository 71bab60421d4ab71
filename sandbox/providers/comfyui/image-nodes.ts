import type { Json, JsonObject } from '../../../platform/json.ts';
import { parsePlace } from './files.ts';
import type { Files } from './files.ts';
import { findLinkedNode } from './graph/graph.ts';
import type { Graph } from './graph/graph.ts';

/** What nodes without a model do to images. */

interface Inputs {
  readonly graph: Graph;
  readonly files: Files;
}

/** A mask as an image that is bright where something is to be drawn. */
export async function maskAt({ graph, files }: Inputs, value: Json | undefined): Promise<Buffer | null> {
  const id = findLinkedNode(value);
  if (id === null) return null;
  const { classType, inputs } = must(graph.get(id), id);
  // Loaded only when needed.
  const { default: sharp } = await import('sharp');
  if (classType === 'ImagePadForOutpaint') {
    const source = must(graph.get(linked(inputs, 'image')), 'image');
    const file = must(await files.read(parsePlace(nameIn(source.inputs))), 'input image');
    const { width, height } = await sharp(file).metadata();
    const black = sharp({ create: { width, height, channels: 3, background: 'black' } });
    return pad(await black.png().toBuffer(), inputs, 'white');
  }
  const file = must(await files.read(parsePlace(nameIn(inputs))), 'input image');
  const channel = classType === 'LoadImageMask' ? inputs['channel'] : 'alpha';
  // Of the alpha channel, what is transparent is masked.
  const image = sharp(file).ensureAlpha();
  if (channel === 'alpha') return image.extractChannel('alpha').negate().png().toBuffer();
  return image
    .extractChannel(channel as 'red' | 'green' | 'blue')
    .png()
    .toBuffer();
}

/** An image with a border. */
export async function pad(image: Buffer, inputs: JsonObject, background = 'grey'): Promise<Buffer> {
  const { default: sharp } = await import('sharp');
  const border = (name: string) => Math.min(1_024, Number(inputs[name]));
  const borders = {
    left: border('left'),
    right: border('right'),
    top: border('top'),
    bottom: border('bottom'),
  };
  return sharp(image)
    .removeAlpha()
    .extend({ ...borders, background })
    .png()
    .toBuffer();
}

/** Images of one colour. */
export async function emptyImages(inputs: JsonObject): Promise<Buffer[]> {
  const { default: sharp } = await import('sharp');
  const colour = Number(inputs['color']);
  const background = { r: colour >> 16, g: (colour >> 8) & 255, b: colour & 255 };
  const edge = (name: string) => Math.min(2_048, Number(inputs[name]));
  const image = sharp({
    create: { width: edge('width'), height: edge('height'), channels: 3, background },
  });
  const count = Math.min(8, Number(inputs['batch_size']));
  return Promise.all(Array.from({ length: count }, () => image.clone().png().toBuffer()));
}

/** The studio's edges: 16 to 2048. */
function bounded(edge: number): number {
  return Math.min(2_048, Math.max(16, Math.round(edge)));
}

/** The size that a latent asks for, within what the studio renders. */
export function sizeIn(inputs: JsonObject): { width: number; height: number } {
  return { width: bounded(Number(inputs['width'])), height: bounded(Number(inputs['height'])) };
}

/** The size of an image, within what the studio renders. */
export async function measureSize(image: Buffer | undefined): Promise<{ width: number; height: number }> {
  const { width = 512, height = 512 } = image === undefined ? {} : await readMetadata(image);
  return { width: bounded(width), height: bounded(height) };
}

async function readMetadata(image: Buffer) {
  const { default: sharp } = await import('sharp');
  return sharp(image).metadata();
}

/** An image in another size. */
export async function scale(image: Buffer, inputs: JsonObject): Promise<Buffer> {
  const { default: sharp } = await import('sharp');
  const { width: oldWidth, height: oldHeight } = await measureSize(image);
  const by = Number(inputs['scale_by'] ?? 1);
  const edge = (name: string, old: number) => bounded(Number(inputs[name] ?? old * by) || old);
  const fit = inputs['crop'] === 'center' ? 'cover' : 'fill';
  return sharp(image).resize(edge('width', oldWidth), edge('height', oldHeight), { fit }).png().toBuffer();
}

/** The node that an input is linked to. */
export function linked(inputs: JsonObject, name: string): string {
  return must(findLinkedNode(inputs[name]), name);
}

/** A value that must be there. */
export function must<Value>(value: Value | null | undefined, what: string): Value {
  if (value === null || value === undefined) throw new Error(`${what} is missing`);
  return value;
}

function nameIn({ image }: JsonObject): string {
  return typeof image === 'string' ? image : '';
}
