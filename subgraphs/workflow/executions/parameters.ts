import { AppError, badInput, type Problem } from '../../../platform/errors.ts';
import type { Json, JsonObject } from '../../../platform/json.ts';

/**
 * One parameter of a template's executions, as the template specifies it. Unknown parameters are kept (callers'
 * metadata); specified ones are validated, all problems at once. Pure.
 */
interface ParameterSpecification {
  readonly type: (typeof types)[number];
  readonly required: boolean;
  readonly default: Json;
  /** Characters, for texts. */
  readonly maxLength: number;
  readonly minimum: number;
  readonly maximum: number;
  readonly multipleOf: number;
}

/** The parameters with their defaults, or BAD_USER_INPUT naming every problem. */
export function checkedParameters(specification: JsonObject, parameters: Json): JsonObject {
  if (typeof parameters !== 'object' || parameters === null || Array.isArray(parameters)) {
    throw badInput('parameters', 'parameters must be a JSON object');
  }
  const input = parameters as JsonObject;
  if (JSON.stringify(input).includes('\\u0000')) {
    throw badInput('parameters', 'parameters may not contain NUL characters');
  }
  const specifications = Object.entries(specification).map(([name, entry]) => ({
    name,
    ...readEntry(entry),
  }));
  const problems = specifications.flatMap((entry) => findProblems(entry, input[entry.name] ?? null));
  const [first] = problems;
  if (first !== undefined) {
    const message = problems.map((problem) => problem.message).join('; ');
    throw new AppError('BAD_USER_INPUT', message, { field: first.field, problems });
  }
  const defaults = specifications.filter((entry) => entry.default !== null && isAbsent(input[entry.name]));
  return { ...input, ...Object.fromEntries(defaults.map((entry) => [entry.name, entry.default])) };
}

type NamedSpecification = ParameterSpecification & { readonly name: string };

function findProblems(specification: NamedSpecification, value: Json): readonly Problem[] {
  const field = `parameters.${specification.name}`;
  if (isAbsent(value)) {
    return specification.required ? [{ field, message: `${field} is needed` }] : [];
  }
  const wrong = mismatch(specification, value);
  return wrong === null ? [] : [{ field, message: `${field} ${wrong}` }];
}

/** An empty text counts as absent, as in a form. */
function isAbsent(value: Json | undefined): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}

function mismatch(specification: ParameterSpecification, value: Json): string | null {
  const { type, minimum, maximum, multipleOf, maxLength } = specification;
  if (type === 'boolean') return typeof value === 'boolean' ? null : 'must be true or false';
  if (type === 'integer') {
    const fits =
      typeof value === 'number' && value % multipleOf === 0 && value >= minimum && value <= maximum;
    const kind = multipleOf === 1 ? 'whole number' : `multiple of ${multipleOf}`;
    return fits ? null : `must be a ${kind} from ${minimum} to ${maximum}`;
  }
  if (typeof value !== 'string') return 'must be a text';
  if (value.length > maxLength) return `may have at most ${maxLength} characters`;
  if (type === 'url') return isHttpUrl(value) ? null : 'must be an http or https address';
  if (type === 'aspectRatio') return isAspectRatio(value) ? null : 'must be W:H with integers from 1 to 64';
  return null;
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol);
}

function isAspectRatio(text: string): boolean {
  const [, width, height] = /^(\d{1,2}):(\d{1,2})$/.exec(text) ?? [];
  return [width, height].every((side) => Number(side) >= 1 && Number(side) <= 64);
}

const types = ['string', 'url', 'aspectRatio', 'integer', 'boolean'] as const;

/** Reads one entry of a template's specification; missing or invalid members mean no restriction. */
function readEntry(entry: Json): ParameterSpecification {
  const object =
    typeof entry === 'object' && entry !== null && !Array.isArray(entry) ? (entry as JsonObject) : {};
  const numberOr = (name: string, otherwise: number): number => {
    const value = object[name];
    return typeof value === 'number' ? value : otherwise;
  };
  return {
    type: types.find((type) => type === object['type']) ?? 'string',
    required: object['required'] === true,
    default: object['default'] ?? null,
    maxLength: numberOr('maxLength', 20_000),
    minimum: numberOr('minimum', Number.MIN_SAFE_INTEGER),
    maximum: numberOr('maximum', Number.MAX_SAFE_INTEGER),
    multipleOf: Math.max(1, numberOr('multipleOf', 1)),
  };
}
