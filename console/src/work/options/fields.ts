import { type Control, controlOf } from './control.ts';
import type { OptionSchema } from './schema.ts';

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
export function optionFieldsOf({ kind, schema, members }: OptionedWork): OptionFields {
  const { properties = {}, required = [] } = (schema ?? {}) as OptionSchema;
  const own = Object.entries(properties).filter(([, one]) => one['x-kinds']?.includes(kind) !== false);
  const fields = fieldsOf(Object.fromEntries(own), [], members).map((field) =>
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
export function leavesOf(fields: readonly OptionField[]): readonly OptionField[] {
  return fields.flatMap((field) =>
    field.control.kind === 'group' ? leavesOf(field.control.fields) : [field],
  );
}

function fieldsOf(
  properties: Readonly<Record<string, OptionSchema>>,
  path: readonly string[],
  members: readonly string[],
): readonly OptionField[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const typed = schema['x-input'];
    if (typed !== undefined && members.includes(typed)) return [];
    return fieldOf(schema, [...path, name], members);
  });
}

function fieldOf(
  schema: OptionSchema,
  path: readonly string[],
  members: readonly string[],
): readonly OptionField[] {
  const { title = null, description = null, default: standard, properties } = schema;
  const told = { path, title, description, standard };
  if (properties === undefined) return [{ ...told, control: controlOf(schema) }];
  const fields = fieldsOf(properties, path, members);
  return fields.length === 0 ? [] : [{ ...told, control: { kind: 'group', fields } }];
}
