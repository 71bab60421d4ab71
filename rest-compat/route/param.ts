import type { Json } from '../../platform/json.ts';
import type { Reading } from './values.ts';

/** Where a parameter is sent. `form` is urlencoded or multipart text, `file` a multipart file part. */
export type Source = 'query' | 'path' | 'form' | 'json' | 'file';

/** The documents' names of types; `url` is a string with an address, `json` one with JSON. */
export type ParamType =
  | 'string'
  | 'url'
  | 'string|null'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'json'
  | 'object'
  | 'array'
  | 'file'
  | 'link-or-file';

/** Where a file part is stored: in our files, or also at a generator's provider. */
export type Destination =
  | {
      readonly to: 'files';
      /** Kept until it is deleted; else removed after an hour, unless work uses it. */
      readonly keep: boolean;
      /** Whether the reply has the CDN's address, where one is configured. */
      readonly cdn: boolean;
    }
  | { readonly to: 'provider' | 'voice-samples' | 'lip-sync'; readonly generator: string };

/** One documented input of an operation: what OpenAPI says about it, and how it is read. */
export interface Param<Value> {
  readonly in: Source;
  readonly type: ParamType;
  readonly required: boolean;
  /** The value of an absent parameter; undefined when there is no default. */
  readonly fallback?: Value | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  /** The only accepted values (others: 422). */
  readonly enum?: readonly string[];
  /** The documented values; another one is ignored, with a note in msg. */
  readonly known?: readonly string[] | undefined;
  /** Unknown values are passed on to the route instead of being ignored. */
  readonly keepsUnknown?: true | undefined;
  /** Values outside become the nearer end, with a note in msg. */
  readonly clamp?: readonly [number, number] | undefined;
  /** File parts only: where the part is stored. */
  readonly destination?: Destination;
  /** File parts only: accepted media types, such as `image/*`; all when absent. */
  readonly accepts?: readonly string[] | undefined;
  /** Not in the documents: added by us. */
  readonly extension?: true | undefined;
  /** Form texts only: of a repeated field every value is read, on a line of its own, instead of the last one. */
  readonly repeated?: true | undefined;
  /** Validates and converts one value. */
  readonly read: (raw: unknown) => Reading<Value>;
}

/** The parameters of one operation, by documented name. */
export type Params = Readonly<Record<string, Param<unknown>>>;

/** The typed values of a set of parameters. */
export type Values<P extends Params> = {
  readonly [Name in keyof P]: P[Name] extends Param<infer Value> ? Value : never;
};

/** A file part that was stored. */
export interface UploadedFile {
  readonly id: string;
  readonly url: string;
  readonly contentType: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Deletes it: for callers without a credential. */
  readonly manageToken: string | null;
  /** The provider's response, when it was sent on to one. */
  readonly resource?: { readonly uri: string | null; readonly extra: Json };
}

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
export function listNames(params: Params, name: string): readonly string[] {
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
