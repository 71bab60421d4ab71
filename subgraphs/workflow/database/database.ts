import type { Generated, JSONColumnType, Kysely, Transaction } from 'kysely';

import type { JsonObject } from '../../../platform/json.ts';
import type { ExecutionError, ExecutionStatus } from '../domain/execution.ts';
import type { TemplateType } from '../domain/template.ts';
import type { PaymentTables } from './payment-tables.ts';
import type { SignInTables } from './sign-in-tables.ts';

/** Sellable workflows, by code. */
export interface TemplateTable {
  readonly code: string;
  readonly name: string;
  readonly description: string | null;
  readonly workflow: string;
  readonly credit_cost: number;
  readonly version: string | null;
  readonly template_type: TemplateType;
  readonly tags: string[];
  readonly image_model: string | null;
  readonly image_prompt: string | null;
  readonly parameters: JSONColumnType<JsonObject>;
  readonly is_active: Generated<boolean>;
  readonly created_at: Generated<Date>;
  readonly updated_at: Generated<Date>;
  /** A deleted template keeps its row for payments and executions that name it; creating its code again revives it. */
  readonly deleted_at: Generated<Date | null>;
}

/** One run of a template. */
export interface ExecutionTable {
  readonly id: string;
  readonly task_id: string;
  readonly external_id: string | null;
  readonly owner: string;
  readonly user_id: string | null;
  readonly template_code: string;
  readonly status: Generated<ExecutionStatus>;
  readonly stage: string;
  readonly progress: Generated<number>;
  readonly parameters: JSONColumnType<JsonObject>;
  /** What media is asked to start, made of template and parameters at submission: a later change of the template does not reach back. */
  readonly start: JSONColumnType<JsonObject>;
  /** Whom media's task belongs to. */
  readonly task_owner: string;
  /** Of the request, so that the same external id twice is only the same execution when it was the same request. */
  readonly fingerprint: string;
  readonly error: JSONColumnType<ExecutionError> | null;
  /** Rises with each change. */
  readonly version: Generated<number>;
  readonly created_at: Generated<Date>;
  /** When media took the task; null when it never did. */
  readonly started_at: Generated<Date | null>;
  readonly ended_at: Generated<Date | null>;
}

/** Which execution a key was used for; pruned a day after the execution ended. */
interface IdempotencyTable {
  readonly owner: string;
  readonly key: string;
  readonly fingerprint: string;
  readonly execution_id: string;
  readonly created_at: Generated<Date>;
}

/** The tables of the "workflow" schema. */
export interface WorkflowTables extends SignInTables, PaymentTables {
  readonly 'workflow.templates': TemplateTable;
  readonly 'workflow.executions': ExecutionTable;
  readonly 'workflow.idempotency': IdempotencyTable;
}

/** Kysely over the workflow schema. */
export type WorkflowDatabase = Kysely<WorkflowTables>;

/** A transaction over it. */
export type WorkflowTransaction = Transaction<WorkflowTables>;
