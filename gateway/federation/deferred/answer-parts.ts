import { type ExecutionResult, GraphQLError } from 'graphql';

import type { AnswerParts, IncrementalPart } from '../../../platform/graphql/operations/answers.ts';
import type { ErrorPath } from '../compiled/fetch.ts';
import type { Run } from '../compiled/run.ts';
import type { ResultShaper } from '../compiled/shape/shape-result.ts';
import type { Members } from '../compiled/shape/shapes.ts';
import type { PartRuns } from './deferral.ts';
import type { DeferredPart } from './deferred-form.ts';

/** A part, and how its data is shaped. */
interface ShapedPart extends DeferredPart {
  readonly shape: ResultShaper;
}

/** What an answer's parts are made of. */
export interface PartsToAnswer {
  readonly run: Run;
  readonly runs: PartRuns;
  /** The first part, without errors that concern what follows. */
  readonly shapeFirst: ResultShaper;
  readonly parts: readonly ShapedPart[];
}

/** A part whose parent was sent before, at these places. */
interface Sendable {
  readonly part: ShapedPart;
  readonly run: Pick<Run, 'data' | 'errors'>;
  readonly places: readonly ErrorPath[];
}

type Sent = Pick<IncrementalPart, 'data' | 'path'>;

/** Gives the first part, then each further one as soon as its data is there and its parent was given. */
export async function* answerParts(answer: PartsToAnswer): AnswerParts {
  const { run, runs, shapeFirst, parts } = answer;
  const { data = null, extensions } = shapeFirst({ ...run, errors: [] });
  // Fetches bring some of what follows along: errors of that follow as well.
  const later = data === null ? [] : run.errors.filter((error) => error.path && !standsIn(error, data));
  const errors = run.errors.filter((error) => !later.includes(error));
  const waiting = new Map<string, Promise<Sendable>>();
  const wait = (parent: ShapedPart | null, sent: readonly Sent[]): void => {
    for (const part of parts) {
      if (part.parent !== (parent?.key ?? null)) continue;
      const below = part.path.slice(parent?.path.length ?? 0);
      const places = sent.flatMap((one) => findPlaces(one.data, below, one.path));
      if (places.length > 0) waiting.set(part.key, fetched(part, places));
    }
  };
  const fetched = async (part: ShapedPart, places: readonly ErrorPath[]): Promise<Sendable> => {
    return { part, places, run: (await runs.of(part.key)) ?? { data: run.data, errors: [] } };
  };
  wait(null, [{ data, path: [] }]);
  const reported = waiting.size === 0 ? run.errors : errors;
  yield { ...withErrors({ data }, reported, extensions), hasNext: waiting.size > 0 };
  while (waiting.size > 0) {
    const next = await Promise.race(waiting.values());
    waiting.delete(next.part.key);
    const made = buildIncremental(next, { variables: run.variables, later });
    wait(next.part, made);
    const incremental = made.filter((one) => one.errors !== undefined || !isEmpty(one.data));
    if (incremental.length > 0) yield { incremental, hasNext: waiting.size > 0 };
    else if (waiting.size === 0) yield { hasNext: false };
  }
}

interface Answering {
  readonly variables: Run['variables'];
  /** Errors of the first part's fetches that concern what follows; those that were reported are taken out. */
  readonly later: GraphQLError[];
}

/** A part's data at each of its places, with the errors that concern it; errors that concern no place are with the first. */
function buildIncremental({ part, run, places }: Sendable, answering: Answering): readonly IncrementalPart[] {
  const { variables, later } = answering;
  const made = places.map((place) => {
    const merged = { data: narrowed(run.data, place) as Members, errors: [], isShared: true, variables };
    const shaped = part.shape(merged);
    const data = valueAt(shaped.data, place) as IncrementalPart['data'];
    const own = [...run.errors, ...later].filter((error) => standsIn(error, data, place));
    const misshapen = (shaped.errors ?? []).map((error) => widenedError(error, place));
    return { place, data, own, misshapen, extensions: shaped.extensions };
  });
  const placed = new Set(made.flatMap(({ own }) => own));
  later.splice(0, later.length, ...later.filter((error) => !placed.has(error)));
  const homeless = run.errors.filter((error) => !placed.has(error));
  const reporting = made.find(({ data }) => !isEmpty(data)) ?? made[0];
  return made.map((one) => {
    const { place: path, data, own, misshapen, extensions } = one;
    const errors = [...own, ...misshapen, ...(one === reporting ? homeless : [])];
    const label = part.label === undefined ? {} : { label: part.label };
    return withErrors({ data, path, ...label }, errors, extensions);
  });
}

/** Whether nothing of a part is at its place: its object is of another type, or @skip leaves it out. */
function isEmpty(data: IncrementalPart['data']): boolean {
  return data !== null && Object.keys(data).length === 0;
}

/** As results have them: what values were left out for goes without saying where there are errors. */
function withErrors<Part extends object>(
  part: Part,
  errors: readonly GraphQLError[],
  extensions: ExecutionResult['extensions'],
): Part & Pick<ExecutionResult, 'errors' | 'extensions'> {
  if (errors.length > 0) return { errors, ...part };
  return extensions === undefined ? part : { ...part, extensions };
}

function widenedError(error: GraphQLError, place: ErrorPath): GraphQLError {
  const path = widened(error.path ?? [], place);
  return new GraphQLError(error.message, { path, originalError: error, extensions: error.extensions });
}

/** Where parts stand in an answer. Pure. */

/** The places of objects that a path of names leads to, through lists. */
function findPlaces(data: unknown, names: readonly string[], from: ErrorPath = []): ErrorPath[] {
  if (typeof data !== 'object' || data === null) return [];
  if (Array.isArray(data))
    return data.flatMap((one: unknown, index) => findPlaces(one, names, [...from, index]));
  const [name, ...further] = names;
  if (name === undefined) return [from];
  if (!Object.hasOwn(data, name)) return [];
  return findPlaces((data as Record<string, unknown>)[name], further, [...from, name]);
}

/** The data that leads to one place and nowhere else: every list on the way has one element. */
function narrowed(data: unknown, place: ErrorPath): unknown {
  const [step, ...further] = place;
  if (step === undefined || typeof data !== 'object' || data === null) return data;
  if (Array.isArray(data)) return [narrowed(data[Number(step)], further)];
  const { [step]: inner, __typename } = data as Record<string, unknown>;
  return { ...(__typename !== undefined && { __typename }), [step]: narrowed(inner, further) };
}

/** What stands at a place of narrowed data; null where a null is on the way. */
function valueAt(data: unknown, place: ErrorPath): unknown {
  let value = data;
  for (const step of place) {
    if (typeof value !== 'object' || value === null) return null;
    value = Array.isArray(value) ? value[0] : (value as Record<string, unknown>)[step];
  }
  return value ?? null;
}

/** The path of an error in narrowed data, in the whole of it. */
function widened(path: ErrorPath, place: ErrorPath): ErrorPath {
  return path.map((step, index) => (index < place.length ? (place[index] ?? step) : step));
}

/** Whether an error concerns something in the data at a place: of a value there, or of a null on the way. */
function standsIn({ path }: Pick<GraphQLError, 'path'>, data: unknown, place: ErrorPath = []): boolean {
  if (path === undefined) return false;
  if (place.some((step, index) => index < path.length && path[index] !== step)) return false;
  let value = data;
  for (const step of path.slice(place.length)) {
    if (typeof value !== 'object' || value === null) return true;
    if (!Object.hasOwn(value, step)) return false;
    value = (value as Record<string, unknown>)[step];
  }
  return true;
}
