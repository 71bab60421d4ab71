import { z } from 'zod';

import { UpstreamError } from '../../domain/failure.ts';

/** An optional text: another type in its place must not spoil an answer about paid work. */
export const text = z.string().nullish().catch(null);

/** An optional id, sent as a number or as digits. */
export const id = z
  .union([z.string().min(1), z.number()])
  .transform(String)
  .nullish()
  .catch(null);

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
