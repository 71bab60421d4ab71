import type { Generated, JSONColumnType } from 'kysely';

import type { JsonObject } from '../../../platform/json.ts';
import type { PaymentStatus, RefundReason } from '../domain/payment.ts';

/** One purchase; its status is written by reconcile alone. */
export interface PaymentTable {
  readonly id: string;
  readonly owner: string;
  readonly user_id: string;
  readonly template_code: string;
  readonly parameters: JSONColumnType<JsonObject>;
  /** What media will be asked to start: made at checkout, so that a later change of the template does not reach what was sold. */
  readonly start: JSONColumnType<JsonObject>;
  /** Whom media's task will belong to. */
  readonly task_owner: string;
  readonly status: Generated<PaymentStatus>;
  /** Minor units. */
  readonly amount: number;
  readonly amount_refunded: Generated<number>;
  readonly currency: string;
  /** Part of the idempotent call to the provider: never changed. */
  readonly price_id: string;
  readonly expires_at: Date;
  readonly pp_session_id: string | null;
  readonly pp_url: string | null;
  readonly pp_payment_intent_id: string | null;
  /** Set once, in the transaction that makes the execution. */
  readonly execution_id: string | null;
  readonly disputed: Generated<boolean>;
  readonly idempotency_key: string | null;
  readonly fingerprint: string;
  readonly version: Generated<number>;
  readonly created_at: Generated<Date>;
  readonly updated_at: Generated<Date>;
}

/** Refunds that were asked for, whether the provider has answered or not. */
interface RefundTable {
  /** Ours. */
  readonly id: string;
  readonly payment_id: string;
  readonly pp_refund_id: string | null;
  readonly amount: number;
  readonly reason: RefundReason;
  readonly metadata: JSONColumnType<JsonObject>;
  /** The provider's word, or `refused` when it would not. */
  readonly status: Generated<string>;
  /** Nobody asked for it: the paid execution failed. */
  readonly automatic: Generated<boolean>;
  readonly idempotency_key: string | null;
  readonly created_at: Generated<Date>;
}

/** Events of the provider that came in; one is seen only when it was processed. */
interface PayEventTable {
  readonly id: string;
  readonly type: string;
  readonly attempts: Generated<number>;
  readonly last_error: string | null;
  readonly received_at: Generated<Date>;
  readonly processed_at: Date | null;
}

/** The provider's ids of a template, per account and mode: a key of another account does not find them. */
interface TemplateReferenceTable {
  readonly template_code: string;
  readonly pp_account: string;
  readonly product_id: string;
  readonly price_id: string;
  /** Of what was last written there: name, description, price, activity. */
  readonly content_hash: string;
  readonly synced_at: Date;
}

/** The tables of payments, in the "workflow" schema. */
export interface PaymentTables {
  readonly 'workflow.payments': PaymentTable;
  readonly 'workflow.refunds': RefundTable;
  readonly 'workflow.pay_events': PayEventTable;
  readonly 'workflow.template_references': TemplateReferenceTable;
}
