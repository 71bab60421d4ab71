import { z } from 'zod';

import { UpstreamError } from '../../domain/failure.ts';

/** An optional text: another type in its place must not spoil an answer about paid work. */
export const text = z.string().nullish().catch(null);

/** An optional number. */
export const number = z.number().nullish().catch(null);

/** An id, sent as a number or as digits. */
export const requiredId = z.union([z.string().min(1), z.number()]).transform(String);

/** An optional id. */
export const id = requiredId.nullish().catch(null);

/** A list whose entries are read one by one: one of another shape is left out, and does not hide the others. */
export const listOf = <Shape extends z.ZodType>(shape: Shape) =>
  z
    .array(shape.nullable().catch(null))
    .transform((entries) => entries.flatMap((entry) => (entry === null ? [] : [entry])));

/** Such a list that may be missing. */
export const optionalListOf = <Shape extends z.ZodType>(shape: Shape) => listOf(shape).nullish().catch(null);

/** Parses the successful answers of one provider. */
export interface Reader {
  /**
   * The body of an answer in that shape; throws `unreadable` when it has another. `what` names it in the error: "a
   * task".
   */
  readonly read: <Shape extends z.ZodType>(
    shape: Shape,
    answer: { readonly json: unknown },
    what?: string,
  ) => z.output<Shape>;
  /** The error for a success that can't be parsed: UNAVAILABLE, and the work may have started. */
  readonly unreadable: (cause: unknown, what?: string) => UpstreamError;
}

/** Creates the reader of one provider; its errors name it. */
export function createReader(provider: string): Reader {
  const unreadable = (cause: unknown, what = 'something') =>
    new UpstreamError('UNAVAILABLE', `${provider} answered ${what} that can't be read`, {
      startUnknown: true,
      cause,
    });
  return {
    unreadable,
    read(shape, { json }, what) {
      const parsed = shape.safeParse(json);
      if (parsed.success) return parsed.data;
      throw unreadable(parsed.error, what);
    },
  };
}

/** The percentage of the last progress bar in a log (tqdm: ` 45%|####  | 9/20`), 0 to 100; null without one. */
export function percentOfLogs(logs: string): number | null {
  const found = logs.match(/(\d{1,3})%\|/g)?.at(-1);
  return found === undefined ? null : Math.min(100, Number.parseInt(found, 10));
}

/** The percentage of a share of 0 to 1, which others are taken as; null without one. */
export function percentOfShare(share: number | null | undefined): number | null {
  return share == null ? null : Math.round(Math.min(1, Math.max(0, share)) * 100);
}

/** The error bodies of FastAPI services: `detail` is a text, a list of problems, or an object of their own. */

const item = z.object({ loc: z.array(z.union([z.string(), z.number()])).catch([]), msg: text });
const body = z.object({ detail: z.unknown() });
const own = z.object({ message: text, type: text });

/** The content of such a body. */
interface Detail {
  /** The message, or null without one. */
  readonly message: string | null;
  /** Innermost name of the field at fault. */
  readonly field: string | null;
  /** The service's own error type. */
  readonly type: string | null;
}

/** Parses such a body leniently. */
export function parseDetail(json: unknown): Detail {
  const detail = body.safeParse(json).data?.detail;
  if (typeof detail === 'string') return { message: detail, field: null, type: null };
  const [first] = z.array(item).safeParse(detail).data ?? [];
  if (first !== undefined) {
    const names = first.loc.filter((step) => typeof step === 'string' && step !== 'body');
    const field = names.at(-1);
    return { message: first.msg ?? null, field: field === undefined ? null : String(field), type: null };
  }
  const { message = null, type = null } = own.safeParse(detail).data ?? {};
  return { message, field: null, type };
}
