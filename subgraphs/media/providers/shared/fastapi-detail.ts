import { z } from 'zod';

import { text } from './reader.ts';

/** The error bodies of services made with FastAPI: `detail` is a text, a list of what is wrong, or an object of their own. */

const item = z.object({ loc: z.array(z.union([z.string(), z.number()])).catch([]), msg: text });
const body = z.object({ detail: z.unknown() });
const own = z.object({ message: text, type: text });

/** What such a body says. */
export interface Detail {
  /** A sentence, or null when it says nothing. */
  readonly message: string | null;
  /** Name of the field at fault, the innermost. */
  readonly field: string | null;
  /** The service's own word for the kind of error. */
  readonly type: string | null;
}

/** Reads one, leniently. */
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
