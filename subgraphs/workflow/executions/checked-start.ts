import type { Caller } from '../../../platform/access/caller.ts';
import { AppError, badInput, notFound, type AppErrorCode, type Problem } from '../../../platform/errors.ts';
import type { Json, JsonObject } from '../../../platform/json.ts';
import type { Template, TemplateService, WorkflowNames } from '../domain/template.ts';
import { isFinalRefusal } from './media-client.ts';
import type { RunnableDependencies } from './runnable.ts';
import { toStartInput } from './workflows.ts';

/** The template parameter that fills each field of media's input. */
const PARAMETERS: Readonly<Record<string, string>> = {
  prompt: 'prompt',
  aspectRatio: 'aspectRatio',
  image: 'imageUrl',
  images: 'imageUrl',
};

/** A template that can be run. NOT_FOUND, or BAD_USER_INPUT (of the caller's `field`) for one that is not active. */
export async function activeTemplate(
  templates: Pick<TemplateService, 'byCodes'>,
  code: string,
  field: string,
): Promise<Template> {
  const [template = null] = await templates.byCodes([code]);
  if (template === null) throw notFound('template', code);
  if (!template.isActive) throw badInput(field, `template ${template.code} is not active`);
  return template;
}

/** Validated parameters, and the input for media's startTask made from them. */
export interface CheckedStart {
  readonly parameters: JsonObject;
  readonly start: JsonObject;
}

/**
 * Validates parameters by the template's rules and by media's. A refusal names the parameter that fills the refused
 * field, else the template. BUDGET_EXCEEDED; UNAVAILABLE when media does not answer.
 */
export async function checkedStart(
  { media, workflowNames }: RunnableDependencies,
  { traceId, generators = null }: Pick<Caller, 'traceId' | 'generators'>,
  {
    template,
    parameters: input,
    fetchInputs = false,
    owner,
    sold = false,
  }: {
    readonly template: Template;
    readonly parameters: Json;
    /** Also fetches inputs at foreign addresses. */
    readonly fetchInputs?: boolean;
    /** Whom the task will belong to: their budgets are asked, unless it is sold. */
    readonly owner: string;
    readonly sold?: boolean;
  },
): Promise<CheckedStart> {
  const { parameters, start } = startFor(template, input, workflowNames);
  try {
    await media.checkStart(start, traceId, { fetchInputs, generators, owner, sold });
  } catch (error) {
    // A generator that this caller may not use is no fault of the template's.
    const isInput = isFinalRefusal(error) && error.code !== 'FORBIDDEN';
    throw isInput ? toRefusal(template, parameters, error) : error;
  }
  return { parameters, start };
}

/** The same by the template's rules alone. Pure. */
export function startFor(template: Template, input: Json, names: WorkflowNames): CheckedStart {
  const parameters = checkedParameters(template.parameters, input);
  return { parameters, start: toStartInput(template, parameters, names) };
}

function toRefusal({ code: template }: Template, input: JsonObject, refused: AppError): AppError {
  const { field = '', message, cause } = refused;
  const parameter = findParameter(field, input);
  if (parameter !== null) {
    const named = `parameters.${parameter}`;
    const text = message.startsWith(field)
      ? `${named}${message.slice(field.length)}`
      : `${named}: ${message}`;
    return new AppError('BAD_USER_INPUT', text, { field: named, cause });
  }
  // What is not set up here is no fault of the caller, nor will it be there in a moment.
  const code: AppErrorCode = refused.code === 'NOT_CONFIGURED' ? 'CONFLICT' : 'BAD_USER_INPUT';
  return new AppError(code, `template ${template} can't be run now: ${message}`, {
    field: 'templateCode',
    cause,
  });
}

function findParameter(field: string, input: JsonObject): string | null {
  if (field.startsWith('inputs.')) {
    const name = field.slice('inputs.'.length);
    return Object.hasOwn(input, name) ? name : (usualName(name) ?? name);
  }
  const [name = ''] = /^\w+/.exec(field) ?? [];
  return usualName(name);
}

function usualName(name: string): string | null {
  return Object.hasOwn(PARAMETERS, name) ? (PARAMETERS[name] ?? null) : null;
}

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
