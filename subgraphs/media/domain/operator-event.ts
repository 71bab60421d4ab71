import type { JsonObject } from '../../../platform/json.ts';

/** An event for the operator's webhook endpoints that is no task's end: of a budget, a provider or a payment. */
export interface OperatorEvent {
  /** The same id again is delivered once. */
  readonly id: string;
  /** GROUP.NAME, as `budget.warning`. */
  readonly type: string;
  readonly at: Date;
  readonly data: JsonObject;
}
