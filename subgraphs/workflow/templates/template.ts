import type { JsonObject } from '../../../platform/json.ts';

export const templateTypes = ['IMAGE', 'VIDEO'] as const;
export type TemplateType = (typeof templateTypes)[number];

/** A sellable workflow, identified by its code. */
export interface Template {
  readonly code: string;
  readonly name: string;
  readonly description: string | null;
  /** Name of what is executed; executions/workflows.ts knows them. */
  readonly workflow: string;
  readonly creditCost: number;
  readonly version: string | null;
  readonly templateType: TemplateType;
  readonly tags: readonly string[];
  readonly imageModel: string | null;
  /** May contain {prompt}, filled from the execution's parameters. */
  readonly imagePrompt: string | null;
  /** Which parameters an execution takes, by name (parameters.ts). */
  readonly parameters: JsonObject;
  readonly isActive: boolean;
  readonly createdAt: Date;
}

/** Templates and their rules. Implemented by createTemplateService (service.ts). */
export interface TemplateService {
  /** Ordered by code; at most 1,000. */
  list(options: { readonly activeOnly: boolean }): Promise<readonly Template[]>;
  /** In the order of the codes, inactive ones included; null where there is none. */
  byCodes(codes: readonly string[]): Promise<readonly (Template | null)[]>;
  count(): Promise<number>;
  /** Adds the bundled templates that were never there; changes none. */
  importBundled(): Promise<void>;
}
