import type { Param, Params } from './param.ts';

/** The names under which a parameter is accepted. Pure. */

const media = [
  ['img', 'image'],
  ['first_img', 'first_image'],
  ['last_img', 'last_image'],
  ['tail_img', 'tail_image'],
  ['audio'],
  ['video'],
] as const;
const ending = (names: readonly string[], end: string) => names.map((name) => `${name}_${end}`);

/** Names of an address. */
const links = media.map((names) => ending(names, 'url'));
/** The same in a form, where a text under a bare name is one, too. */
const formLinks = media.map((names) => [...ending(names, 'url'), ...names]);
/** Names of a file part. */
const files = media.map((names) => [...ending(names, 'file'), ...names, ...ending(names, 'url')]);
/** Names of what is a file part or an address. */
const filesOrLinks = media.map((names, index) => [`${names[0]}_input`, ...(files[index] ?? [])]);
/** Form fields whose names the documents do not show, and what the APIs of generators call them. */
const options = [
  ['ar', 'aspect_ratio'],
  ['n', 'num', 'count'],
  ['resolution', 'size'],
  ['img_urls', 'image_urls'],
];

/** Every name under which a parameter of a route is accepted, the documented one first. */
export function namesOf(params: Params, name: string): readonly string[] {
  const param = params[name];
  if (param === undefined) return [name];
  const group = groupsFor(param).find((names) => names.includes(name)) ?? [];
  const isOther = (alias: string) => {
    const other = params[alias];
    return other !== undefined && (other.in === 'file') === (param.in === 'file');
  };
  return [name, ...group.filter((alias) => alias !== name && !isOther(alias))];
}

function groupsFor({ in: source, type }: Param<unknown>): readonly (readonly string[])[] {
  if (type === 'file') return files;
  if (type === 'link-or-file') return filesOrLinks;
  if (type === 'url') return source === 'form' ? formLinks : links;
  return source === 'form' ? options : [];
}
