import type { JsonObject } from '../../../platform/json.ts';

/** Every type of a template. */
export const templateTypes = ['IMAGE', 'VIDEO'] as const;

/** What a template makes. */
export type TemplateType = (typeof templateTypes)[number];

/** Names of workflows that other systems use, with our name and parameters that are always set (WORKFLOW_NAMES). */
export type WorkflowNames = Readonly<Record<string, NamedWorkflow>>;

/** A workflow of ours under a foreign name. */
export interface NamedWorkflow {
  /** image, video, or comfy:NAME. */
  readonly workflow: string;
  /** They win over an execution's own. */
  readonly parameters: JsonObject;
}

/** Our workflow for the name that a template has. Pure. */
export function findWorkflow(name: string, names: WorkflowNames): NamedWorkflow {
  return (Object.hasOwn(names, name) ? names[name] : undefined) ?? { workflow: name, parameters: {} };
}

/** Most that one run may cost in any currency, in minor units: amounts are stored in 32 bits, and taxes may be added to them. */
export const MAX_AMOUNT = 1_000_000_000;

/** A sellable workflow, identified by its code. */
export interface Template {
  readonly code: string;
  readonly name: string;
  readonly description: string | null;
  /** Name of what is executed; executions/workflows.ts knows them. */
  readonly workflow: string;
  readonly creditCost: number;
  /** Minor units of an execution; null: the credits at the usual price of one. */
  readonly price: number | null;
  /** Lower case; null: the usual one. */
  readonly currency: string | null;
  readonly version: string | null;
  readonly templateType: TemplateType;
  readonly tags: readonly string[];
  readonly imageModel: string | null;
  /** May contain {prompt}, filled from the execution's parameters. */
  readonly imagePrompt: string | null;
  /** Which parameters an execution takes, by name (executions/checked-start.ts). */
  readonly parameters: JsonObject;
  readonly isActive: boolean;
  readonly createdAt: Date;
}

/** The fields of a new template; absent ones have defaults (templates/rules.ts). */
export interface TemplateRequest {
  readonly code: string;
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly workflow?: string | null | undefined;
  readonly creditCost?: number | null | undefined;
  readonly price?: number | null | undefined;
  /** Empty: the usual currency, and the usual price. */
  readonly currency?: string | null | undefined;
  readonly version?: string | null | undefined;
  readonly templateType?: TemplateType | null | undefined;
  readonly tags?: readonly string[] | null | undefined;
  readonly imageModel?: string | null | undefined;
  readonly imagePrompt?: string | null | undefined;
}

/** A change of a template; absent fields stay. */
export interface TemplateChange extends Partial<Omit<TemplateRequest, 'code' | 'name'>> {
  readonly name?: string | null | undefined;
  readonly isActive?: boolean | null | undefined;
}

/** The outcome of importing one bundled template. */
export interface ImportedTemplate {
  readonly code: string;
  readonly status: 'success' | 'error';
  readonly error: string | null;
}

/** Which templates are listed. */
export interface TemplateListOptions {
  readonly activeOnly: boolean;
  readonly limit?: number;
  /** Only those behind this code. */
  readonly after?: string | null;
}

/** Templates and their rules. Implemented by createTemplateService (service.ts). */
export interface TemplateService {
  /** Ordered by code; at most 1,000, of those after a code when it is given. */
  list(options: TemplateListOptions): Promise<readonly Template[]>;
  /** In the order of the codes, inactive ones included; null where there is none. */
  byCodes(codes: readonly string[]): Promise<readonly (Template | null)[]>;
  /** The same with deleted ones: for payments and executions that name them. */
  namedBy(codes: readonly string[]): Promise<readonly (Template | null)[]>;
  /** All of them, or those that can be executed. */
  count(options?: { readonly activeOnly: boolean }): Promise<number>;
  /**
   * CONFLICT for a code that is taken, BAD_USER_INPUT with every problem, also for a workflow or model that is not
   * known here. UNAVAILABLE while media can't be asked.
   */
  create(request: TemplateRequest): Promise<Template>;
  /** NOT_FOUND, BAD_USER_INPUT; a changed workflow or model is checked as for a new template. */
  update(code: string, change: TemplateChange): Promise<Template>;
  /** Payments and executions still name it; its code can be used again. NOT_FOUND. */
  remove(code: string): Promise<Template>;
  /** Adds the bundled templates that were never there, all of them or none; changes none. */
  addBundled(): Promise<void>;
  /** Adds the bundled templates that are not there, also those that were deleted, and says how each went; changes none. */
  importBundled(): Promise<readonly ImportedTemplate[]>;
}

/** Why a template can't be run now. */
export interface Unrunnable {
  readonly reason: string;
  /** The generator that is not set up; null when it is something else. */
  readonly generator: string | null;
}

/** Whether templates can be run: asked of media with words of our own, so that only the template can be refused. */
export interface RunnableChecks {
  /** Throws BAD_USER_INPUT for a workflow or model that is not known here, UNAVAILABLE while media does not answer. */
  check(template: Template): Promise<void>;
  /** In the order of the templates: why each can't be run now; null when it can, or media does not answer. */
  reasons(templates: readonly Template[]): Promise<readonly (Unrunnable | null)[]>;
}
