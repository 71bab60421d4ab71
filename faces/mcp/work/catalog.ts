import type { Caller } from '../../../platform/access/caller.ts';
import { badInput } from '../../../platform/errors.ts';
import { type Execution, runDocument } from '../../../rest-compat/replies/results.ts';
import { type McpModel, McpModels } from './documents.ts';

/** The models that a caller may name, and what they take, for the schemas of tools. */
export interface Catalog {
  /** Those that make a kind of thing, the default first. */
  of(kind: string): readonly McpModel[];
  /** One by what a `model` argument says, of that kind; the default where nothing is said. */
  find(kind: string, name: string | undefined): McpModel;
  readonly models: readonly McpModel[];
}

/** Milliseconds that the models are remembered: each listing of tools, and each call, asks for them. */
const MODELS_MS = 10_000;

/** Reads the catalog for a caller. */
export type ReadCatalog = (execution: Execution) => Promise<Catalog>;

/** Makes the reader. Everybody has the same models; keys for some generators see the models of those. */
export function createCatalogReader(): ReadCatalog {
  let known: { readonly models: Promise<readonly McpModel[]>; readonly until: number } | undefined;
  return async (execution) => {
    if (known === undefined || known.until < performance.now()) {
      // Others wait for it as well, so it goes on when this caller has gone.
      const context = { ...execution.context, signal: new AbortController().signal };
      const models = runDocument({ ...execution, context }, McpModels, {}).then((data) => data.models);
      known = { models, until: performance.now() + MODELS_MS };
      // Whoever waits learns of it; the next one asks again.
      models.catch(() => (known = undefined));
    }
    return createCatalog(await known.models, execution.context.caller);
  };
}

/** The catalog of a caller. */
function createCatalog(all: readonly McpModel[], { generators }: Pick<Caller, 'generators'>): Catalog {
  const models = all.filter(({ generator }) => !generators || generators.includes(generator));
  const of = (kind: string) => {
    const able = models.filter(({ kinds }) => kinds.includes(kind));
    const first = able.find(isGoodDefault) ?? able.find(({ isDefault }) => isDefault);
    return first === undefined ? able : [first, ...able.filter((model) => model !== first)];
  };
  return {
    models,
    of,
    find(kind, name) {
      const able = of(kind);
      const [first] = able;
      if (name === undefined && first !== undefined) return first;
      const exact = able.find(({ id }) => id === name) ?? able.find(({ model }) => model === name);
      if (exact !== undefined) return exact;
      const names = able.map(({ id }) => id).join(', ');
      throw badInput('model', names === '' ? `nothing here makes ${kind}` : `no such model: one of ${names}`);
    },
  };
}

/** Of several defaults one with a known price is better: its cost can be told, and bounded. */
function isGoodDefault({ isDefault, prices }: McpModel): boolean {
  return isDefault && prices !== null;
}

/** A line that tells an agent what a model takes and costs. */
export function describeModel(model: McpModel): string {
  const { id, name, sizes, aspectRatios, durations, needs } = model;
  const facts = [
    name,
    aspectRatios && `aspect_ratio ${aspectRatios.join('|')}`,
    sizes && `resolution ${sizes.slice(0, 8).join('|')}`,
    durations && `duration ${durations.join('|')} s`,
    needs.length > 0 && `needs ${needs.join(', ')}`,
    describePrice(model),
  ];
  return `${id}: ${facts.filter(Boolean).join('; ')}`;
}

/** What a model charges, in a few words; `price unknown` where nobody knows. */
export function describePrice({ prices }: Pick<McpModel, 'prices'>): string {
  if (prices === null) return 'price unknown';
  const byUnit = Map.groupBy(prices.prices, formatUnit);
  const texts = [...byUnit].map(([unit, its]) => {
    const amounts = its.map(({ amount }) => amount);
    const [least, most] = [Math.min(...amounts), Math.max(...amounts)];
    return `${least === most ? least : `${least} to ${most}`} ${prices.currency} per ${unit}`;
  });
  return texts.join(' + ');
}

type Price = NonNullable<McpModel['prices']>['prices'][number];

function formatUnit({ unit, per }: Price): string {
  if (per === 1) return unit;
  return per === 1_000_000 ? `million ${unit}` : `${per} ${unit}`;
}
