import { invalid } from '../objects/failure.ts';
import { listIn, type Form } from '../objects/form.ts';
import { published, type Kind, type State } from '../objects/state.ts';

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
