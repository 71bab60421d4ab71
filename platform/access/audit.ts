import type { Caller } from './caller.ts';

/** Writes down who did what; implemented by createAuditLog (platform/audit). Never fails: a failure is logged. */
export interface AuditRecorder {
  record(caller: Caller, entry: AuditedAction): Promise<void>;
}

interface AuditedAction {
  /** The root field, as `refundPayment`; reading is `read task`. */
  readonly what: string;
  /** The id or code of what it was done to; null when it has none. */
  readonly target: string | null;
}

/** Whose the things in an answer are: those with an `owner`, alone or in the lists of a page. */
export function ownersIn(answer: unknown): readonly Owned[] {
  if (!isObjectOrList(answer)) return [];
  if (isOwned(answer)) return [answer];
  return Object.values(answer).flatMap((member: unknown) =>
    Array.isArray(member) ? member.filter(isOwned) : isOwned(member) ? [member] : [],
  );
}

interface Owned {
  readonly owner: string;
  readonly id?: unknown;
}

function isOwned(value: unknown): value is Owned {
  return isObjectOrList(value) && typeof value['owner'] === 'string';
}

function isObjectOrList(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
