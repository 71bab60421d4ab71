import { namesOf } from '../route/names.ts';
import type { Params } from '../route/param.ts';
import type { FormBody } from './body/form.ts';

/** Fields of a request that its operation does not read: their names go into the reply. Pure. */

const MAX_NAMES = 20;
const MAX_NAME_LENGTH = 50;

/** Names among these that no parameter of the body has; bounded, as callers choose them. */
export function unreadNames(params: Params, names: Iterable<string>): readonly string[] {
  const fields = Object.entries(params).filter(([, { in: source, type }]) =>
    source === 'file' ? type === 'link-or-file' : source === 'form' || source === 'json',
  );
  const known = new Set(fields.flatMap(([name]) => namesOf(params, name)));
  return bounded([...names].filter((name) => !known.has(name)));
}

/** Callers choose the names and how many there are. */
function bounded(names: readonly string[]): readonly string[] {
  const distinct = [...new Set(names)].filter((name) => name !== '');
  return distinct.slice(0, MAX_NAMES).map((name) => name.slice(0, MAX_NAME_LENGTH));
}

/** Names of query parameters that the operation does not read; a body's field in the query is one of them. */
export function unreadQuery(params: Params, names: Iterable<string>): readonly string[] {
  const known = new Set(
    Object.entries(params).flatMap(([name, { in: source }]) =>
      source === 'query' ? namesOf(params, name) : [],
    ),
  );
  return bounded([...names].filter((name) => !known.has(name)));
}

/** The same of a form: also file parts beside the one that was used. */
export function unreadParts(
  params: Params,
  { fields, files }: FormBody,
  used: readonly unknown[],
): readonly string[] {
  // Under another name of a parameter is the same file as under its own, or the request is refused.
  const known = new Set(
    Object.entries(params).flatMap(([name, { in: source }]) =>
      source === 'file' ? namesOf(params, name) : [],
    ),
  );
  const spare = files
    .filter(({ field, file }) => !known.has(field) && (file === null || !used.includes(file)))
    .map(({ field }) => field);
  const read = new Set(files.filter(({ field }) => !spare.includes(field)).map(({ field }) => field));
  const unused = spare.filter((field) => !read.has(field));
  return bounded([...unreadNames(params, fields.keys()), ...unused]);
}
