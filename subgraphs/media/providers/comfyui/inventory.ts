import { isObject } from '../../../../platform/json.ts';
import { isModelFile } from '../../domain/inputs/input-files.ts';

/** What a server has, as GET /object_info tells it, and what a graph needs of it. Pure. */

/** The node classes of a server, each with the values of its inputs that are choices from a closed list. */
export type Inventory = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

/** Something that a graph needs: a node class, or a model file of one of its nodes. */
export interface Need {
  /** Where the graph names it. */
  readonly field: string;
  readonly node: string;
  readonly classType: string;
  /** The name of a model file; null: the class itself. */
  readonly model: string | null;
}

/** Inputs whose list is of files that callers upload: a value that is not in it may be there in a moment. */
const UPLOADS = ['image_upload', 'video_upload', 'audio_upload', 'file_upload', 'remote'];

/** Reads the answer to GET /object_info; classes that can't be read have no lists. */
export function parseInventory(answer: Readonly<Record<string, unknown>>): Inventory {
  return new Map(Object.entries(answer).map(([name, info]) => [name, readChoices(info)]));
}

function readChoices(info: unknown): ReadonlyMap<string, ReadonlySet<string>> {
  const input = isObject(info) && isObject(info['input']) ? info['input'] : {};
  const inputs = [input['required'], input['optional']].flatMap((group) =>
    isObject(group) ? Object.entries(group) : [],
  );
  return new Map(
    inputs.flatMap(([name, config]) => {
      const list = Array.isArray(config) ? readList(config) : null;
      return list === null ? [] : [[name, new Set(list)] as const];
    }),
  );
}

/** Older nodes have the list as their type, newer ones name the type COMBO and have it among the options. */
function readList([type, options]: readonly unknown[]): readonly string[] | null {
  const facts = isObject(options) ? options : {};
  if (UPLOADS.some((name) => Boolean(facts[name]))) return null;
  const list = type === 'COMBO' ? facts['options'] : type;
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : null;
}

/** The classes and model files that a graph names, each once. */
export function listNeeds(graph: Readonly<Record<string, unknown>>): readonly Need[] {
  const needs = Object.entries(graph).flatMap(([node, value]): readonly Need[] => {
    if (!isObject(value) || typeof value['class_type'] !== 'string') return [];
    const classType = value['class_type'];
    const inputs = isObject(value['inputs']) ? Object.entries(value['inputs']) : [];
    const models = inputs.flatMap(([input, model]) =>
      isModelFile(model) ? [{ field: `workflow.${node}.inputs.${input}`, node, classType, model }] : [],
    );
    return [{ field: `workflow.${node}.class_type`, node, classType, model: null }, ...models];
  });
  return [...new Map(needs.map((need) => [`${need.classType} ${need.model ?? ''}`, need])).values()];
}

/** The needs that a server does not have. */
export function listMissing(needs: readonly Need[], inventory: Inventory): readonly Need[] {
  return needs.filter(({ field, classType, model }) => {
    const choices = inventory.get(classType);
    if (model === null) return choices === undefined;
    const list = choices?.get(field.slice(field.lastIndexOf('.inputs.') + '.inputs.'.length));
    return list !== undefined && !list.has(model);
  });
}

/** The model files that a graph has loaded when it runs. */
export function listGraphModels(graph: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  return new Set(listNeeds(graph).flatMap(({ model }) => model ?? []));
}

/** The model files that a server lists, by the class that loads them. */
export function listedModels(inventory: Inventory): ReadonlyMap<string, readonly string[]> {
  const byClass = [...inventory].map(([name, choices]) => {
    const files = [...choices.values()].flatMap((list) => [...list].filter(isModelFile));
    return [name, [...new Set(files)]] as const;
  });
  return new Map(byClass.filter(([, files]) => files.length > 0));
}

/** Which models a server has loaded, as far as its own queue and history tell, and which server a graph goes to. Pure. */

/** A server that may take a graph. */
export interface Candidate {
  readonly node: string;
  /** Jobs that it runs, that wait there, and that are on their way to it. */
  readonly busy: number;
  /** The models that it will have loaded when its queue is empty. */
  readonly loaded: ReadonlySet<string>;
}

/** How many waiting jobs loading a model is worth: a server that has it is preferred until it holds so many more. */
const LOADING_COST = 2;
/** Less where nothing has to be unloaded for it. */
const EMPTY_COST = 1.5;

/** The models of the last graph that has some, in the order in which they run; null when none has. */
export function lastModels(
  items: readonly { readonly graph: Readonly<Record<string, unknown>> }[],
): ReadonlySet<string> | null {
  return items.map(({ graph }) => listGraphModels(graph)).findLast((models) => models.size > 0) ?? null;
}

/** The server for a graph that needs these models: the least busy one, where having them loaded counts as some jobs less. */
export function chooseServer<Server extends Candidate>(
  servers: readonly Server[],
  models: ReadonlySet<string>,
): Server | undefined {
  const computeCost = ({ busy, loaded }: Candidate): number => {
    if (models.size === 0 || models.isSubsetOf(loaded)) return busy;
    return busy + (loaded.size === 0 ? EMPTY_COST : LOADING_COST);
  };
  return servers.toSorted((one, other) => computeCost(one) - computeCost(other))[0];
}
