import type { Caller } from '../../../platform/access/caller.ts';
import type { JsonObject } from '../../../platform/json.ts';

/** Calls of which a batch may be made, by the path that OpenAI gives them. */
export const batchEndpoints = [
  '/v1/images/generations',
  '/v1/images/edits',
  '/v1/videos',
  '/v1/chat/completions',
] as const;

/** One of them. */
export type BatchEndpoint = (typeof batchEndpoints)[number];

/** Where a batch is, in OpenAI's words; the last three are its end. */
export type BatchStatus =
  | 'validating'
  | 'in_progress'
  | 'finalizing'
  | 'cancelling'
  | 'completed'
  | 'failed'
  | 'cancelled';

/** Whose calls they are: what is known of a caller later. */
export type BatchCaller = Pick<Caller, 'kind' | 'id' | 'scopes' | 'address'> & {
  readonly generators: readonly string[] | null;
};

/** Something wrong with the input file. */
export interface BatchProblem {
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  /** From 1; null when it is about the file. */
  readonly line: number | null;
}

/** Many calls that somebody waits for only as a whole. */
export interface Batch {
  readonly id: string;
  readonly owner: string;
  readonly caller: BatchCaller;
  readonly endpoint: BatchEndpoint;
  readonly inputFile: string;
  readonly metadata: JsonObject | null;
  readonly status: BatchStatus;
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
  readonly problems: readonly BatchProblem[] | null;
  readonly outputFile: string | null;
  readonly errorFile: string | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finalizingAt: Date | null;
  readonly cancellingAt: Date | null;
  readonly endedAt: Date | null;
}

/** One call of a batch. */
export interface BatchLine {
  /** From 0. */
  readonly index: number;
  readonly customId: string;
  readonly body: JsonObject;
  /** Whether its vendor had no room for it at half the price, so that it is made at the usual one. */
  readonly hasLeftFlex?: boolean;
  /** Its task, which goes on in its vendor's batch. */
  readonly task?: string | null;
}

/** How one call ended. */
export interface LineOutcome {
  readonly status: number;
  readonly requestId: string;
  readonly body: object;
}

/** A batch as OpenAI's description has it: what is not there yet is left out, as it allows no null. Pure. */
export function toBatchObject(batch: Batch): object {
  const { metadata, ...members } = toMembers(batch);
  const there = Object.entries(members).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(there), metadata };
}

function toMembers(batch: Batch) {
  const { status, problems, endedAt } = batch;
  const endedAs = (end: BatchStatus) => (status === end ? seconds(endedAt) : null);
  return {
    id: batch.id,
    object: 'batch',
    endpoint: batch.endpoint,
    errors: problems === null ? null : { object: 'list', data: problems },
    input_file_id: batch.inputFile,
    completion_window: '24h',
    status,
    output_file_id: batch.outputFile,
    error_file_id: batch.errorFile,
    created_at: seconds(batch.createdAt),
    in_progress_at: seconds(batch.startedAt),
    expires_at: null,
    finalizing_at: seconds(batch.finalizingAt),
    completed_at: endedAs('completed'),
    failed_at: endedAs('failed'),
    expired_at: null,
    cancelling_at: seconds(batch.cancellingAt),
    cancelled_at: endedAs('cancelled'),
    request_counts: { total: batch.total, completed: batch.completed, failed: batch.failed },
    metadata: batch.metadata,
  };
}

function seconds(moment: Date | null): number | null {
  return moment === null ? null : Math.floor(moment.getTime() / 1_000);
}
