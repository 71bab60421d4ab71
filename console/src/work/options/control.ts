/** The part of JSON Schema in which the API describes the options of models: see `Model.optionsSchema`. */
export interface OptionSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly (string | number | boolean | null)[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly multipleOf?: number;
  readonly maxLength?: number;
  readonly items?: OptionSchema;
  readonly properties?: Readonly<Record<string, OptionSchema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly OptionSchema[];
  readonly default?: unknown;
  readonly title?: string;
  readonly description?: string;
  /** The typed input that says the same. */
  readonly 'x-input'?: string;
  /** The kinds of work that have it; absent: all. */
  readonly 'x-kinds'?: readonly string[];
}

/** Which control fits an option. Pure. */

/** What an option is set with; `json` takes whatever has no control of its own. */
export type Control =
  | { readonly kind: 'choice'; readonly values: readonly (string | number)[] }
  | { readonly kind: 'switch' }
  | { readonly kind: 'range'; readonly least: number; readonly most: number; readonly step: number }
  | {
      readonly kind: 'number';
      readonly least?: number;
      readonly most?: number;
      readonly step: number | 'any';
    }
  | { readonly kind: 'text'; readonly most: number | null }
  | { readonly kind: 'lines' }
  | { readonly kind: 'json' };

/** Steps of a slider: with more, no hand finds the one that it wants. */
const MOST_STEPS = 500;

/** The control of an option that is no group. */
export function chooseControl(schema: OptionSchema): Control {
  if (schema.anyOf !== undefined) return chooseControlOfAny(schema.anyOf);
  const types = listTypes(schema);
  const words = (schema.enum ?? []).filter((one) => typeof one === 'string' || typeof one === 'number');
  if (words.length > 0) return { kind: 'choice', values: words };
  if (types.length === 2 && types.includes('integer') && types.includes('number'))
    return toNumberControl(schema, false);
  if (types.length !== 1) return { kind: 'json' };
  switch (types[0]) {
    case 'boolean':
      return { kind: 'switch' };
    case 'integer':
    case 'number':
      return toNumberControl(schema, types[0] === 'integer');
    case 'string':
      return { kind: 'text', most: schema.maxLength ?? null };
    case 'array':
      return isOfWords(schema.items) ? { kind: 'lines' } : { kind: 'json' };
    default:
      return { kind: 'json' };
  }
}

/** Whether a control can show a value; one that it can't is shown as JSON. */
export function fits(control: Control, value: unknown): boolean {
  switch (control.kind) {
    case 'json':
      return true;
    case 'lines':
      return Array.isArray(value) && value.every((one) => typeof one === 'string');
    case 'switch':
      return typeof value === 'boolean';
    case 'range':
    case 'number':
      return typeof value === 'number';
    case 'text':
      return typeof value === 'string';
    default:
      return (control.values as readonly unknown[]).includes(value);
  }
}

/** Of several alternatives the one that is chosen from a list, else the first that has a control of its own. */
function chooseControlOfAny(alternatives: readonly OptionSchema[]): Control {
  const controls = alternatives.filter((one) => listTypes(one).join() !== '' || one.enum).map(chooseControl);
  return (
    controls.find(({ kind }) => kind === 'choice') ??
    controls.find(({ kind }) => kind !== 'json') ?? { kind: 'json' }
  );
}

/** Types but null: what is not set is not sent. */
function listTypes({ type = [] }: OptionSchema): readonly string[] {
  const types = typeof type === 'string' ? [type] : type;
  return types.filter((one) => one !== 'null');
}

function isOfWords(items: OptionSchema | undefined): boolean {
  return items !== undefined && items.enum === undefined && listTypes(items).join() === 'string';
}

function toNumberControl({ minimum, maximum, multipleOf }: OptionSchema, isWhole: boolean): Control {
  const exact = multipleOf ?? (isWhole ? 1 : undefined);
  if (minimum !== undefined && maximum !== undefined && maximum > minimum) {
    const step = exact ?? chooseStep(maximum - minimum);
    if ((maximum - minimum) / step <= MOST_STEPS)
      return { kind: 'range', least: minimum, most: maximum, step };
  }
  return {
    kind: 'number',
    ...(minimum !== undefined && { least: minimum }),
    ...(maximum !== undefined && { most: maximum }),
    step: exact ?? 'any',
  };
}

/** A step of 1, 0.1, 0.01, ... that gives a slider at least fifty. */
function chooseStep(span: number): number {
  return Number(`1e${Math.floor(Math.log10(span / 50))}`);
}
