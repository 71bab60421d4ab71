import { randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';

import { writeDurably } from '../../jobs/durable-file.ts';
import { missing } from './failure.ts';

/** An object of the API. Members that begin with an underscore are internal. */
export interface StripeObject {
  readonly id: string;
  readonly object: string;
  [name: string]: unknown;
}

/** The types of objects. */
export type Kind =
  | 'product'
  | 'price'
  | 'checkout.session'
  | 'payment_intent'
  | 'charge'
  | 'refund'
  | 'dispute'
  | 'event'
  | 'idempotency_key';

/** All objects, stored in one file that is written atomically. */
export interface State {
  add<Added extends StripeObject>(kind: Kind, thing: Added): Added;
  /** `param` is the request's parameter. Throws resource_missing. */
  get(kind: Kind, id: string, param?: string): StripeObject;
  find(kind: Kind, id: string): StripeObject | undefined;
  /** Newest first. */
  all(kind: Kind): readonly StripeObject[];
  remove(kind: Kind, id: string): void;
  /** Writes changes; resolves when they are on disk. */
  save(): Promise<void>;
}

/** Most objects of a type; the oldest are deleted first. */
const MAX_OF_A_KIND = 5_000;

/** Reads the file of an earlier process, or starts empty. */
export async function openState(file: string): Promise<State> {
  await mkdir(path.dirname(file), { recursive: true });
  const kinds = await read(file);
  const ofKind = (kind: Kind): Map<string, StripeObject> => {
    const known = kinds.get(kind);
    if (known !== undefined) return known;
    const made = new Map<string, StripeObject>();
    kinds.set(kind, made);
    return made;
  };
  let writing: Promise<void> | null = null;
  let isStale = false;
  /** One write at a time; later changes are written by the next one. */
  const save = async (): Promise<void> => {
    isStale = true;
    writing ??= (async () => {
      while (isStale) {
        isStale = false;
        await writeDurably(
          file,
          JSON.stringify([...kinds].map(([kind, things]) => [kind, [...things.values()]])),
        );
      }
    })().finally(() => {
      writing = null;
    });
    await writing;
  };
  return {
    add(kind, thing) {
      const things = ofKind(kind);
      // Reinserted, so that it is the newest.
      things.delete(thing.id);
      things.set(thing.id, thing);
      const [oldest] = things.keys();
      if (things.size > MAX_OF_A_KIND && oldest !== undefined) things.delete(oldest);
      return thing;
    },
    get(kind, id, param) {
      const thing = ofKind(kind).get(id);
      if (thing === undefined) throw missing(kind, id, param);
      return thing;
    },
    find: (kind, id) => ofKind(kind).get(id),
    all: (kind) => [...ofKind(kind).values()].toReversed(),
    remove: (kind, id) => void ofKind(kind).delete(id),
    save,
  };
}

async function read(file: string): Promise<Map<Kind, Map<string, StripeObject>>> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
    throw error;
  }
  const entries = JSON.parse(text) as readonly (readonly [Kind, readonly StripeObject[]])[];
  return new Map(entries.map(([kind, things]) => [kind, new Map(things.map((thing) => [thing.id, thing]))]));
}

/** An id in Stripe's format. */
export function newId(prefix: string, length = 24): string {
  const random = randomBytes(length).toString('base64url').replaceAll(/[-_]/g, 'x');
  return `${prefix}${random.slice(0, length)}`;
}

/** Seconds since 1970. */
export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

/** An object without internal members. */
export function published(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(published);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([name]) => !name.startsWith('_'));
  return Object.fromEntries(entries.map(([name, member]) => [name, published(member)]));
}
