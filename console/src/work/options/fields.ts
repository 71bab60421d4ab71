import { type Control, chooseControl, type OptionSchema, fits } from './control.ts';

/** The fields of a form for the options of a model, made of the JSON Schema that the API tells. Pure. */

/** One option, or a group of options that its vendor takes as an object. */
export interface OptionField {
  /** Names from the options down to it. */
  readonly path: readonly string[];
  /** What its vendor calls it for people. */
  readonly title: string | null;
  readonly description: string | null;
  /** What the vendor takes where it is not sent. */
  readonly standard: unknown;
  /** Whether the work can not start without it. */
  readonly isRequired?: true;
  readonly control: Control | { readonly kind: 'group'; readonly fields: readonly OptionField[] };
}

/** The fields that are shown, and those that are folded away. */
export interface OptionFields {
  readonly first: readonly OptionField[];
  readonly more: readonly OptionField[];
}

/** Work as far as its options depend on it. */
export interface OptionedWork {
  readonly kind: string;
  /** `optionsSchema` of the model. */
  readonly schema: unknown;
  /** Typed inputs that the form has: an option that says the same is left out. */
  readonly members: readonly string[];
}

/** Options that are shown beside the typed fields: more would hide these. */
const MOST_FIRST = 4;
const AT_A_GLANCE: readonly string[] = ['choice', 'switch', 'range'];

/** The fields of a model for a kind of work; none where it tells no options. */
export function makeOptionFields({ kind, schema, members }: OptionedWork): OptionFields {
  const { properties = {}, required = [] } = (schema ?? {}) as OptionSchema;
  const own = Object.entries(properties).filter(([, one]) => one['x-kinds']?.includes(kind) !== false);
  const fields = makeFields(Object.fromEntries(own), [], members).map((field) =>
    required.includes(field.path[0] ?? '') && field.standard === undefined
      ? { ...field, isRequired: true as const }
      : field,
  );
  // What has a typed name is what most people set; what is required has to be seen.
  const rank = ({ path: [name = ''] }: OptionField) =>
    required.includes(name) ? 0 : properties[name]?.['x-input'] === undefined ? 2 : 1;
  const first = fields
    .filter((field) => AT_A_GLANCE.includes(field.control.kind) || rank(field) < 2)
    .toSorted((one, other) => rank(one) - rank(other))
    .slice(0, MOST_FIRST);
  return { first, more: fields.filter((field) => !first.includes(field)) };
}

/** Every field that is no group, by its path. */
export function listLeaves(fields: readonly OptionField[]): readonly OptionField[] {
  return fields.flatMap((field) =>
    field.control.kind === 'group' ? listLeaves(field.control.fields) : [field],
  );
}

function makeFields(
  properties: Readonly<Record<string, OptionSchema>>,
  path: readonly string[],
  members: readonly string[],
): readonly OptionField[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const typed = schema['x-input'];
    if (typed !== undefined && members.includes(typed)) return [];
    return makeField(schema, [...path, name], members);
  });
}

function makeField(
  schema: OptionSchema,
  path: readonly string[],
  members: readonly string[],
): readonly OptionField[] {
  const { title = null, description = null, default: standard, properties } = schema;
  const told = { path, title, description, standard };
  if (properties === undefined) return [{ ...told, control: chooseControl(schema) }];
  const fields = makeFields(properties, path, members);
  return fields.length === 0 ? [] : [{ ...told, control: { kind: 'group', fields } }];
}

/** What is set of a model's options: an object in the vendor's own names, as it is sent. Pure. */

/** Options by name; groups are objects of them. */
type Options = Readonly<Record<string, unknown>>;

/** The value at a path; undefined when it is not set. */
export function optionAt(options: unknown, path: readonly string[]): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return options;
  return isGroup(options) && Object.hasOwn(options, name) ? optionAt(options[name], rest) : undefined;
}

/** The options with another value at a path; null takes it away, and a group that is empty with it. */
export function withOption(options: unknown, path: readonly string[], value: unknown): Options {
  const before = isGroup(options) ? options : {};
  const [name = '', ...rest] = path;
  const next = rest.length === 0 ? value : withOption(before[name], rest, value);
  const { [name]: _, ...others } = before;
  const isNothing = next === null || next === undefined || (rest.length > 0 && isEmpty(next));
  return isNothing ? others : { ...others, [name]: next };
}

/**
 * What a field shows and sends: a word that this model does not offer was set for another one, and counts as not set.
 */
export function readOptionValue(options: unknown, { path, control }: OptionField): unknown {
  const value = optionAt(options, path);
  if (value === undefined || value === null || value === '') return undefined;
  const isWord = typeof value !== 'object';
  return control.kind === 'choice' && isWord && !fits(control, value) ? undefined : value;
}

/** What is sent: the options that the form shows and that are set; undefined when none is. */
export function sentOptions(options: unknown, { first, more }: OptionFields): Options | undefined {
  const set = listLeaves([...first, ...more])
    .map((field) => [field.path, readOptionValue(options, field)] as const)
    .filter(([, value]) => value !== undefined);
  if (set.length === 0) return undefined;
  return set.reduce<Options>((sent, [path, value]) => withOption(sent, path, value), {});
}

/** How many of the fields are set. */
export function countSet(options: unknown, fields: readonly OptionField[]): number {
  return listLeaves(fields).filter((field) => readOptionValue(options, field) !== undefined).length;
}

/** Options one by one, named by their path, for a list of facts. */
export function optionRows(options: unknown, path: readonly string[] = []): readonly [string, unknown][] {
  if (!isGroup(options)) return [];
  return Object.entries(options).flatMap(([name, value]): readonly [string, unknown][] => {
    const own = [...path, name];
    return isGroup(value) && !isEmpty(value) ? optionRows(value, own) : [[own.join('.'), value]];
  });
}

/**
 * What the server says of options, by the path of the field that shows it: the deepest one that the refusal's path goes
 * through. What has no field is said by the name `options`.
 */
export function optionProblems(
  problems: Readonly<Record<string, string>>,
  { first, more }: OptionFields,
): Readonly<Record<string, string>> {
  const names = listLeaves([...first, ...more]).map(({ path }) => ['options', ...path].join('.'));
  const own = Object.entries(problems).filter(([name]) => name === 'options' || name.startsWith('options.'));
  return Object.fromEntries(
    own.map(([name, message]) => {
      const field = names.find((one) => name === one || name.startsWith(`${one}.`));
      return field === undefined ? ['options', said(name, message)] : [field, message];
    }),
  );
}

function said(name: string, message: string): string {
  return name === 'options' ? message : `${name.slice('options.'.length)} ${message}`;
}

function isGroup(value: unknown): value is Options {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isEmpty(value: unknown): boolean {
  return isGroup(value) && Object.keys(value).length === 0;
}
