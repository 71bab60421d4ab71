import { AppError } from '../../../platform/errors.ts';
import type { GraphqlExecutor, RequestContext } from '../../../platform/graphql/operations/executor.ts';
import { type Execution, runDocument } from '../../../rest-compat/replies/results.ts';
import { type FaceModel, FaceModelByName, FaceModels } from '../documents/models.ts';
import type { ModelFinder } from '../table/route.ts';

/** No model of that name does this kind of work here. */
export class ModelNotFound extends AppError {
  constructor(name: string, kind: string, usual: readonly string[]) {
    const some = usual.slice(0, 5).join(', ');
    const hint = some === '' ? 'none is configured' : `there are ${some}; GET /models lists them all`;
    super('NOT_FOUND', `The model \`${name.slice(0, 100)}\` does no ${kind} here: ${hint}`, {
      field: 'model',
    });
    this.name = 'ModelNotFound';
  }
}

/** Milliseconds for which a list of models is good. They are the same for every caller. */
const KEPT_MS = 5_000;

/** Makes the finder over the graph. */
export function createModelFinder({
  executor,
  aliases,
}: {
  readonly executor: GraphqlExecutor;
  readonly aliases: ReadonlyMap<string, string>;
}): ModelFinder {
  let kept: { readonly at: number; readonly models: Promise<readonly FaceModel[]> } | null = null;
  const list = (context: RequestContext): Promise<readonly FaceModel[]> => {
    const now = performance.now();
    if (kept !== null && now - kept.at < KEPT_MS) return kept.models;
    // Not the signal of one caller: others wait for the same list.
    const patient = { ...context, signal: new AbortController().signal };
    const models = runDocument({ executor, context: patient }, FaceModels, {}).then(({ models: all }) =>
      [...all].sort((one, other) => rankModel(one) - rankModel(other)),
    );
    const mine = { at: now, models };
    kept = mine;
    models.catch(() => {
      if (kept === mine) kept = null;
    });
    return models;
  };
  return {
    list,
    async find(kind, name, context) {
      const all = await list(context);
      const able = all.filter(({ kinds }) => kinds.includes(kind));
      const wanted = name === undefined || name === '' ? undefined : (aliases.get(name) ?? name);
      const known = wanted === undefined ? findDefault(able) : named(able, wanted);
      const found = known ?? (await findUnlisted({ executor, context }, { all, able, model: wanted ?? '' }));
      if (found?.kinds.includes(kind) === true) return found;
      throw new ModelNotFound(name ?? '', describeKind(kind), [...new Set(able.map(({ model }) => model))]);
    },
  };
}

/** Vendors whose models are so many that the catalog has few of them: any may be named, as `owner/model`. */
const VENDORS = ['fal', 'replicate'];

interface Unlisted {
  readonly all: readonly FaceModel[];
  readonly able: readonly FaceModel[];
  readonly model: string;
}

/** A model that is in no list: any of a vendor's, or one that has ended, whose refusal names what to use in its place. */
async function findUnlisted(
  execution: Execution,
  { all, able, model }: Unlisted,
): Promise<FaceModel | undefined> {
  if (model === '') return undefined;
  const isOfVendor = /^[\w.-]+\/[\w./-]+$/.test(model);
  const asked = isOfVendor
    ? all.filter(({ provider }) => VENDORS.includes(provider))
    : [findDefault(able)].filter((one) => one !== undefined);
  for (const generator of new Set(asked.map((one) => one.generator))) {
    const answer = await runDocument(execution, FaceModelByName, { generator, model });
    if (answer.model !== null) return answer.model;
  }
  return undefined;
}

/** Real providers before the sandbox, then vendors themselves before aggregators. */
function rankModel({ sandbox, generator }: FaceModel): number {
  return (sandbox ? 2 : 0) + (generator.startsWith('agg/') ? 1 : 0);
}

/** The first model of a generator that takes several vendors, else the first of any. */
function findDefault(able: readonly FaceModel[]): FaceModel | undefined {
  const defaults = able.filter(({ isDefault }) => isDefault);
  return defaults.find(({ generator }) => generator === 'union') ?? defaults[0] ?? able[0];
}

function named(able: readonly FaceModel[], name: string): FaceModel | undefined {
  return (
    able.find(({ model }) => model === name) ??
    able.find(({ generator, model }) => `${generator}:${model}` === name) ??
    able.find(({ generator, isDefault }) => generator === name && isDefault)
  );
}

function describeKind(kind: string): string {
  return kind.toLowerCase().replaceAll('_', ' ');
}

/** OpenAI's `size` in the words of each model: a size that it has, and the aspect ratio nearest to it. Pure. */

type Shape = { readonly resolution?: string; readonly aspectRatio?: string };

/** Aspect ratios that models make, where one names none. */
const RATIOS = ['1:1', '3:2', '2:3', '4:3', '3:4', '16:9', '9:16', '4:5', '5:4', '21:9', '9:21'];

/** Null: the model has nothing for this size. */
export function findShape(
  size: string | undefined,
  { inputs, sizes, aspectRatios }: Pick<FaceModel, 'inputs' | 'sizes' | 'aspectRatios'>,
): Shape | null {
  if (size === undefined || size === '' || size === 'auto') return {};
  const takesSizes = inputs.includes('resolution');
  if (takesSizes && sizes?.includes(size) === true) return { resolution: size };
  const [, width = 0, height = 0] = (/^(\d{1,5})[x:](\d{1,5})$/.exec(size) ?? []).map(Number);
  if (width > 0 && height > 0 && inputs.includes('aspectRatio')) {
    const resolution = takesSizes ? findSizeClass(width, height, sizes ?? []) : undefined;
    const aspectRatio = nearest(width / height, aspectRatios ?? RATIOS);
    return { aspectRatio, ...(resolution !== undefined && { resolution }) };
  }
  // A size that the model does not list is refused with those that it has.
  return takesSizes ? { resolution: size } : null;
}

/** The class of a size where a model has such: 720p for 1280x720, 2K for 2048x2048. */
function findSizeClass(width: number, height: number, sizes: readonly string[]): string | undefined {
  const names = [`${Math.min(width, height)}P`, `${Math.round(Math.max(width, height) / 1024)}K`];
  return sizes.find((size) => names.includes(size.toUpperCase()));
}

function nearest(shape: number, ratios: readonly string[]): string {
  const distance = (ratio: string): number => {
    const [width = 1, height = 1] = ratio.split(':').map(Number);
    return Math.abs(Math.log(width / height / shape));
  };
  return [...ratios].sort((one, other) => distance(one) - distance(other))[0] ?? '1:1';
}
