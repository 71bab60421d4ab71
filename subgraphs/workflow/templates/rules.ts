import { isCurrency, mustBeCurrency } from '../../../platform/config/settings/formats.ts';
import { AppError, type Problem } from '../../../platform/errors.ts';
import type { JsonObject } from '../../../platform/json.ts';
import {
  findWorkflow,
  MAX_AMOUNT,
  type Template,
  type TemplateChange,
  type TemplateRequest,
  type TemplateType,
  type WorkflowNames,
} from '../domain/template.ts';
import type { NewTemplate } from './store.ts';

/** The validation of templates. Pure. */

const MAX_NAME = 200;
const MAX_TEXT = 5_000;
const MAX_TAGS = 50;
const MAX_TAG = 100;
const MAX_COST = 1_000_000;

/** The default workflow by template type. */
const DEFAULT_WORKFLOWS: Readonly<Record<TemplateType, string>> = { IMAGE: 'image', VIDEO: 'video' };

/** The default parameters of a template. */
const DEFAULT_PARAMETERS: JsonObject = {
  prompt: { type: 'string', maxLength: 1_000, description: 'What to show.' },
  imageUrl: { type: 'url', description: 'A reference image.' },
  aspectRatio: { type: 'aspectRatio', description: 'W:H, such as 16:9.' },
};

/** Validates a new template and adds defaults. BAD_USER_INPUT with every problem. */
export function newTemplate(request: TemplateRequest, names: WorkflowNames): NewTemplate {
  const { code, name, templateType, tags } = request;
  refuse([
    ...(/^[A-Za-z0-9_-]{1,64}$/.test(code)
      ? []
      : [{ field: 'code', message: 'code must be 1 to 64 letters, digits, _ and -' }]),
    ...findProblems(request),
  ]);
  const type = templateType ?? 'IMAGE';
  const workflow = request.workflow?.trim() || DEFAULT_WORKFLOWS[type];
  return {
    code,
    name,
    description: request.description ?? '',
    workflow,
    creditCost: request.creditCost ?? 0,
    price: request.price ?? null,
    currency: request.currency?.toLowerCase() || null,
    version: request.version ?? '1.0.0',
    templateType: type,
    tags: tags ?? [],
    imageModel: request.imageModel ?? null,
    imagePrompt: request.imagePrompt ?? null,
    parameters: createParameters(workflow, names),
  };
}

/** Validates a change. BAD_USER_INPUT with every problem. */
export function checkChange(change: TemplateChange): void {
  refuse(findProblems(change));
}

/** A template after a change. A workflow that only followed from the type still does. */
export function changedTemplate(template: Template, change: TemplateChange, names: WorkflowNames): Template {
  const templateType = change.templateType ?? template.templateType;
  const followed = template.workflow === DEFAULT_WORKFLOWS[template.templateType];
  const usual = followed ? DEFAULT_WORKFLOWS[templateType] : template.workflow;
  const workflow = change.workflow?.trim() || usual;
  const isOtherKind = isGraph(workflow, names) !== isGraph(template.workflow, names);
  return {
    ...template,
    name: change.name ?? template.name,
    description: change.description ?? template.description,
    creditCost: change.creditCost ?? template.creditCost,
    ...choosePrice(template, change),
    isActive: change.isActive ?? template.isActive,
    version: change.version ?? template.version,
    tags: change.tags ?? template.tags,
    imageModel: change.imageModel ?? template.imageModel,
    imagePrompt: change.imagePrompt ?? template.imagePrompt,
    templateType,
    workflow,
    parameters: isOtherKind ? createParameters(workflow, names) : template.parameters,
  };
}

/** An empty currency takes both back: the template then costs its credits. */
function choosePrice(template: Template, { price, currency }: TemplateChange) {
  if (currency === '') return { price: price ?? null, currency: null };
  return { price: price ?? template.price, currency: currency?.toLowerCase() ?? template.currency };
}

/** The parameters of a graph are known to media only. */
function createParameters(workflow: string, names: WorkflowNames): JsonObject {
  return isGraph(workflow, names) ? {} : DEFAULT_PARAMETERS;
}

function isGraph(workflow: string, names: WorkflowNames): boolean {
  return findWorkflow(workflow, names).workflow.startsWith('comfy:');
}

function findProblems(change: TemplateChange): readonly Problem[] {
  const { name, description, creditCost } = change;
  return [
    ...(typeof name === 'string' && name.trim() === ''
      ? [{ field: 'name', message: 'name must not be empty' }]
      : []),
    ...textProblems('name', name, MAX_NAME),
    ...textProblems('description', description, MAX_TEXT),
    ...amountProblems('creditCost', creditCost, MAX_COST),
    ...amountProblems('price', change.price, MAX_AMOUNT),
    ...currencyProblems(change.currency),
    ...tagProblems(change.tags ?? []),
    ...textProblems('version', change.version, MAX_NAME),
    ...textProblems('workflow', change.workflow, MAX_NAME),
    ...textProblems('imageModel', change.imageModel, MAX_NAME),
    ...textProblems('imagePrompt', change.imagePrompt, MAX_TEXT),
  ];
}

function amountProblems(field: string, amount: number | null | undefined, most: number): readonly Problem[] {
  if (amount === null || amount === undefined) return [];
  if (Number.isInteger(amount) && amount >= 0 && amount <= most) return [];
  return [{ field, message: `${field} must be a whole number from 0 to ${most}` }];
}

function currencyProblems(currency: string | null | undefined): readonly Problem[] {
  if (!currency || isCurrency(currency)) return [];
  return [{ field: 'currency', message: `currency ${mustBeCurrency}` }];
}

function textProblems(field: string, text: string | null | undefined, longest: number): readonly Problem[] {
  if (text === null || text === undefined || text.length <= longest) return [];
  return [{ field, message: `${field} must have at most ${longest} characters` }];
}

function tagProblems(tags: readonly string[]): readonly Problem[] {
  const isGood = tags.length <= MAX_TAGS && tags.every((tag) => tag.trim() !== '' && tag.length <= MAX_TAG);
  return isGood
    ? []
    : [{ field: 'tags', message: `tags must be at most ${MAX_TAGS} texts of 1 to ${MAX_TAG} characters` }];
}

function refuse(problems: readonly Problem[]): void {
  const [first] = problems;
  if (first === undefined) return;
  const message = problems.map((problem) => problem.message).join('; ');
  throw new AppError('BAD_USER_INPUT', message, { field: first.field, problems });
}
