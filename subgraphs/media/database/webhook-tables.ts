/** Table type of result webhooks (migrations/0007-webhook-deliveries.ts). */

/** PENDING is queued, being sent, or waiting for its next attempt; GIVEN_UP is over without success. */
export type DeliveryState = 'PENDING' | 'DELIVERED' | 'GIVEN_UP';

/** The delivery of one task's end to its callback address. */
export interface WebhookDeliveryTable {
  /** Also the webhook-id of every attempt. */
  readonly id: string;
  readonly task_id: string;
  readonly url: string;
  readonly state: DeliveryState;
  /** Grows with each redelivery; a job of an older round does nothing. */
  readonly round: number;
  /** Attempts of this round; they say how long the next pause is. */
  readonly tries: number;
  /** Attempts of all rounds. */
  readonly attempts: number;
  /** When the next attempt is due; null while one is queued or being made, and at the end. */
  readonly next_attempt_at: Date | null;
  /** Last time that an attempt began or a redelivery was asked for. */
  readonly touched_at: Date;
  readonly delivered_at: Date | null;
  readonly last_status: number | null;
  readonly last_error: string | null;
  readonly created_at: Date;
}

/** The tables of result webhooks. */
export interface WebhookTables {
  readonly 'media.webhook_deliveries': WebhookDeliveryTable;
}
