import { invalid } from './failure.ts';

/** A value of a form: text, list or group. */
export type FormValue = string | FormValue[] | { [name: string]: FormValue };

/** A parsed form. */
export type Form = { [name: string]: FormValue };

const MAX_FIELDS = 1_000;
const MAX_DEPTH = 8;

/** Parses `a[b][0][c]=v` as Stripe does. Names such as `__proto__` are refused. */
export function readForm(text: string): Form {
  const root: Form = Object.create(null) as Form;
  const pairs = [...new URLSearchParams(text)];
  if (pairs.length > MAX_FIELDS) throw invalid('Too many parameters.');
  for (const [name, value] of pairs) put(root, parsePath(name), value);
  return lists(root) as Form;
}

function parsePath(name: string): string[] {
  const start = name.indexOf('[');
  const first = start === -1 ? name : name.slice(0, start);
  const path = [first, ...[...name.matchAll(/\[([^\]]*)\]/g)].map(([, part]) => part ?? '')];
  if (path.length > MAX_DEPTH || path.includes('__proto__')) {
    throw invalid(`Received unknown parameter: ${first}`, first, 'parameter_unknown');
  }
  return path;
}

function put(root: Form, path: readonly string[], value: string): void {
  let place = root;
  for (const [index, part] of path.entries()) {
    const name = part === '' ? String(Object.keys(place).length) : part;
    if (index === path.length - 1) place[name] = value;
    else {
      const next = place[name];
      place = (typeof next === 'object' ? next : (place[name] = Object.create(null) as Form)) as Form;
    }
  }
}

/** Groups whose names are 0, 1, 2 are lists. */
function lists(value: FormValue): FormValue {
  if (typeof value === 'string') return value;
  const entries = Object.entries(value).map(([name, member]) => [name, lists(member)] as const);
  if (entries.length > 0 && entries.every(([name], index) => name === String(index))) {
    return entries.map(([, member]) => member);
  }
  return Object.assign(Object.create(null) as Form, Object.fromEntries(entries));
}

/** A text member; undefined when absent. */
export function textIn(form: Form, name: string): string | undefined {
  const value = form[name];
  if (value === undefined) return undefined;
  if (typeof value === 'string') return value;
  throw invalid(`Invalid string: ${name}`, name);
}

/** A whole number; undefined when absent. */
export function integerIn(form: Form, name: string): number | undefined {
  const value = textIn(form, name);
  if (value === undefined) return undefined;
  if (/^-?\d{1,15}$/.test(value)) return Number(value);
  throw invalid(`Invalid integer: ${value}`, name, 'parameter_invalid_integer');
}

/** A boolean; undefined when absent. */
export function booleanIn(form: Form, name: string): boolean | undefined {
  const value = textIn(form, name);
  if (value === undefined || value === 'true') return value === 'true' ? true : undefined;
  if (value === 'false') return false;
  throw invalid(`Invalid boolean: ${value}`, name);
}

/** A group of members; empty when absent. */
function groupIn(form: Form, name: string): Form {
  const value = form[name];
  return typeof value === 'object' && !Array.isArray(value) ? value : {};
}

/** A list; empty when absent. */
export function listIn(form: Form, name: string): readonly FormValue[] {
  const value = form[name];
  return Array.isArray(value) ? value : [];
}

const MAX_KEYS = 50;
const MAX_KEY = 40;
const MAX_VALUE = 500;

/** Merges metadata: an empty value removes a key. */
export function metadataIn(
  form: Form,
  before: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const after: Record<string, string> = { ...before };
  for (const [key, value] of Object.entries(groupIn(form, 'metadata'))) {
    if (typeof value !== 'string') throw invalid('Metadata values must be strings.', `metadata[${key}]`);
    if (key.length > MAX_KEY)
      throw invalid(`Metadata keys can have up to ${MAX_KEY} characters.`, 'metadata');
    if (value.length > MAX_VALUE) {
      throw invalid(`Metadata values can have up to ${MAX_VALUE} characters.`, `metadata[${key}]`);
    }
    if (value === '') delete after[key];
    else after[key] = value;
  }
  if (Object.keys(after).length > MAX_KEYS)
    throw invalid(`You can have up to ${MAX_KEYS} metadata keys.`, 'metadata');
  return after;
}
