import type { IncomingMessage, ServerResponse } from 'node:http';

import { z } from 'zod';

import { type Faults, coversWire } from '../faults/faults.ts';
import { json, type Answer, sendAnswer } from '../http/answer.ts';
import { readBody } from '../http/listener.ts';
import type { Received } from '../http/received.ts';
import type { Job } from '../jobs/job.ts';
import type { Journal } from '../jobs/journal.ts';
import { DEFAULT_LATENCY, type LatencyProfile } from '../jobs/latency-profile.ts';

/** The control API for tests, /_control on the sandbox's own listener: faults, latencies, started jobs. */
export interface Control {
  /** Answers one request below /_control; `path` is what follows that. */
  serve(path: string, request: IncomingMessage, response: ServerResponse): Promise<void>;
}

export interface ControlOptions {
  readonly faults: Faults;
  readonly received: Pick<Received, 'list'>;
  readonly latencies: LatencyProfiles;
  readonly journal: Journal;
  /** Takes what a machine lacks of node classes and model files; RangeError for a wire without machines. */
  readonly lack: (wire: string, names: readonly string[]) => void;
  /** Stops every job and deletes all jobs, starts, faults and latencies. */
  readonly reset: () => Promise<void>;
}

const lacks = z.strictObject({ wire: z.string(), names: z.array(z.string()) });
const MAX_BODY_BYTES = 100_000;

/** Creates the control API. */
export function createControl(options: ControlOptions): Control {
  return {
    async serve(path, request, response) {
      if (request.headers.origin !== undefined) {
        return sendAnswer(response, json({ error: 'not for browsers' }, 403));
      }
      const body = await readBody(request, MAX_BODY_BYTES);
      return sendAnswer(response, await answer(options, `${request.method} ${path}`, body));
    },
  };
}

async function answer(options: ControlOptions, requested: string, body: Buffer): Promise<Answer> {
  try {
    switch (requested) {
      case 'POST /faults':
        return json(options.faults.add(parse(body)), 201);
      case 'GET /faults':
        return json(options.faults.list());
      case 'POST /latency':
        return json(options.latencies.change(parse(body)));
      case 'GET /latency':
        return json(options.latencies.list());
      case 'POST /lacks': {
        const { wire, names } = lacks.parse(parse(body));
        options.lack(wire, names);
        return json({ wire, names });
      }
      case 'GET /starts':
        return json(options.journal.starts());
      case 'GET /requests':
        return json(options.received.list());
      case 'GET /jobs':
        return json(options.journal.all().map(summary));
      case 'DELETE /words':
        await options.journal.forget(0);
        return json({ forgotten: true });
      case 'DELETE /':
      case 'DELETE ':
        await options.reset();
        return json({ reset: true });
      default:
        return json({ error: `no control ${requested}` }, 404);
    }
  } catch (error) {
    if (error instanceof z.ZodError) return json({ error: z.prettifyError(error) }, 400);
    if (error instanceof SyntaxError || error instanceof RangeError)
      return json({ error: error.message }, 400);
    throw error;
  }
}

function parse(body: Buffer): unknown {
  return JSON.parse(body.toString('utf8')) as unknown;
}

/** A job as /_control/jobs lists it. */
function summary(job: Job): object {
  const { id, wire, operation, reference, state, submittedAt, startedAt, endedAt, failure, isForgotten } =
    job;
  const files = job.result?.files.length ?? 0;
  return {
    id,
    wire,
    operation,
    reference,
    state,
    submittedAt,
    startedAt,
    endedAt,
    failure,
    isForgotten,
    files,
  };
}

const latencyChange = z.strictObject({
  /** A wire's name, or `*` for all. */
  wire: z.string().default('*'),
  queuedMs: z.number().int().min(0).max(600_000).optional(),
  runningMs: z.number().int().min(0).max(600_000).optional(),
  progressSteps: z.number().int().min(1).max(100).optional(),
  holdAt: z.number().int().min(0).max(100).optional(),
  concurrency: z.number().int().min(1).max(10_000).optional(),
  queueSize: z.number().int().min(0).max(100_000).optional(),
});

/** The body of a request to /_control/latency. */
export type LatencyChange = z.input<typeof latencyChange>;

/** The latency profiles of all wires. */
interface LatencyProfiles {
  of(wire: string): LatencyProfile;
  /** Changes the profile of one wire, or of all; a running step is not affected. Throws ZodError. */
  change(change: unknown): Record<string, LatencyProfile>;
  list(): Record<string, LatencyProfile>;
  reset(): void;
}

/** Creates the profiles with their initial values. */
export function createLatencyProfiles(
  first: Readonly<Record<string, Partial<LatencyProfile>>>,
): LatencyProfiles {
  const initial = () =>
    new Map(Object.entries(first).map(([wire, latency]) => [wire, { ...DEFAULT_LATENCY, ...latency }]));
  let profiles = initial();
  const list = () => Object.fromEntries(profiles);
  return {
    of: (wire) => profiles.get(wire) ?? DEFAULT_LATENCY,
    change(change) {
      const { wire, ...changed } = latencyChange.parse(change);
      const values = Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== undefined));
      for (const [name, latency] of profiles) {
        if (coversWire(wire, name)) profiles.set(name, { ...latency, ...values });
      }
      return list();
    },
    list,
    reset() {
      profiles = initial();
    },
  };
}
