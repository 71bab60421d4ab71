import { z } from 'zod';

import { UpstreamError } from '../../domain/failure.ts';

/** A text that is nice to have: anything else in its place must not spoil an answer about paid work. */
export const text = z.string().nullish().catch(null);

/** An id that is nice to have, which wires send as a number here and as digits there. */
export const id = z
  .union([z.string().min(1), z.number()])
  .transform(String)
  .nullish()
  .catch(null);

/** How the successful answers of one provider are read. */
export interface Reader {
  /** The body of an answer in that shape; throws `unreadable` when it has another. `what` is how the failure calls it: "a task". */
  readonly read: <Shape extends z.ZodType>(
    shape: Shape,
    answer: { readonly json: unknown },
    what?: string,
  ) => z.output<Shape>;
  /** The failure of a success that tells nothing: UNAVAILABLE, and what was asked for may have happened all the same. */
  readonly unreadable: (cause: unknown, what?: string) => UpstreamError;
}

/** Makes the reader of one provider; its failures carry that name. */
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
