import { toKey, type Documented } from '../documents/operation.ts';
import type { LiveServer } from './live-server.ts';
import { neededRequest } from './samples.ts';
import type { Sent } from './send.ts';
import { validMedia } from './valid-media.ts';
import { validWorkflow } from './valid-workflow.ts';

/** A sound request of one operation, and what it answers. */
export interface ValidRequest {
  /** Inputs by name, beside the needed ones or in their place. */
  readonly with?: (world: LiveServer) => Promise<Readonly<Record<string, unknown>>>;
  /** What else it takes: headers, a body as it is. */
  readonly request?: (world: LiveServer) => Promise<Partial<Sent>>;
  /** 200 when absent. */
  readonly status?: 302;
  /** The body on the media service, its data on the workflow service (undefined: there is none). */
  readonly answer: unknown;
}

/** What is to be sent to an operation, and answered. */
export function findValidRequest(operation: Documented): ValidRequest {
  const sound = { ...validMedia, ...validWorkflow }[toKey(operation)];
  if (sound === undefined) throw new Error(`nobody says what a sound request of ${toKey(operation)} is`);
  return sound;
}

/** The sound request: everything that is needed, and little else. */
export async function validRequest(world: LiveServer, operation: Documented): Promise<Sent> {
  const sound = findValidRequest(operation);
  const given = (await sound.with?.(world)) ?? {};
  const needed = await neededRequest(world, operation, (name) => Object.hasOwn(given, name));
  return { ...withInputs(operation, needed, given), ...(await sound.request?.(world)) };
}

function withInputs(operation: Documented, sent: Sent, given: Readonly<Record<string, unknown>>): Sent {
  const inParams = new Set(operation.params.map(({ name }) => name));
  const entries = Object.entries(given);
  const params = Object.fromEntries(entries.filter(([name]) => inParams.has(name)));
  const fields = Object.fromEntries(entries.filter(([name]) => !inParams.has(name)));
  const isSame = Object.keys(fields).length === 0;
  return {
    params: { ...sent.params, ...(params as Sent['params']) },
    body: isSame ? sent.body : { ...(sent.body as object | null), ...fields },
  };
}
