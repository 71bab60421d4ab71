import type { Caller } from '../../../platform/access/caller.ts';
import { AppError, badInput, notFound, type AppErrorCode } from '../../../platform/errors.ts';
import type { Json, JsonObject } from '../../../platform/json.ts';
import type { Template, TemplateService, WorkflowNames } from '../domain/template.ts';
import { isFinalRefusal } from './media-client.ts';
import { checkedParameters } from './parameters.ts';
import type { RunnableDependencies } from './runnable.ts';
import { startOf } from './workflows.ts';

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
  return { parameters, start: startOf(template, parameters, names) };
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
