import { z } from 'zod';

import { callerClaims } from '../assertions/caller-assertion.ts';

/** What the asking side says. */

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A request: one operation of one caller. */
const askShape = z.object({
  /** Answers carry it; unique among those that wait for one. */
  ask: z.number().int().positive(),
  /** The place of the operation's text on this connection. */
  slot: z.number().int().nonnegative(),
  /** The text, when the place is new or has another one from now on. */
  text: z.string().optional(),
  operationName: z.string().optional(),
  // As they are: copying would change what is named like a prototype.
  variables: z.custom<Readonly<Record<string, unknown>>>(isObject),
  caller: callerClaims,
  traceparent: z.string().optional(),
});

/** Nobody waits for the answer any more. */
const leaveShape = z.object({ leave: z.number().int().positive() });

/** All messages of a batch. */
export const batchShape = z.array(z.union([askShape, leaveShape]));

/** A request as it travels. */
export type AskMessage = z.infer<typeof askShape>;

/** Operations whose texts both sides of a connection remember. */
export const MAX_SLOTS = 500;
