import { isObject, type JsonObject } from '../../../../platform/json.ts';
import { invalidInput } from '../../domain/failure.ts';

/** Fields as a wire sends them; what is undefined is not sent. */
type Fields = Readonly<Record<string, unknown>>;

interface MergeOptions {
  readonly options?: JsonObject | undefined;
}

/**
 * The fields of a body with the caller's options among them, objects into objects. Fields that Kiln fills in win: an option
 * that would replace one is refused. `defaults` are sent where nobody says otherwise.
 */
export function withVendorOptions(
  { options = {} }: MergeOptions,
  fields: Fields,
  defaults: Fields = {},
): Record<string, unknown> {
  const sent = merged(fields, options, 'options');
  const left = Object.entries(defaults).filter(([name]) => sent[name] === undefined);
  return { ...sent, ...Object.fromEntries(left) };
}

function merged(fields: Fields, options: JsonObject, at: string): Record<string, unknown> {
  const all: Record<string, unknown> = { ...fields };
  for (const [name, value] of Object.entries(options)) {
    const field = `${at}.${name}`;
    const own = Object.hasOwn(all, name) ? all[name] : undefined;
    if (own === undefined) all[name] = value;
    else if (isObject(own) && isObject(value)) all[name] = merged(own, value, field);
    else throw invalidInput(field, 'is sent by Kiln itself, from the other inputs');
  }
  return all;
}

/** A value as a field of a form has it. */
export function formValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
