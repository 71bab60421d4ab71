import { invalid } from '../objects/failure.ts';
import { integerIn, textIn, type Form, listIn } from '../objects/form.ts';
import { type StripeObject, published, type Kind, type State } from '../objects/state.ts';

/** Lists as Stripe answers them: pages in both directions, filtered by age. */

/** The parameters of every list. */
export const PAGE = ['limit', 'starting_after', 'ending_before', 'created'];

const MAX_LIMIT = 100;

/** A list, newest first. */
interface ListedObjects {
  /** All objects of the kind: a cursor need not match the filters of the list. */
  readonly all: readonly StripeObject[];
  readonly listed: readonly StripeObject[];
  readonly path: string;
}

/** A page of a list. Refuses cursors that name no object of its kind, as Stripe does. */
export function toPage({ all, listed: things, path }: ListedObjects, form: Form): object {
  const limit = integerIn(form, 'limit') ?? 10;
  if (limit < 1 || limit > MAX_LIMIT) {
    throw invalid(`This value must be between 1 and ${MAX_LIMIT}`, 'limit', 'parameter_invalid_integer');
  }
  const [after, before] = [textIn(form, 'starting_after'), textIn(form, 'ending_before')];
  if (after !== undefined && before !== undefined) {
    throw invalid('You may only specify one of these parameters: starting_after, ending_before.');
  }
  const older = after === undefined ? all : all.slice(findPlace(all, 'starting_after', after) + 1);
  const found = new Set(before === undefined ? older : all.slice(0, findPlace(all, 'ending_before', before)));
  const wasCreated = createdIn(form);
  const listed = things.filter((thing) => found.has(thing) && wasCreated(thing));
  const data = before === undefined ? listed.slice(0, limit) : listed.slice(-limit);
  return { object: 'list', url: `/v1/${path}`, has_more: listed.length > limit, data };
}

function findPlace(things: readonly StripeObject[], param: string, id: string): number {
  const place = things.findIndex((thing) => thing.id === id);
  if (place === -1) throw invalid(`No such object: '${id}'`, param, 'resource_missing');
  return place;
}

const COMPARISONS: Readonly<Record<string, (created: number, limit: number) => boolean>> = {
  gt: (created, limit) => created > limit,
  gte: (created, limit) => created >= limit,
  lt: (created, limit) => created < limit,
  lte: (created, limit) => created <= limit,
};

/** By `created`: a time, or limits of it. */
function createdIn(form: Form): (thing: StripeObject) => boolean {
  const { created } = form;
  if (created === undefined) return () => true;
  if (typeof created === 'string') {
    const at = integerIn(form, 'created');
    return (thing) => Number(thing['created']) === at;
  }
  if (Array.isArray(created)) throw invalid('Invalid created', 'created');
  const limits = Object.keys(created).map((name) => {
    const compare = Object.hasOwn(COMPARISONS, name) ? COMPARISONS[name] : undefined;
    if (compare === undefined) {
      throw invalid(`Received unknown parameter: created[${name}]`, `created[${name}]`, 'parameter_unknown');
    }
    return { compare, limit: integerIn(created, name) ?? 0 };
  });
  return (thing) => limits.every(({ compare, limit }) => compare(Number(thing['created']), limit));
}

/** Members that are ids of other objects. */
const KINDS: Readonly<Record<string, Kind>> = {
  payment_intent: 'payment_intent',
  latest_charge: 'charge',
  charge: 'charge',
  product: 'product',
  default_price: 'price',
};

const MAX_DEPTH = 4;

/** A copy with the ids of `expand` replaced by their objects. Refuses paths that can't be expanded, as Stripe does. */
export function expanded(
  { state, form }: { readonly state: State; readonly form: Form },
  found: object,
): object {
  const copy = structuredClone(published(found)) as object;
  for (const path of listIn(form, 'expand')) {
    if (typeof path !== 'string') throw invalid('Invalid array', 'expand');
    const names = path.split('.');
    if (names.length > MAX_DEPTH) {
      throw invalid(`You cannot expand more than ${MAX_DEPTH} levels of a property: ${path}`, 'expand');
    }
    expand(state, copy, { names, path });
  }
  return copy;
}

function expand(
  state: State,
  place: unknown,
  { names: [name, ...names], path }: { readonly names: readonly string[]; readonly path: string },
): void {
  if (name === undefined || typeof place !== 'object' || place === null) return;
  const holder = place as Record<string, unknown>;
  const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
  const isList = Array.isArray(holder[name]) && names.length > 0;
  if (!Object.hasOwn(holder, name) || (kind === undefined && !isList)) {
    throw invalid(`This property cannot be expanded (${path}).`, 'expand');
  }
  const id = holder[name];
  const thing = typeof id === 'string' && kind !== undefined ? state.find(kind, id) : undefined;
  if (thing !== undefined) holder[name] = structuredClone(published(thing));
  // An empty list has no member that could tell what it has none of.
  const [member = ''] = names;
  if (isList && (holder[name] as unknown[]).length === 0 && !Object.hasOwn(KINDS, member)) {
    throw invalid(`This property cannot be expanded (${path}).`, 'expand');
  }
  const next = isList ? (holder[name] as unknown[]) : [holder[name]];
  for (const member of next) expand(state, member, { names, path });
}
