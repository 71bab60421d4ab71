import type { Json, JsonObject } from '../../platform/json.ts';
import type { Destination, Param, ParamType, Source, UploadedFile } from './param.ts';
import {
  readBoolean,
  readChoice,
  readInteger,
  readJsonText,
  readLinks,
  readNullableText,
  readNumber,
  readObject,
  readText,
  readTexts,
  withinBounds,
  type Reading,
} from './values.ts';

/** Builders of parameters for the route tables: `query.text()`, `json.choice([...])`, `file()` and so on. */

/** Required unless `optional` (then undefined when absent) or `fallback` (then that) is given. */
interface Options<Value> {
  readonly optional?: true;
  readonly fallback?: Value;
  /** Not in the documents: added by us. */
  readonly extension?: true;
}

interface TextOptions extends Options<string> {
  readonly known?: readonly string[];
  readonly keepsUnknown?: true;
}

interface NumberOptions extends Options<number> {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly clamp?: readonly [number, number];
}

type Present<Value, O> = O extends { readonly optional: true } ? Value | undefined : Value;

type Facts = Partial<Omit<Param<unknown>, 'in' | 'type' | 'required' | 'fallback' | 'extension' | 'read'>>;

function param<Value, O extends Options<Value>>(
  identity: { readonly in: Source; readonly type: ParamType },
  read: (raw: unknown) => Reading<Value>,
  options: O,
  facts: Facts = {},
): Param<Present<Value, O>> {
  const required = options.optional !== true && options.fallback === undefined;
  // Present values are never undefined, so a reader of Value is a reader of Present<Value, O>.
  return {
    ...identity,
    ...facts,
    required,
    fallback: options.fallback,
    extension: options.extension,
    read,
  };
}

/** A builder of parameters of one type, whose options are optional. */
function typed<Value>(
  source: Source,
  type: ParamType,
  read: (raw: unknown) => Reading<Value>,
  facts?: Facts,
) {
  return <const O extends Options<Value> = object>(options?: O) =>
    param<Value, O>({ in: source, type }, read, options ?? ({} as O), facts);
}

function numeric(source: Source, type: 'integer' | 'number', reader: (raw: unknown) => Reading<number>) {
  return <const O extends NumberOptions = object>(options?: O) => {
    const { minimum, maximum, clamp }: NumberOptions = options ?? {};
    const read = (raw: unknown): Reading<number> => {
      const reading = reader(raw);
      return 'problem' in reading ? reading : withinBounds(reading.value, { minimum, maximum });
    };
    return param<number, O>({ in: source, type }, read, options ?? ({} as O), { minimum, maximum, clamp });
  };
}

function createBuilders(source: Exclude<Source, 'file'>) {
  return {
    /** A text. */
    text: <const O extends TextOptions = object>(options?: O) => {
      const { known, keepsUnknown }: TextOptions = options ?? {};
      const identity = { in: source, type: 'string' } as const;
      return param<string, O>(identity, readText, options ?? ({} as O), { known, keepsUnknown });
    },
    /** A text with an address, which the media service checks. */
    url: typed<string>(source, 'url', readText),
    /** A text or null. */
    nullableText: typed<string | null>(source, 'string|null', readNullableText),
    /** An integer, within bounds when given. */
    integer: numeric(source, 'integer', readInteger),
    /** A finite number, within bounds when given. */
    number: numeric(source, 'number', readNumber),
    /** true/false/1/0/yes/no/on/off. */
    boolean: typed<boolean>(source, 'boolean', readBoolean),
    /** A text that holds JSON of any kind. */
    jsonText: typed<Json>(source, 'json', readJsonText),
    /** One of the allowed words; anything else is a 422. */
    choice: <const Word extends string, const O extends Options<NoInfer<Word>> = object>(
      allowed: readonly Word[],
      options?: O,
    ) => {
      const read = (raw: unknown) => readChoice(raw, allowed);
      return param<Word, O>({ in: source, type: 'string' }, read, options ?? ({} as O), { enum: allowed });
    },
  };
}

/** Parameters of the query string; of a repeated one the last value counts. */
export const query = createBuilders('query');
/** Parts of the path, written `{name}` there; always required. */
export const path = createBuilders('path');
/** Text fields of a urlencoded or multipart body; an empty one counts as absent. */
export const form = {
  ...createBuilders('form'),
  /** Addresses: the field repeated, or one text with commas or line breaks between them. */
  urls: typed<readonly string[]>('form', 'string', readLinks, { repeated: true }),
};
/** Fields of a JSON object. */
export const json = {
  ...createBuilders('json'),
  /** Any JSON object. */
  object: typed<JsonObject>('json', 'object', readObject),
  /** A list of texts. */
  texts: typed<readonly string[]>('json', 'array', readTexts),
};

interface FileOptions {
  readonly optional?: true;
  /** Absent: a temporary file, which is removed after an hour unless work uses it. */
  readonly destination?: Destination;
  /** Accepted media types: described in OpenAPI, and checked by the schema, which alone measures files. */
  readonly accepts?: readonly string[];
}

const temporary: Destination = { to: 'files', keep: false, cdn: false };

/**
 * A file part of a multipart body, which streams to its destination as it arrives. Its value is the file that was stored.
 */
export function file<const O extends FileOptions = object>(options?: O): Param<Present<UploadedFile, O>> {
  const { destination = temporary, accepts }: FileOptions = options ?? {};
  const read = (raw: unknown): Reading<UploadedFile> => ({ value: raw as UploadedFile });
  const settings: Options<UploadedFile> & O = options ?? ({} as O);
  return param<UploadedFile, O>({ in: 'file', type: 'file' }, read, settings, { destination, accepts });
}

/** A file part or a text with an address, under the same name. */
export function linkOrFile<const O extends Pick<FileOptions, 'optional'> = object>(
  options?: O,
): Param<Present<UploadedFile | string, O>> {
  const read = (raw: unknown): Reading<UploadedFile | string> =>
    typeof raw === 'string' ? readText(raw) : { value: raw as UploadedFile };
  const settings: Options<UploadedFile | string> & O = options ?? ({} as O);
  return param<UploadedFile | string, O>({ in: 'file', type: 'link-or-file' }, read, settings, {
    destination: temporary,
  });
}
