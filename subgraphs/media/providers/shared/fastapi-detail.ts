import { z } from 'zod';

import { text } from './reader.ts';

/** The error bodies of FastAPI services: `detail` is a text, a list of problems, or an object of their own. */

const item = z.object({ loc: z.array(z.union([z.string(), z.number()])).catch([]), msg: text });
const body = z.object({ detail: z.unknown() });
const own = z.object({ message: text, type: text });

/** The content of such a body. */
export interface Detail {
  /** The message, or null without one. */
  readonly message: string | null;
  /** Innermost name of the field at fault. */
  readonly field: string | null;
  /** The service's own error type. */
  readonly type: string | null;
}

/** Parses such a body leniently. */
export function detailOf(json: unknown): Detail {
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
