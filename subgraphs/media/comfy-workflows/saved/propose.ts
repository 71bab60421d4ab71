import { isModelFile } from '../../domain/inputs/input-files.ts';
import { type Graph, isLink, LOADERS } from '../comfy-workflows.ts';
import type { Parameter, Proposal, WorkflowOutput } from './workflow.ts';

/** Inputs and outputs that a graph offers by itself: prompts, seeds, sizes, images, models, and what it saves. Pure. */

const MAX_SEED = Number.MAX_SAFE_INTEGER;
const MAX_EDGE = 16_384;
/** Most of each that are proposed. */
const MAX_INPUTS = 64;
const MAX_OUTPUTS = 16;
/** Most characters that a name has of an input of the graph: a few less than it may have, for what is put around them. */
const MAX_NAME = 50;

type Found = Omit<Parameter, 'at'> & { readonly at: string };

/** Proposes what a graph takes and makes. */
export function propose(graph: Graph): Proposal {
  const found = Object.entries(graph).flatMap(([id, node]) =>
    Object.entries(node.inputs).flatMap(([input, value]) => {
      const known = isLink(value)
        ? null
        : proposeParameter(graph, { id, classType: node.class_type, input, value });
      return known === null ? [] : [{ ...known, at: `${id}.${input}` }];
    }),
  );
  return { inputs: named(found).slice(0, MAX_INPUTS), outputs: proposeOutputs(graph) };
}

interface Place {
  readonly id: string;
  readonly classType: string;
  readonly input: string;
  readonly value: unknown;
}

type Known = Omit<Parameter, 'at'>;

function proposeParameter(graph: Graph, place: Place): Known | null {
  const { classType, input, value } = place;
  if (LOADERS[classType] === input && typeof value === 'string') {
    const name = fileName(classType);
    return { name, type: 'file', required: true, description: `The ${name} that node ${place.id} loads.` };
  }
  if (isModelFile(value)) {
    const description = `File of a model that a machine has, for ${classType}.`;
    return { name: modelName(input), type: 'text', required: false, default: value, description };
  }
  if (typeof value === 'string') return isPrompt(place) ? proposePrompt(graph, place) : null;
  return typeof value === 'number' ? proposeNumber(input, value) : null;
}

function fileName(classType: string): string {
  if (classType.includes('Mask')) return 'mask';
  if (classType.includes('Audio')) return 'audio';
  return classType.includes('Video') ? 'video' : 'image';
}

/** ckpt_name is known as checkpoint; lora_name as lora; what begins with no letter, as names must, as a model. */
function modelName(input: string): string {
  const word = nameFrom(input.replace(/_name\d*$/, '')).slice(0, MAX_NAME);
  if (word === 'ckpt') return 'checkpoint';
  return /^[A-Za-z]/.test(word) ? word : `model${word}`;
}

const PROMPT_CLASS = /TextEncode|Prompt|PrimitiveString/;

function isPrompt({ classType, input }: Place): boolean {
  if (/^(text|prompt|string_field)$/.test(input)) return true;
  return input === 'value' && PROMPT_CLASS.test(classType);
}

function proposePrompt(graph: Graph, { id, value }: Place): Known {
  const isNegative = leadsTo(graph, id, 'negative') && !leadsTo(graph, id, 'positive');
  const text = value as string;
  if (isNegative) {
    const description = 'What not to show.';
    return { name: 'negativePrompt', type: 'text', required: false, default: text, description };
  }
  return { name: 'prompt', type: 'text', required: true, description: 'What to show.' };
}

/** Whether what a node makes arrives, over any number of nodes, at an input of this name. */
function leadsTo(graph: Graph, from: string, name: string): boolean {
  const seen = new Set<string>();
  const open = [from];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (seen.has(id)) continue;
    seen.add(id);
    for (const [next, { inputs }] of Object.entries(graph)) {
      for (const [input, value] of Object.entries(inputs)) {
        if (!isLink(value) || value[0] !== id) continue;
        if (input === name) return true;
        // Behind a sampler both prompts arrive at everything.
        if (!/^(positive|negative)$/.test(input)) open.push(next);
      }
    }
  }
  return false;
}

function proposeNumber(input: string, value: number): Known | null {
  const of = (name: string, type: 'integer' | 'number', range: readonly [number, number], words: string) => ({
    name,
    type,
    required: false,
    default: value,
    minimum: Math.min(range[0], value),
    maximum: Math.max(range[1], value),
    description: words,
  });
  switch (input) {
    case 'seed':
    case 'noise_seed':
      return of('seed', 'integer', [0, MAX_SEED], 'The same seed makes the same again.');
    case 'width':
    case 'height':
      return of(input, 'integer', [16, MAX_EDGE], 'Pixels.');
    case 'batch_size':
      return of('count', 'integer', [1, 16], 'How many.');
    case 'steps':
      return of('steps', 'integer', [1, 150], 'Sampling steps.');
    case 'cfg':
    case 'guidance':
      return of(input, 'number', [0, 30], 'How closely to follow the prompt.');
    case 'denoise':
      return of('denoise', 'number', [0, 1], 'How much to change; 1 is everything.');
    case 'length':
      return of('length', 'integer', [1, 1_000], 'Frames.');
    case 'fps':
    case 'frame_rate':
      return of('fps', 'number', [1, 120], 'Frames a second.');
    default:
      return null;
  }
}

/** One parameter for each name and value; the others of a name get a number. */
function named(found: readonly Found[]): readonly Parameter[] {
  const taken = new Set<string>();
  const same = Map.groupBy(found, ({ name, type, default: value }) =>
    type === 'file' || name === 'prompt' ? Symbol(name) : `${name} ${JSON.stringify(value)}`,
  );
  return [...same.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    let name = first.name;
    for (let number = 2; taken.has(name); number += 1) name = `${first.name}${number}`;
    taken.add(name);
    return [{ ...first, name, at: [first, ...others].map(({ at }) => at) }];
  });
}

function nameFrom(text: string): string {
  return text.replace(/[^A-Za-z0-9]+(\w)?/g, (_, next: string | undefined) => (next ?? '').toUpperCase());
}

/** The nodes that no other node takes anything from are what a graph is run for. */
function proposeOutputs(graph: Graph): readonly WorkflowOutput[] {
  const used = new Set(
    Object.values(graph).flatMap(({ inputs }) =>
      Object.values(inputs).flatMap((value) => (isLink(value) ? [value[0]] : [])),
    ),
  );
  const ends = Object.entries(graph).filter(([id]) => !used.has(id));
  const saving = ends.filter(([, { class_type: name }]) => !name.startsWith('Preview'));
  const taken = new Map<string, number>();
  return (saving.length > 0 ? saving : ends).slice(0, MAX_OUTPUTS).map(([node, { class_type: name }]) => {
    const type = outputType(name);
    const number = (taken.get(type) ?? 0) + 1;
    taken.set(type, number);
    return { name: number === 1 ? type : `${type}${number}`, node, type };
  });
}

function outputType(classType: string): string {
  if (/video|webm|animated|gif/i.test(classType)) return 'video';
  if (/audio|mp3|flac|opus/i.test(classType)) return 'audio';
  if (/text|string|PreviewAny/i.test(classType)) return 'text';
  return /image/i.test(classType) ? 'image' : 'file';
}
